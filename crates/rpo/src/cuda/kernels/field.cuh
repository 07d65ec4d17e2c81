// Goldilocks, p = 2^64 - 2^32 + 1. A value is any 64-bit word that stands for its class; only
// `canonical` makes it the smallest.
//
// Products are Montgomery's with R = 2^64: x y / R. R has order 3 modulo p, so a power whose exponent
// is 1 mod 3, as 7 and 1/7 are, comes out the same as with plain products. Nothing is ever converted.
//
// On a recent NVIDIA chip a square is 16 instructions, 3 of them wide products; a product is 17, 4 wide.
//
// The same text compiles for the host, where the PTX has a plain C++ branch beside it.
#pragma once

typedef unsigned int u32;
typedef unsigned long long u64;

#define FN __device__ __forceinline__

constexpr u64 P = 0xffffffff00000001ull;
constexpr u64 EPSILON = 0xffffffffull; // 2^64 mod p

#ifdef __CUDA_ARCH__
// {h1, h0, l1, l0} / 2^64 into %0. With m = {l0 + l1, l0} - (l0 + l1) - carry, which is below p, m p has
// the low half l, and what is left of the difference is h - m. Chains of sums and of differences are
// apart: the flag between them means a carry to the one and no borrow to the other.
#define REDUCE                                                           \
    "add.cc.u32 a, l0, l1; addc.u32 k, a, 0;"                            \
    "mov.b64 m, {l0, a}; mov.b64 c, {k, 0}; sub.u64 m, m, c;"            \
    "mov.b64 h, {h0, h1}; sub.cc.u64 h, h, m; subc.u32 k, 0, 0;"         \
    "mov.b64 c, {k, 0}; sub.u64 %0, h, c;"
#else
FN u64 reduce(u64 low, u64 high) {
    u64 sum = low + (low << 32);
    u64 m = sum - (sum >> 32) - (sum < low);
    u64 r = high - m;
    return high < m ? r - EPSILON : r;
}
#endif

// x x / 2^64
FN u64 square(u64 x) {
    u64 r;
#ifdef __CUDA_ARCH__
    asm("{.reg .u32 x0, x1, l0, l1, h0, h1, a, k; .reg .u64 l, m, h, c;"
        "mov.b64 {x0, x1}, %1;"
        "mul.wide.u32 l, x0, x0; mul.wide.u32 m, x0, x1; mul.wide.u32 h, x1, x1;"
        "shr.u64 c, m, 31; shl.b64 m, m, 33; add.cc.u64 l, l, m; addc.u64 h, h, c;"
        "mov.b64 {l0, l1}, l; mov.b64 {h0, h1}, h;" REDUCE "}"
        : "=l"(r)
        : "l"(x));
#else
    unsigned __int128 s = (unsigned __int128)x * x;
    r = reduce((u64)s, (u64)(s >> 64));
#endif
    return r;
}

// x y / 2^64
FN u64 multiply(u64 x, u64 y) {
    u64 r;
#ifdef __CUDA_ARCH__
    asm("{.reg .u32 x0, x1, y0, y1, l0, l1, h0, h1, a, k; .reg .u64 l, m, h, c;"
        "mov.b64 {x0, x1}, %1; mov.b64 {y0, y1}, %2;"
        "mul.lo.u32 l0, x0, y1; mul.hi.u32 l1, x0, y1;"
        "mad.lo.cc.u32 l0, x1, y0, l0; madc.hi.cc.u32 l1, x1, y0, l1; addc.u32 a, 0, 0;"
        "mul.wide.u32 l, x0, y0; mul.wide.u32 h, x1, y1;"
        "mov.b64 m, {0, l0}; mov.b64 c, {l1, a}; add.cc.u64 l, l, m; addc.u64 h, h, c;"
        "mov.b64 {l0, l1}, l; mov.b64 {h0, h1}, h;" REDUCE "}"
        : "=l"(r)
        : "l"(x), "l"(y));
#else
    unsigned __int128 s = (unsigned __int128)x * y;
    r = reduce((u64)s, (u64)(s >> 64));
#endif
    return r;
}

// s0 + 2^22 s1 + 2^43 s2 + c modulo p, for s0, s1, s2 below 2^30 and c below p.
FN u64 gather(u32 s0, u32 s1, u32 s2, u64 c) {
    u64 low = (u64)s1 * (1u << 22) + s0; // below 2^53
#ifdef __CUDA_ARCH__
    u64 r;
    asm("{.reg .u32 r0, r1, c0, c1, top, t;"
        "mov.b64 {r0, r1}, %1; mov.b64 {c0, c1}, %2;"
        "shr.u32 top, %3, 21; shl.b32 t, %3, 11;"
        "add.cc.u32 r0, r0, c0; addc.cc.u32 r1, r1, c1; addc.u32 top, top, 0;"
        "add.cc.u32 r1, r1, t; addc.u32 top, top, 0;"
        "mad.lo.cc.u32 r0, top, 0xffffffff, r0; madc.hi.cc.u32 r1, top, 0xffffffff, r1;"
        "addc.u32 t, 0, 0; sub.u32 top, 0, t;"
        "add.cc.u32 r0, r0, top; addc.u32 r1, r1, 0; mov.b64 %0, {r0, r1};}"
        : "=l"(r)
        : "l"(low), "l"(c), "r"(s2));
    return r;
#else
    unsigned __int128 sum = (unsigned __int128)low + c + ((unsigned __int128)s2 << 43);
    u64 r = (u64)sum, more = (u64)(sum >> 64) * EPSILON;
    r += more;
    return r < more ? r + EPSILON : r;
#endif
}

FN u64 canonical(u64 x) { return x >= P ? x - P : x; }
