// SPDX-License-Identifier: MIT OR Apache-2.0
// The product with a constant, whole (LOW = 0) or its low half: how mont_mul and barrett_mul use their
// second and third multiplier. For counting area alone; the designs write kmul and kmul_lo.
module kmul_const #(
    parameter int W = 384,
    parameter int LEV = 3,
    parameter int LOW = 0,
    parameter logic [W-1:0] B = fieldspar_pkg::FQ_P
) (
    input  logic           clk,
    input  logic [W-1:0]   a,
    output logic [2*W-1:0] p
);
  if (LOW == 0) begin : g_whole
    kmul #(.W(W), .LEV(LEV)) u_mul (.clk, .a, .b(B), .p);
  end else begin : g_low
    kmul_lo #(.W(W), .LEV(LEV)) u_mul (.clk, .a, .b(B), .p(p[W-1:0]));
    assign p[2*W-1:W] = '0;
  end
endmodule
