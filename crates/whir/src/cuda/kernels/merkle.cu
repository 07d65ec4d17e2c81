// Merkle trees over column-major codewords.
//
// Leaf i is Plonky3's PaddingFreeSponge<16, 8, 8> of row i in overwrite mode, inner nodes are its
// TruncatedPermutation of both children. One thread hashes one row: neighbours read neighbours of
// every column. Digests are 8 words, one after another; level l of the tree begins at word
// 8 * (2 height - (height >> (l - 1))), level 0 at word 0.
//
// Plan, per leaf of W words: ceil(W / 8) permutations, 4 W bytes read, 32 written; per node one
// permutation, 64 bytes read, 32 written: never bound by memory.
#include "field.cuh"
#include "generated/poseidon2_16.cuh"
#include "reduce.cuh"

#define THREADS 256

// Climbs from 2^k digests in shared memory, `above` levels; `levels` is where the next level goes,
// `index` the position of the block's first node there.
FN void climb(u32* sh, u32 count, u32 above, u32* tree, u64 level_at, u64 level_len, u64 index) {
    // each level halves: the threads that are done wait at the barriers only
    for (u32 l = 0; l < above; l++) {
        count >>= 1;
        level_at += level_len;
        level_len >>= 1;
        index >>= 1;
        u32 s[16];
        __syncthreads();
        if (threadIdx.x < count) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                s[i] = sh[i * THREADS + 2 * threadIdx.x];
                s[8 + i] = sh[i * THREADS + 2 * threadIdx.x + 1];
            }
            poseidon2_16_permute(s);
        }
        __syncthreads();
        if (threadIdx.x < count) {
            uint4* out = (uint4*)(tree + 8 * (level_at + index + threadIdx.x));
            out[0] = make_uint4(s[0], s[1], s[2], s[3]);
            out[1] = make_uint4(s[4], s[5], s[6], s[7]);
#pragma unroll
            for (int i = 0; i < 8; i++) sh[i * THREADS + threadIdx.x] = s[i];
        }
    }
}

// The one block of the last launch hands over the cap: `count` digests, column-wise in shared memory.
FN void hand_over(const u32* sh, u32 count, Mail const& mail) {
    if (!mail.flag) return;
    __syncthreads();
    for (u32 i = threadIdx.x; i < 8 * count; i += THREADS)
        mail.results[i] = sh[(i & 7) * THREADS + (i >> 3)];
    __syncthreads();
    if (threadIdx.x == 0) deliver(mail);
}

// Hashes the rows of `columns` columns of height `height` and `above` levels over them.
extern "C" __global__ void __launch_bounds__(THREADS)
    merkle_leaves(const u32* __restrict__ code, u32 columns, u64 height, u32 above, u32* tree,
                  Mail mail) {
    __shared__ u32 sh[8 * THREADS];
    u64 row = (u64)blockIdx.x * THREADS + threadIdx.x;
    u32 s[16];
#pragma unroll
    for (int i = 0; i < 16; i++) s[i] = 0;
    if (row < height) {
        const u32* at = code + row;
#pragma unroll 1
        for (u32 c = 0; c < columns; c += 8) {
            u32 n = columns - c;
#pragma unroll
            for (int i = 0; i < 8; i++)
                if (i < n) s[i] = __ldg(at + (u64)i * height);
            at += 8 * height;
            poseidon2_16_permute(s);
        }
        uint4* out = (uint4*)(tree + 8 * row);
        out[0] = make_uint4(s[0], s[1], s[2], s[3]);
        out[1] = make_uint4(s[4], s[5], s[6], s[7]);
    }
    if (above || mail.flag) {
#pragma unroll
        for (int i = 0; i < 8; i++) sh[i * THREADS + threadIdx.x] = s[i];
        u32 count = (u32)min((u64)THREADS, height);
        climb(sh, count, above, tree, 0, height, (u64)blockIdx.x * THREADS);
        hand_over(sh, count >> above, mail);
    }
}

// From a finished level of `level_len` digests that begins at digest `level_at`, `above` levels
// more; a block takes 512 digests.
extern "C" __global__ void __launch_bounds__(THREADS)
    merkle_nodes(u32* tree, u64 level_at, u64 level_len, u32 above, Mail mail) {
    __shared__ u32 sh[8 * THREADS];
    u64 first = (u64)blockIdx.x * (2 * THREADS);
    u32 count = (u32)min((u64)(2 * THREADS), level_len) >> 1;
    u32 s[16];
    if (threadIdx.x < count) {
        const uint4* in = (const uint4*)(tree + 8 * (level_at + first + 2 * threadIdx.x));
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint4 v = in[i];
            s[4 * i] = v.x, s[4 * i + 1] = v.y, s[4 * i + 2] = v.z, s[4 * i + 3] = v.w;
        }
        poseidon2_16_permute(s);
        u64 at = level_at + level_len + (first >> 1) + threadIdx.x;
        uint4* out = (uint4*)(tree + 8 * at);
        out[0] = make_uint4(s[0], s[1], s[2], s[3]);
        out[1] = make_uint4(s[4], s[5], s[6], s[7]);
    }
    if (above > 1 || mail.flag) {
        if (threadIdx.x < count) {
#pragma unroll
            for (int i = 0; i < 8; i++) sh[i * THREADS + threadIdx.x] = s[i];
        }
        climb(sh, count, above - 1, tree, level_at + level_len, level_len >> 1, first >> 1);
        hand_over(sh, count >> (above - 1), mail);
    }
}
