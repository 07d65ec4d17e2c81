// RPO in bulk: one state a thread, or, where there are too few states for the chip, one element a lane.
//
// Plan: a permutation is 6384 products and 14 MDS layers, some 110 000 instructions of a thread, and
// moves at most 192 bytes: never bound by memory. A thread alone takes 125 us for it, twelve lanes 21 us
// (H200). Digests are 4 words of 64 bits, states 12.
#include "permute.cuh"

#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 6 // of a multiprocessor, at least: 80 registers a thread
#endif

// How a sponge lays a state out, and how it marks an input's end.
struct Layout {
    u32 rate_last; // 0: rate, capacity; 1: capacity, rate
    u32 end_mark;  // after the last element of a block that is not full
    u32 by_rest;   // the flag of a length: 1: length mod 8; 0: whether that is not 0
};

FN void put_rate(u64 s[WIDTH], u32 rate_last, int i, u64 x) {
    if (rate_last)
        s[i + 4] = x;
    else
        s[i] = x;
}

FN void start(u64 s[WIDTH], u32 rate_last, u64 flag) {
#pragma unroll
    for (int i = 0; i < WIDTH; i++) s[i] = 0;
    if (rate_last)
        s[0] = flag;
    else
        s[8] = flag;
}

FN void store_digest(u64* digests, u64 at, const u64 s[WIDTH], u32 rate_last) {
#pragma unroll
    for (int i = 0; i < 4; i++) digests[4 * at + i] = rate_last ? s[4 + i] : s[i];
}

FN u64 thread() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    permute_many(u64* states, u64 count, const __grid_constant__ Constants c) {
    u64 at = thread();
    if (at >= count) return;
    u64 s[WIDTH];
    ulonglong2* state = (ulonglong2*)(states + WIDTH * at);
#pragma unroll
    for (int i = 0; i < WIDTH / 2; i++) {
        ulonglong2 v = state[i];
        s[2 * i] = v.x, s[2 * i + 1] = v.y;
    }
    permute(s, c);
#pragma unroll
    for (int i = 0; i < WIDTH / 2; i++) state[i] = make_ulonglong2(s[2 * i], s[2 * i + 1]);
}

// Hash of `len` elements from `at` on. The first of all inputs that is not canonical goes to `bad`.
FN void hash(u64 s[WIDTH], const u64* elements, u64 at, u64 len, Layout layout, u64* bad,
             const Constants& c) {
    u64 rest = len % 8;
    start(s, layout.rate_last, layout.by_rest ? rest : (u64)(rest != 0));
#pragma unroll 1
    for (u64 done = 0; done < len; done += 8) {
        u64 left = len - done;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            u64 x = i == left ? layout.end_mark : 0;
            if (i < left) {
                x = elements[at + done + i];
                if (x >= P) atomicMin(bad, at + done + i);
            }
            put_rate(s, layout.rate_last, i, x);
        }
        permute(s, c);
    }
}

// Inputs of `width` elements each, width > 0.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    hash_rows(const u64* elements, u64 count, u64 width, u64* digests, u64* bad, Layout layout,
              const __grid_constant__ Constants c) {
    u64 at = thread();
    if (at >= count) return;
    u64 s[WIDTH];
    hash(s, elements, at * width, width, layout, bad, c);
    store_digest(digests, at, s, layout.rate_last);
}

// Inputs of any lengths: input i is from starts[i] to starts[i + 1]. A thread takes the input that
// `order` names, so that neighbours have inputs of like length.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    hash_many(const u64* elements, const u64* starts, const u32* order, u64 count, u64* digests,
              u64* bad, Layout layout, const __grid_constant__ Constants c) {
    if (thread() >= count) return;
    u64 at = order[thread()], first = starts[at];
    u64 s[WIDTH];
    hash(s, elements, first, starts[at + 1] - first, layout, bad, c);
    store_digest(digests, at, s, layout.rate_last);
}

// parents[i] = merge(children[2 i], children[2 i + 1])
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    merge_level(const u64* children, u64* parents, u64 count, u32 rate_last,
                const __grid_constant__ Constants c) {
    u64 at = thread();
    if (at >= count) return;
    u64 s[WIDTH];
    start(s, rate_last, 0);
#pragma unroll
    for (int i = 0; i < 4; i++) {
        ulonglong2 v = ((const ulonglong2*)children)[4 * at + i];
        put_rate(s, rate_last, 2 * i, v.x);
        put_rate(s, rate_last, 2 * i + 1, v.y);
    }
    permute(s, c);
    store_digest(parents, at, s, rate_last);
}

// ---- one element a lane: 12 of every 16 lanes hold a state ----

#define LANES 16

FN u64 from_lane(u64 x, u32 lane) {
    u32 low = __shfl_sync(0xffffffff, (u32)x, lane, LANES);
    u32 high = __shfl_sync(0xffffffff, (u32)(x >> 32), lane, LANES);
    return (u64)high << 32 | low;
}

// Row i is the first row turned i to the right: a coefficient belongs to a distance.
FN u64 mds_lane(u64 x, u32 lane, u64 k) {
    constexpr u32 ROW[WIDTH] = {7, 23, 8, 26, 13, 10, 9, 7, 6, 22, 21, 8};
    u32 s0 = 0, s1 = 0, s2 = 0;
#pragma unroll
    for (int d = 0; d < WIDTH; d++) {
        u32 from = lane + d;
        u64 y = from_lane(x, from < WIDTH ? from : from - WIDTH);
        s0 += ROW[d] * ((u32)y & 0x3fffff);
        s1 += ROW[d] * ((u32)(y >> 22) & 0x1fffff);
        s2 += ROW[d] * (u32)(y >> 43);
    }
    return gather(s0, s1, s2, k);
}

FN u64 permute_lane(u64 x, u32 lane, const u64 (*k)[WIDTH]) {
    u32 mine = lane < WIDTH ? lane : 0;
#pragma unroll 1
    for (int r = 0; r < ROUNDS; r++) {
        x = mds_lane(x, lane, k[2 * r][mine]);
        power_7<1>(&x);
        x = mds_lane(x, lane, k[2 * r + 1][mine]);
        power_inverse_7<1>(&x);
    }
    return canonical(x);
}

// The same as merge_level. A block stages the constants: lanes want different ones.
extern "C" __global__ void __launch_bounds__(256)
    merge_narrow(const u64* children, u64* parents, u64 count, u32 rate_last,
                 const __grid_constant__ Constants c) {
    __shared__ u64 k[2 * ROUNDS][WIDTH];
    for (u32 i = threadIdx.x; i < 2 * ROUNDS * WIDTH; i += blockDim.x)
        k[i / WIDTH][i % WIDTH] = c.k[i / WIDTH][i % WIDTH];
    __syncthreads();
    u32 lane = threadIdx.x % LANES;
    u64 at = thread() / LANES;
    // Of all lanes of a warp or of none: the shuffles need every one.
    if (at / 2 * 2 >= count) return;
    u32 first = rate_last ? 4 : 0, i = lane - first; // wraps for the capacity
    u64 x = i < 8 && at < count ? children[8 * at + i] : 0;
    x = permute_lane(x, lane, k);
    if (i < 4 && at < count) parents[4 * at + i] = x;
}
