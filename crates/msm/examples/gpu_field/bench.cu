// The kernels of the bench. PARTS: 1 products, 2 mixed additions, 4 additions and doublings.
#include "curve.cuh"

#ifndef PARTS
#define PARTS 7
#endif
#ifndef THREADS
#define THREADS 128
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
FN u32 thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
template <class T> FN T load(const T* p) {
    T r; const uint4* s = (const uint4*)p; uint4* d = (uint4*)&r;
#pragma unroll
    for (int i = 0; i < sizeof(T) / 16; i++) d[i] = s[i];
    return r;
}
template <class T> FN void store(T* p, const T& r) {
    const uint4* s = (const uint4*)&r; uint4* d = (uint4*)p;
#pragma unroll
    for (int i = 0; i < sizeof(T) / 16; i++) d[i] = s[i];
}
#if PARTS & 1
extern "C" __global__ void __launch_bounds__(256) bench_mul(const Fq* a, const Fq* b, Fq* out, u32 times) {
    u32 t = thread();
    Fq x = load(a + t), y = load(b + t);
#pragma unroll 1
    for (u32 i = 0; i < times; i++) x = lz_mul(x, y);
    store(out + t, fq_reduce(x));
}
extern "C" __global__ void __launch_bounds__(256) bench_sqr(const Fq* a, const Fq* b, Fq* out, u32 times) {
    u32 t = thread();
    Fq x = load(a + t);
#pragma unroll 1
    for (u32 i = 0; i < times; i++) x = lz_sqr(x);
    store(out + t, fq_reduce(x));
}
extern "C" __global__ void __launch_bounds__(256) bench_muladd(const Fq* a, const Fq* b, Fq* out, u32 times) {
    u32 t = thread();
    Fq x = load(a + t), y = load(b + t), z = y;
#pragma unroll 1
    for (u32 i = 0; i < times; i++) { Fq w = lz_reduce<2>(lz_mul_add(x, y, z, x)); z = x; x = w; }
    store(out + t, fq_reduce(x));
}
#endif

#if PARTS & 2
// `times` points of a table, at places that a generator of numbers gives, with signs.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) bench_madd(const Point* points, u32 mask, Acc* out, u32 times) {
    u32 t = thread(), s = t * 2654435761u + 12345u;
    Acc acc = acc_identity();
#pragma unroll 1
    for (u32 i = 0; i < times; i++) {
        s = s * 1664525u + 1013904223u;
        Point p = load(points + ((s >> 4) & mask));
        acc_add_affine(acc, p, s >> 31);
    }
    store(out + t, acc_canonical(acc));
}
#endif

#if PARTS & 4
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) bench_add(const Acc* points, u32 mask, Acc* out, u32 times) {
    u32 t = thread();
    Acc acc = load(points + (t & mask));
#pragma unroll 1
    for (u32 i = 0; i < times; i++) { Acc p = load(points + ((t + i * 77) & mask)); acc_add(acc, p); }
    store(out + t, acc_canonical(acc));
}
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) bench_double(const Acc* points, u32 mask, Acc* out, u32 times) {
    u32 t = thread();
    Acc acc = load(points + (t & mask));
#pragma unroll 1
    for (u32 i = 0; i < times; i++) acc = acc_double(acc);
    store(out + t, acc_canonical(acc));
}
#endif
