// The base field, in Montgomery form with R = 2^(32 N): 12 limbs of 32 bits (BLS12-377, BLS12-381), 8
// (BN254). In memory an element is what the Rust side and arkworks hold: little-endian limbs, below p.
//
// fq_* take and give canonical values, below p. lz_* are lazy: each says its bounds in multiples of p. A
// lazy product leaves out the last subtraction: from factors below k p and l p it gives less than
// (k l / (R / p) + 1) p, where R / p is 152 (377), 9.84 (381), 5.29 (254).
//
// The accumulator of a product is two numbers, even + 2^32 odd. The products of one limb with every
// second limb of the other factor lie side by side, so they are added to each of the two in one chain of
// carries without an overlap. A product and its reduction go limb by limb; after each the accumulator is
// divided by 2^32, by which even and odd change places. 2 N wide products a limb, N + 1 N in all with the
// factors: 288 + 12 for 12 limbs (BLS12-377, whose prime ends in the limb one: 276), half-rate on NVIDIA
// chips since Volta, and the bound of everything here.
//
// Squares are 78 + 144 of them. A sum of two products shares the reduction: 2 * 144 + 144.
#pragma once

#include "modulus.cuh"

struct Fq {
    u32 l[N];
};

// The multiplier wants the prime in registers: an operand that the assembler knows to be constant breaks
// the fusion of lo, hi pairs.
#ifdef __CUDA_ARCH__
__device__ Words MODULUS = {MSM_PRIME};
__device__ u32 ZERO = 0;
#else
static const Words MODULUS = {MSM_PRIME};
static const u32 ZERO = 0;
#endif

struct Modulus {
    u32 l[N];
    u32 zero;
};
FN Modulus modulus() {
    Modulus p;
#pragma unroll
    for (int i = 0; i < N; i++) p.l[i] = MODULUS.l[i];
    p.zero = ZERO;
    return p;
}

// ---- rows: the products of one limb ----

// even += a_FIRST.. b at even positions, and odd, shifted down by two limbs, += those at odd ones. Limbs of
// a below FIRST count as zero.
template <int FIRST>
FN void product_row(u32 (&even)[N], u32 (&odd)[N], const u32 (&a)[N], u32 b) {
    constexpr int ODD = FIRST | 1, EVEN = (FIRST + 1) & ~1;
#pragma unroll
    for (int j = 1; j < N; j += 2) {
        u32 low = j + 2 < N ? odd[j + 1] : 0, high = j + 2 < N ? odd[j + 2] : 0;
        if (j < ODD) {
            odd[j - 1] = low, odd[j] = high;
        } else {
            odd[j - 1] = j == ODD ? mad_lo_cc(a[j], b, low) : madc_lo_cc(a[j], b, low);
            odd[j] = j == N - 1 ? madc_hi(a[j], b, high) : madc_hi_cc(a[j], b, high);
        }
    }
#pragma unroll
    for (int j = EVEN; j < N; j += 2) {
        even[j] = j == EVEN ? mad_lo_cc(a[j], b, even[j]) : madc_lo_cc(a[j], b, even[j]);
        even[j + 1] = madc_hi_cc(a[j], b, even[j + 1]);
    }
    if (EVEN < N) odd[N - 1] = addc(odd[N - 1], 0);
}

// The same without a shift: a second product in the same row.
FN void product_row_again(u32 (&even)[N], u32 (&odd)[N], const u32 (&a)[N], u32 b) {
#pragma unroll
    for (int j = 1; j < N; j += 2) {
        odd[j - 1] = j == 1 ? mad_lo_cc(a[j], b, odd[j - 1]) : madc_lo_cc(a[j], b, odd[j - 1]);
        odd[j] = j == N - 1 ? madc_hi(a[j], b, odd[j]) : madc_hi_cc(a[j], b, odd[j]);
    }
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        even[j] = j == 0 ? mad_lo_cc(a[j], b, even[j]) : madc_lo_cc(a[j], b, even[j]);
        even[j + 1] = madc_hi_cc(a[j], b, even[j + 1]);
    }
    odd[N - 1] = addc(odd[N - 1], 0);
}

