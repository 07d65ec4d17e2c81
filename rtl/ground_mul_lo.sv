// SPDX-License-Identifier: MIT OR Apache-2.0
// The low half of the product, in two register stages.
module ground_mul_lo #(
    parameter int W = 48
) (
    input  logic         clk,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] p
);
  logic [W-1:0] aq, bq;
  always_ff @(posedge clk) begin
    aq <= a;
    bq <= b;
  end
  if (W <= 32) begin : g_word
    always_ff @(posedge clk) p <= aq * bq;
  end else begin : g_split
    localparam int H = (W + 1) / 2;
    localparam int T = W - H;
    logic [2*H-1:0] ll;
    logic [T-1:0] lh, hl;
    mul_comb #(.W(H)) u_ll (.a(aq[H-1:0]), .b(bq[H-1:0]), .p(ll));
    assign lh = aq[T-1:0] * bq[W-1:H];
    assign hl = aq[W-1:H] * bq[T-1:0];
    always_ff @(posedge clk) p <= {ll[W-1:H] + lh + hl, ll[H-1:0]};
    if (W < 2 * H) begin : g_odd
      logic unused;
      assign unused = &{1'b0, ll[2*H-1:W]};
    end
  end
endmodule
