// SPDX-License-Identifier: MIT OR Apache-2.0
// Unified addition on the a = -1 twisted Edwards curve, one mixed addition a cycle.
//
// Accumulator: extended coordinates (X : Y : Z : T), T = XY/Z.
// Operand, in_full = 0 (mixed): the record of an affine point, op0 = y - x, op1 = y + x, op2 = 2dxy;
//   op3 is not read.
// Operand, in_full = 1 (needs FULL = 1): extended, op0 = X, op1 = Y, op2 = Z, op3 = T.
// in_neg = 1 subtracts the operand (both forms): no separate negation is needed for signed digits.
// Every coordinate is in [0, q] on the way in and in [0, q) on the way out, Montgomery form.
//
// Time. A mixed addition accepted at cycle t (in_valid && in_ready before the edge that ends t) shows
// its result with out_valid = 1 in cycle t + EC_LATENCY (ec_latency(LEV)). A full addition uses the
// multipliers twice, at t and at t + EC_REENTRY: its result is there in cycle
// t + EC_REENTRY + EC_LATENCY, with out_full = 1. In the cycle of the second pass in_ready = 0 and an
// input would be lost; EC_REENTRY is odd, so full additions at every other cycle never see that, and
// without full additions in_ready is always 1. Results never collide and there is no back-pressure.
// in_tag comes back as out_tag with the result.
module ec_adder #(
    parameter int W    = 384,
    parameter int LEV  = 3,
    parameter bit FULL = 1'b0,
    parameter int TAGW = 16,
    localparam int EC_LATENCY = fieldspar_pkg::ec_latency(LEV),
    localparam int EC_REENTRY = fieldspar_pkg::ec_reentry(LEV)
) (
    input  logic            clk,
    input  logic            rst,       // synchronous, active high: forgets all additions in flight

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
endmodule
