// SPDX-License-Identifier: MIT OR Apache-2.0
// Every arithmetic block of one LEV side by side on the same operands, for tests; the latencies as
// outputs, so that a test reads them where the design does.
module blocks #(
    parameter int LEV = 3
) (
    input  logic         clk,
    input  logic         rst,
    input  logic [383:0] a,
    input  logic [383:0] b,

    output logic [767:0] kmul,
    output logic [383:0] kmul_lo,
    output logic [383:0] mont,
    output logic [383:0] barrett,
    output logic [383:0] sum,
    output logic [383:0] difference,

    output logic [15:0] kmul_latency,
    output logic [15:0] kmul_lo_latency,
    output logic [15:0] mont_latency,
    output logic [15:0] barrett_latency,
    output logic [15:0] mod_latency,
    output logic [15:0] ec_latency,
    output logic [15:0] ec_reentry
);
  kmul        #(.W(384), .LEV(LEV)) u_kmul    (.clk, .a, .b, .p(kmul));
  kmul_lo     #(.W(384), .LEV(LEV)) u_kmul_lo (.clk, .a, .b, .p(kmul_lo));
  mont_mul    #(.LEV(LEV))          u_mont    (.clk, .rst, .a, .b, .r(mont));
  barrett_mul #(.LEV(LEV))          u_barrett (.clk, .rst, .a, .b, .r(barrett));
  mod_add                           u_sum     (.clk, .a, .b, .r(sum));
  mod_sub                           u_diff    (.clk, .a, .b, .r(difference));

  assign kmul_latency    = 16'(fieldspar_pkg::kmul_latency(LEV));
  assign kmul_lo_latency = 16'(fieldspar_pkg::kmul_lo_latency(LEV));
  assign mont_latency    = 16'(fieldspar_pkg::mont_latency(LEV));
  assign barrett_latency = 16'(fieldspar_pkg::barrett_latency(LEV));
  assign mod_latency     = 16'(fieldspar_pkg::MOD_ADD_LATENCY);
  assign ec_latency      = 16'(fieldspar_pkg::ec_latency(LEV));
  assign ec_reentry      = 16'(fieldspar_pkg::ec_reentry(LEV));
endmodule
