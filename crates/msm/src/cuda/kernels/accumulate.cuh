// The kernel that takes nearly all of the time.
#pragma once

#include "memory.cuh"

#ifndef ACCUMULATE_THREADS
#define ACCUMULATE_THREADS 128
#endif
// Blocks that a multiprocessor has registers for, as measured best.
#ifndef ACCUMULATE_BLOCKS
#define ACCUMULATE_BLOCKS 3
#endif

extern "C" __global__ void __launch_bounds__(ACCUMULATE_THREADS, ACCUMULATE_BLOCKS)
    accumulate(const uint2* entries, const u32* totals, const uint2* ranges, const Point* bases, Acc* sums,
               Acc* heads, Acc* tails, u32* longest, Shape shape) {
    u32 column = blockIdx.y, t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 total = totals[column];
    u64 first = (u64)t * shape.length;
    if (first >= total) return;
    u32 length = min(shape.length, total - (u32)first);
    entries += (u64)column * shape.items + first;
    ranges += (u64)column * shape.buckets;
    sums += (u64)column * shape.buckets;
    u64 slot = (u64)column * shape.segments + t;

    Acc acc = acc_identity();
    uint2 entry = entries[0];
    for (u32 i = 0; i < length; i++) {
        uint2 next = entry;
        if (i + 1 < length) {
            next = entries[i + 1];
            prefetch(bases + (next.y & ~NEGATIVE));
        }
        acc_add_affine(acc, load_constant(bases + (entry.y & ~NEGATIVE)), entry.y & NEGATIVE);
        if (i + 1 == length || next.x != entry.x) {
            uint2 range = ranges[entry.x];
            u32 from = range.x / shape.length, to = (range.y - 1) / shape.length;
            if (from == to) {
                store(sums + entry.x, acc);
            } else if (from == t) {
                store(tails + slot, acc);
                atomicMax(longest, to - from);
            } else {
                store(heads + slot, acc);
            }
            acc = acc_identity();
        }
        entry = next;
    }
}
