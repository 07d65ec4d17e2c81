// The permutation: 7 rounds of MDS, constants, x^7, MDS, constants, x^(1/7).
#pragma once
#include "field.cuh"

#define WIDTH 12
#define ROUNDS 7

// A kernel's argument, so that it lies in constant memory.
struct Constants {
    u64 k[2 * ROUNDS][WIDTH];
};

// ---- the circulant matrix with first row 7 23 8 26 13 10 9 7 6 22 21 8 ----
// A product with it is a cyclic convolution of length 12 by the first column. With z^3 = w it is one of
// length 3 over the polynomials modulo w^4 - 1, which fall apart at w = 1, -1 and -i. What is left of
// the coefficients there, with the scale of the inverse transform in them, is 16 8 16; -8 1 1; and
// -1+2i -1+i 4+8i.

// One limb of the state: entries below 2^22, results below 160 * 2^22, in between modulo 2^32.
FN void mds_limb(u32 x[WIDTH]) {
    u32 one[3], minus[3], re[3], im[3];
#pragma unroll
    for (int a = 0; a < 3; a++) {
        u32 even = x[a] + x[a + 6], odd = x[a + 3] + x[a + 9];
        one[a] = even + odd;
        minus[a] = even - odd;
        re[a] = x[a] - x[a + 6];
        im[a] = x[a + 9] - x[a + 3];
    }
    // w = 1: 8 (2 (all) - the one that has 8)
    u32 twice = 2 * (one[0] + one[1] + one[2]);
    u32 y[3] = {(twice - one[2]) * 8, (twice - one[0]) * 8, (twice - one[1]) * 8};
    // w = -1, so z^3 = -1
    u32 v[3] = {0u - 8 * minus[0] - minus[1] - minus[2], minus[0] - 8 * minus[1] - minus[2],
                minus[0] + minus[1] - 8 * minus[2]};
    // w = -i, so z^3 = -i: c0 = -1+2i, c1 = -1+i, c2 = 4+8i, -i c1 = 1+i, -i c2 = 8-4i
    u32 p[3], q[3];
    p[0] = 0u - re[0] - 2 * im[0] + 8 * re[1] + 4 * im[1] + re[2] - im[2];
    q[0] = 2 * re[0] - im[0] - 4 * re[1] + 8 * im[1] + re[2] + im[2];
    p[1] = 0u - re[0] - im[0] - re[1] - 2 * im[1] + 8 * re[2] + 4 * im[2];
    q[1] = re[0] - im[0] + 2 * re[1] - im[1] - 4 * re[2] + 8 * im[2];
    p[2] = 4 * re[0] - 8 * im[0] - re[1] - im[1] - re[2] - 2 * im[2];
    q[2] = 8 * re[0] + 4 * im[0] + re[1] - im[1] + 2 * re[2] - im[2];
#pragma unroll
    for (int a = 0; a < 3; a++) {
        u32 even = y[a] + v[a], odd = y[a] - v[a];
        x[a] = even + p[a];
        x[a + 3] = odd - q[a];
        x[a + 6] = even - p[a];
        x[a + 9] = odd + q[a];
    }
}

// The matrix, and constants after it.
FN void mds(u64 s[WIDTH], const u64* k) {
    u32 l0[WIDTH], l1[WIDTH], l2[WIDTH];
#pragma unroll
    for (int i = 0; i < WIDTH; i++) {
        l0[i] = (u32)s[i] & 0x3fffff;
        l1[i] = (u32)(s[i] >> 22) & 0x1fffff;
        l2[i] = (u32)(s[i] >> 43);
    }
    mds_limb(l0);
    mds_limb(l1);
    mds_limb(l2);
#pragma unroll
    for (int i = 0; i < WIDTH; i++) s[i] = gather(l0[i], l1[i], l2[i], k[i]);
}

// ---- S-boxes, of N elements in lockstep ----

template <int N>
FN void square_all(u64 x[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = square(x[i]);
}

template <int N>
FN void multiply_all(u64 x[N], const u64 y[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = multiply(x[i], y[i]);
}

template <int N>
FN void copy_all(u64 to[N], const u64 from[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) to[i] = from[i];
}

// x^(2^times), times >= 1. The loop stays one: a body of N squares fits the instruction cache.
template <int N>
FN void square_times(u64 x[N], int times) {
#pragma unroll 1
    for (int i = 0; i < times; i++) square_all<N>(x);
}

template <int N>
FN void power_7(u64 x[N]) {
    u64 y[N], z[N];
    copy_all<N>(y, x);
    square_all<N>(y);
    copy_all<N>(z, y);
    square_all<N>(z);
    multiply_all<N>(x, y);
    multiply_all<N>(x, z);
}

// x^10540996611094048183 by 63 squares and 9 products. With B(n) = 1 + 8 + .. + 8^(n-1), the exponent is
// 7 + 16 (2^32 + 3) B(10): `one`, `two`, .. below are the powers 4 B(1), 4 B(2), ..
template <int N>
FN void power_inverse_7(u64 x[N]) {
    u64 acc[N], two[N], last[N];
    copy_all<N>(acc, x);
    square_all<N>(acc);
    copy_all<N>(last, acc);
    square_all<N>(acc); // one
    multiply_all<N>(x, last);
    multiply_all<N>(x, acc); // x^7
    copy_all<N>(last, acc);
    square_times<N>(acc, 3);
    multiply_all<N>(acc, last); // two
    copy_all<N>(two, acc);
    square_times<N>(acc, 6);
    multiply_all<N>(acc, two); // four
    copy_all<N>(last, acc);
    square_times<N>(acc, 12);
    multiply_all<N>(acc, last); // eight
    square_times<N>(acc, 6);
    multiply_all<N>(acc, two); // ten
    copy_all<N>(last, acc);
    square_times<N>(acc, 31);
    multiply_all<N>(acc, last);
    square_times<N>(acc, 1);
    multiply_all<N>(acc, last);
    square_times<N>(acc, 2);
    multiply_all<N>(x, acc);
}

// Elements of a state that go through the S-box of 1/7 in lockstep: more hide latency, fewer leave
// registers for more warps.
#ifndef LOCKSTEP
#define LOCKSTEP 6
#endif

// The groups take turns in one loop, through memory: two copies of the text would not fit the cache of
// instructions, which costs more (13 % were measured).
FN void power_inverse_7_all(u64 s[WIDTH]) {
#pragma unroll 1
    for (int i = 0; i < WIDTH; i += LOCKSTEP) {
        u64 x[LOCKSTEP];
        copy_all<LOCKSTEP>(x, s + i);
        power_inverse_7<LOCKSTEP>(x);
        copy_all<LOCKSTEP>(s + i, x);
    }
}

// Any representatives in, canonical ones out.
FN void permute(u64 s[WIDTH], const Constants& c) {
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
        mds(s, c.k[2 * r]);
        power_7<WIDTH>(s);
        mds(s, c.k[2 * r + 1]);
        power_inverse_7_all(s);
    }
#pragma unroll
    for (int i = 0; i < WIDTH; i++) s[i] = canonical(s[i]);
}
