// Merkle trees over column-major codewords.
//
// Leaf i is Plonky3's PaddingFreeSponge<16, 8, 8> of row i in overwrite mode, inner nodes are its
// TruncatedPermutation of both children. Digests are 8 words, one after another; level l of the tree
// begins at digest 2 height - (2 height >> l).
//
// Where there is work for the whole chip a thread hashes a row or a node by itself: neighbours read
// neighbours of every column. Where there is not, four threads share one (quad.cuh). A block goes on
// to the levels above its own digests while they are in shared memory.
//
// Plan, per leaf of W words: ceil(W / 8) permutations, 4 W bytes read, 32 written; per node one
// permutation, 64 bytes read, 32 written: never bound by memory.
#include "quad.cuh"
#include "reduce.cuh"

#define THREADS 256
#define QUAD_NODES 256 // a block of 1024 threads

// A level that is being made: where its digests go, and which of them are the block's.
struct Level {
    u64 start; // digest that the level begins with
    u64 len;
    u64 first; // of the block, within the level
};

FN Level above(Level l) { return {l.start + l.len, l.len >> 1, l.first >> 1}; }

// Climbs `levels` levels over `count` digests in shared memory, which lie in `level`; returns how
// many are left. For all threads; four of them share a node.
FN u32 quad_climb(uint4* sh, u32 count, u32 levels, Level level, uint4* tree,
                  const u32* constants) {
    u32 q = threadIdx.x & 3, node = threadIdx.x >> 2;
    for (; levels; levels--) {
        level = above(level);
        count >>= 1;
        __syncthreads();
        u32 x[4] = {0, 0, 0, 0};
        if (node < count) {
            uint4 v = sh[threadIdx.x];
            x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
        }
        // warps without a node only wait
        if ((threadIdx.x & ~31u) >> 2 < count) quad_permute(x, constants);
        __syncthreads();
        if (node < count && q < 2) {
            uint4 v = make_uint4(x[0], x[1], x[2], x[3]);
            sh[2 * node + q] = v;
            tree[2 * (level.start + level.first + node) + q] = v;
        }
    }
    __syncthreads();
    return count;
}

// The same by one thread a node, as long as there are too many for four.
FN u32 climb(uint4* sh, u32 count, u32 levels, Level level, uint4* tree, const u32* constants) {
    for (; levels && count > THREADS / 2; levels--) {
        level = above(level);
        count >>= 1;
        u32 s[16];
        __syncthreads();
        if (threadIdx.x < count) {
#pragma unroll
            for (int i = 0; i < 4; i++) {
                uint4 v = sh[4 * threadIdx.x + i];
                s[4 * i] = v.x, s[4 * i + 1] = v.y, s[4 * i + 2] = v.z, s[4 * i + 3] = v.w;
            }
            poseidon2_16_permute(s);
        }
        __syncthreads();
        if (threadIdx.x < count) {
            u64 at = 2 * (level.start + level.first + threadIdx.x);
            tree[at] = sh[2 * threadIdx.x] = make_uint4(s[0], s[1], s[2], s[3]);
            tree[at + 1] = sh[2 * threadIdx.x + 1] = make_uint4(s[4], s[5], s[6], s[7]);
        }
    }
    return quad_climb(sh, count, levels, level, tree, constants);
}

// The one block of the last launch hands over the cap: `count` digests in shared memory.
FN void hand_over(const uint4* sh, u32 count, Mail const& mail) {
    if (!mail.flag) return;
    for (u32 i = threadIdx.x; i < 8 * count; i += blockDim.x)
        mail.results[i] = ((const u32*)sh)[i];
    __syncthreads();
    if (threadIdx.x == 0) deliver(mail);
}

