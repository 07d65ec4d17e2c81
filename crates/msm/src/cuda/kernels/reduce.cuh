// What follows the accumulation, and the bases as they lie on the device.
#pragma once

#define MSM_CALLS 1
#include "memory.cuh"

// One copy of the formula a kernel, operands in memory.
__device__ __noinline__ void add_far(Acc* to, const Acc* other) {
    Acc sum = *to;
    acc_add(sum, *other);
    *to = sum;
}
__device__ __noinline__ void double_far(Acc* to) { *to = acc_double(*to); }

// Part k of a bucket, counted from where it begins, takes up part k + distance, for every k that is a
// multiple of 2 distance.
extern "C" __global__ void __launch_bounds__(128)
    combine(const uint2* entries, const u32* totals, const uint2* ranges, Acc* heads, Acc* tails,
            const u32* longest, u32 distance, Shape shape) {
    if (distance > *longest) return;
    u32 column = blockIdx.y, t = blockIdx.x * blockDim.x + threadIdx.x;
    u32 total = totals[column];
    u64 first = (u64)t * shape.length;
    if (first >= total) return;
    u32 last = (u32)min((u64)total, first + shape.length) - 1;
    entries += (u64)column * shape.items;
    ranges += (u64)column * shape.buckets;
    heads += (u64)column * shape.segments + t;
    tails += (u64)column * shape.segments + t;
    Acc* to = nullptr;
    uint2 range = ranges[entries[last].x];
    u32 from = range.x / shape.length, end = (range.y - 1) / shape.length;
    if (from == t && end >= t + distance) to = tails;
    if (to == nullptr) {
        range = ranges[entries[first].x];
        from = range.x / shape.length, end = (range.y - 1) / shape.length;
        if (from < t && (t - from) % (2 * distance) == 0 && end >= t + distance) to = heads;
    }
    if (to == nullptr) return;
    Acc sum = load(to), other = load(heads + distance);
    add_far(&sum, &other);
    store(to, sum);
}

// The sum of a bucket, wherever it ended; false if it is empty.
FN bool bucket_sum(u32 column, u32 bucket, const uint2* ranges, const Acc* sums, const Acc* tails,
                   const Shape& shape, Acc& sum) {
    u64 at = (u64)column * shape.buckets + bucket;
    uint2 range = ranges[at];
    if (range.x == range.y) return false;
    u32 from = range.x / shape.length, to = (range.y - 1) / shape.length;
    sum = load(from == to ? sums + at : tails + ((u64)column * shape.segments + from));
    return true;
}

// Adds the sums of a chunk of bases to those of the chunks before, or begins with them.
extern "C" __global__ void __launch_bounds__(128)
    merge(const uint2* ranges, const Acc* sums, const Acc* tails, Acc* all, u32 begin, Shape shape) {
    u32 column = blockIdx.y, bucket = blockIdx.x * blockDim.x + threadIdx.x;
    if (bucket >= shape.buckets) return;
    Acc sum = acc_identity();
    bool any = bucket_sum(column, bucket, ranges, sums, tails, shape, sum);
    Acc* to = all + (u64)column * shape.buckets + bucket;
    if (begin) {
        store(to, sum);
    } else if (any) {
        Acc before = load(to);
        add_far(&sum, &before);
        store(to, sum);
    }
}

// ---- the reduction: sum of (b + 1) B_b ----

// Of each `size` buckets: the sum (`plain`) and the sum of (k + 1) B_k (`weighted`). With `merged` the
// buckets are those of `merge`.
extern "C" __global__ void __launch_bounds__(128)
    reduce_buckets(const uint2* ranges, const Acc* sums, const Acc* tails, u32 merged, u32 size, u32 groups,
                   Acc* plain, Acc* weighted, Shape shape) {
    u32 column = blockIdx.y, group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= groups) return;
    Acc running = acc_identity(), total = acc_identity();
    bool some = false;
#pragma unroll 1
    for (u32 k = size; k-- > 0;) {
        u32 bucket = group * size + k;
        if (bucket >= shape.buckets) continue;
        Acc own;
        bool any = true;
        if (merged)
            own = load(sums + (u64)column * shape.buckets + bucket);
        else
            any = bucket_sum(column, bucket, ranges, sums, tails, shape, own);
        if (any) add_far(&running, &own);
        some |= any;
        if (some) add_far(&total, &running);
    }
    store(plain + (u64)column * groups + group, running);
    store(weighted + (u64)column * groups + group, total);
}

constexpr u32 REDUCE_THREADS = 128;

