// The permutation by sixteen threads, one word of the state each: for work too narrow to fill the
// chip, where what counts is how long one permutation takes.
//
// A thread alone issues 5,400 instructions one after another; here each of sixteen issues 900. The
// external layer is (I + J) M4, six exchanges of which four and two go side by side.
//
// The internal rounds are a chain of thirteen S-boxes. With y the words 1 .. 15, d their diagonal,
// f_r the S-box of round r and s_r = f_r + sum y the sum of the state,
//
//     y <- d y + s_r,   x_0 <- sum y - f_r,   sum y = A_r + sum_(i < r) e_(r-1-i) s_i,
//
// where A_j = sum d^j y over the words before the first of these rounds and e_j = sum d^j. Thread j
// makes A_j and keeps its sum up to date, so that no sum over the threads waits for an S-box: a
// round takes as long as its three dependent products.
//
// Whole warps take part in every call.
#pragma once
#include "field.cuh"
#include "generated/poseidon2_16.cuh"

#define ROW_CONSTANTS 141 // of the rounds; then the tables below
#define ROW_STRIDE 20     // words between two rows of powers: 16 bytes at a time, without conflicts
#define ROW_POWERS (ROW_CONSTANTS + 3)
#define ROW_SUMS (ROW_POWERS + 16 * ROW_STRIDE)
#define ROW_DIAGONAL (ROW_SUMS + 32)
#define ROW_WORDS (ROW_DIAGONAL + 16)

__device__ constexpr u32 product(u32 a, u32 b) { return (u32)((u64)a * b % P); }

// The internal layer's diagonal: -2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, and -2^-8,
// -1/16, -2^-27. p = 15 * 2^27 + 1, so 2^-k = -15 * 2^(27 - k). Not in Montgomery form.
__device__ constexpr u32 row_diagonal(int i) {
    constexpr u32 D[16] = {P - 2,
                           1,
                           2,
                           P - (15u << 26),
                           3,
                           4,
                           15u << 26,
                           P - 3,
                           P - 4,
                           P - (15u << 19),
                           P - (15u << 25),
                           P - (15u << 24),
                           P - 15u,
                           15u << 19,
                           15u << 23,
                           15u};
    return D[i];
}

// Row j: d^j for the words 1 .. 15, 0 for word 0; rows 13 to 15 are not needed. Then e_j from word 16
// on, zeros before.
struct RowTables {
    u32 powers[16 * ROW_STRIDE];
    u32 sums[32];
    u32 diagonal[16];
};

__device__ constexpr RowTables row_tables() {
    RowTables t = {};
    for (int i = 0; i < 16; i++) {
        u32 d = row_diagonal(i), power = 1;
        t.diagonal[i] = to_montgomery(d);
        for (int j = 0; i && j < 13; j++) {
            u32 word = to_montgomery(power);
            t.powers[j * ROW_STRIDE + i] = word;
            if (j < 12) t.sums[16 + j] = (t.sums[16 + j] + word) % P;
            power = product(power, d);
        }
    }
    return t;
}

__device__ constexpr RowTables ROW_TABLES = row_tables();

// What the permutation reads, into shared memory. For all threads of the block; a barrier must
// follow.
FN void row_load(u32* tables) {
    for (u32 i = threadIdx.x; i < ROW_WORDS; i += blockDim.x) {
        u32 word = 0;
        if (i < ROW_CONSTANTS) word = POSEIDON2_16_RC[i];
        else if (i >= ROW_DIAGONAL) word = ROW_TABLES.diagonal[i - ROW_DIAGONAL];
        else if (i >= ROW_SUMS) word = ROW_TABLES.sums[i - ROW_SUMS];
        else if (i >= ROW_POWERS) word = ROW_TABLES.powers[i - ROW_POWERS];
        tables[i] = word;
    }
}

FN u32 row_pow7(u32 x) {
    u32 x2 = mul_lazy(x, x), x3 = mul_lazy(x2, x), x4 = reduce_once(mul_lazy(x2, x2));
    return reduce_once(mul_lazy(x3, x4));
}

FN u32 row_external(u32 x) {
    u32 lane = threadIdx.x & 31, ahead = (lane & ~3u) | ((lane + 1) & 3), behind = ahead ^ 2;
    u32 sum = add(add(x, __shfl_xor_sync(~0u, x, 4)),
                  add(__shfl_xor_sync(~0u, x, 8), __shfl_xor_sync(~0u, x, 12)));
    x = add(x, sum);
    // 2 x + 3 x' + x'' + x'''
    u32 next = __shfl_sync(~0u, x, ahead), last = __shfl_sync(~0u, x, behind);
    u32 two = add(x, next), rest = add(__shfl_xor_sync(~0u, x, 2), last);
    return add(add(two, rest), add(two, next));
}

// Word threadIdx.x % 16 of the state after the permutation. `scratch` holds a word for each thread of
// the block; it and `tables` are aligned to 16 bytes.
FN u32 row_permute(u32 x, const u32* tables, u32* scratch) {
    u32 lane = threadIdx.x & 15;
    x = row_external(x);
#pragma unroll 1
    for (int r = 0; r < 4; r++) x = row_external(row_pow7(add(x, tables[16 * r + lane])));

    __syncwarp();
    scratch[threadIdx.x] = x;
    __syncwarp();
    u64 low = 0, high = 0;
    const uint4* powers = (const uint4*)(tables + ROW_POWERS + ROW_STRIDE * lane);
    const uint4* state = (const uint4*)(scratch + (threadIdx.x & ~15u));
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        uint4 p = powers[i], v = state[i], q = powers[i + 1], w = state[i + 1];
        low = fold_high(mac(mac(low, p.x, v.x), p.y, v.y));
        high = fold_high(mac(mac(high, q.x, w.x), q.y, w.y));
        low = fold_high(mac(mac(low, p.z, v.z), p.w, v.w));
        high = fold_high(mac(mac(high, q.z, w.z), q.w, w.w));
    }
    u32 own = add(redc(low), redc(high));

    const u32* constants = tables + 64;
    const u32* sums = tables + ROW_SUMS + 15 + lane;
    u32 diagonal = tables[ROW_DIAGONAL + lane];
    u32 first = __shfl_sync(~0u, x, 0, 16), rest = __shfl_sync(~0u, own, 0, 16);
    u32 t = add(first, constants[0]);
#pragma unroll 1
    for (int r = 0; r < 13; r++) {
        u32 soon = add(rest, constants[r + 1]);
        u32 f = row_pow7(t), s = add(f, rest);
        t = sub(soon, f);
        first = sub(rest, f);
        x = add(mul(x, diagonal), s);
        own = add(own, mul(sums[-r], s));
        rest = __shfl_sync(~0u, own, r + 1, 16);
    }
    x = lane ? x : first;

#pragma unroll 1
    for (int r = 0; r < 4; r++) x = row_external(row_pow7(add(x, tables[77 + 16 * r + lane])));
    return x;
}
