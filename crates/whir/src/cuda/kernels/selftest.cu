// One field product per thread: the smallest kernel whose result tells whether the chain works.
#include "field.cuh"

extern "C" __global__ void __launch_bounds__(256) field_products(const u32* a, const u32* b, u32* out, u32 n) {
  u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = mul(a[i], b[i]);
}
