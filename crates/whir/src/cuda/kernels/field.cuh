// BabyBear, p = 15 * 2^27 + 1, in Montgomery form with R = 2^32, and its binomial extensions.
//
// Every value is canonical (below p) unless a name says lazy. Costs on the integer pipes of a
// recent NVIDIA chip: a sum is 2 instructions, a product 4 (two of them wide): the reduction is one
// 32-bit product and one high product with a 64-bit addend.
//
// The same text compiles for the host, where the PTX has a plain C++ branch beside it.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define FN __device__ __forceinline__

constexpr u32 P = 0x78000001u;
constexpr u32 NEG_P_INV = 0x77ffffffu; // -p^-1 mod 2^32

__device__ constexpr u32 to_montgomery(u32 x) { return (u32)(((u64)x << 32) % P); }

constexpr u32 ONE = to_montgomery(1);
constexpr u32 R_SQUARED = to_montgomery(to_montgomery(1)); // R^2 mod p

// [0, 2p) -> [0, p)
FN u32 reduce_once(u32 x) { return min(x, x - P); }

FN u32 add(u32 a, u32 b) { return reduce_once(a + b); }

FN u32 sub(u32 a, u32 b) {
    u32 d = a - b;
    return min(d, d + P);
}

// x / 2^32 mod p, below x / 2^32 + p.
FN u32 redc_lazy(u64 x) {
#ifdef __CUDA_ARCH__
    u32 lo = (u32)x, hi = (u32)(x >> 32), t = lo * NEG_P_INV, r;
    asm("{.reg .u32 z; mad.lo.cc.u32 z, %1, %2, %3; madc.hi.u32 %0, %1, %2, %4;}"
        : "=r"(r)
        : "r"(t), "r"(P), "r"(lo), "r"(hi));
    return r;
#else
    u32 t = (u32)x * NEG_P_INV;
    return (u32)(((u64)t * P + x) >> 32);
#endif
}

// x / 2^32 mod p for x < p 2^32.
FN u32 redc(u64 x) { return reduce_once(redc_lazy(x)); }

// [0, ap) x [0, bp) -> [0, (0.469 ab + 1) p)
FN u32 mul_lazy(u32 a, u32 b) { return redc_lazy((u64)a * b); }

FN u32 mul(u32 a, u32 b) { return reduce_once(mul_lazy(a, b)); }

FN u32 halve(u32 x) { return (x + ((x & 1) ? P : 0u)) >> 1; }

// x 2^-K by shifts: p = 15 * 2^27 + 1, so adding m p with m = -x mod 2^K clears the low bits.
template <int K>
FN u32 div_2exp(u32 x) {
    u32 m = (0u - x) & ((1u << K) - 1u);
    return ((x + m) >> K) + m * (15u << (27 - K));
}

// x * factor mod p for any word x, below (1 + x / 2^32) p; factor not in Montgomery form, ratio =
// floor(factor * 2^32 / p). One slot of the multiplier less than Montgomery's product.
FN u32 mul_known(u32 x, u32 factor, u32 ratio) {
    return x * factor - (u32)(((u64)x * ratio) >> 32) * P;
}

FN u32 from_canonical(u32 x) { return mul(x, R_SQUARED); }
FN u32 to_canonical(u32 x) { return redc((u64)x); }

FN u32 power(u32 base, u32 exponent) {
    u32 result = ONE;
    while (exponent) {
        if (exponent & 1) result = mul(result, base);
        base = mul(base, base);
        exponent >>= 1;
    }
    return result;
}

// ---- sums of products, reduced once at the end ----
// A product of two canonical values is below 0.469 p 2^32, so two of them fit on top of a folded
// sum (below p 2^32) in 64 bits.

// [0, 2p 2^32) -> [0, p 2^32): one instruction on the high word.
FN u64 fold_high(u64 x) {
    u32 hi = (u32)(x >> 32);
    return ((u64)min(hi, hi - P) << 32) | (u32)x;
}

FN u64 mac(u64 acc, u32 a, u32 b) { return acc + (u64)a * b; }

