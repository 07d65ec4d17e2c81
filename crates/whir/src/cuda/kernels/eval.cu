// eq tables, and sums of values against them.
//
// eq(point, y) over m bits is a product of a factor of the high bits and one of the low bits, so
// that only two short tables of it exist. In a sum over y, a thread keeps its low bits and walks
// over the high ones: the outer factor is the same for all threads, the inner one is met once.
#include "memory.cuh"
#include "reduce.cuh"

#define THREADS 256

struct EqPoint {
    u32 outer_bits;
    u32 inner_bits;
    Element scale;
    u32 c[32 * 5]; // coordinate 0, the most significant bit, first
};

// table[0 .. 2^outer) = scale * eq of the first coordinates, then 2^inner of the others.
template <int D>
FN void eq_pair(EqPoint const& p, u32* table) {
    u32 x = blockIdx.x * blockDim.x + threadIdx.x;
    u32 outer = 1u << p.outer_bits, inner = 1u << p.inner_bits;
    if (x >= outer + inner) return;
    bool high = x < outer;
    u32 first = high ? 0 : p.outer_bits, bits = high ? p.outer_bits : p.inner_bits;
    u32 y = high ? x : x - outer;
    Ext<D> product = high ? element<D>(p.scale) : ext_one<D>();
    for (u32 i = 0; i < bits; i++) {
        Ext<D> z;
#pragma unroll
        for (int d = 0; d < D; d++) z.c[d] = p.c[(first + i) * D + d];
        if (((y >> (bits - 1 - i)) & 1) == 0) z = sub<D>(ext_one<D>(), z);
        product = mul<D>(product, z);
    }
    store_table<D>(table, x, product);
}

struct Partial {
    u64 base;       // first element
    u64 lo_stride;  // between neighbours of lo
    u64 y_stride;   // between neighbours of y
    u32 lo_bits;    // of lo inside the tile; the rest of lo is blockIdx.z
    u32 inner_bits; // of y inside the tile
    u32 outer_bits;
    u32 shift;      // y + shift is read, zero beyond the end
    u32 per_block;  // outer values of a block
};

// P[lo] = sum_y eq(y) f[base + lo * lo_stride + (y + shift) * y_stride], one partial sum a block
// and lo.
template <int D>
FN void partial_sums(const u32* __restrict__ f, const u32* __restrict__ table, Partial p,
                     u32* partial) {
    __shared__ u32 sh[D][THREADS];
    u32 e = blockIdx.x * THREADS + threadIdx.x;
    u32 lo = e & ((1u << p.lo_bits) - 1), y = e >> p.lo_bits;
    Ext<D> total = ext_zero<D>();
    if (y < (1u << p.inner_bits)) {
        u32 o = blockIdx.y * p.per_block, end = min(o + p.per_block, 1u << p.outer_bits);
        u64 limit = 1ull << (p.inner_bits + p.outer_bits);
        u64 at = ((u64)o << p.inner_bits) + y + p.shift;
        const u32* from = f + p.base + (lo + ((u64)blockIdx.z << p.lo_bits)) * p.lo_stride;
        Sum<D> sum;
        u64 step = 1ull << p.inner_bits;
        for (; o + 1 < end; o += 2, at += 2 * step) {
            u32 a = from[at * p.y_stride];
            u32 b = at + step < limit ? from[(at + step) * p.y_stride] : 0;
            sum.add2(a, load_table<D>(table, o), b, load_table<D>(table, o + 1));
        }
        if (o < end && at < limit) sum.add(from[at * p.y_stride], load_table<D>(table, o));
        Ext<D> inner = load_table<D>(table, (1u << p.outer_bits) + y);
        total = mul<D>(sum.finish(), inner);
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

// out[z << lo_bits | lo] = the sum of the `count` partials of lo in part z. One block each.
template <int D>
FN void partial_finish(const u32* __restrict__ partial, u32 lo_bits, u32 count, u32* out) {
    u32 lo = blockIdx.x & ((1u << lo_bits) - 1), z = blockIdx.x >> lo_bits;
    Ext<D> sum = ext_zero<D>();
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        sum = add<D>(sum, load_table<D>(partial, ((((u64)z * count) + i) << lo_bits) + lo));
    sum = block_sum<D>(sum);
    if (threadIdx.x == 0) store_table<D>(out, blockIdx.x, sum);
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
FN void evaluate(const u32* __restrict__ f, u64 stride, const u32* __restrict__ table,
                 u32 inner_bits, u32 outer_bits, u32 per_block, u32* partial, u32* arrived,
                 u32* out) {
    u32 blocks = max(1u, (1u << inner_bits) / THREADS);
    u32 y = blockIdx.x % blocks * THREADS + threadIdx.x;
    Ext<D> total[1] = {ext_zero<D>()};
    if (y < (1u << inner_bits)) {
        u32 o = blockIdx.x / blocks * per_block, end = min(o + per_block, 1u << outer_bits);
        Dot<D> dot;
        for (; o < end; o++)
            dot.add(load_planes<D>(f, stride, ((u64)o << inner_bits) + y), load_table<D>(table, o));
        total[0] = mul<D>(dot.finish(), load_table<D>(table, (1u << outer_bits) + y));
    }
    grid_sum<D, 1>(total, partial, arrived, out);
}

#define EVAL(D)                                                                                  \
    extern "C" __global__ void eq_pair_d##D(EqPoint p, u32* table) { eq_pair<D>(p, table); }     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        partial_sums_d##D(const u32* f, const u32* table, Partial p, u32* partial) {             \
        partial_sums<D>(f, table, p, partial);                                                   \
    }                                                                                            \
    extern "C" __global__ void partial_finish_d##D(const u32* partial, u32 lo_bits, u32 count,   \
                                                   u32* out) {                                   \
        partial_finish<D>(partial, lo_bits, count, out);                                         \
    }                                                                                            \
    extern "C" __global__ void lift_d##D(const u32* f, u64 base, u64 stride, u32 count,          \
                                         u32* out) {                                             \
        lift<D>(f, base, stride, count, out);                                                    \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        evaluate_d##D(const u32* f, u64 stride, const u32* table, u32 inner_bits, u32 outer_bits, \
                      u32 per_block, u32* partial, u32* arrived, u32* out) {                     \
        evaluate<D>(f, stride, table, inner_bits, outer_bits, per_block, partial, arrived, out); \
    }

EVAL(4)
EVAL(5)
