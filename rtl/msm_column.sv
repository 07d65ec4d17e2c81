// SPDX-License-Identifier: MIT OR Apache-2.0
// One column engine of the MSM machine: commands and points in, one point a column out.
//
//   packets --> command_queue --\                        /--> adder --\
//                                >-- items --> issue --> bucket_memory <-- write back
//   points (memory) ------------/      |  ^                  ^
//        ^                             v  |                  |
//        '---- POLICY 2: written back  conflict_fifo      aggregator (full additions, after the items)
//
// An item is a digit with its point. In the cycle of its issue the bucket's accumulator is read and
// marked busy; LATENCY + 2 cycles later its bucket may be issued again. An item that meets a busy bucket
// waits (POLICY 0), goes to the FIFO whose head is tried first in every cycle (1), or is written to
// memory behind the points and comes back in the next pass (2; a pass of at most LATENCY + 2 items waits
// instead). COLUMNS columns take turns: the digits of a point follow each other, and the point is kept.
//
// Commands, 64 bits each, eight a packet, opcode in bits 3:0 (1 and 3 as in CycloneMSM's host protocol):
//   0  padding
//   1  start a group of columns of MsmLength points
//   3  digit: bits 29:14, signed; of absolute value at most 2^(C-1), and not +2^15
//   5  entry of the table of hot buckets: bits 13:4 number, bits 45:14 word {column, bucket}, bit 63 in use
// Anything else, and a digit outside a group, is dropped and counted.
// The memory delivers points in order, from the first again after `restart`, then those that were written
// behind them in this group, with their tag: bit 31 subtract, below it the word {column, bucket}.
//
// Registers: write 0x10 Query (which counter is read at 0x20), 0x20 MsmLength; read 0x20 Statistic,
// 0x21 DigitsQueue (packets), 0x30 Aggregated (results given since reset), 0x35 State.
// MsmLength must not change inside a group.
//
// The state machine, and where a cycle of it is counted, is that of the model (crates/fpga/src/model):
// both agree to the cycle.
module msm_column #(
    parameter int W           = 384,
    parameter int LEV         = 3,
    parameter int DELAY       = 0,   // 1: ec_delay of LATENCY and REENTRY in place of the adder
    parameter int LATENCY     = fieldspar_pkg::ec_latency(LEV),
    parameter int REENTRY     = fieldspar_pkg::ec_reentry(LEV),
    parameter int C           = 8,
    parameter int COLUMNS     = 1,
    parameter int POLICY      = 1,
    parameter int DEPTH       = 16,  // of the FIFO
    parameter int ZERO_BYPASS = 1,
    parameter int HOT         = 0,
    parameter int REPLICAS    = 2,
    parameter int QUEUE       = 8,
    localparam int K          = C - 1,
    localparam int FIRST_SLOT = COLUMNS << K,
    localparam int WORDS      = FIRST_SLOT + HOT * REPLICAS,
    localparam int IW         = $clog2(WORDS)
) (
    input  logic           clk,
    input  logic           rst,

    input  logic           packet_valid,
    output logic           packet_ready,
    input  logic [511:0]   packet,

    output logic           restart,      // the memory begins with point 0
    input  logic           point_valid,
    output logic           point_ready,
    input  logic [3*W-1:0] point,        // op0 in the low bits, then op1, op2
    input  logic [31:0]    point_tag,

    output logic           late_valid,   // write behind the points
    input  logic           late_ready,
    output logic [3*W-1:0] late_point,
    output logic [31:0]    late_tag,

    output logic           result_valid,
    input  logic           result_ready,
    output logic [4*W-1:0] result,       // X in the low bits, then Y, Z, T

    input  logic           reg_write,
    input  logic [7:0]     reg_address,
    input  logic [63:0]    reg_data,
    output logic [63:0]    reg_read,

    output logic           issue,        // for tests: an addition is issued in this cycle
    output logic           issue_full,
    output logic [31:0]    issue_word,
    output logic [31:0]    issue_point   // low bits of op0
);
  localparam int WINDOW = LATENCY + 2;
  localparam logic [W-1:0] ONE = (DELAY != 0) ? '0 : W'(fieldspar_pkg::FQ_ONE);
  localparam logic [W-1:0] ZERO = '0;
  localparam logic [4*W-1:0] NEUTRAL = {ZERO, ONE, ONE, ZERO};
  localparam logic [3*W-1:0] NEUTRAL_POINT = {ZERO, ONE, ONE};

  typedef enum logic [2:0] {IDLE, ITEMS, DRAIN, SUM, FLUSH, READ, RESULT} state_t;
  state_t state;

  logic [31:0] length;
  logic [31:0] items, taken, late_count;
  logic first_pass;
  logic [15:0] column;  // of the digit to come; of the result
  logic [15:0] in_flight;

  // ---- Commands -----------------------------------------------------------------------------------

  logic command_valid, command_pop;
  logic [63:0] command;
  logic [15:0] queue_fill;
  command_queue #(.DEPTH(QUEUE)) u_queue (
      .clk, .rst,
      .in_valid(packet_valid), .in_ready(packet_ready), .in_packet(packet),
      .out_valid(command_valid), .out_command(command), .out_pop(command_pop), .fill(queue_fill)
  );
  logic is_start, is_digit, is_hot, is_other;
  assign is_start = command_valid && command[3:0] == 4'd1;
  assign is_digit = command_valid && command[3:0] == 4'd3;
  assign is_hot   = command_valid && command[3:0] == 4'd5;
  assign is_other = command_valid && !is_start && !is_digit && !is_hot;

  logic start, set_hot;
  assign start = state == IDLE && is_start;
  assign set_hot = state == IDLE && is_hot;
  assign restart = start;

  logic signed [15:0] digit;
  logic [15:0] magnitude;
  assign digit = command[29:14];
  assign magnitude = digit[15] ? -digit : digit;

  // ---- The item -----------------------------------------------------------------------------------

  logic passing, digit_here, item_valid, item_zero, item_neg;
  logic [IW-1:0] item_word, item_slot;
  logic [3*W-1:0] item_point;
  assign passing = state == ITEMS && taken != items;
  assign digit_here = !first_pass || is_digit;
  assign item_valid = passing && digit_here && point_valid;
  assign item_zero = first_pass && magnitude == 0;
  assign item_neg = first_pass ? digit[15] : point_tag[31];
  assign item_word = first_pass ? (IW'(32'(column) << K) | IW'(magnitude[K-1:0])) : point_tag[IW-1:0];
  assign item_point = item_zero ? NEUTRAL_POINT : point;

  logic hot_any, hot_valid, turn;
  logic [9:0] hot_entry;
  logic [IW-1:0] hot_word;
  hot_table #(.IW(IW), .HOT(HOT), .REPLICAS(REPLICAS), .FIRST_SLOT(FIRST_SLOT)) u_hot (
      .clk, .rst,
      .set(set_hot), .set_entry(command[13:4]), .set_valid(command[63]), .set_word(command[14 +: IW]),
      .start, .word(item_word), .slot(item_slot), .turn,
      .entry(hot_entry), .entry_valid(hot_valid), .entry_word(hot_word), .any(hot_any)
  );

  // ---- Issue --------------------------------------------------------------------------------------

  logic sum_valid, sum_skip, sum_last, sum_issue, sum_taken;
  logic [IW-1:0] sum_to, sum_from;
  logic fifo_room, fifo_some, fifo_neg;
  logic [IW-1:0] fifo_word;
  logic [3*W-1:0] fifo_point;
  logic busy_a, busy_b, stage_ready;

  logic fifo_issue, bypass, item_issue, conflict, push, append, consume;
  assign fifo_issue = state == ITEMS && fifo_some && !busy_a && stage_ready;
  assign bypass = item_valid && item_zero && ZERO_BYPASS != 0;
  assign item_issue = item_valid && !bypass && !busy_b && !fifo_issue && stage_ready;
  assign conflict = item_valid && !bypass && busy_b && !fifo_issue;
  assign push = conflict && fifo_room;
  assign late_valid = POLICY == 2 && conflict && items > WINDOW;
  assign append = late_valid && late_ready;
  assign consume = bypass || item_issue || push || append;
  assign turn = item_issue || push;

  logic column_last;
  assign column_last = column == 16'(COLUMNS - 1);
  assign point_ready = consume && (!first_pass || column_last);
  assign command_pop = start || set_hot || is_other || (state == IDLE && is_digit)
      || (first_pass && consume);
  assign late_point = item_point;
  assign late_tag = {item_neg, 31'(item_word)};

  conflict_fifo #(.W(3 * W + 1 + IW), .DEPTH(POLICY == 1 ? DEPTH : 0)) u_fifo (
      .clk, .rst,
      .push, .in({item_point, item_neg, item_slot}),
      .room(fifo_room), .some(fifo_some), .head({fifo_point, fifo_neg, fifo_word}), .pop(fifo_issue)
  );

  assign sum_issue = state == SUM && sum_valid && !busy_a && !busy_b && stage_ready;
  assign sum_taken = state == SUM && (sum_issue || sum_skip);
  aggregator #(
      .IW(IW), .K(K), .COLUMNS(COLUMNS), .HOT(HOT), .REPLICAS(REPLICAS), .FIRST_SLOT(FIRST_SLOT)
  ) u_sum (
      .clk, .rst, .start(state == DRAIN), .hot_any, .hot_entry, .hot_valid, .hot_word,
      .valid(sum_valid), .skip(sum_skip), .to(sum_to), .from(sum_from), .taken(sum_taken),
      .last(sum_last)
  );

  logic [IW-1:0] issue_index;
  assign issue = fifo_issue || item_issue || sum_issue;
  assign issue_full = sum_issue;
  always_comb begin
    issue_index = item_slot;
    if (state == SUM) issue_index = sum_to;
    else if (fifo_issue) issue_index = fifo_word;
    else if (state == READ) issue_index = IW'(32'(column) << K) | IW'(1);
  end
  assign issue_word = 32'(issue_index);
  assign issue_point = 32'(fifo_issue ? fifo_point : item_point);

  // ---- Memory and adder ---------------------------------------------------------------------------

  logic [4*W-1:0] word_a, word_b;
  logic out_valid, out_full;
  logic [IW-1:0] out_tag;
  logic [4*W-1:0] out_word;
  bucket_memory #(.W(W), .WORDS(WORDS), .IW(IW), .NEUTRAL(NEUTRAL)) u_memory (
      .clk, .rst,
      .clear(start),
      .look_a(state == SUM ? sum_to : fifo_word), .look_b(state == SUM ? sum_from : item_slot),
      .busy_a, .busy_b,
      .read(issue || state == READ), .lock(issue), .index_a(issue_index), .index_b(sum_from),
      .word_a, .word_b,
      .write(out_valid), .write_index(out_tag), .write_word(out_word)
  );

  logic stage_valid, stage_full, stage_neg, adder_ready;
  logic [IW-1:0] stage_tag;
  logic [3*W-1:0] stage_point;
  assign stage_ready = !stage_valid || adder_ready;
  always_ff @(posedge clk) begin
    if (rst) stage_valid <= 1'b0;
    else if (stage_ready) stage_valid <= issue;
    if (issue) begin
      stage_full <= sum_issue;
      stage_neg <= !sum_issue && (fifo_issue ? fifo_neg : item_neg);
      stage_tag <= issue_index;
      stage_point <= fifo_issue ? fifo_point : item_point;
    end
  end

  logic [W-1:0] op0, op1, op2;
  assign op0 = stage_full ? word_b[W-1:0] : stage_point[W-1:0];
  assign op1 = stage_full ? word_b[2*W-1:W] : stage_point[2*W-1:W];
  assign op2 = stage_full ? word_b[3*W-1:2*W] : stage_point[3*W-1:2*W];

  if (DELAY != 0) begin : g_delay
    ec_delay #(.W(W), .LATENCY(LATENCY), .REENTRY(REENTRY), .TAGW(IW)) u_adder (
        .clk, .rst,
        .in_valid(stage_valid), .in_ready(adder_ready), .in_full(stage_full), .in_neg(stage_neg),
        .acc_x(word_a[W-1:0]), .acc_y(word_a[2*W-1:W]), .acc_z(word_a[3*W-1:2*W]),
        .acc_t(word_a[4*W-1:3*W]), .op0, .op1, .op2, .op3(word_b[4*W-1:3*W]), .in_tag(stage_tag),
        .out_valid, .out_full, .out_x(out_word[W-1:0]), .out_y(out_word[2*W-1:W]),
        .out_z(out_word[3*W-1:2*W]), .out_t(out_word[4*W-1:3*W]), .out_tag
    );
  end else begin : g_adder
    ec_adder #(.W(W), .LEV(LEV), .FULL(1), .TAGW(IW)) u_adder (
        .clk, .rst,
        .in_valid(stage_valid), .in_ready(adder_ready), .in_full(stage_full), .in_neg(stage_neg),
        .acc_x(word_a[W-1:0]), .acc_y(word_a[2*W-1:W]), .acc_z(word_a[3*W-1:2*W]),
        .acc_t(word_a[4*W-1:3*W]), .op0, .op1, .op2, .op3(word_b[4*W-1:3*W]), .in_tag(stage_tag),
        .out_valid, .out_full, .out_x(out_word[W-1:0]), .out_y(out_word[2*W-1:W]),
        .out_z(out_word[3*W-1:2*W]), .out_t(out_word[4*W-1:3*W]), .out_tag
    );
  end

  // ---- Control ------------------------------------------------------------------------------------

  assign result_valid = state == RESULT;
  assign result = word_a;

  logic pass_done;
  assign pass_done = state == ITEMS && taken == items && !fifo_some;

  always_ff @(posedge clk) begin
    if (rst) begin
      state <= IDLE;
      first_pass <= 1'b1;
      items <= '0;
      taken <= '0;
      late_count <= '0;
      column <= '0;
      in_flight <= '0;
    end else begin
      in_flight <= in_flight + 16'(issue) - 16'(out_valid);
      case (state)
        IDLE:
        if (start) begin
          state <= ITEMS;
          first_pass <= 1'b1;
          items <= 32'(length * COLUMNS);
          taken <= '0;
          late_count <= '0;
          column <= '0;
        end
        ITEMS: begin
          if (consume) begin
            taken <= taken + 1'b1;
            if (first_pass) column <= column_last ? '0 : column + 1'b1;
          end
          if (append) late_count <= late_count + 1'b1;
          if (pass_done) begin
            if (late_count == 0) state <= DRAIN;
            first_pass <= 1'b0;
            items <= late_count;
            taken <= '0;
            late_count <= '0;
          end
        end
        DRAIN: if (in_flight == 0) state <= SUM;
        SUM: if (sum_taken && sum_last) state <= FLUSH;
        FLUSH:
        if (in_flight == 0) begin
          state <= READ;
          column <= '0;
        end
        READ: state <= RESULT;
        default:
        if (result_ready) begin
          state <= column_last ? IDLE : READ;
          first_pass <= 1'b1;
          column <= column_last ? '0 : column + 1'b1;
        end
      endcase
    end
  end

  // ---- Registers and counters ---------------------------------------------------------------------

  // In the order of the model's `Counters`; of the last group, but for dropped commands.
  localparam int COUNTERS = 17;
  logic [63:0] counters[COUNTERS];
  logic [COUNTERS-1:0] count;
  logic [7:0] query;
  logic [63:0] aggregated;
  always_comb begin
    count = '0;
    count[0] = start || state != IDLE;
    count[1] = fifo_issue || item_issue;
    if (state == ITEMS && !fifo_issue && !item_issue) begin
      if (pass_done) count[8] = 1'b1;
      else if (taken == items) count[5] = 1'b1;
      else if (!digit_here) count[3] = 1'b1;
      else if (!point_valid) count[4] = 1'b1;
      else if (bypass) count[2] = 1'b1;
      else if (append) count[6] = 1'b1;
      else if (late_valid) count[7] = 1'b1;
      else count[5] = 1'b1;
    end
    count[9] = state == DRAIN;
    count[10] = state == SUM || state == FLUSH;
    count[11] = state == READ || state == RESULT;
    count[12] = push || append;
    count[13] = bypass;
    count[14] = start || (pass_done && late_count != 0);
    count[15] = sum_issue;
    count[16] = (state == IDLE && is_digit) || (is_other && command[3:0] != 0);
  end
  always_ff @(posedge clk) begin
    for (int i = 0; i < COUNTERS; i++) begin
      if (rst || (start && i != 16)) counters[i] <= rst ? '0 : 64'(count[i]);
      else counters[i] <= counters[i] + 64'(count[i]);
    end
    if (rst) begin
      length <= '0;
      query <= '0;
      aggregated <= '0;
    end else begin
      if (reg_write && reg_address == 8'h10) query <= reg_data[7:0];
      if (reg_write && reg_address == 8'h20) length <= reg_data[31:0];
      if (result_valid && result_ready) aggregated <= aggregated + 1'b1;
    end
  end
  always_comb begin
    case (reg_address)
      8'h20: reg_read = (query < 8'(COUNTERS)) ? counters[query[4:0]] : '0;
      8'h21: reg_read = 64'(queue_fill);
      8'h30: reg_read = aggregated;
      8'h35: reg_read = 64'(state);
      default: reg_read = '0;
    endcase
  end

  logic unused;
  assign unused = &{1'b0, out_full, point_tag, command, magnitude, reg_data};
endmodule
