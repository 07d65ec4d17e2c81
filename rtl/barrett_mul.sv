// SPDX-License-Identifier: MIT OR Apache-2.0
// r = a b mod P, in [0, P), for plain (not Montgomery) elements: Barrett's reduction in the form with one
// correction (J.-F. Dhem, 1998), barrett_latency(LEV).
//
// With n the bits of P and x = a b < 2^(2n + SLACK):
//   k = floor(x / 2^(n-2)) floor(2^(2n + SLACK + 1) / P) / 2^(n + SLACK + 3)
// is floor(x / P) or one less, so x - k P is in [0, 2P) and one conditional subtraction ends it.
// The same three products as Montgomery's in another order: whole, high half (of two numbers of
// n + SLACK + 2 bits), low half. SLACK = 4 takes products of sums of elements up to 9 P^2.
module barrett_mul #(
    parameter int W = 384,
    parameter int LEV = 3,
    parameter int N = 377,
    parameter int SLACK = 4,
    parameter logic [W-1:0] P = fieldspar_pkg::FQ_P,
    parameter logic [W-1:0] MU = fieldspar_pkg::FQ_BARRETT
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] r
);
  localparam int QUOTIENT = fieldspar_pkg::kmul_latency(LEV) + fieldspar_pkg::kmul_lo_latency(LEV);
  localparam int CUT = N - 2;
  localparam int SHIFT = N + SLACK + 3;

  // Bits above 2n + SLACK are 0; of the second product only the high half counts.
  /* verilator lint_off UNUSEDSIGNAL */
  logic [2*W-1:0] x;
  logic [2*W-1:0] estimate;
  /* verilator lint_on UNUSEDSIGNAL */
  kmul #(.W(W), .LEV(LEV)) u_product (.clk, .a, .b, .p(x));
  kmul #(.W(W), .LEV(LEV)) u_estimate (.clk, .a(x[CUT+:W]), .b(MU), .p(estimate));

  logic [W-1:0] kp;
  kmul_lo #(.W(W), .LEV(LEV)) u_multiple (.clk, .a(estimate[SHIFT+:W]), .b(P), .p(kp));

  logic [W-1:0] x_low;
  delay_line #(.W(W), .N(QUOTIENT)) u_delay (.clk, .rst, .d(x[W-1:0]), .q(x_low));

  // Less than 2P, so modulo 2^W is enough.
  logic [W-1:0] rest;
  always_ff @(posedge clk) rest <= x_low - kp;
  reduce_once #(.W(W), .P(P)) u_reduce (.clk, .a(rest), .r);
endmodule
