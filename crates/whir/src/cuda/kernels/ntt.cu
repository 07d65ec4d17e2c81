// Reed-Solomon encoding: number-theoretic transforms of many zero-extended columns.
//
// A transform of height h = 2^L runs as self-sorting (Stockham) passes of radix R = 2^4 .. 2^8 each:
// input and output in natural order, no bit reversal. With s = the product of the radices before,
//
//     y[(j / s) s R + j mod s + k s] = sum_r w_(sR)^((j mod s) r) w_R^(r k) x[j + r h / R]
//
// for j < h / R, k < R. A radix R = 16 B step is two register steps, over a then over b of
// r = B a + b, with one exchange through shared memory between them.
//
// The first pass reads the message as it lies, row-major or column-major, and takes zeros beyond
// its rows, so that neither a padded copy nor a transpose of the message is ever made. All later
// data are column-major: column c at c h. The columns of an extension message are its coefficients,
// entry-major, so that column c = entry * D + coefficient, the order in which a leaf is hashed.
//
// Plan, per element and pass: 4 bytes read, 4 written; radix 256: 17/16 products in each of two
// 16-point transforms, 15/16 between them, and 2 for the twiddle of the pass (its power and its
// use): 5.1 products. Three passes of radix 256 at 2^24 move 3 * 134 MB.
#include "field.cuh"
#include "generated/dft16.cuh"

#define THREADS 512
// Blocks that fill a multiprocessor.
#if __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200
#define BLOCKS 3
#elif __CUDA_ARCH__ == 750
#define BLOCKS 2
#else
#define BLOCKS 4
#endif

template <int K>
FN constexpr int reversed(int i) {
    int r = 0;
    for (int b = 0; b < K; b++) r |= ((i >> b) & 1) << (K - 1 - b);
    return r;
}

template <int K>
FN void dft(u32* x) {
    if (K == 1) dft2(x);
    if (K == 2) dft4(x);
    if (K == 3) dft8(x);
    if (K == 4) dft16(x);
}

struct Pass {
    u32 log_height;
    u32 log_done;    // log2 of s
    u32 log_width;   // first pass: columns of the message
    u32 log_rows;    // first pass: rows of the message
    u32 row_major;   // first pass: how the message lies
    u32 degree;      // first pass: planes of the message
    u32 log_low;     // the twiddle tables: g^i for i < 2^log_low, and g^(i 2^log_low)
    u32 lanes;       // transforms of this pass, in all columns of a plane (first) or of all
};

// g_h^e from the two tables.
FN u32 twiddle(const u32* __restrict__ tables, u32 log_low, u32 e) {
    u32 low = e & ((1u << log_low) - 1), high = e >> log_low;
    return mul(__ldg(tables + low), __ldg(tables + (1u << log_low) + high));
}