// Hashes the rows of `columns` columns of height `height`, and `levels` levels over them.
extern "C" __global__ void __launch_bounds__(THREADS, FULL)
    merkle_leaves(const u32* __restrict__ code, u32 columns, u64 height, u32 levels, uint4* tree,
                  Mail mail) {
    __shared__ uint4 sh[2 * THREADS];
    __shared__ u32 constants[QUAD_CONSTANTS];
    quad_load(constants);
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
        tree[2 * row] = make_uint4(s[0], s[1], s[2], s[3]);
        tree[2 * row + 1] = make_uint4(s[4], s[5], s[6], s[7]);
    }
    if (!levels && !mail.flag) return;
    sh[2 * threadIdx.x] = make_uint4(s[0], s[1], s[2], s[3]);
    sh[2 * threadIdx.x + 1] = make_uint4(s[4], s[5], s[6], s[7]);
    u32 count = (u32)min((u64)THREADS, height);
    Level level = {0, height, (u64)blockIdx.x * THREADS};
    hand_over(sh, climb(sh, count, levels, level, tree, constants), mail);
}

// The same for few rows: four threads share one.
extern "C" __global__ void __launch_bounds__(THREADS)
    merkle_leaves_quad(const u32* __restrict__ code, u32 columns, u64 height, u32 levels,
                       uint4* tree, Mail mail) {
    __shared__ uint4 sh[THREADS / 2];
    __shared__ u32 constants[QUAD_CONSTANTS];
    quad_load(constants);
    __syncthreads();
    u32 q = threadIdx.x & 3;
    u64 row = ((u64)blockIdx.x * THREADS + threadIdx.x) >> 2;
    u32 x[4] = {0, 0, 0, 0};
    for (u32 c = 0; c < columns; c += 8) {
        // the first two threads hold the rate
        u32 from = c + 4 * q;
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (q < 2 && from + k < columns && row < height)
                x[k] = __ldg(code + (u64)(from + k) * height + row);
        quad_permute(x, constants);
    }
    if (q < 2) {
        uint4 v = make_uint4(x[0], x[1], x[2], x[3]);
        sh[(threadIdx.x >> 2) * 2 + q] = v;
        if (row < height) tree[2 * row + q] = v;
    }
    u32 count = (u32)min((u64)(THREADS / 4), height);
    Level level = {0, height, (u64)blockIdx.x * (THREADS / 4)};
    hand_over(sh, quad_climb(sh, count, levels, level, tree, constants), mail);
}

// From a finished level of `len` digests that begins at digest `start`, `levels` levels more, at
// least one; a block takes 512 digests.
extern "C" __global__ void __launch_bounds__(THREADS, FULL)
    merkle_nodes(uint4* tree, u64 start, u64 len, u32 levels, Mail mail) {
    __shared__ uint4 sh[2 * THREADS];
    __shared__ u32 constants[QUAD_CONSTANTS];
    quad_load(constants);
    Level level = {start, len, (u64)blockIdx.x * (2 * THREADS)};
    u32 count = (u32)min((u64)(2 * THREADS), len) >> 1;
    if (threadIdx.x < count) {
        const uint4* in = tree + 2 * (level.start + level.first + 2 * threadIdx.x);
        u32 s[16];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            uint4 v = in[i];
            s[4 * i] = v.x, s[4 * i + 1] = v.y, s[4 * i + 2] = v.z, s[4 * i + 3] = v.w;
        }
        poseidon2_16_permute(s);
        Level next = above(level);
        u64 at = 2 * (next.start + next.first + threadIdx.x);
        tree[at] = sh[2 * threadIdx.x] = make_uint4(s[0], s[1], s[2], s[3]);
        tree[at + 1] = sh[2 * threadIdx.x + 1] = make_uint4(s[4], s[5], s[6], s[7]);
    }
    hand_over(sh, climb(sh, count, levels - 1, above(level), tree, constants), mail);
}

// The same for few digests.
extern "C" __global__ void __launch_bounds__(4 * QUAD_NODES)
    merkle_nodes_quad(uint4* tree, u64 start, u64 len, u32 levels, Mail mail) {
    __shared__ uint4 sh[4 * QUAD_NODES];
    __shared__ u32 constants[QUAD_CONSTANTS];
    quad_load(constants);
    Level level = {start, len, (u64)blockIdx.x * (2 * QUAD_NODES)};
    u32 count = (u32)min((u64)(2 * QUAD_NODES), len);
    if (threadIdx.x < 2 * count) sh[threadIdx.x] = tree[2 * (level.start + level.first) + threadIdx.x];
    hand_over(sh, quad_climb(sh, count, levels, level, tree, constants), mail);
}
