// SPDX-License-Identifier: MIT OR Apache-2.0
// The order of the full additions that make the sum of b times bucket b, all in place: to += from.
//
//   replicas  halves of each hot bucket's replicas are added, then the first replica to the bucket
//   tree      low = 1, 2, ..: S[2 i low] += S[2 i low + low]; afterwards the words at odd multiples of
//             2^k are sums of blocks of buckets whose index has bit k
//   bits      for all k side by side those words are summed into word 2^k
//   horner    word 0 (the bucket of weight 2^K) is doubled and added to the next lower bit, down to word 1
//
// This is as many additions as running sums take, in logarithmic depth, so the adder is full as long as
// there is enough to do. The columns of a group take turns at each. Issue is in order; the busy bits of
// bucket_memory alone keep it right.
module aggregator #(
    parameter int IW         = 16,
    parameter int K          = 15,  // 2^K buckets a column, K at least 2
    parameter int COLUMNS    = 1,
    parameter int HOT        = 0,
    parameter int REPLICAS   = 2,
    parameter int FIRST_SLOT = 32768
) (
    input  logic          clk,
    input  logic          rst,
    input  logic          start,       // begin; in the next cycle the first addition is offered
    input  logic          hot_any,
    output logic [9:0]    hot_entry,
    input  logic          hot_valid,
    input  logic [IW-1:0] hot_word,

    output logic          valid,       // an addition is offered
    output logic          skip,        // an entry of the table not in use: nothing to add, one cycle
    output logic [IW-1:0] to,
    output logic [IW-1:0] from,
    input  logic          taken,       // it was issued, or the cycle of `skip` has passed
    output logic          last         // there is none after this one
);
  localparam int N = 1 << K;
  localparam int SLOTS = HOT * REPLICAS;
  typedef enum logic [2:0] {REPLICA, FOLD, TREE, BITS, DOUBLE, ADD} phase_t;
  typedef logic [K:0] number_t;

  phase_t phase;
  number_t low, half, base, at, weight;
  logic [15:0] slot, slot_half;
  logic [9:0] entry;
  logic [15:0] v;

  // ---- What is offered ----------------------------------------------------------------------------

  number_t to_b, from_b;
  always_comb begin
    to_b = at;
    from_b = at + half;
    if (phase == DOUBLE) begin
      to_b = weight;
      from_b = weight;
    end else if (phase == ADD) begin
      to_b = weight >> 1;
      from_b = weight;
    end
  end
  logic [IW-1:0] high;
  assign high = IW'(32'(v) << K);
  assign hot_entry = entry;
  assign valid = !skip;
  assign skip = phase == FOLD && !hot_valid;
  always_comb begin
    to = high | IW'(to_b[K-1:0]);
    from = high | IW'(from_b[K-1:0]);
    if (phase == REPLICA) begin
      to = IW'(FIRST_SLOT) + IW'(slot);
      from = to + IW'(slot_half);
    end else if (phase == FOLD) begin
      to = hot_word;
      from = IW'(FIRST_SLOT + 32'(entry) * REPLICAS);
    end
  end

  // Weight 2^K is word 0.
  logic unused;
  assign unused = &{1'b0, to_b[K], from_b[K], hot_any};

  logic column_last;
  assign column_last = v == 16'(COLUMNS - 1);
  assign last = phase == ADD && weight == 2 && column_last;

  // ---- What comes next ----------------------------------------------------------------------------

  always_ff @(posedge clk) begin
    if (rst || start) begin
      phase <= hot_any ? REPLICA : TREE;
      low <= 1;
      half <= 1;
      base <= 2;
      at <= 2;
      weight <= (K+1)'(N);
      slot <= '0;
      slot_half <= 16'd1;
      entry <= '0;
      v <= '0;
    end else if (taken) begin
      if (phase == REPLICA) begin
        if (32'(slot) + 2 * 32'(slot_half) != SLOTS) slot <= slot + (slot_half << 1);
        else begin
          slot <= '0;
          slot_half <= slot_half << 1;
          if (2 * 32'(slot_half) == REPLICAS) phase <= FOLD;
        end
      end else if (phase == FOLD) begin
        entry <= entry + 1'b1;
        if (32'(entry) == HOT - 1) phase <= TREE;
      end else if (!column_last) v <= v + 1'b1;
      else begin
        v <= '0;
        case (phase)
          TREE: begin
            if (at != (K+1)'(N) - (low << 1)) at <= at + (low << 1);
            else if (low != (K+1)'(N / 4)) begin
              low <= low << 1;
              half <= low << 1;
              at <= low << 2;
            end else begin
              phase <= BITS;
              low <= 1;
              at <= 1;
              half <= 2;
            end
          end
          BITS: begin
            if (at != (K+1)'(N) + low - (half << 1)) at <= at + (half << 1);
            else if (half != (K+1)'(N / 2)) begin
              low <= low << 1;
              half <= half << 1;
              at <= low << 1;
            end else if (base != (K+1)'(N / 2)) begin
              base <= base << 1;
              low <= 1;
              at <= 1;
              half <= base << 1;
            end else phase <= DOUBLE;
          end
          DOUBLE: phase <= ADD;
          default: begin
            phase <= DOUBLE;
            weight <= weight >> 1;
          end
        endcase
      end
    end
  end
endmodule
