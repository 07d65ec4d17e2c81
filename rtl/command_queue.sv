// SPDX-License-Identifier: MIT OR Apache-2.0
// The queue of the host's packets: 64 bytes in, one command of 64 bits out a cycle.
module command_queue #(
    parameter int DEPTH = 8
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         in_valid,
    output logic         in_ready,
    input  logic [511:0] in_packet,
    output logic         out_valid,
    output logic [63:0]  out_command,
    input  logic         out_pop,
    output logic [15:0]  fill       // packets inside
);
  localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;

  logic [511:0] ring[DEPTH];
  logic [AW-1:0] head, tail;
  logic [15:0] count;
  logic [2:0] at;

  logic push, pop;
  assign in_ready = count != 16'(DEPTH);
  assign push = in_valid && in_ready;
  assign out_valid = count != 0;
  assign out_command = ring[head][{at, 6'd0} +: 64];
  assign pop = out_pop && at == 3'd7;
  assign fill = count;

  function automatic logic [AW-1:0] after(input logic [AW-1:0] place);
    after = (place == AW'(DEPTH - 1)) ? '0 : place + 1'b1;
  endfunction

  always_ff @(posedge clk) begin
    if (push) ring[tail] <= in_packet;
    if (rst) begin
      head <= '0;
      tail <= '0;
      count <= '0;
      at <= '0;
    end else begin
      if (push) tail <= after(tail);
      if (pop) head <= after(head);
      count <= count + 16'(push) - 16'(pop);
      if (out_pop) at <= at + 3'd1;
    end
  end
endmodule
