// Lets a C++ compiler take the device code of the CUDA kernels for the host, so that its arithmetic can be
// tested where there is no GPU. Covers device functions and kernels: threads one after the other, or, where
// there are barriers, as threads of the host, a block at a time.
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
#define __shared__ static

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

// Atomics of "threads" that run one after the other.
static inline unsigned int atomicMin(unsigned int* at, unsigned int x) {
  unsigned int before = *at;
  *at = min(before, x);
  return before;
}
static inline unsigned int atomicMax(unsigned int* at, unsigned int x) {
  unsigned int before = *at;
  *at = max(before, x);
  return before;
}

// Runs a kernel that has no barriers, one thread after the other.
template <class Body>
static inline void host_run(dim3 grid, unsigned int threads, const Body& body) {
  gridDim = grid;
  blockDim = {threads, 1, 1};
  for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < threads; threadIdx.x++) body();
}

// A block whose threads are threads of the host, and meet at its barriers.
static thread_local pthread_barrier_t* host_block;
static inline void __syncthreads() { pthread_barrier_wait(host_block); }

// Runs a kernel with barriers, one block after the other.
static inline void host_run_blocks(dim3 grid, unsigned int threads, const std::function<void()>& body) {
  pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, threads);
  std::vector<std::thread> all;
  for (unsigned int i = 0; i < threads; i++)
    all.emplace_back([&barrier, &body, grid, threads, i] {
      host_block = &barrier;
      threadIdx = {i, 0, 0};
      blockDim = {threads, 1, 1};
      gridDim = grid;
      for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
          for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
            body();
            __syncthreads();
          }
    });
  for (auto& thread : all) thread.join();
  pthread_barrier_destroy(&barrier);
}

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
