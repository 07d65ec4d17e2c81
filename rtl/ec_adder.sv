// SPDX-License-Identifier: MIT OR Apache-2.0
// Unified addition on the a = -1 twisted Edwards curve, one mixed addition a cycle.
//
// Formula: Hisil, Wong, Carter, Dawson, "Twisted Edwards Curves Revisited" (2008), section 4.2, seven
// multiplications with a precomputed operand. It adds any two points of the prime-order subgroup, equal
// and opposite ones and the identity (0 : 1 : 1 : 0) too.
//   A = (Y - X) op0,  B = (Y + X) op1,  C = T op2,  D = 2Z                     (three multipliers)
//   E = B - A,  F = D - C,  G = D + C,  H = B + A
//   X' = E F,  Y' = G H,  Z' = F G,  T' = E H                                  (four multipliers)
// Full form: the first pass takes Z := Z1 Z2 and kT := 2d T2 through two of the first multipliers, the
// second is a mixed addition with op0 = Y2 - X2, op1 = Y2 + X2, op2 = kT.
// Subtraction: -(x, y) = (-x, y), so op0 and op1 change places and so do F and G.
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
// The sums before the products stay unreduced: their products are below 152 q^2, which is all that
// mont_mul asks for, and every product is reduced at its end.
//
// in_tag comes back as out_tag with the result.
module ec_adder #(
    parameter int W    = 384,
    parameter int LEV  = 3,
    parameter int FULL = 0,
    parameter int TAGW = 16,
    parameter logic [W-1:0] P       = fieldspar_pkg::FQ_P,
    parameter logic [W-1:0] NEG_INV = fieldspar_pkg::FQ_NEG_INV,
    parameter logic [W-1:0] K       = fieldspar_pkg::EDWARDS_2D,
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
  localparam int MUL = fieldspar_pkg::mont_latency(LEV);

  // ---- The operands of the first multipliers ------------------------------------------------------

  // What a cycle puts into the first multipliers.
  typedef struct packed {
    logic [W-1:0] a0, b0;  // A
    logic [W-1:0] a1, b1;  // B
    logic [W-1:0] a2, b2;  // C
    logic [W-1:0] z;       // for D
  } first_t;

  first_t mixed, first, first_q;
  always_comb begin
    mixed.a0 = acc_y - acc_x + P;
    mixed.b0 = in_neg ? op1 : op0;
    mixed.a1 = acc_y + acc_x;
    mixed.b1 = in_neg ? op0 : op1;
    mixed.a2 = acc_t;
    mixed.b2 = op2;
    mixed.z  = acc_z;
  end
  always_ff @(posedge clk) first_q <= first;

  logic [W-1:0] product_a, product_b, product_c;
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_a (
      .clk, .rst, .a(first_q.a0), .b(first_q.b0), .r(product_a));
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_b (
      .clk, .rst, .a(first_q.a1), .b(first_q.b1), .r(product_b));
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_c (
      .clk, .rst, .a(first_q.a2), .b(first_q.b2), .r(product_c));

  // ---- Which addition they serve ------------------------------------------------------------------

  // Of the addition whose mixed form enters the first multipliers in this cycle.
  logic start, start_full, start_neg;
  logic [TAGW-1:0] start_tag;

  if (FULL != 0) begin : g_full
    localparam int WAIT = EC_REENTRY - (1 + MUL);  // 1 if the latency had to be made odd

    logic [EC_REENTRY-1:0] on_way;
    logic again;
    always_ff @(posedge clk) begin
      if (rst) on_way <= '0;
      else on_way <= {on_way[EC_REENTRY-2:0], in_valid && in_ready && in_full};
    end
    assign again = on_way[EC_REENTRY-1];
    assign in_ready = !again;

    // The sums of both points wait for Z1 Z2 and kT.
    logic [W-1:0] minus1, plus1, minus2, plus2, t1;
    logic neg;
    logic [TAGW-1:0] tag;
    delay_line #(.W(5 * W + 1 + TAGW), .N(EC_REENTRY)) u_operands (
        .clk, .rst,
        .d({mixed.a0, mixed.a1, op1 - op0 + P, op1 + op0, acc_t, in_neg, in_tag}),
        .q({minus1, plus1, minus2, plus2, t1, neg, tag})
    );
    logic [W-1:0] zz, kt;
    delay_line #(.W(2 * W), .N(WAIT)) u_products (.clk, .rst, .d({product_a, product_b}), .q({zz, kt}));

    always_comb begin
      first = mixed;
      if (again) begin
        first.a0 = minus1;
        first.b0 = neg ? plus2 : minus2;
        first.a1 = plus1;
        first.b1 = neg ? minus2 : plus2;
        first.a2 = t1;
        first.b2 = kt;
        first.z  = zz;
      end else if (in_full) begin
        first.a0 = acc_z;
        first.b0 = op2;
        first.a1 = op3;
        first.b1 = K;
      end
    end

    assign start = again || (in_valid && !in_full);
    assign start_full = again;
    assign start_neg = again ? neg : in_neg;
    assign start_tag = again ? tag : in_tag;
  end else begin : g_mixed
    assign first = mixed;
    assign in_ready = 1'b1;
    assign start = in_valid;
    assign start_full = 1'b0;
    assign start_neg = in_neg;
    assign start_tag = in_tag;
    logic unused;
    assign unused = &{1'b0, in_full, op3, K};
  end

  // ---- Sums, and the last multipliers -------------------------------------------------------------

  logic [W-1:0] z;
  delay_line #(.W(W), .N(MUL)) u_z (.clk, .rst, .d(first_q.z), .q(z));
  logic negated;
  delay_line #(.W(1), .N(1 + MUL)) u_neg (.clk, .rst, .d(start_neg), .q(negated));

  logic [W-1:0] e, f, g, h, less, more;
  assign less = (z << 1) - product_c + P;
  assign more = (z << 1) + product_c;
  always_ff @(posedge clk) begin
    e <= product_b - product_a + P;
    h <= product_b + product_a;
    f <= negated ? more : less;
    g <= negated ? less : more;
  end

  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_x (.clk, .rst, .a(e), .b(f), .r(out_x));
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_y (.clk, .rst, .a(g), .b(h), .r(out_y));
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_zz (.clk, .rst, .a(f), .b(g), .r(out_z));
  mont_mul #(.W(W), .LEV(LEV), .P(P), .NEG_INV(NEG_INV)) u_t (.clk, .rst, .a(e), .b(h), .r(out_t));

  // ---- What travels along -------------------------------------------------------------------------

  // Only this is reset: without it nothing that is inside counts.
  logic [EC_LATENCY-1:0] valid;
  always_ff @(posedge clk) begin
    if (rst) valid <= '0;
    else valid <= {valid[EC_LATENCY-2:0], start};
  end
  assign out_valid = valid[EC_LATENCY-1];
  delay_line #(.W(1 + TAGW), .N(EC_LATENCY)) u_tag (
      .clk, .rst, .d({start_full, start_tag}), .q({out_full, out_tag})
  );
endmodule
