// SPDX-License-Identifier: MIT OR Apache-2.0
// Replicated accumulators: a bucket that the host declares hot has REPLICAS words that take turns, so
// that its additions overlap in the pipeline. HOT = 0: every bucket is its own word.
// The host's entries are words of the bucket memory: {column, bucket}.
module hot_table #(
    parameter int IW         = 16,
    parameter int HOT        = 4,
    parameter int REPLICAS   = 32,
    parameter int FIRST_SLOT = 32768
) (
    input  logic          clk,
    input  logic          rst,
    input  logic          set,        // write entry set_entry
    input  logic [9:0]    set_entry,
    input  logic          set_valid,
    input  logic [IW-1:0] set_word,
    input  logic          start,      // turns begin anew
    input  logic [IW-1:0] word,       // where does this bucket's next addition go?
    output logic [IW-1:0] slot,
    input  logic          turn,       // it was placed there
    input  logic [9:0]    entry,      // the entry, for the aggregation
    output logic          entry_valid,
    output logic [IW-1:0] entry_word,
    output logic          any
);
  if (HOT == 0) begin : g_none
    assign slot = word;
    assign entry_valid = 1'b0;
    assign entry_word = '0;
    assign any = 1'b0;
    logic unused;
    assign unused = &{1'b0, clk, rst, set, set_entry, set_valid, set_word, start, turn, entry};
  end else begin : g_table
    localparam int RW = $clog2(REPLICAS);
    localparam int HW = (HOT > 1) ? $clog2(HOT) : 1;
    logic [HOT-1:0] valid;
    logic [IW-1:0] words[HOT];
    logic [RW-1:0] turns[HOT];

    // The first entry counts if a bucket stands in several.
    logic [HOT-1:0] hit;
    always_comb begin
      slot = word;
      hit = '0;
      for (int i = HOT - 1; i >= 0; i--) begin
        if (valid[i] && words[i] == word) begin
          slot = IW'(FIRST_SLOT + i * REPLICAS) + IW'(turns[i]);
          hit = '0;
          hit[i] = 1'b1;
        end
      end
    end

    assign any = valid != 0;
    assign entry_valid = valid[entry[HW-1:0]];
    assign entry_word = words[entry[HW-1:0]];
    logic unused;
    assign unused = &{1'b0, entry};

    always_ff @(posedge clk) begin
      if (rst) valid <= '0;
      else if (set && set_entry < 10'(HOT)) valid[set_entry[HW-1:0]] <= set_valid;
      if (set && set_entry < 10'(HOT)) words[set_entry[HW-1:0]] <= set_word;
      for (int i = 0; i < HOT; i++) begin
        if (rst || start) turns[i] <= '0;
        else if (turn && hit[i]) turns[i] <= turns[i] + 1'b1;
      end
    end
  end
endmodule
