// SPDX-License-Identifier: MIT OR Apache-2.0
// The accumulators, with a bit each for "an addition into it is under way" and "written since cleared".
//
// Two words can be read a cycle (a full addition needs both operands; mixed additions read one) and one
// written. What was read stays at the output until the next read. A word not written since `clear` reads
// as the neutral element, so nothing has to be erased between columns.
// A word is busy from the cycle after `read` to the one in which its sum is written, both included.
module bucket_memory #(
    parameter int W     = 384,
    parameter int WORDS = 256,
    parameter int IW    = 8,
    parameter logic [4*W-1:0] NEUTRAL = '0
) (
    input  logic           clk,
    input  logic           rst,
    input  logic           clear,

    input  logic [IW-1:0]  look_a,  // whether these are busy
    input  logic [IW-1:0]  look_b,
    output logic           busy_a,
    output logic           busy_b,

    input  logic           read,
    input  logic           lock,    // word a becomes busy
    input  logic [IW-1:0]  index_a,
    input  logic [IW-1:0]  index_b,
    output logic [4*W-1:0] word_a,
    output logic [4*W-1:0] word_b,

    input  logic           write,
    input  logic [IW-1:0]  write_index,
    input  logic [4*W-1:0] write_word
);
  logic [4*W-1:0] memory[WORDS];
  logic [WORDS-1:0] busy, written;

  assign busy_a = busy[look_a];
  assign busy_b = busy[look_b];

  logic [4*W-1:0] read_a, read_b;
  logic written_a, written_b;
  assign word_a = written_a ? read_a : NEUTRAL;
  assign word_b = written_b ? read_b : NEUTRAL;

  always_ff @(posedge clk) begin
    if (write) memory[write_index] <= write_word;
    if (read) begin
      read_a <= memory[index_a];
      read_b <= memory[index_b];
      written_a <= written[index_a];
      written_b <= written[index_b];
    end
    if (rst) begin
      busy <= '0;
      written <= '0;
    end else begin
      if (write) begin
        busy[write_index] <= 1'b0;
        written[write_index] <= 1'b1;
      end
      if (clear) written <= '0;
      if (read && lock) busy[index_a] <= 1'b1;
    end
  end
endmodule
