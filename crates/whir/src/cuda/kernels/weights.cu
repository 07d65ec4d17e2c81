// Weights of the sumcheck: sums of eq tables and of powers, added into planes.
#include "eq.cuh"

#define THREADS 256

// Terms that share a span: x = offset + ((y + shift) << log_stride), for y + shift < 2^bits.
struct Span {
    u64 offset;
    u32 log_stride;
    u32 shift;
    u32 count;     // of the terms
    u32 overwrite; // else the sums are added to what is there
    u32 per_block; // values of the high bits that a block walks over
    u32 unused;
};

// All of the same number of bits, split alike.
struct EqTerms {
    EqPoint point[4];
};

// w[x] (+)= sum_t eq_t(y)
template <int D>
FN void weights_eq(u32* w, u64 stride, EqTerms const& terms, Span const& s) {
    __shared__ u32 outer[4][OUTER * D];
    EqPoint const& p = terms.point[0];
    u32 blocks = max(1u, (1u << p.inner_bits) / THREADS);
    u32 low = blockIdx.x % blocks * THREADS + threadIdx.x;
    u32 first = blockIdx.x / blocks * s.per_block;
    u32 count = min(s.per_block, (1u << p.outer_bits) - first);
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < s.count) eq_outer<D>(terms.point[i], first, count, outer[i]);
    __syncthreads();
    if (low >> p.inner_bits) return;
    Ext<D> inner[4];
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < s.count) inner[i] = eq_inner<D>(terms.point[i], low);
    for (u32 o = 0; o < count; o++) {
        u64 y = ((u64)(first + o) << p.inner_bits) + low + s.shift;
        if (y >> (p.inner_bits + p.outer_bits)) return;
        Ext<D> v;
        if (s.count == 1) {
            // what is made of the inner factor is made once
            v = mul<D>(from_shared<D>(outer[0], o), inner[0]);
        } else {
            Dot<D> dot;
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (i < s.count) dot.add(inner[i], from_shared<D>(outer[i], o));
            v = dot.finish();
        }
        u64 x = s.offset + (y << s.log_stride);
        if (!s.overwrite) v = add<D>(v, load_planes<D>(w, stride, x));
        store_planes<D>(w, stride, x, v);
    }
}

// w[x] += c
template <int D>
FN void weights_at(u32* w, u64 stride, u64 x, Element c) {
    store_planes<D>(w, stride, x, add<D>(element<D>(c), load_planes<D>(w, stride, x)));
}

#define BLOCK 256 // indices that share one table of powers
#define ROWS 4    // runs of BLOCK indices that a thread holds at a time

// For each term D coefficients of c_j, then z_j.
struct SelectTerms {
    u32 words[960];
};

// powers[j * BLOCK + x] = z_j^x, x < BLOCK; steps[j] = z_j^BLOCK; scales: c_j. A block for each
// term.
template <int D>
FN void select_powers(SelectTerms const& terms, u32* scales, u32* powers, u32* steps) {
    u32 z = terms.words[blockIdx.x * (D + 1) + D], v = power(z, threadIdx.x);
    if (threadIdx.x < D)
        scales[blockIdx.x * D + threadIdx.x] = terms.words[blockIdx.x * (D + 1) + threadIdx.x];
    powers[blockIdx.x * BLOCK + threadIdx.x] = v;
    if (threadIdx.x == BLOCK - 1) steps[blockIdx.x] = mul(v, z);
}

// w[x] += sum_j c_j z_j^x. A block of threads takes `runs` times ROWS runs of BLOCK indices; the
// factors c_j z_j^(start of the run) are kept in shared memory and stepped.
template <int D>
FN void select_sums(u32* w, u64 stride, u64 len, const u32* __restrict__ scales, u32 count,
                    const u32* __restrict__ powers, const u32* __restrict__ steps, u32 runs) {
    extern __shared__ u32 sh[]; // count * ROWS * D factors
    for (u32 i = threadIdx.x; i < count * ROWS; i += BLOCK) {
        u32 j = i / ROWS, row = i % ROWS;
        u32 start = power(__ldg(steps + j), blockIdx.x * runs * ROWS + row);
#pragma unroll
        for (int d = 0; d < D; d++) sh[i * D + d] = mul(__ldg(scales + j * D + d), start);
    }
    for (u32 run = 0; run < runs; run++) {
        u64 x = ((u64)(blockIdx.x * runs + run) * ROWS) * BLOCK + threadIdx.x;
        if ((u64)(blockIdx.x * runs + run) * ROWS * BLOCK >= len) return;
        __syncthreads();
        Sum<D> sum[ROWS];
        u32 j = 0;
        for (; j + 1 < count; j += 2) {
            u32 a = __ldg(powers + j * BLOCK + threadIdx.x);
            u32 b = __ldg(powers + (j + 1) * BLOCK + threadIdx.x);
#pragma unroll
            for (int row = 0; row < ROWS; row++) {
                Ext<D> s, t;
#pragma unroll
                for (int d = 0; d < D; d++) {
                    s.c[d] = sh[(j * ROWS + row) * D + d];
                    t.c[d] = sh[((j + 1) * ROWS + row) * D + d];
                }
                sum[row].add2(a, s, b, t);
            }
        }
        if (j < count) {
            u32 a = __ldg(powers + j * BLOCK + threadIdx.x);
#pragma unroll
            for (int row = 0; row < ROWS; row++) {
                Ext<D> s;
#pragma unroll
                for (int d = 0; d < D; d++) s.c[d] = sh[(j * ROWS + row) * D + d];
                sum[row].add(a, s);
            }
        }
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            u64 at = x + (u64)row * BLOCK;
            if (at < len)
                store_planes<D>(w, stride, at,
                                add<D>(sum[row].finish(), load_planes<D>(w, stride, at)));
        }
        __syncthreads();
        if (run + 1 < runs) {
            for (u32 i = threadIdx.x; i < count * ROWS; i += BLOCK) {
                u32 step = __ldg(steps + i / ROWS), two = mul(step, step), four = mul(two, two);
#pragma unroll
                for (int d = 0; d < D; d++) sh[i * D + d] = mul(sh[i * D + d], four);
            }
        }
    }
}

#define WEIGHTS(D)                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        weights_eq_d##D(u32* w, u64 stride, EqTerms terms, Span s) {                             \
        weights_eq<D>(w, stride, terms, s);                                                      \
    }                                                                                            \
    extern "C" __global__ void weights_at_d##D(u32* w, u64 stride, u64 x, Element c) {           \
        weights_at<D>(w, stride, x, c);                                                          \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                          \
        select_powers_d##D(SelectTerms terms, u32* scales, u32* powers, u32* steps) {            \
        select_powers<D>(terms, scales, powers, steps);                                          \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                          \
        select_sums_d##D(u32* w, u64 stride, u64 len, const u32* scales, u32 count,              \
                         const u32* powers, const u32* steps, u32 runs) {                        \
        select_sums<D>(w, stride, len, scales, count, powers, steps, runs);                      \
    }

WEIGHTS(4)
WEIGHTS(5)
