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

// The output that register t of thread b holds after the last step.
template <int KA, int KB>
FN u32 output(int t, u32 b) {
    constexpr int B = 1 << KB, PER = (1 << KA) / B;
    if (KB == 0) return reversed<KA>(t);
    return b * PER + t / B + ((u32)reversed<KB>(t % B) << KA);
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
// roots: w_R^i, i < R. Blocks of 512 threads: LANES transforms side by side, B threads for each.
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
    u32 column, j;
    if (FIRST) {
        u32 log_lane_width = p.row_major ? p.log_width : 0;
        j = p.row_major ? q >> p.log_width : q & ((1u << log_stride) - 1);
        column = p.row_major ? q & ((1u << p.log_width) - 1) : q >> log_stride;
        const u32* plane = in + ((u64)blockIdx.y << (p.log_rows + p.log_width));
        if (!p.row_major) plane += (u64)column << p.log_rows;
        u32 at = p.row_major ? q : j;
#pragma unroll
        for (int a = 0; a < A; a++) {
            u32 r = B * a + b;
            u32 row = j + (r << log_stride);
            x[a] = active && row < (1u << p.log_rows)
                       ? plane[at + ((u64)r << (log_stride + log_lane_width))]
                       : 0;
        }
        column = column * p.degree + blockIdx.y;
    } else {
        column = q >> log_stride;
        j = q & ((1u << log_stride) - 1);
        const u32* from = in + ((u64)column << p.log_height) + j;
        u32 position = j & ((1u << p.log_done) - 1);
        u32 shift = p.log_height - p.log_done - K;
        if (active) {
            u32 t = twiddle(tables, p.log_low, (position * b) << shift);
            u32 step = twiddle(tables, p.log_low, (position * B) << shift);
#pragma unroll
            for (int a = 0; a < A; a++) {
                x[a] = mul(from[(u64)(B * a + b) << log_stride], t);
                if (a + 1 < A) t = mul(t, step);
            }
        }
    }
    dft<KA>(x);
    if (KB) {
#pragma unroll
        for (int a = 0; a < A; a++) {
            int k1 = reversed<KA>(a);
            u32 v = x[a];
            if (k1) v = mul(v, __ldg(roots + b * k1));
            sh[(b * A + k1) * LANES + lane] = v;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < PER; i++)
#pragma unroll
            for (int n = 0; n < B; n++) x[i * B + n] = sh[(n * A + b * PER + i) * LANES + lane];
#pragma unroll
        for (int i = 0; i < PER; i++) dft<KB>(x + i * B);
    }
    if (FIRST) {
        // a transform's outputs are neighbours: through shared memory, so that a warp writes a run
        if (KB) __syncthreads();
#pragma unroll
        for (int t = 0; t < A; t++) {
            u32 k = output<KA, KB>(t, b);
            sh[lane * R + ((k + lane) & (R - 1))] = x[t];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < A; i++) {
            u32 e = i * THREADS + threadIdx.x, l = e >> K, k = e & (R - 1);
            u32 q = blockIdx.x * LANES + l;
            if (q >= p.lanes) continue;
            u32 j = p.row_major ? q >> p.log_width : q & ((1u << log_stride) - 1);
            u32 c = p.row_major ? q & ((1u << p.log_width) - 1) : q >> log_stride;
            c = c * p.degree + blockIdx.y;
            out[((u64)c << p.log_height) + ((u64)j << K) + k] = sh[l * R + ((k + l) & (R - 1))];
        }
        return;
    }
    if (!active) return;
    u32 position = j & ((1u << p.log_done) - 1);
    u32* to = out + ((u64)column << p.log_height) + ((u64)(j >> p.log_done) << (p.log_done + K)) +
              position;
#pragma unroll
    for (int t = 0; t < A; t++) to[(u64)output<KA, KB>(t, b) << p.log_done] = x[t];
}

#define FIRST_PASS(KA, KB)                                                                     \
    extern "C" __global__ void __launch_bounds__(THREADS)                                      \
        ntt_first_##KA##_##KB(const u32* in, u32* out, const u32* tables, const u32* roots,    \
                              Pass p) {                                                        \
        pass<KA, KB, true>(in, out, tables, roots, p);                                         \
    }
#define NEXT_PASS(KA, KB)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                      \
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
