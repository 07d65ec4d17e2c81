// The device code that the test calls, for the curve MSM_CURVE: one line for each function. `in` and `out`
// are one item's words. Values come and go as the functions have them, so lazy ones may be p or more.
#include "cuda_host.h"

#include "curve.cuh"

struct Operation {
  const char* name;
  u32 in, out;
  void (*run)(const u32* in, u32* out);
};

template <class T>
static T take(const u32*& in) {
  T value;
  for (u32 i = 0; i < sizeof(T) / 4; i++) ((u32*)&value)[i] = *in++;
  return value;
}
template <class T>
static void give(u32*& out, const T& value) {
  for (u32 i = 0; i < sizeof(T) / 4; i++) *out++ = ((const u32*)&value)[i];
}

template <Fq (*F)(const Fq&)>
static void one(const u32* in, u32* out) {
  give(out, F(take<Fq>(in)));
}
template <Fq (*F)(const Fq&, const Fq&)>
static void two(const u32* in, u32* out) {
  Fq a = take<Fq>(in);
  give(out, F(a, take<Fq>(in)));
}
static void mul_add(const u32* in, u32* out) {
  Fq a = take<Fq>(in), b = take<Fq>(in), c = take<Fq>(in);
  give(out, lz_mul_add(a, b, c, take<Fq>(in)));
}
static void is_zero(const u32* in, u32* out) { *out = lz_is_zero(take<Fq>(in)); }

template <class A, class P>
static void mixed(const u32* in, u32* out) {
  A acc = take<A>(in);
  P point = take<P>(in);
  acc_add_affine(acc, point, *in != 0);
  give(out, acc);
}
template <class A>
static void full(const u32* in, u32* out) {
  A acc = take<A>(in);
  acc_add(acc, take<A>(in));
  give(out, acc);
}
template <class A>
static void twice(const u32* in, u32* out) {
  give(out, acc_double(take<A>(in)));
}
template <class A>
static void canonical(const u32* in, u32* out) {
  give(out, acc_canonical(take<A>(in)));
}
static void to_affine(const u32* in, u32* out) {
  Xyzz p = take<Xyzz>(in);
  give(out, acc_to_affine(p, fq_inverse(acc_denominator(p))));
}

#if MSM_EDWARDS
static void image(const u32* in, u32* out) {
  Fq x = take<Fq>(in), y = take<Fq>(in);
  give(out, edwards_image(x, y, fq_inverse(edwards_denominator(x, y))));
  *out = edwards_has_image(x, y);
}
static void edwards_constants(const u32*, u32* out) {
  give(out, edwards_d());
  give(out, edwards_s());
  give(out, edwards_f());
  give(out, edwards_identity());
}
#endif

static void constants(const u32*, u32* out) {
  give(out, multiple_of_p(1));
  give(out, fq_one());
  give(out, acc_identity());
}

constexpr u32 ACC = sizeof(Xyzz) / 4, AFFINE = sizeof(Affine) / 4;

static const Operation OPERATIONS[] = {
    {"constants", 0, 2 * N + sizeof(Acc) / 4, constants},
    {"fq_mul", 2 * N, N, two<fq_mul>},
    {"fq_sqr", N, N, one<fq_sqr>},
    {"fq_add", 2 * N, N, two<fq_add>},
    {"fq_sub", 2 * N, N, two<fq_sub>},
    {"fq_neg", N, N, one<fq_neg>},
    {"fq_inverse", N, N, one<fq_inverse>},
    {"lz_mul", 2 * N, N, two<lz_mul>},
    {"lz_sqr", N, N, one<lz_sqr>},
    {"lz_mul_add", 4 * N, N, mul_add},
    {"lz_sub_mod", 2 * N, N, two<lz_sub_mod<2>>},
    {"lz_sub", 2 * N, N, two<lz_sub<2>>},
    {"lz_reduce", N, N, one<lz_reduce<2>>},
    {"lz_is_zero", N, 1, is_zero},
    {"mixed", ACC + AFFINE + 1, ACC, mixed<Xyzz, Affine>},
    {"full", 2 * ACC, ACC, full<Xyzz>},
    {"twice", ACC, ACC, twice<Xyzz>},
    {"canonical", ACC, ACC, canonical<Xyzz>},
    {"to_affine", ACC, AFFINE, to_affine},
#if MSM_EDWARDS
    {"edwards_constants", 0, 7 * N, edwards_constants},
    {"edwards_image", 2 * N, 3 * N + 1, image},
    {"edwards_mixed", 7 * N + 1, 4 * N, mixed<EdExt, Ed3>},
    {"edwards_full", 8 * N, 4 * N, full<EdExt>},
    {"edwards_twice", 4 * N, 4 * N, twice<EdExt>},
    {"edwards_canonical", 4 * N, 4 * N, canonical<EdExt>},
#endif
};

extern "C" const Operation* operations(size_t* count) {
  *count = sizeof OPERATIONS / sizeof OPERATIONS[0];
  return OPERATIONS;
}
