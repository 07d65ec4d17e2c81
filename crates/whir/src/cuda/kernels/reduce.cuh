// Sums over the threads of a block and over the blocks of a grid.
#pragma once
#include "field.cuh"

template <int D>
FN Ext<D> warp_sum(Ext<D> x) {
#pragma unroll
    for (int offset = 16; offset; offset >>= 1) {
#pragma unroll
        for (int d = 0; d < D; d++) x.c[d] = add(x.c[d], __shfl_xor_sync(~0u, x.c[d], offset));
    }
    return x;
}

// The sum over the block, in thread 0; blocks of whole warps, at most 1024 threads. Every thread
// calls it.
template <int D>
FN Ext<D> block_sum(Ext<D> x) {
    __shared__ u32 parts[D][32];
    u32 warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    x = warp_sum<D>(x);
    __syncthreads();
    if (lane == 0) {
#pragma unroll
        for (int d = 0; d < D; d++) parts[d][warp] = x.c[d];
    }
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int d = 0; d < D; d++) x.c[d] = lane < (blockDim.x >> 5) ? parts[d][lane] : 0;
        x = warp_sum<D>(x);
    }
    return x;
}

// Where a kernel leaves small results: host memory, and the number that says that they are there.
struct Mail {
    u32* results;
    u32* flag;
    u32 number;
};

// By one thread, after all results were written by it or by threads of its block before a barrier.
FN void deliver(Mail const& mail) {
    __threadfence_system();
    *(volatile u32*)mail.flag = mail.number;
}

// True in every thread of the block that is the last of the grid to arrive. `*arrived` is 0 before
// and after. What the other blocks wrote is visible then.
FN bool last_block(u32* arrived) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = gridDim.x == 1 || atomicAdd(arrived, 1u) == gridDim.x - 1;
        if (last) {
            *arrived = 0;
            __threadfence();
        }
    }
    __syncthreads();
    return last;
}

// Adds up N elements of every block, and the last block delivers the totals. `partial` holds N
// elements per block.
template <int D, int N>
FN void grid_sum(Ext<D> const (&x)[N], u32* partial, u32* arrived, Mail mail) {
    Ext<D> s[N];
#pragma unroll
    for (int i = 0; i < N; i++) s[i] = block_sum<D>(x[i]);
    if (gridDim.x > 1) {
        if (threadIdx.x == 0) {
#pragma unroll
            for (int i = 0; i < N; i++)
#pragma unroll
                for (int d = 0; d < D; d++) partial[(blockIdx.x * N + i) * D + d] = s[i].c[d];
        }
        if (!last_block(arrived)) return;
#pragma unroll
        for (int i = 0; i < N; i++) {
            Ext<D> t = ext_zero<D>();
            for (u32 b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
                Ext<D> p;
#pragma unroll
                for (int d = 0; d < D; d++) p.c[d] = __ldcg(&partial[(b * N + i) * D + d]);
                t = add<D>(t, p);
            }
            s[i] = block_sum<D>(t);
        }
    }
    if (threadIdx.x == 0) {
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int d = 0; d < D; d++) mail.results[i * D + d] = s[i].c[d];
        deliver(mail);
    }
}
