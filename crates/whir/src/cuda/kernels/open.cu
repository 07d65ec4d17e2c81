// Opened rows, digests and single values, gathered so that one copy brings them to the host.
#include "field.cuh"

// out[i * columns + c] = element `indices[i]` of column c.
extern "C" __global__ void gather_rows(const u32* __restrict__ code, u32 columns, u64 height,
                                       const u32* __restrict__ indices, u32 count, u32* out) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count * columns) return;
    u32 i = t / columns, c = t % columns;
    out[t] = code[(u64)c * height + indices[i]];
}

// out[8 i ..] = digest `positions[i]` of the tree.
extern "C" __global__ void gather_digests(const u32* __restrict__ tree,
                                          const u64* __restrict__ positions, u32 count, u32* out) {
    u32 t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 8 * count) return;
    out[t] = tree[8 * positions[t >> 3] + (t & 7)];
}