// The first row of a product.
FN void product_row_first(u32 (&even)[N], u32 (&odd)[N], const u32 (&a)[N], u32 b) {
#pragma unroll
    for (int j = 0; j < N; j += 2) {
        even[j] = mad_lo_cc(a[j], b, 0), even[j + 1] = madc_hi(a[j], b, 0);
        odd[j] = mad_lo_cc(a[j + 1], b, 0), odd[j + 1] = madc_hi(a[j + 1], b, 0);
    }
}

// Adds the multiple of p that makes the lowest limb zero, and `carried` to that limb before: what the
// division by 2^32 left over.
template <bool CARRIED>
FN void reduction_row(u32 (&even)[N], u32 (&odd)[N], u32 carried, const Modulus& p) {
    if (CARRIED) even[0] = add_cc(even[0], carried);
    u32 m = P_ENDS_IN_ONE ? p.zero - even[0] : even[0] * P_INV;
#pragma unroll
    for (int j = 1; j < N; j += 2) {
        odd[j - 1] = j == 1 && !CARRIED ? mad_lo_cc(p.l[j], m, odd[j - 1]) : madc_lo_cc(p.l[j], m, odd[j - 1]);
        odd[j] = j == N - 1 ? madc_hi(p.l[j], m, odd[j]) : madc_hi_cc(p.l[j], m, odd[j]);
    }
    if (P_ENDS_IN_ONE) {
        even[0] = add_cc(even[0], m);
        even[1] = addc_cc(even[1], 0);
    }
#pragma unroll
    for (int j = P_ENDS_IN_ONE ? 2 : 0; j < N; j += 2) {
        even[j] = j == 0 ? mad_lo_cc(p.l[j], m, even[j]) : madc_lo_cc(p.l[j], m, even[j]);
        even[j + 1] = madc_hi_cc(p.l[j], m, even[j + 1]);
    }
    odd[N - 1] = addc(odd[N - 1], 0);
}