// Bit b of the groups' numbers: the sum of `plain` of those that have it; and, as the last, the sum of
// `weighted` of all. A block for each, and for each of gridDim.z parts of the groups.
extern "C" __global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_groups(const Acc* plain, const Acc* weighted, u32 groups, u32 bits, Acc* out) {
    __shared__ uint4 shared[REDUCE_THREADS * sizeof(Acc) / 16 / 2];
    Acc* half = (Acc*)shared;
    u32 column = blockIdx.y, bit = blockIdx.x, thread = threadIdx.x;
    const Acc* from = (bit < bits ? plain : weighted) + (u64)column * groups;
    u32 count = bit < bits ? ((groups >> (bit + 1)) << bit) + max((int)(groups & ((2u << bit) - 1)) - (int)(1u << bit), 0) : groups;
    Acc sum = acc_identity();
    for (u32 k = blockIdx.z * REDUCE_THREADS + thread; k < count; k += gridDim.z * REDUCE_THREADS) {
        u32 group = k;
        if (bit < bits) group = (k >> bit) << (bit + 1) | 1u << bit | (k & ((1u << bit) - 1));
        Acc own = load(from + group);
        add_far(&sum, &own);
    }
    for (u32 width = REDUCE_THREADS / 2; width > 0; width /= 2) {
        if (thread >= width && thread < 2 * width) store(half + (thread - width), sum);
        __syncthreads();
        if (thread < width) {
            Acc own = load(half + thread);
            add_far(&sum, &own);
        }
        __syncthreads();
    }
    if (thread == 0) {
        u64 at = ((u64)column * (bits + 1) + bit) * gridDim.z + blockIdx.z;
        store(out + at, acc_canonical(sum));
    }
}

// ---- bases ----

// Points a thread converts with one inversion.
constexpr u32 BATCH = 16;

#if MSM_EDWARDS
FN Fq point_denominator(const Acc& p) { return p.z; }
FN Point to_point(const Acc& p, const Fq& inverse) {
    Fq x = fq_mul(p.x, inverse), y = fq_mul(p.y, inverse);
    return Point{fq_sub(y, x), fq_add(y, x), fq_mul(fq_mul(x, y), edwards_2d())};
}

// Affine points to records. `prefix` is as long as `points`. The lowest index of a point that has no image
// goes to *bad.
extern "C" __global__ void __launch_bounds__(128)
    convert(const Affine* points, u32 count, Point* to, u32 first, u32* bad) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    Fq product = fq_one();
    for (u32 i = t; i < count; i += stride) {
        Affine p = load(points + i);
        if (!edwards_has_image(p.x, p.y)) atomicMin(bad, first + i);
        store(&to[i].t2d, product);
        product = fq_mul(product, edwards_denominator(p.x, p.y));
    }
    if (t >= count) return;
    Fq inverse = fq_inverse(product);
    u32 last = t + (count - 1 - t) / stride * stride;
    for (u32 i = last;; i -= stride) {
        Affine p = load(points + i);
        Fq own = fq_mul(inverse, load(&to[i].t2d));
        inverse = fq_mul(inverse, edwards_denominator(p.x, p.y));
        store(to + i, edwards_image(p.x, p.y, own));
        if (i < stride) break;
    }
}
#else
FN Fq point_denominator(const Acc& p) { return fq_reduce(lz_reduce<2>(acc_denominator(p))); }
FN Point to_point(const Acc& p, const Fq& inverse) { return acc_to_affine(p, inverse); }
#endif

// to[i] = 2^doublings from[i]. `scratch` holds as many accumulators and `prefix` as many field elements
// as there are points.
extern "C" __global__ void __launch_bounds__(128)
    multiples(const Point* from, Point* to, u32 count, u32 doublings, Acc* scratch, Fq* prefix) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    if (t >= count) return;
    Fq product = fq_one();
    for (u32 i = t; i < count; i += stride) {
        Acc acc = acc_identity();
        acc_add_affine(acc, load(from + i), false);
#pragma unroll 1
        for (u32 k = 0; k < doublings; k++) double_far(&acc);
        store(scratch + i, acc);
        store(prefix + i, product);
        product = fq_mul(product, point_denominator(acc));
    }
    Fq inverse = fq_inverse(product);
    u32 last = t + (count - 1 - t) / stride * stride;
    for (u32 i = last;; i -= stride) {
        Acc acc = load(scratch + i);
        Fq own = fq_mul(inverse, load(prefix + i));
        inverse = fq_mul(inverse, point_denominator(acc));
        store(to + i, to_point(acc, own));
        if (i < stride) break;
    }
}
