// SPDX-License-Identifier: MIT OR Apache-2.0
// Items that wait for their buckets; the head is visible. DEPTH = 0: never has room.
module conflict_fifo #(
    parameter int W     = 32,
    parameter int DEPTH = 16
) (
    input  logic         clk,
    input  logic         rst,
    input  logic         push,
    input  logic [W-1:0] in,
    output logic         room,
    output logic         some,
    output logic [W-1:0] head,
    input  logic         pop
);
  if (DEPTH == 0) begin : g_none
    assign room = 1'b0;
    assign some = 1'b0;
    assign head = '0;
    logic unused;
    assign unused = &{1'b0, clk, rst, push, in, pop};
  end else begin : g_ring
    localparam int AW = (DEPTH > 1) ? $clog2(DEPTH) : 1;
    localparam int CW = $clog2(DEPTH + 1);
    logic [W-1:0] ring[DEPTH];
    logic [AW-1:0] first, last;
    logic [CW-1:0] count;
    assign room = count != CW'(DEPTH);
    assign some = count != 0;
    assign head = ring[first];

    function automatic logic [AW-1:0] after(input logic [AW-1:0] place);
      after = (place == AW'(DEPTH - 1)) ? '0 : place + 1'b1;
    endfunction

    always_ff @(posedge clk) begin
      if (push) ring[last] <= in;
      if (rst) begin
        first <= '0;
        last <= '0;
        count <= '0;
      end else begin
        if (push) last <= after(last);
        if (pop) first <= after(first);
        count <= count + CW'(push) - CW'(pop);
      end
    end
  end
endmodule
