// SPDX-License-Identifier: MIT OR Apache-2.0
// p = a * b without registers.
//
// Above 32 bits the product is written as four of halves: what the DSP blocks of FPGAs are cut to, and
// each product of halves then fits the 64-bit words of a simulator.
module mul_comb #(
    parameter int W = 48
) (
    input  logic [W-1:0]   a,
    input  logic [W-1:0]   b,
    output logic [2*W-1:0] p
);
  if (W <= 32) begin : g_word
    assign p = (2 * W)'(a) * (2 * W)'(b);
  end else begin : g_split
    localparam int H = (W + 1) / 2;
    localparam int T = W - H;
    logic [2*H-1:0] ll, lh, hl;
    logic [2*T-1:0] hh;
    mul_comb #(.W(H)) u_ll (.a(a[H-1:0]),       .b(b[H-1:0]),       .p(ll));
    mul_comb #(.W(H)) u_lh (.a(a[H-1:0]),       .b(H'(b[W-1:H])),   .p(lh));
    mul_comb #(.W(H)) u_hl (.a(H'(a[W-1:H])),   .b(b[H-1:0]),       .p(hl));
    mul_comb #(.W(T)) u_hh (.a(a[W-1:H]),       .b(b[W-1:H]),       .p(hh));
    logic [2*H:0] mid;
    assign mid = (2 * H + 1)'(lh) + (2 * H + 1)'(hl);
    assign p = {{hh, ll[2*H-1:H]} + (2 * W - H)'(mid), ll[H-1:0]};
  end
endmodule
