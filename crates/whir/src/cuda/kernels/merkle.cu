// Merkle trees over column-major codewords.
//
// Leaf i is Plonky3's PaddingFreeSponge<16, 8, 8> of row i in overwrite mode, inner nodes are its
// TruncatedPermutation of both children. Digests are 8 words, one after another; level l of the tree
// begins at digest 2 height - (2 height >> l).
//
// Where there is work for the whole chip a thread hashes a row or a node by itself: neighbours read
// neighbours of every column. Where there is not, sixteen threads share one (row.cuh), and a block
// goes on to the levels above its own digests while they are in shared memory.
//
// Plan, per leaf of W words: ceil(W / 8) permutations, 4 W bytes read, 32 written; per node one
// permutation, 64 bytes read, 32 written: never bound by memory.
#include "reduce.cuh"
#include "row.cuh"
#include "shape.cuh"

#define THREADS 256

// The first half of a state, a digest.
FN void put(uint4* to, const u32* s) {
    to[0] = make_uint4(s[0], s[1], s[2], s[3]);
    to[1] = make_uint4(s[4], s[5], s[6], s[7]);
}

// Hashes the rows of at most 8 columns of height `height`.
extern "C" __global__ void __launch_bounds__(THREADS, FULL)
    merkle_leaves(const u32* __restrict__ code, u32 columns, u64 height, uint4* tree) {
    u64 row = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= height) return;
    u32 s[16];
#pragma unroll
    for (int i = 0; i < 16; i++) s[i] = i < columns ? __ldg(code + i * height + row) : 0;
    poseidon2_16_permute(s);
    put(tree + 2 * row, s);
}

// The same of any number of columns.
extern "C" __global__ void __launch_bounds__(THREADS, FULL)
    merkle_leaves_long(const u32* __restrict__ code, u32 columns, u64 height, uint4* tree) {
    u64 row = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (row >= height) return;
    u32 s[16];
#pragma unroll
    for (int i = 8; i < 16; i++) s[i] = 0;
    const u32* at = code + row;
#pragma unroll
    for (int i = 0; i < 8; i++) s[i] = i < columns ? __ldg(at + i * height) : 0;
    poseidon2_16_permute(s);
#pragma unroll 1
    for (u32 c = 8; c < columns; c += 8) {
        at += 8 * height;
#pragma unroll
        for (int i = 0; i < 8; i++)
            if (c + i < columns) s[i] = __ldg(at + i * height);
        poseidon2_16_permute(s);
    }
    put(tree + 2 * row, s);
}

// The level above a finished one of `len` digests that begins at digest `start`.
extern "C" __global__ void __launch_bounds__(THREADS, FULL)
    merkle_nodes(uint4* tree, u64 start, u64 len) {
    u64 node = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (node >= len / 2) return;
    const uint4* in = tree + 2 * (start + 2 * node);
    u32 s[16];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        uint4 v = in[i];
        s[4 * i] = v.x, s[4 * i + 1] = v.y, s[4 * i + 2] = v.z, s[4 * i + 3] = v.w;
    }
    poseidon2_16_permute(s);
    put(tree + 2 * (start + len + node), s);
}

// A level that is being made: where its digests go, and which of them are the block's.
struct Level {
    u64 start; // digest that the level begins with
    u64 len;
    u64 first; // of the block, within the level
};

FN Level above(Level l) { return {l.start + l.len, l.len >> 1, l.first >> 1}; }

// Climbs `levels` levels over `count` digests in shared memory, which lie in `level`, and hands the
// last one over. For all threads; sixteen of them share a node.
FN void row_climb(u32* digests, u32 count, u32 levels, Level level, u32* tree, const u32* tables,
                  u32* scratch, Mail const& mail) {
    u32 lane = threadIdx.x & 15, node = threadIdx.x >> 4;
    for (; levels; levels--) {
        level = above(level);
        count >>= 1;
        __syncthreads();
        u32 x = node < count ? digests[threadIdx.x] : 0;
        // warps without a node only wait
        if ((threadIdx.x & ~31u) >> 4 < count) x = row_permute(x, tables, scratch);
        __syncthreads();
        if (node < count && lane < 8) {
            digests[8 * node + lane] = x;
            tree[8 * (level.start + level.first + node) + lane] = x;
        }
    }
    if (!mail.flag) return;
    __syncthreads();
    for (u32 i = threadIdx.x; i < 8 * count; i += blockDim.x) mail.results[i] = digests[i];
    __syncthreads();
    if (threadIdx.x == 0) deliver(mail);
}

// For few rows: hashes them, a block blockDim.x / 16 of them, and `levels` levels over the block's.
extern "C" __global__ void __launch_bounds__(THREADS)
    merkle_leaves_row(const u32* __restrict__ code, u32 columns, u64 height, u32 levels,
                      u32* tree, Mail mail) {
    __shared__ __align__(16) u32 tables[ROW_WORDS];
    __shared__ __align__(16) u32 scratch[THREADS];
    __shared__ u32 digests[THREADS];
    row_load(tables);
    u32 lane = threadIdx.x & 15, nodes = blockDim.x >> 4, node = threadIdx.x >> 4;
    u64 first = (u64)blockIdx.x * nodes, row = first + node;
    // the first eight threads hold the rate
    bool loads = lane < 8 && row < height;
    const u32* at = code + (u64)lane * height + row;
    u32 x = 0, next = loads && lane < columns ? __ldg(at) : 0;
    __syncthreads();
    for (u32 c = 0; c < columns; c += 8) {
        if (lane < 8 && c + lane < columns) x = next;
        at += 8 * height;
        if (loads && c + 8 + lane < columns) next = __ldg(at);
        x = row_permute(x, tables, scratch);
    }
    if (lane < 8) {
        digests[8 * node + lane] = x;
        if (row < height) tree[8 * row + lane] = x;
    }
    u32 count = (u32)min((u64)nodes, height);
    row_climb(digests, count, levels, {0, height, first}, tree, tables, scratch, mail);
}

// From a finished level of `len` digests that begins at digest `start`, `levels` levels more; a block
// takes blockDim.x / 8 digests.
extern "C" __global__ void __launch_bounds__(1024)
    merkle_nodes_row(u32* tree, u64 start, u64 len, u32 levels, Mail mail) {
    __shared__ __align__(16) u32 tables[ROW_WORDS];
    __shared__ __align__(16) u32 scratch[1024];
    __shared__ u32 digests[1024];
    row_load(tables);
    u32 count = (u32)min((u64)(blockDim.x >> 3), len);
    u64 first = (u64)blockIdx.x * (blockDim.x >> 3);
    if (threadIdx.x < 8 * count) digests[threadIdx.x] = tree[8 * (start + first) + threadIdx.x];
    row_climb(digests, count, levels, {start, len, first}, tree, tables, scratch, mail);
}
