// SPDX-License-Identifier: MIT OR Apache-2.0
// Constants of the MSM machine: the field, the curve, and the latency of every arithmetic block.
//
// Field: Fq of BLS12-377 (377 bits). Elements travel in Montgomery form x*R mod q with R = 2^384, six
// limbs of 64 bits: the bytes that arkworks keeps in memory.
// Curve: the a = -1 twisted Edwards form of BLS12-377 G1, -x^2 + y^2 = 1 + d x^2 y^2.
//
// Every block is a pipeline of fixed latency that takes new operands each cycle. The functions below
// give the number of clock edges from operands to result; they are the only place where a latency is
// written down. LEV is the number of Karatsuba levels.
// No design uses every constant.
/* verilator lint_off UNUSEDPARAM */
package fieldspar_pkg;

  // Width of a field element in bits.
  localparam int FQ_W = 384;

  // q.
  localparam logic [383:0] FQ_P =
    384'h01ae3a4617c510eac63b05c06ca1493b1a22d9f300f5138f1ef3622fba094800170b5d44300000008508c00000000001;
  // -1/q mod 2^384.
  localparam logic [383:0] FQ_NEG_INV =
    384'hbfa5205feec82e3d22f80141806a3cec5b245b86cced7a1335ed1347970debffd1e94577a00000008508bfffffffffff;
  // 2^384 mod q: one in Montgomery form.
  localparam logic [383:0] FQ_ONE =
    384'h008d6661e2fdf49a4cf495bf803c84e87b4e97b76e7c63059f7db3a98a7d3ff251409f837fffffb102cdffffffffff68;

  // floor(2^(2*377 + 5) / q): the reciprocal of barrett_mul with N = 377, SLACK = 4.
  localparam logic [383:0] FQ_BARRETT =
    384'h4c2a11a19880c1d2ed87940b05de9ee7775a1bcceed6340d5e5a911b0b4da05a1dad0ef138854b23f3fab18bc9b5ff99;
  // 2d of the curve in Montgomery form: the k of a record's third word k x y.
  localparam logic [383:0] EDWARDS_2D =
    384'h01784602fbff628a8bf6c1dd0d95a93e5597097dc5f2bb260f4d7cf27ef38fa5eae0237580faa8faf24b7e8444a706c6;

  // mod_add, mod_sub.
  localparam int MOD_ADD_LATENCY = 2;

  // The full product of two W-bit numbers: 2 at the ground, 3 more a level.
  function automatic int kmul_latency(input int lev);
    kmul_latency = 2 + 3 * lev;
  endfunction

  // The low half of the product.
  function automatic int kmul_lo_latency(input int lev);
    kmul_lo_latency = (lev == 0) ? 2 : 1 + 3 * lev;
  endfunction

  // Montgomery product: full, low, full, sum, conditional subtraction.
  function automatic int mont_latency(input int lev);
    mont_latency = 2 * kmul_latency(lev) + kmul_lo_latency(lev) + 2;
  endfunction

  // Barrett product: full, high (a full one), low, difference, conditional subtraction.
  function automatic int barrett_latency(input int lev);
    barrett_latency = 2 * kmul_latency(lev) + kmul_lo_latency(lev) + 2;
  endfunction

  // Edwards addition: operand sums, first products, sums, last products.
  function automatic int ec_latency(input int lev);
    ec_latency = 2 + 2 * mont_latency(lev);
  endfunction

  // Full addition: cycles from the first pass to the second. Odd, so that full additions at every other
  // cycle never meet their own second passes.
  function automatic int ec_reentry(input int lev);
    ec_reentry = (1 + mont_latency(lev)) | 1;
  endfunction

endpackage
/* verilator lint_on UNUSEDPARAM */
