// SPDX-License-Identifier: MIT OR Apache-2.0
// A delay line with the ports and the timing of ec_adder, for tests of what surrounds it: cheap to build
// and to simulate. In place of the curve it adds words modulo 2^W, so that sums can be checked:
//   mixed  x +- op0, y +- op1, z +- op2, t + 1        full  x +- op0, y +- op1, z +- op2, t + op3
// The neutral element is (0, 0, 0, 0); t counts additions.
module ec_delay #(
    parameter int W       = 32,
    parameter int LATENCY = 52,
    parameter int REENTRY = 27,
    parameter int TAGW    = 16
) (
    input  logic            clk,
    input  logic            rst,

    input  logic            in_valid,
    output logic            in_ready,
    input  logic            in_full,
    input  logic            in_neg,
    input  logic [W-1:0]    acc_x,
    input  logic [W-1:0]    acc_y,
    input  logic [W-1:0]    acc_z,
    input  logic [W-1:0]    acc_t,
    input  logic [W-1:0]    op0,
    input  logic [W-1:0]    op1,
    input  logic [W-1:0]    op2,
    input  logic [W-1:0]    op3,
    input  logic [TAGW-1:0] in_tag,

    output logic            out_valid,
    output logic            out_full,
    output logic [W-1:0]    out_x,
    output logic [W-1:0]    out_y,
    output logic [W-1:0]    out_z,
    output logic [W-1:0]    out_t,
    output logic [TAGW-1:0] out_tag
);
  localparam int PAYLOAD = 4 * W + 1 + TAGW;

  logic accept;
  assign accept = in_valid && in_ready;

  logic [PAYLOAD-1:0] sum, again_sum, start_sum;
  assign sum = {
    in_neg ? acc_x - op0 : acc_x + op0,
    in_neg ? acc_y - op1 : acc_y + op1,
    in_neg ? acc_z - op2 : acc_z + op2,
    in_full ? acc_t + op3 : acc_t + W'(1),
    in_full,
    in_tag
  };

  // Full additions come by once more.
  logic [REENTRY-1:0] on_way;
  always_ff @(posedge clk) begin
    if (rst) on_way <= '0;
    else on_way <= REENTRY'({on_way, accept && in_full});
  end
  logic again;
  assign again = on_way[REENTRY-1];
  assign in_ready = !again;
  delay_line #(.W(PAYLOAD), .N(REENTRY)) u_again (.clk, .rst, .d(sum), .q(again_sum));
  assign start_sum = again ? again_sum : sum;

  logic [LATENCY-1:0] valid;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else valid <= LATENCY'({valid, again || (accept && !in_full)});
  end
  assign out_valid = valid[LATENCY-1];
  delay_line #(.W(PAYLOAD), .N(LATENCY)) u_line (
      .clk, .rst, .d(start_sum), .q({out_x, out_y, out_z, out_t, out_full, out_tag})
  );
endmodule
