// Lets a C++ compiler take the device code of the CUDA kernels for the host, so that its arithmetic can be
// tested where there is no GPU. Covers device functions, and kernels without barriers and shared memory.
// PTX needs a plain branch beside it, chosen by `#ifdef __CUDA_ARCH__`.
#pragma once

#include <pthread.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <vector>

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

// A warp: 32 threads of the host that meet at its shuffles and barriers.
struct HostWarp {
  pthread_barrier_t barrier;
  unsigned int words[32];
};
static thread_local HostWarp* host_warp;

static inline void __syncwarp() { pthread_barrier_wait(&host_warp->barrier); }
static inline unsigned int __shfl_sync(unsigned int, unsigned int x, int from, int width = 32) {
  host_warp->words[threadIdx.x] = x;
  __syncwarp();
  unsigned int first = threadIdx.x & ~(unsigned int)(width - 1);
  unsigned int y = host_warp->words[first + (from & (width - 1))];
  __syncwarp();
  return y;
}
static inline unsigned int __shfl_xor_sync(unsigned int mask, unsigned int x, int with) {
  return __shfl_sync(mask, x, threadIdx.x ^ with);
}

// Runs `body` as a block of one warp.
static inline void host_run_warp(const std::function<void()>& body) {
  HostWarp warp;
  pthread_barrier_init(&warp.barrier, nullptr, 32);
  std::vector<std::thread> threads;
  for (unsigned int i = 0; i < 32; i++)
    threads.emplace_back([&warp, &body, i] {
      host_warp = &warp;
      threadIdx = {i, 0, 0};
      blockDim = {32, 1, 1};
      gridDim = {1, 1, 1};
      body();
    });
  for (auto& thread : threads) thread.join();
  pthread_barrier_destroy(&warp.barrier);
}