// ---- extension elements: coefficients of x^0 .. x^(D-1) over x^D = W ----

template <int D>
struct Ext {
    u32 c[D];
};

template <int D>
FN u32 times_w(u32 x);
template <>
FN u32 times_w<4>(u32 x) { return mul(x, to_montgomery(11)); }
template <>
FN u32 times_w<5>(u32 x) { return add(x, x); }

template <int D>
FN Ext<D> ext_zero() {
    Ext<D> r;
#pragma unroll
    for (int d = 0; d < D; d++) r.c[d] = 0;
    return r;
}

template <int D>
FN Ext<D> ext_one() {
    Ext<D> r = ext_zero<D>();
    r.c[0] = ONE;
    return r;
}

template <int D>
FN Ext<D> add(Ext<D> a, Ext<D> b) {
#pragma unroll
    for (int d = 0; d < D; d++) a.c[d] = add(a.c[d], b.c[d]);
    return a;
}

template <int D>
FN Ext<D> sub(Ext<D> a, Ext<D> b) {
#pragma unroll
    for (int d = 0; d < D; d++) a.c[d] = sub(a.c[d], b.c[d]);
    return a;
}

template <int D>
FN Ext<D> scale(Ext<D> a, u32 s) {
#pragma unroll
    for (int d = 0; d < D; d++) a.c[d] = mul(a.c[d], s);
    return a;
}

// D products per coefficient, W folded into one factor, one reduction per coefficient.
template <int D>
FN Ext<D> mul(Ext<D> a, Ext<D> b) {
    u32 wb[D];
#pragma unroll
    for (int d = 1; d < D; d++) wb[d] = times_w<D>(b.c[d]);
    Ext<D> r;
#pragma unroll
    for (int k = 0; k < D; k++) {
        u64 acc = 0;
#pragma unroll
        for (int i = 0; i < D; i++) {
            acc = mac(acc, a.c[i], i <= k ? b.c[k - i] : wb[k + D - i]);
            if (i == 3 || i == D - 1) acc = fold_high(acc);
        }
        r.c[k] = redc(acc);
    }
    return r;
}

// A sum of base * extension products.
template <int D>
struct Sum {
    u64 v[D];
    FN Sum() {
#pragma unroll
        for (int d = 0; d < D; d++) v[d] = 0;
    }
    // Two products at a time: half the folds.
    FN void add2(u32 a, Ext<D> x, u32 b, Ext<D> y) {
#pragma unroll
        for (int d = 0; d < D; d++) v[d] = fold_high(mac(mac(v[d], a, x.c[d]), b, y.c[d]));
    }
    FN void add(u32 a, Ext<D> x) {
#pragma unroll
        for (int d = 0; d < D; d++) v[d] = fold_high(mac(v[d], a, x.c[d]));
    }
    FN Ext<D> finish() const {
        Ext<D> r;
#pragma unroll
        for (int d = 0; d < D; d++) r.c[d] = redc(v[d]);
        return r;
    }
};

// A sum of extension * extension products: coefficients of x^0 .. x^(2D-2), W met once at the end.
template <int D>
struct Dot {
    u64 v[2 * D - 1];
    FN Dot() {
#pragma unroll
        for (int d = 0; d < 2 * D - 1; d++) v[d] = 0;
    }
    FN void add(Ext<D> a, Ext<D> b) {
#pragma unroll
        for (int k = 0; k < 2 * D - 1; k++) {
            int count = 0;
#pragma unroll
            for (int i = 0; i < D; i++) {
                if (k - i < 0 || k - i >= D) continue;
                v[k] = mac(v[k], a.c[i], b.c[k - i]);
                if (++count % 2 == 0) v[k] = fold_high(v[k]);
            }
            if (count % 2) v[k] = fold_high(v[k]);
        }
    }
    FN Ext<D> finish() const {
        Ext<D> r;
#pragma unroll
        for (int d = 0; d < D; d++) {
            r.c[d] = redc(v[d]);
            if (d + D < 2 * D - 1) r.c[d] = ::add(r.c[d], times_w<D>(redc(v[d + D])));
        }
        return r;
    }
};
