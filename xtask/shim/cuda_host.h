// Lets a C++ compiler take the device code of the CUDA kernels for the host, so that its arithmetic can be
// tested where there is no GPU. Covers device functions, and kernels without barriers and shared memory.
// PTX needs a plain branch beside it, chosen by `#ifdef __CUDA_ARCH__`.
#pragma once

#include <algorithm>

#define __device__
#define __global__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __constant__ static const
#define __launch_bounds__(...)

using std::max;
using std::min;

struct uint2 {
  unsigned int x, y;
};
struct uint4 {
  unsigned int x, y, z, w;
};
struct dim3 {
  unsigned int x = 1, y = 1, z = 1;
};

static inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
static inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }

static inline unsigned int __umulhi(unsigned int a, unsigned int b) {
  return (unsigned int)(((unsigned long long)a * b) >> 32);
}
static inline unsigned int __brev(unsigned int x) {
  unsigned int r = 0;
  for (int i = 0; i < 32; i++) r |= ((x >> i) & 1u) << (31 - i);
  return r;
}
static inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned int)x); }
static inline int __popc(unsigned int x) { return __builtin_popcount(x); }

template <class T>
static inline T __ldg(const T* p) {
  return *p;
}

// The position of the "thread" that a kernel is called as.
static thread_local dim3 gridDim, blockDim, blockIdx, threadIdx;
