// SPDX-License-Identifier: MIT OR Apache-2.0
// r = a b / 2^W mod P, in [0, P): Montgomery multiplication with R = 2^W, mont_latency(LEV).
//
// Operands need not be reduced: a b < P 2^W is what counts. With W = 384 and the 377-bit q of BLS12-377
// that holds for all a b < 152 q^2, so sums and differences of a few elements enter as they are.
//
//   t = a b;  m = (t mod R)(-1/P) mod R;  u = (t + m P) / R;  r = u or u - P.
// t + m P is a multiple of R, so its low half is 0 and the low halves of both sum to R, or both are 0:
// the carry into the high half is (t mod R != 0), and neither low half is added.
module mont_mul #(
    parameter int W = 384,
    parameter int LEV = 3,
    parameter logic [W-1:0] P = fieldspar_pkg::FQ_P,
    parameter logic [W-1:0] NEG_INV = fieldspar_pkg::FQ_NEG_INV
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] r
);
  localparam int REDUCE = fieldspar_pkg::kmul_lo_latency(LEV) + fieldspar_pkg::kmul_latency(LEV);

  logic [2*W-1:0] t;
  kmul #(.W(W), .LEV(LEV)) u_product (.clk, .a, .b, .p(t));

  logic [W-1:0] m;
  kmul_lo #(.W(W), .LEV(LEV)) u_quotient (.clk, .a(t[W-1:0]), .b(NEG_INV), .p(m));

  // The low half is not read.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [2*W-1:0] mp;
  /* verilator lint_on UNUSEDSIGNAL */
  kmul #(.W(W), .LEV(LEV)) u_multiple (.clk, .a(m), .b(P), .p(mp));

  logic [W-1:0] t_high;
  logic t_carry;
  delay_line #(.W(W + 1), .N(REDUCE)) u_delay (
      .clk, .rst, .d({|t[W-1:0], t[2*W-1:W]}), .q({t_carry, t_high})
  );

  logic [W-1:0] u;
  always_ff @(posedge clk) u <= t_high + mp[2*W-1:W] + W'(t_carry);
  reduce_once #(.W(W), .P(P)) u_reduce (.clk, .a(u), .r);
endmodule
