// The base field of the curve that this translation unit is for, chosen by MSM_CURVE: 377 (BLS12-377),
// 381 (BLS12-381) or 254 (BN254). Only the prime is a table; what follows from it is computed by the
// compiler. A test compares all of it with the Rust side's.
#pragma once

#include "carry.cuh"

#if MSM_CURVE == 254
constexpr int N = 8; // limbs of 32 bits
#else
constexpr int N = 12;
#endif

// A number below 2^(32 N), little-endian limbs.
struct Words {
    u32 l[N];
};

#if MSM_CURVE == 377
#define MSM_PRIME                                                               \
    {0x00000001, 0x8508c000, 0x30000000, 0x170b5d44, 0xba094800, 0x1ef3622f,    \
     0x00f5138f, 0x1a22d9f3, 0x6ca1493b, 0xc63b05c0, 0x17c510ea, 0x01ae3a46}
#elif MSM_CURVE == 381
#define MSM_PRIME                                                               \
    {0xffffaaab, 0xb9feffff, 0xb153ffff, 0x1eabfffe, 0xf6b0f624, 0x6730d2a0,    \
     0xf38512bf, 0x64774b84, 0x434bacd7, 0x4b1ba7b6, 0x397fe69a, 0x1a0111ea}
#elif MSM_CURVE == 254
#define MSM_PRIME                                                               \
    {0xd87cfd47, 0x3c208c16, 0x6871ca8d, 0x97816a91, 0x8181585d, 0xb85045b6,    \
     0xe131a029, 0x30644e72}
#else
#error "MSM_CURVE has to be 377, 381 or 254"
#endif

// k p. 2^(32 N) is 152 p (377), 9.8 p (381), 5.3 p (254).
__device__ constexpr Words multiple_of_p(u32 k) {
    Words p = {MSM_PRIME}, r = {};
    u64 carry = 0;
    for (int i = 0; i < N; i++) {
        carry += (u64)p.l[i] * k;
        r.l[i] = (u32)carry;
        carry >>= 32;
    }
    return r;
}

// x 2^k mod p for x < p.
__device__ constexpr Words shifted_mod_p(Words x, int k) {
    Words p = {MSM_PRIME};
    for (; k > 0; k--) {
        Words twice = {}, less = {};
        u32 carry = 0;
        u64 borrow = 0;
        for (int i = 0; i < N; i++) {
            twice.l[i] = x.l[i] << 1 | carry;
            carry = x.l[i] >> 31;
            u64 d = (u64)twice.l[i] - p.l[i] - borrow;
            less.l[i] = (u32)d;
            borrow = d >> 63;
        }
        // The prime's top bit is free, so nothing leaves the last limb.
        for (int i = 0; i < N; i++) x.l[i] = borrow ? twice.l[i] : less.l[i];
    }
    return x;
}

// Montgomery form, R = 2^(32 N).
__device__ constexpr Words to_montgomery(Words x) { return shifted_mod_p(x, 32 * N); }

// -p^-1 mod 2^32, by Newton's iteration.
__device__ constexpr u32 negative_inverse_of_p() {
    u32 p = Words{MSM_PRIME}.l[0], x = p;
    for (int i = 0; i < 5; i++) x *= 2 - p * x;
    return 0 - x;
}

constexpr u32 P_INV = negative_inverse_of_p();
// Then a reduction's factor is the negated limb, and its lowest product that limb itself.
constexpr bool P_ENDS_IN_ONE = Words{MSM_PRIME}.l[0] == 1;

#if MSM_CURVE == 377
// The twisted Edwards form: d, and s = 1 / sqrt(3) and f of the map, plain values (../../curve/edwards.rs).
#define MSM_EDWARDS_D                                                           \
    {0x426b700b, 0x7016092b, 0x3871e9f2, 0xb9aeca3c, 0xf059909c, 0xbf8b2d97,    \
     0x60d19690, 0x1bbc34cc, 0x5732fe3a, 0x6505bb38, 0x18b4d279, 0x00cb5d58}
#define MSM_EDWARDS_S                                                           \
    {0xf0339eab, 0x3401d618, 0x04b428d4, 0x0f793b85, 0xa95ccc0d, 0x0ff643cc,    \
     0x5d66cc8c, 0xd7a50466, 0xb1eeea84, 0x1dc07a44, 0x020f118a, 0x0010f272}
#define MSM_EDWARDS_F                                                           \
    {0x6343e6e4, 0x450ae920, 0xdf5027b6, 0x7af39509, 0x05cf8a30, 0xab82b314,    \
     0xf6c15c7c, 0x80d743e1, 0x50360183, 0x0cec22e6, 0x6ac5c669, 0x00272fd5}
#endif
