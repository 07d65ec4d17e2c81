// The rounds of the quadratic sumcheck over tables in planes.
//
// The 2 D planes of f and w lie one after another, plane d of f at d * len, of w at (D + d) * len.
// Prefix order pairs value i with i + len / 2, suffix order 2i with 2i + 1. A round's message is
// [h(0), h(inf)] = [sum f0 w0, sum (f1 - f0)(w1 - w0)]; a fold is v0 + r (v1 - v0). Sums are exact,
// so that any split over threads gives the same message.
//
// Plan: a message reads 8 D bytes a value; a fold with the next message reads 8 D and writes 4 D,
// with 1.5 extension products a value: bound by memory.
#include "memory.cuh"
#include "reduce.cuh"

#define THREADS 256

template <int D>
FN Ext<D> bind(Ext<D> a, Ext<D> b, Ext<D> r) {
    return add<D>(a, mul<D>(sub<D>(b, a), r)); // what is made of r is made once
}

// f(hi) = sum_lo weight[lo] f(hi, lo): the first fold, from the base field.
// lo_stride and hi_stride say how the polynomial lies; `weights` is a table of `count` elements.
template <int D>
FN void fold_base(const u32* __restrict__ f, const u32* __restrict__ weights, u32 count,
                  u64 lo_stride, u64 hi_stride, u64 len, u32* out) {
    extern __shared__ u32 sh[];
    for (u32 i = threadIdx.x; i < count * D; i += THREADS) sh[i] = weights[i];
    __syncthreads();
    u64 hi = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (hi >= len) return;
    const u32* at = f + hi * hi_stride;
    Sum<D> sum;
    u32 lo = 0;
#pragma unroll 4
    for (; lo + 1 < count; lo += 2) {
        u32 a = __ldg(at + lo * lo_stride), b = __ldg(at + (lo + 1) * lo_stride);
        Ext<D> s, t;
#pragma unroll
        for (int d = 0; d < D; d++) s.c[d] = sh[lo * D + d], t.c[d] = sh[(lo + 1) * D + d];
        sum.add2(a, s, b, t);
    }
    if (lo < count) {
        Ext<D> s;
#pragma unroll
        for (int d = 0; d < D; d++) s.c[d] = sh[lo * D + d];
        sum.add(__ldg(at + lo * lo_stride), s);
    }
    store_planes<D>(out, len, hi, sum.finish());
}

// A pair of the table whose planes begin at `t`.
template <int D, bool SUFFIX>
FN void load_pair(const u32* __restrict__ t, u64 len, u64 i, Ext<D>& a, Ext<D>& b) {
#pragma unroll
    for (int d = 0; d < D; d++) {
        if (SUFFIX) {
            uint2 v = *(const uint2*)(t + d * len + 2 * i);
            a.c[d] = v.x, b.c[d] = v.y;
        } else {
            a.c[d] = t[d * len + i], b.c[d] = t[d * len + i + len / 2];
        }
    }
}

template <int D, bool SUFFIX>
FN void message(const u32* __restrict__ t, u64 len, u32* partial, u32* arrived, Mail mail) {
    Dot<D> low, high;
    u64 half = len / 2, step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < half; i += step) {
        Ext<D> f0, f1, w0, w1;
        load_pair<D, SUFFIX>(t, len, i, f0, f1);
        load_pair<D, SUFFIX>(t + D * len, len, i, w0, w1);
        low.add(f0, w0);
        high.add(sub<D>(f1, f0), sub<D>(w1, w0));
    }
    Ext<D> sums[2] = {low.finish(), high.finish()};
    grid_sum<D, 2>(sums, partial, arrived, mail);
}

// Binds the next variable, both tables, `len` values to `len / 2`.
template <int D, bool SUFFIX>
FN void fold(const u32* __restrict__ t, u64 len, Ext<D> r, u32* to) {
    u64 half = len / 2, i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= half) return;
#pragma unroll
    for (int k = 0; k < 2; k++) {
        Ext<D> a, b;
        load_pair<D, SUFFIX>(t + k * D * len, len, i, a, b);
        store_planes<D>(to + k * D * half, half, i, bind<D>(a, b, r));
    }
}

// Four values that meet in the next message: the folded pair at `i`.
template <int D, bool SUFFIX>
FN void fold_quad(const u32* __restrict__ t, u64 len, u64 i, Ext<D> r, u32* to, Ext<D>& a,
                  Ext<D>& b) {
    u64 half = len / 2;
    Ext<D> v[4];
#pragma unroll
    for (int d = 0; d < D; d++) {
        if (SUFFIX) {
            uint4 q = *(const uint4*)(t + d * len + 4 * i);
            v[0].c[d] = q.x, v[1].c[d] = q.y, v[2].c[d] = q.z, v[3].c[d] = q.w;
        } else {
            // the folded pair (i, i + len / 4) comes from (i, i + half) and (i + len / 4, ..)
            const u32* at = t + d * len + i;
            v[0].c[d] = at[0], v[1].c[d] = at[half];
            v[2].c[d] = at[half / 2], v[3].c[d] = at[half + half / 2];
        }
    }
    a = bind<D>(v[0], v[1], r);
    b = bind<D>(v[2], v[3], r);
#pragma unroll
    for (int d = 0; d < D; d++) {
        if (SUFFIX) {
            *(uint2*)(to + d * half + 2 * i) = make_uint2(a.c[d], b.c[d]);
        } else {
            to[d * half + i] = a.c[d];
            to[d * half + i + half / 2] = b.c[d];
        }
    }
}

// Binds the next variable and makes the message of the one after it, in one pass; len >= 4.
template <int D, bool SUFFIX>
FN void fold_message(const u32* __restrict__ t, u64 len, Ext<D> r, u32* to, u32* partial,
                     u32* arrived, Mail mail) {
    Dot<D> low, high;
    u64 step = (u64)gridDim.x * THREADS;
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < len / 4; i += step) {
        Ext<D> f0, f1, w0, w1;
        fold_quad<D, SUFFIX>(t, len, i, r, to, f0, f1);
        fold_quad<D, SUFFIX>(t + D * len, len, i, r, to + D * (len / 2), w0, w1);
        low.add(f0, w0);
        high.add(sub<D>(f1, f0), sub<D>(w1, w0));
    }
    Ext<D> sums[2] = {low.finish(), high.finish()};
    grid_sum<D, 2>(sums, partial, arrived, mail);
}

#define ORDERED(D, NAME, SUFFIX)                                                                 \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        message_##NAME##_d##D(const u32* t, u64 len, u32* partial, u32* arrived, Mail mail) {     \
        message<D, SUFFIX>(t, len, partial, arrived, mail);                                       \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        fold_##NAME##_d##D(const u32* t, u64 len, Element r, u32* to) {                          \
        fold<D, SUFFIX>(t, len, element<D>(r), to);                                              \
    }                                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        fold_message_##NAME##_d##D(const u32* t, u64 len, Element r, u32* to, u32* partial,      \
                                   u32* arrived, Mail mail) {                                    \
        fold_message<D, SUFFIX>(t, len, element<D>(r), to, partial, arrived, mail);               \
    }

#define SUMCHECK(D)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS)                                        \
        fold_base_d##D(const u32* f, const u32* weights, u32 count, u64 lo_stride, u64 hi_stride, \
                       u64 len, u32* out) {                                                      \
        fold_base<D>(f, weights, count, lo_stride, hi_stride, len, out);                         \
    }                                                                                            \
    ORDERED(D, suffix, true)                                                                     \
    ORDERED(D, prefix, false)

SUMCHECK(4)
SUMCHECK(5)