// The accumulator after the last row, divided by 2^32.
FN Fq product_end(const u32 (&even)[N], const u32 (&odd)[N]) {
    Fq r;
    r.l[0] = add_cc(odd[0], even[1]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(odd[i], even[i + 1]);
    r.l[N - 1] = addc(odd[N - 1], 0);
    return r;
}

// ---- products ----

// With MSM_CALLS 1 a product is a call: a tenth slower, and code that takes a tenth of the time to compile.
#if MSM_CALLS
#define PRODUCT static __device__ __noinline__
#else
#define PRODUCT FN
#endif

PRODUCT Fq product(Fq a, Fq b) {
    Modulus p = modulus();
    u32 x[N], y[N];
    product_row_first(x, y, a.l, b.l[0]);
    reduction_row<false>(x, y, 0, p);
#pragma unroll
    for (int i = 1; i < N; i += 2) {
        u32 carried = x[1];
        product_row<0>(y, x, a.l, b.l[i]);
        reduction_row<true>(y, x, carried, p);
        if (i + 1 < N) {
            carried = y[1];
            product_row<0>(x, y, a.l, b.l[i + 1]);
            reduction_row<true>(x, y, carried, p);
        }
    }
    return product_end(y, x);
}

// a b / R. (a + p) 2^32 has to be below 2^(32 (N + 1)): any a below R - p.
FN Fq lz_mul(const Fq& a, const Fq& b) { return product(a, b); }

PRODUCT Fq product_sum(Fq a, Fq b, Fq c, Fq d) {
    Modulus p = modulus();
    u32 x[N], y[N];
    product_row_first(x, y, a.l, b.l[0]);
    product_row_again(x, y, c.l, d.l[0]);
    reduction_row<false>(x, y, 0, p);
#pragma unroll
    for (int i = 1; i < N; i += 2) {
        u32 carried = x[1];
        product_row<0>(y, x, a.l, b.l[i]);
        product_row_again(y, x, c.l, d.l[i]);
        reduction_row<true>(y, x, carried, p);
        if (i + 1 < N) {
            carried = y[1];
            product_row<0>(x, y, a.l, b.l[i + 1]);
            product_row_again(x, y, c.l, d.l[i + 1]);
            reduction_row<true>(x, y, carried, p);
        }
    }
    return product_end(y, x);
}

// (a b + c d) / R. a + c + p has to be below R.
FN Fq lz_mul_add(const Fq& a, const Fq& b, const Fq& c, const Fq& d) { return product_sum(a, b, c, d); }

// Row I of a square: a_I^2 and the doubled products of a_I with the limbs above it. `twice` is 2 a.
template <int I>
FN void square_rows(u32 (&x)[N], u32 (&y)[N], const u32 (&a)[N], const u32 (&twice)[N], const Modulus& p) {
    if constexpr (I < N) {
        // The limb above I without the bit that came from limb I.
        u32 row[N];
#pragma unroll
        for (int j = 0; j < N; j++) row[j] = j == I ? a[j] : j == I + 1 ? a[j] << 1 : twice[j];
        if constexpr (I == 0) {
            product_row_first(x, y, row, a[0]);
            reduction_row<false>(x, y, 0, p);
            square_rows<1>(x, y, a, twice, p);
        } else {
            u32 carried = x[1];
            product_row<I>(y, x, row, a[I]);
            reduction_row<true>(y, x, carried, p);
            square_rows<I + 1>(y, x, a, twice, p);
        }
    }
}

#if MSM_CALLS
FN Fq square(Fq a) { return product(a, a); }
#else
FN Fq square(Fq a) {
    Modulus p = modulus();
    u32 twice[N], x[N], y[N];
    twice[0] = a.l[0] << 1;
#pragma unroll
    for (int j = 1; j < N; j++) twice[j] = a.l[j] << 1 | a.l[j - 1] >> 31;
    square_rows<0>(x, y, a.l, twice, p);
    // N rows, an even number: the last one ended as (y, x).
    return product_end(y, x);
}
#endif

// a^2 / R. a has to be below R / 2 - p / 2.
FN Fq lz_sqr(const Fq& a) { return square(a); }

// ---- sums ----

template <int K>
FN u32 multiple_limb(int i) {
    constexpr Words w = multiple_of_p(K);
    return w.l[i];
}

// a + b, which has to be below R.
FN Fq lz_add(const Fq& a, const Fq& b) {
    Fq r;
    r.l[0] = add_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(a.l[i], b.l[i]);
    r.l[N - 1] = addc(a.l[N - 1], b.l[N - 1]);
    return r;
}

// a - b + K p, for b of K p at most, and a + K p below R.
template <int K>
FN Fq lz_sub(const Fq& a, const Fq& b) {
    Fq r;
    r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = subc_cc(a.l[i], b.l[i]);
    r.l[N - 1] = subc(a.l[N - 1], b.l[N - 1]);
    r.l[0] = add_cc(r.l[0], multiple_limb<K>(0));
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(r.l[i], multiple_limb<K>(i));
    r.l[N - 1] = addc(r.l[N - 1], multiple_limb<K>(N - 1));
    return r;
}

// a - b, plus K p if that is negative: below K p for a and b below K p.
template <int K>
FN Fq lz_sub_mod(const Fq& a, const Fq& b) {
    Fq r;
    r.l[0] = sub_cc(a.l[0], b.l[0]);
#pragma unroll
    for (int i = 1; i < N; i++) r.l[i] = subc_cc(a.l[i], b.l[i]);
    u32 mask = subc(0, 0);
    r.l[0] = add_cc(r.l[0], multiple_limb<K>(0) & mask);
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = addc_cc(r.l[i], multiple_limb<K>(i) & mask);
    r.l[N - 1] = addc(r.l[N - 1], multiple_limb<K>(N - 1) & mask);
    return r;
}

// K p - a, for a of K p at most.
template <int K>
FN Fq lz_neg(const Fq& a) {
    Fq r;
    r.l[0] = sub_cc(multiple_limb<K>(0), a.l[0]);
#pragma unroll
    for (int i = 1; i < N - 1; i++) r.l[i] = subc_cc(multiple_limb<K>(i), a.l[i]);
    r.l[N - 1] = subc(multiple_limb<K>(N - 1), a.l[N - 1]);
    return r;
}

// a, less K p if it is K p or more.
template <int K>
FN Fq lz_reduce(const Fq& a) {
    Fq r;
    r.l[0] = sub_cc(a.l[0], multiple_limb<K>(0));
#pragma unroll
    for (int i = 1; i < N; i++) r.l[i] = subc_cc(a.l[i], multiple_limb<K>(i));
    u32 below = subc(0, 0);
#pragma unroll
    for (int i = 0; i < N; i++) r.l[i] = below ? a.l[i] : r.l[i];
    return r;
}

// Whether every limb is zero. A product is all zero whenever a factor is.
FN bool limbs_zero(const Fq& a) {
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < N; i++) any |= a.l[i];
    return any == 0;
}