// KA is 4, or less for a transform of fewer than 16 points, which has KB = 0.
// roots: w_R^(b k), k < 16, b < B, if there is a second step. Blocks of 512 threads: LANES transforms
// side by side, B threads for each. Addresses are stepped, not made anew: they would cost as much as
// the transform.
template <int KA, int KB, bool FIRST>
FN void pass(const u32* __restrict__ in, u32* __restrict__ out, const u32* __restrict__ tables,
             const u32* __restrict__ roots, Pass p) {
    constexpr int A = 1 << KA, B = 1 << KB, K = KA + KB, R = 1 << K;
    constexpr int LANES = THREADS / B;
    constexpr int PER = A / B; // outputs k1 of a thread in the second step
    extern __shared__ u32 sh[];
    u32 lane = threadIdx.x % LANES, b = threadIdx.x / LANES;
    u32 q = blockIdx.x * LANES + lane;
    bool active = q < p.lanes;
    u32 log_stride = p.log_height - K; // of the transforms in a column
    u32 x[A];
    if (FIRST) {
        u32 j = p.row_major ? q >> p.log_width : q & ((1u << log_stride) - 1);
        u64 column = q >> log_stride;
        const u32* from = in + ((u64)blockIdx.y << (p.log_rows + p.log_width));
        from += p.row_major ? q : (column << p.log_rows) + j;
        u32 shift = log_stride + (p.row_major ? p.log_width : 0);
        from += (u64)b << shift;
        u64 step = (u64)B << shift;
        // row j + (r << log_stride) is one of the message for r below this; beyond there are zeros
        u32 rows = p.log_rows >= log_stride ? 1u << (p.log_rows - log_stride)
                                            : (u32)(j < (1u << p.log_rows));
        u32 count = active && rows > b ? ((rows - b - 1) >> KB) + 1 : 0;
#pragma unroll
        for (int a = 0; a < A; a++) {
            x[a] = 0;
            if (a < count) x[a] = __ldg(from);
            from += step;
        }
    } else if (active) {
        u64 column = q >> log_stride;
        u32 j = q & ((1u << log_stride) - 1);
        const u32* from = in + (column << p.log_height) + j + ((u64)b << log_stride);
        u64 step = (u64)B << log_stride;
        u32 position = j & ((1u << p.log_done) - 1);
        u32 shift = p.log_height - p.log_done - K;
#pragma unroll
        for (int a = 0; a < A; a++) {
            x[a] = __ldg(from);
            from += step;
        }
        u32 t = twiddle(tables, p.log_low, (position * b) << shift);
        u32 next = twiddle(tables, p.log_low, (position * B) << shift);
#pragma unroll
        for (int a = 0; a < A; a++) {
            x[a] = mul(x[a], t);
            if (a + 1 < A) t = mul(t, next);
        }
    }
    dft<KA>(x);
    if (KB) {
        const uint4* w = (const uint4*)roots + A / 4 * b;
        u32* to = sh + b * A * LANES + lane;
#pragma unroll
        for (int k = 0; k < A; k += 4) {
            uint4 f = __ldg(w + k / 4);
            u32 v = x[reversed<KA>(k)];
            to[k * LANES] = k ? mul(v, f.x) : v;
            to[(k + 1) * LANES] = mul(x[reversed<KA>(k + 1)], f.y);
            to[(k + 2) * LANES] = mul(x[reversed<KA>(k + 2)], f.z);
            to[(k + 3) * LANES] = mul(x[reversed<KA>(k + 3)], f.w);
        }
        __syncthreads();
        const u32* from = sh + b * PER * LANES + lane;
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int n = 0; n < B; n++) x[i * B + n] = from[(n * A + i) * LANES];
#pragma unroll
        for (int i = 0; i < PER; i++) dft<KB>(x + i * B);
    }
    // output k of the transform, PER b <= k mod A < PER (b + 1), from its register
    auto output = [&](int k) {
        return KB ? x[k % A * B + reversed<KB>(k / A)] : x[reversed<KA>(k)];
    };
    if (FIRST) {
        // a transform's outputs are neighbours: through shared memory, so that a warp writes a run
        if (KB) __syncthreads();
        u32* to = sh + lane * (R + 1) + b * PER;
#pragma unroll
        for (int m = 0; m < B; m++)
#pragma unroll
            for (int i = 0; i < PER; i++) to[m * A + i] = output(m * A + i);
        __syncthreads();
        constexpr int STEP = THREADS / R; // transforms that the block writes at once
        u32 first = threadIdx.x >> K, k = threadIdx.x & (R - 1);
        const u32* from = sh + first * (R + 1) + k;
        // bytes between columns, and between neighbours in one
        u32 column = 4 * p.degree << p.log_height, next = 4 * R;
        u32 bits = p.row_major ? p.log_width : log_stride;
        u32 low = p.row_major ? column : next, high = p.row_major ? next : column;
        char* to_column = (char*)(out + ((u64)blockIdx.y << p.log_height) + k);
        u32 q = blockIdx.x * LANES + first;
#pragma unroll
        for (int i = 0; i < A; i++, q += STEP) {
            if (q >= p.lanes) return;
            u64 at = (u64)(q & ((1u << bits) - 1)) * low + (u64)(q >> bits) * high;
            *(u32*)(to_column + at) = from[i * STEP * (R + 1)];
        }
        return;
    }
    if (!active) return;
    u64 column = q >> log_stride;
    u32 j = q & ((1u << log_stride) - 1), position = j & ((1u << p.log_done) - 1);
    u32* to = out + (column << p.log_height) + ((u64)(j >> p.log_done) << (p.log_done + K)) +
              position + ((u64)(b * PER) << p.log_done);
    u64 one = 1ull << p.log_done;
#pragma unroll
    for (int m = 0; m < B; m++) {
        u32* at = to;
#pragma unroll
        for (int i = 0; i < PER; i++) {
            *at = output(m * A + i);
            at += one;
        }
        to += one << KA;
    }
}

#define FIRST_PASS(KA, KB)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                              \
        ntt_first_##KA##_##KB(const u32* in, u32* out, const u32* tables, const u32* roots,    \
                              Pass p) {                                                        \
        pass<KA, KB, true>(in, out, tables, roots, p);                                         \
    }
#define NEXT_PASS(KA, KB)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                              \
        ntt_next_##KA##_##KB(const u32* in, u32* out, const u32* tables, const u32* roots,     \
                             Pass p) {                                                         \
        pass<KA, KB, false>(in, out, tables, roots, p);                                        \
    }

FIRST_PASS(0, 0)
FIRST_PASS(1, 0)
FIRST_PASS(2, 0)
FIRST_PASS(3, 0)
FIRST_PASS(4, 0)
FIRST_PASS(4, 1)
FIRST_PASS(4, 2)
FIRST_PASS(4, 3)
FIRST_PASS(4, 4)
NEXT_PASS(4, 0)
NEXT_PASS(4, 1)
NEXT_PASS(4, 2)
NEXT_PASS(4, 3)
NEXT_PASS(4, 4)
