// Weights of the sumcheck: sums of eq tables and of powers, added into planes.
#include "memory.cuh"

#define THREADS 256

// Tables of up to four terms over all of the index, as `eq_pair` makes them.
struct EqTerms {
    const u32* table[4];
    u32 count;
    u32 overwrite; // else the sums are added to what is there
    u32 inner_bits;
    u32 outer_bits;
};

// w[x] (+)= sum_t outer_t[x >> inner] inner_t[x mod 2^inner]
template <int D>
FN void weights_eq(u32* w, u64 stride, EqTerms t) {
    u64 x = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (x >> (t.inner_bits + t.outer_bits)) return;
    u32 high = x >> t.inner_bits, low = x & ((1u << t.inner_bits) - 1);
    Dot<D> dot;
#pragma unroll
    for (int i = 0; i < 4; i++)
        if (i < t.count)
            dot.add(load_table<D>(t.table[i], high),
                    load_table<D>(t.table[i], (1u << t.outer_bits) + low));
    Ext<D> v = dot.finish();
    if (!t.overwrite) v = add<D>(v, load_planes<D>(w, stride, x));
    store_planes<D>(w, stride, x, v);
}

// w[offset + ((y + shift) << log_stride)] += eq(y), y + shift < 2^(inner + outer)
template <int D>
FN void weights_span(u32* w, u64 stride, const u32* __restrict__ table, u32 inner_bits,
                     u32 outer_bits, u64 offset, u32 log_stride, u32 shift) {
    u64 y = (u64)blockIdx.x * THREADS + threadIdx.x;
    if ((y + shift) >> (inner_bits + outer_bits)) return;
    Ext<D> v = mul<D>(load_table<D>(table, y >> inner_bits),
                      load_table<D>(table, (1u << outer_bits) + (y & ((1u << inner_bits) - 1))));
    u64 x = offset + ((y + shift) << log_stride);
    store_planes<D>(w, stride, x, add<D>(v, load_planes<D>(w, stride, x)));
}

// w[x] += c
template <int D>
FN void weights_at(u32* w, u64 stride, u64 x, Element c) {
    store_planes<D>(w, stride, x, add<D>(element<D>(c), load_planes<D>(w, stride, x)));
}

#define BLOCK 256 // indices that share one table of powers
#define ROWS 4    // runs of BLOCK indices that a thread holds at a time

// powers[j * BLOCK + x] = z_j^x, x < BLOCK; steps[j] = z_j^BLOCK. terms: D coefficients of c_j,
// then z_j. A block for each term.
template <int D>
FN void select_powers(const u32* __restrict__ terms, u32* powers, u32* steps) {
    u32 z = terms[blockIdx.x * (D + 1) + D], v = power(z, threadIdx.x);
    powers[blockIdx.x * BLOCK + threadIdx.x] = v;
    if (threadIdx.x == BLOCK - 1) steps[blockIdx.x] = mul(v, z);
}

// w[x] += sum_j c_j z_j^x. A block of threads takes `runs` times ROWS runs of BLOCK indices; the
// factors c_j z_j^(start of the run) are kept in shared memory and stepped.
template <int D>
FN void select_sums(u32* w, u64 stride, u64 len, const u32* __restrict__ terms, u32 count,
                    const u32* __restrict__ powers, const u32* __restrict__ steps, u32 runs) {
    extern __shared__ u32 sh[]; // count * ROWS * D factors
    for (u32 i = threadIdx.x; i < count * ROWS; i += BLOCK) {
        u32 j = i / ROWS, row = i % ROWS;
        u32 start = power(__ldg(steps + j), blockIdx.x * runs * ROWS + row);
#pragma unroll
        for (int d = 0; d < D; d++) sh[i * D + d] = mul(__ldg(terms + j * (D + 1) + d), start);
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
        weights_eq_d##D(u32* w, u64 stride, EqTerms t) {                                         \
        weights_eq<D>(w, stride, t);                                                             \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        weights_span_d##D(u32* w, u64 stride, const u32* table, u32 inner_bits, u32 outer_bits,  \
                          u64 offset, u32 log_stride, u32 shift) {                               \
        weights_span<D>(w, stride, table, inner_bits, outer_bits, offset, log_stride, shift);    \
    }                                                                                            \
    extern "C" __global__ void weights_at_d##D(u32* w, u64 stride, u64 x, Element c) {           \
        weights_at<D>(w, stride, x, c);                                                          \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                          \
        select_powers_d##D(const u32* terms, u32* powers, u32* steps) {                          \
        select_powers<D>(terms, powers, steps);                                                  \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(BLOCK)                                          \
        select_sums_d##D(u32* w, u64 stride, u64 len, const u32* terms, u32 count,               \
                         const u32* powers, const u32* steps, u32 runs) {                        \
        select_sums<D>(w, stride, len, terms, count, powers, steps, runs);                       \
    }

WEIGHTS(4)
WEIGHTS(5)
