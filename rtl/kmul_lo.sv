// SPDX-License-Identifier: MIT OR Apache-2.0
// p = a * b mod 2^W: the low half of a product, kmul_lo_latency(LEV).
//
// a b mod 2^2H = al bl + ((al bh + ah bl) mod 2^H) 2^H: one whole product of halves (Karatsuba), two low
// ones. That is as many ground products as kmul has, 3^LEV, but 2^LEV of them are low halves themselves,
// nothing is added before a multiplication and no middle term is subtracted.
// W has to be a multiple of 2^LEV.
module kmul_lo #(
    parameter int W   = 384,
    parameter int LEV = 3
) (
    input  logic         clk,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] p
);
  if (LEV == 0) begin : g_ground
    ground_mul_lo #(.W(W)) u_ground (.clk, .a, .b, .p);
  end else begin : g_level
    localparam int H = W / 2;

    logic [2*H-1:0] ll;
    logic [H-1:0] lh, hl;
    kmul    #(.W(H), .LEV(LEV - 1)) u_ll (.clk, .a(a[H-1:0]), .b(b[H-1:0]), .p(ll));
    kmul_lo #(.W(H), .LEV(LEV - 1)) u_lh (.clk, .a(a[H-1:0]), .b(b[W-1:H]), .p(lh));
    kmul_lo #(.W(H), .LEV(LEV - 1)) u_hl (.clk, .a(a[W-1:H]), .b(b[H-1:0]), .p(hl));

    // The low products are ready EARLY cycles before the whole one (none at LEV = 1).
    localparam int EARLY = fieldspar_pkg::kmul_latency(LEV - 1) - fieldspar_pkg::kmul_lo_latency(LEV - 1);
    logic [H-1:0] middle_early, middle;
    always_ff @(posedge clk) middle_early <= lh + hl;
    if (EARLY == 0) begin : g_same
      assign middle = middle_early;
    end else begin : g_early
      always_ff @(posedge clk) middle <= middle_early;
    end

    logic [2*H-1:0] ll_q;
    always_ff @(posedge clk) begin
      ll_q <= ll;
      p    <= {ll_q[2*H-1:H] + middle, ll_q[H-1:0]};
    end
  end
endmodule
