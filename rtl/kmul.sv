// SPDX-License-Identifier: MIT OR Apache-2.0
// p = a * b by LEV levels of Karatsuba, new operands each cycle, kmul_latency(LEV) = 2 + 3 LEV.
//
// A level splits a = ah 2^H + al and b likewise and takes three products instead of four:
//   ll = al bl,  hh = ah bh,  mm = (al + ah)(bl + bh),  p = hh 2^2H + (mm - ll - hh) 2^H + ll.
// Its three stages: the halves and their sums; mm - ll - hh; the sum. The low H bits of ll are bits of
// the result as they are, so the last adder is 2W - H bits wide.
// At W = 384 the grounds are 96..98 bits wide at LEV = 2, 48..50 at 3, 24..26 at 4.
module kmul #(
    parameter int W   = 384,
    parameter int LEV = 3
) (
    input  logic           clk,
    input  logic [W-1:0]   a,
    input  logic [W-1:0]   b,
    output logic [2*W-1:0] p
);
  if (LEV == 0) begin : g_ground
    ground_mul #(.W(W)) u_ground (.clk, .a, .b, .p);
  end else begin : g_level
    localparam int H = (W + 1) / 2;  // low half
    localparam int T = W - H;        // top half, one bit narrower if W is odd

    logic [H-1:0] al, bl;
    logic [T-1:0] ah, bh;
    logic [H:0] as, bs;
    always_ff @(posedge clk) begin
      al <= a[H-1:0];
      bl <= b[H-1:0];
      ah <= a[W-1:H];
      bh <= b[W-1:H];
      as <= (H + 1)'(a[H-1:0]) + (H + 1)'(a[W-1:H]);
      bs <= (H + 1)'(b[H-1:0]) + (H + 1)'(b[W-1:H]);
    end

    logic [2*H-1:0] ll;
    logic [2*T-1:0] hh;
    logic [2*H+1:0] mm;
    kmul #(.W(H),     .LEV(LEV - 1)) u_ll (.clk, .a(al), .b(bl), .p(ll));
    kmul #(.W(T),     .LEV(LEV - 1)) u_hh (.clk, .a(ah), .b(bh), .p(hh));
    kmul #(.W(H + 1), .LEV(LEV - 1)) u_mm (.clk, .a(as), .b(bs), .p(mm));

    // al bh + ah bl: never negative, one bit more than a product of halves.
    logic [2*H:0] mid;
    logic [2*H-1:0] ll_q;
    logic [2*T-1:0] hh_q;
    always_ff @(posedge clk) begin
      mid  <= (2 * H + 1)'(mm - (2 * H + 2)'(ll) - (2 * H + 2)'(hh));
      ll_q <= ll;
      hh_q <= hh;
      p    <= {{hh_q, ll_q[2*H-1:H]} + (2 * W - H)'(mid), ll_q[H-1:0]};
    end
  end
endmodule
