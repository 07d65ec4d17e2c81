// SPDX-License-Identifier: MIT OR Apache-2.0
// r = a + b mod P, for a + b in [0, 2P). Latency MOD_ADD_LATENCY.
module mod_add #(
    parameter int W = 384,
    parameter logic [W-1:0] P = fieldspar_pkg::FQ_P
) (
    input  logic         clk,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] r
);
  logic [W-1:0] sum;
  always_ff @(posedge clk) sum <= a + b;
  reduce_once #(.W(W), .P(P)) u_reduce (.clk, .a(sum), .r);
endmodule
