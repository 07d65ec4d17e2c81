// What the threads of a block do together.
#pragma once

#include "carry.cuh"

constexpr u32 THREADS = 256;
constexpr u32 WARPS = THREADS / 32;

// The sum of the values of the threads before this one, in a block of THREADS; `all` is that of all.
// `shared` holds WARPS words, and is free again at the next barrier.
FN u32 block_prefix(u32 value, u32* shared, u32& all) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 sum = value;
#pragma unroll
    for (u32 step = 1; step < 32; step *= 2) {
        u32 below = __shfl_up_sync(0xffffffffu, sum, step);
        if (lane >= step) sum += below;
    }
    if (lane == 31) shared[warp] = sum;
    __syncthreads();
    u32 before = 0;
    all = 0;
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) {
        u32 part = shared[w];
        if (w < warp) before += part;
        all += part;
    }
    return before + sum - value;
}
