// Sums of buckets and their reduction, and the bases as they lie on the device: everything that knows the
// curve.
//
// The sorted entries of a column (sort.cu) are cut into segments of `length`. A thread adds up one
// segment, whatever buckets are in it, so no distribution of the scalars makes one thread longer than
// another. A bucket that lies within one segment is done then. One that reaches over several leaves its
// first part in `tails` of the segment where it begins, and the others in `heads` of theirs; these are
// added in pairs, in rounds over growing distances, and the sum ends in the tail.
#pragma once

#include "curve.cuh"

constexpr u32 NEGATIVE = 1u << 31;

struct Shape {
    u32 items;       // entries that fit in a column
    u32 buckets;     // of a column
    u32 segments;    // of a column
    u32 length;      // of a segment
};

// ---- memory ----

template <class T>
FN T load(const T* from) {
    static_assert(sizeof(T) % 16 == 0, "whole vectors");
    T value;
    u32* words = (u32*)&value;
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 16; i++) {
        uint4 v = ((const uint4*)from)[i];
        words[4 * i] = v.x, words[4 * i + 1] = v.y, words[4 * i + 2] = v.z, words[4 * i + 3] = v.w;
    }
    return value;
}

template <class T>
FN T load_constant(const T* from) {
    T value;
    u32* words = (u32*)&value;
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 16; i++) {
        uint4 v = __ldg((const uint4*)from + i);
        words[4 * i] = v.x, words[4 * i + 1] = v.y, words[4 * i + 2] = v.z, words[4 * i + 3] = v.w;
    }
    return value;
}

template <class T>
FN void store(T* to, const T& value) {
    const u32* words = (const u32*)&value;
#pragma unroll
    for (u32 i = 0; i < sizeof(T) / 16; i++)
        ((uint4*)to)[i] = make_uint4(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
}

template <class T>
FN void prefetch(const T* from) {
#ifdef __CUDA_ARCH__
#pragma unroll
    for (u32 at = 0; at < sizeof(T); at += 64) asm volatile("prefetch.global.L2 [%0];" ::"l"((const char*)from + at));
    if (sizeof(T) % 64 != 0) asm volatile("prefetch.global.L2 [%0];" ::"l"((const char*)from + sizeof(T) - 16));
#endif
}
