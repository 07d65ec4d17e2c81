// SPDX-License-Identifier: MIT OR Apache-2.0
// r = a - P if a >= P, else a: in [0, P) for a in [0, 2P). One register stage.
module reduce_once #(
    parameter int W = 384,
    parameter logic [W-1:0] P = fieldspar_pkg::FQ_P
) (
    input  logic         clk,
    input  logic [W-1:0] a,
    output logic [W-1:0] r
);
  logic [W:0] less;
  assign less = (W + 1)'(a) - (W + 1)'(P);
  always_ff @(posedge clk) r <= less[W] ? a : less[W-1:0];
endmodule
