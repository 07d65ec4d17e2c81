// Sums of values against eq weights.
#include "eq.cuh"
#include "reduce.cuh"

#define THREADS 256

struct Partial {
    u64 base;       // first element
    u64 lo_stride;  // between neighbours of lo
    u64 y_stride;   // between neighbours of y
    u32 lo_bits;    // of lo inside the tile; the rest of lo is blockIdx.z
    u32 shift;      // y + shift is read, zero beyond the end
    u32 per_block;  // outer values of a block
};

// P[lo] = sum_y eq(y) f[base + lo * lo_stride + (y + shift) * y_stride], one partial sum a block
// and lo.
template <int D>
FN void partial_sums(const u32* __restrict__ f, EqPoint const& point, Partial const& p,
                     u32* partial) {
    __shared__ u32 outer[OUTER * D];
    __shared__ u32 sh[D][THREADS];
    u32 e = blockIdx.x * THREADS + threadIdx.x;
    u32 lo = e & ((1u << p.lo_bits) - 1), y = e >> p.lo_bits;
    u32 first = blockIdx.y * p.per_block;
    u32 count = min(p.per_block, (1u << point.outer_bits) - first);
    eq_outer<D>(point, first, count, outer);
    __syncthreads();
    Ext<D> total = ext_zero<D>();
    if (y < (1u << point.inner_bits)) {
        u64 limit = 1ull << (point.inner_bits + point.outer_bits);
        u64 at = ((u64)first << point.inner_bits) + y + p.shift;
        u64 step = 1ull << point.inner_bits;
        const u32* from = f + p.base + (lo + ((u64)blockIdx.z << p.lo_bits)) * p.lo_stride;
        Sum<D> sum;
        u64 stride = step * p.y_stride;
        const u32* next = from + at * p.y_stride;
        u32 o = 0;
        // many loads in flight: a thread has no other work to hide them
        for (; o + 8 <= count && at + 7 * step < limit; o += 8, at += 8 * step) {
            u32 v[8];
#pragma unroll
            for (int i = 0; i < 8; i++, next += stride) v[i] = __ldg(next);
#pragma unroll
            for (int i = 0; i < 8; i += 2)
                sum.add2(v[i], from_shared<D>(outer, o + i), v[i + 1],
                         from_shared<D>(outer, o + i + 1));
        }
        for (; o < count && at < limit; o++, at += step, next += stride)
            sum.add(__ldg(next), from_shared<D>(outer, o));
        total = mul<D>(sum.finish(), eq_inner<D>(point, y));
    }
#pragma unroll
    for (int d = 0; d < D; d++) sh[d][threadIdx.x] = total.c[d];
    u32 width = min(1u << p.lo_bits, THREADS);
    for (u32 s = THREADS / 2; s >= width; s >>= 1) {
        __syncthreads();
        if (threadIdx.x < s) {
#pragma unroll
            for (int d = 0; d < D; d++)
                sh[d][threadIdx.x] = add(sh[d][threadIdx.x], sh[d][threadIdx.x + s]);
        }
    }
    if (threadIdx.x < width) {
        u64 block = ((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
#pragma unroll
        for (int d = 0; d < D; d++) total.c[d] = sh[d][threadIdx.x];
        store_table<D>(partial, block * width + threadIdx.x, total);
    }
}

// out[z << lo_bits | lo] = the sum of the `count` partials of lo in part z. One block each; the last
// to arrive delivers, if there is where.
template <int D>
FN void partial_finish(const u32* __restrict__ partial, u32 lo_bits, u32 count, u32* out,
                       u32* arrived, Mail mail) {
    u32 lo = blockIdx.x & ((1u << lo_bits) - 1), z = blockIdx.x >> lo_bits;
    Ext<D> sum = ext_zero<D>();
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        sum = add<D>(sum, load_table<D>(partial, ((((u64)z * count) + i) << lo_bits) + lo));
    sum = block_sum<D>(sum);
    if (threadIdx.x == 0) store_table<D>(out, blockIdx.x, sum);
    if (!mail.flag || !last_block(arrived)) return;
    for (u32 i = threadIdx.x; i < gridDim.x * D; i += blockDim.x)
        mail.results[i] = __ldcg(out + i);
    __syncthreads();
    if (threadIdx.x == 0) deliver(mail);
}

// out[lo] = f[base + lo * stride], lifted.
template <int D>
FN void lift(const u32* __restrict__ f, u64 base, u64 stride, u32 count, u32* out) {
    u32 lo = blockIdx.x * blockDim.x + threadIdx.x;
    if (lo >= count) return;
    Ext<D> x = ext_zero<D>();
    x.c[0] = f[base + lo * stride];
    store_table<D>(out, lo, x);
}

// The sum of f(y) eq(y) over a table in planes.
template <int D>
FN void evaluate(const u32* __restrict__ f, u64 stride, EqPoint const& point, u32 per_block,
                 u32* partial, u32* arrived, Mail mail) {
    __shared__ u32 outer[OUTER * D];
    u32 blocks = max(1u, (1u << point.inner_bits) / THREADS);
    u32 y = blockIdx.x % blocks * THREADS + threadIdx.x;
    u32 first = blockIdx.x / blocks * per_block;
    u32 count = min(per_block, (1u << point.outer_bits) - first);
    eq_outer<D>(point, first, count, outer);
    __syncthreads();
    Ext<D> total[1] = {ext_zero<D>()};
    if (y < (1u << point.inner_bits)) {
        Dot<D> dot;
#pragma unroll 4
        for (u32 o = 0; o < count; o++)
            dot.add(load_planes<D>(f, stride, ((u64)(first + o) << point.inner_bits) + y),
                    from_shared<D>(outer, o));
        total[0] = mul<D>(dot.finish(), eq_inner<D>(point, y));
    }
    grid_sum<D, 1>(total, partial, arrived, mail);
}

#define EVAL(D)                                                                                  \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        partial_sums_d##D(const u32* f, EqPoint point, Partial p, u32* partial) {                \
        partial_sums<D>(f, point, p, partial);                                                   \
    }                                                                                            \
    extern "C" __global__ void partial_finish_d##D(const u32* partial, u32 lo_bits, u32 count,   \
                                                   u32* out, u32* arrived, Mail mail) {          \
        partial_finish<D>(partial, lo_bits, count, out, arrived, mail);                          \
    }                                                                                            \
    extern "C" __global__ void lift_d##D(const u32* f, u64 base, u64 stride, u32 count,          \
                                         u32* out) {                                             \
        lift<D>(f, base, stride, count, out);                                                    \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        evaluate_d##D(const u32* f, u64 stride, EqPoint point, u32 per_block, u32* partial,      \
                      u32* arrived, Mail mail) {                                                 \
        evaluate<D>(f, stride, point, per_block, partial, arrived, mail);                        \
    }

EVAL(4)
EVAL(5)
