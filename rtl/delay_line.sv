// SPDX-License-Identifier: MIT OR Apache-2.0
// q is d of N cycles ago.
//
// A ring of N - 1 words and an output register: one word written and one read a cycle whatever N is,
// which a block RAM or a shift-register LUT does and a simulator does cheaply. Reset sets the pointer
// alone; the words that were inside are then in no order, so whoever resets ignores them (see the valid
// bits of ec_adder).
module delay_line #(
    parameter int W = 1,
    parameter int N = 1
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [W-1:0] d,
    output logic [W-1:0] q
);
  if (N == 0) begin : g_wire
    assign q = d;
    logic unused;
    assign unused = &{1'b0, clk, rst};
  end else if (N == 1) begin : g_register
    always_ff @(posedge clk) q <= d;
    logic unused;
    assign unused = &{1'b0, rst};
  end else begin : g_ring
    localparam int DEPTH = N - 1;
    localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
    logic [W-1:0] ring[DEPTH];
    logic [AW-1:0] at;
    always_ff @(posedge clk) begin
      q <= ring[at];
      ring[at] <= d;
      if (rst || at == AW'(DEPTH - 1)) at <= '0;
      else at <= at + 1'b1;
    end
  end
endmodule
