// One operation per thread: the smallest kernels whose results tell whether a device computes right.
#include "field.cuh"
#include "generated/dft16.cuh"
#include "generated/poseidon2_16.cuh"

extern "C" __global__ void __launch_bounds__(256) selftest_products(const u32* a, const u32* b, u32* out, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mul(a[i], b[i]);
}

// `data` holds n states of 16 words; each is permuted in place.
extern "C" __global__ void __launch_bounds__(256) selftest_permutations(u32* data, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = data[16ull * i + k];
  poseidon2_16_permute(s);
#pragma unroll
  for (int k = 0; k < 16; k++) data[16ull * i + k] = s[k];
}

// `data` holds n vectors of 16 words; each is transformed in place, to bit-reversed positions.
extern "C" __global__ void __launch_bounds__(256) selftest_transforms(u32* data, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  u32 s[16];
#pragma unroll
  for (int k = 0; k < 16; k++) s[k] = data[16ull * i + k];
  dft16(s);
#pragma unroll
  for (int k = 0; k < 16; k++) data[16ull * i + k] = s[k];
}
