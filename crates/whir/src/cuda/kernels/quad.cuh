// The permutation by four threads, four words of the state each: for work too narrow to fill the
// chip, where what counts is how long one permutation takes.
//
// A thread alone issues 5,400 instructions one after another. Here each of four issues 1,700: the
// 4 x 4 block of the external layer is a thread's own, and sums across the state are two exchanges.
// Whole warps take part in every call.
#pragma once
#include "field.cuh"
#include "generated/poseidon2_16.cuh"

#define QUAD_CONSTANTS (141 + 16)

// The internal layer's diagonal: -2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, and -2^-8,
// -1/16, -2^-27.
__device__ constexpr u32 inverse_of_2exp(u32 k) { return to_montgomery(P - (15u << (27 - k))); }
__device__ constexpr u32 negative(u32 x) { return P - x; }
__constant__ u32 QUAD_DIAGONAL[16] = {
    negative(to_montgomery(2)),
    to_montgomery(1),
    to_montgomery(2),
    inverse_of_2exp(1),
    to_montgomery(3),
    to_montgomery(4),
    negative(inverse_of_2exp(1)),
    negative(to_montgomery(3)),
    negative(to_montgomery(4)),
    inverse_of_2exp(8),
    inverse_of_2exp(2),
    inverse_of_2exp(3),
    inverse_of_2exp(27),
    negative(inverse_of_2exp(8)),
    negative(inverse_of_2exp(4)),
    negative(inverse_of_2exp(27)),
};

// Constants that differ between the threads of a warp belong into shared memory. For all threads of
// the block; a barrier must follow.
FN void quad_load(u32* constants) {
    for (u32 i = threadIdx.x; i < QUAD_CONSTANTS; i += blockDim.x)
        constants[i] = i < 141 ? POSEIDON2_16_RC[i] : QUAD_DIAGONAL[i - 141];
}

FN u32 quad_sum(u32 x) {
    x = add(x, __shfl_xor_sync(~0u, x, 1));
    return add(x, __shfl_xor_sync(~0u, x, 2));
}

FN u32 quad_pow7(u32 x) {
    u32 x2 = mul_lazy(x, x), x3 = mul_lazy(x2, x), x4 = reduce_once(mul_lazy(x2, x2));
    return reduce_once(mul_lazy(x3, x4));
}

FN void quad_external(u32 (&x)[4]) {
    u32 a = add(x[0], x[1]), b = add(x[2], x[3]), c = add(a, b);
    u32 d = add(c, x[1]), e = add(c, x[3]);
    u32 y[4] = {add(d, a), add(d, add(x[2], x[2])), add(e, b), add(e, add(x[0], x[0]))};
#pragma unroll
    for (int k = 0; k < 4; k++) x[k] = add(y[k], quad_sum(y[k]));
}

FN void quad_external_round(u32 (&x)[4], const u32* rc) {
#pragma unroll
    for (int k = 0; k < 4; k++) x[k] = quad_pow7(add(x[k], rc[k]));
    quad_external(x);
}

// x: words 4 q .. 4 q + 3 of the state in thread q of four.
FN void quad_permute(u32 (&x)[4], const u32* constants) {
    u32 q = threadIdx.x & 3;
    u32 diagonal[4];
#pragma unroll
    for (int k = 0; k < 4; k++) diagonal[k] = constants[141 + 4 * q + k];
    quad_external(x);
#pragma unroll 1
    for (int r = 0; r < 4; r++) quad_external_round(x, constants + 16 * r + 4 * q);
#pragma unroll 1
    for (int r = 0; r < 13; r++) {
        u32 others = add(x[1], add(x[2], x[3]));
        u32 part = quad_sum(q ? add(others, x[0]) : others);
        u32 first = quad_pow7(add(x[0], constants[64 + r]));
        u32 sum = add(part, __shfl_sync(~0u, first, 0, 4));
        if (q == 0) x[0] = first;
#pragma unroll
        for (int k = 0; k < 4; k++) x[k] = add(mul(x[k], diagonal[k]), sum);
    }
#pragma unroll 1
    for (int r = 0; r < 4; r++) quad_external_round(x, constants + 77 + 16 * r + 4 * q);
}
