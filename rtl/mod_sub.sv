// SPDX-License-Identifier: MIT OR Apache-2.0
// r = a - b mod P, for a in [0, P) and b in [0, P]. Latency MOD_ADD_LATENCY.
module mod_sub #(
    parameter int W = 384,
    parameter logic [W-1:0] P = fieldspar_pkg::FQ_P
) (
    input  logic         clk,
    input  logic [W-1:0] a,
    input  logic [W-1:0] b,
    output logic [W-1:0] r
);
  logic [W:0] difference;
  always_ff @(posedge clk) difference <= (W + 1)'(a) - (W + 1)'(b);
  always_ff @(posedge clk) r <= difference[W] ? difference[W-1:0] + P : difference[W-1:0];
endmodule