// Whether a, below 4 p, is a multiple of p.
FN bool lz_is_zero(const Fq& a) {
    // Nearly always decided by one limb.
    u32 l = a.l[0];
    bool maybe = l == 0 || l == multiple_limb<1>(0) || l == multiple_limb<2>(0) || l == multiple_limb<3>(0);
    return maybe && limbs_zero(lz_reduce<1>(lz_reduce<2>(a)));
}

// ---- canonical values ----

FN Fq fq_zero() { return Fq{}; }

FN Fq fq_one() {
    constexpr Words one = to_montgomery(Words{{1}});
    Fq r;
#pragma unroll
    for (int i = 0; i < N; i++) r.l[i] = one.l[i];
    return r;
}

// [0, 2 p) -> [0, p)
FN Fq fq_reduce(const Fq& a) { return lz_reduce<1>(a); }
FN Fq fq_mul(const Fq& a, const Fq& b) { return fq_reduce(lz_mul(a, b)); }
FN Fq fq_sqr(const Fq& a) { return fq_reduce(lz_sqr(a)); }
FN Fq fq_add(const Fq& a, const Fq& b) { return fq_reduce(lz_add(a, b)); }
FN Fq fq_sub(const Fq& a, const Fq& b) { return lz_sub_mod<1>(a, b); }
FN Fq fq_neg(const Fq& a) { return fq_sub(fq_zero(), a); }
FN bool fq_is_zero(const Fq& a) { return limbs_zero(a); }

// `choose` ? a : b
FN Fq fq_select(bool choose, const Fq& a, const Fq& b) {
    Fq r;
#pragma unroll
    for (int i = 0; i < N; i++) r.l[i] = choose ? a.l[i] : b.l[i];
    return r;
}

// a^-1 by Fermat, a^(p - 2); 0 for 0. About 1.25 * 32 N products: for one value a block, or a batch.
__device__ __noinline__ Fq fq_inverse(const Fq& a) {
    Words exponent = {MSM_PRIME};
    // No borrow: the lowest limb of 377's prime is one, so it may go below.
    u32 borrow = exponent.l[0] < 2;
    exponent.l[0] -= 2;
    for (int i = 1; i < N && borrow; i++) {
        borrow = exponent.l[i] == 0;
        exponent.l[i]--;
    }
    Fq r = fq_one();
#pragma unroll 1
    for (int bit = 32 * N - 1; bit >= 0; bit--) {
        r = lz_sqr(r);
        if (exponent.l[bit >> 5] >> (bit & 31) & 1) r = lz_mul(r, a);
    }
    return fq_reduce(r);
}
