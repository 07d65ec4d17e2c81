// SPDX-License-Identifier: MIT OR Apache-2.0
// p = a * b in two register stages, the multiplication below the last level of Karatsuba.
module ground_mul #(
    parameter int W = 48
) (
    input  logic           clk,
    input  logic [W-1:0]   a,
    input  logic [W-1:0]   b,
    output logic [2*W-1:0] p
);
  logic [W-1:0] aq, bq;
  always_ff @(posedge clk) begin
    aq <= a;
    bq <= b;
  end
  logic [2*W-1:0] product;
  mul_comb #(.W(W)) u_mul (.a(aq), .b(bq), .p(product));
  always_ff @(posedge clk) p <= product;
endmodule
