// Opened rows and digests, gathered so that the host has them all at once.
#include "reduce.cuh"

struct Open {
    u64 height;  // of the columns
    u32 columns;
    u32 rows;    // opened
    u32 digests; // opened
    u32 unused;
};

// out[i * columns + c] = element at[i] of column c, for the rows; then the words of the digests
// at[rows ..] of the tree. The last block delivers; the results themselves may lie anywhere.
extern "C" __global__ void __launch_bounds__(256)
    gather(const u32* __restrict__ code, const u32* __restrict__ tree, const u32* __restrict__ at,
           Open o, u32* out, u32* arrived, Mail mail) {
    u32 words = o.rows * o.columns, total = words + 8 * o.digests;
    for (u32 t = blockIdx.x * blockDim.x + threadIdx.x; t < total; t += gridDim.x * blockDim.x) {
        if (t < words) {
            u32 i = t / o.columns, c = t % o.columns;
            out[t] = code[(u64)c * o.height + at[i]];
        } else {
            u32 i = (t - words) >> 3;
            out[t] = tree[8 * (u64)at[o.rows + i] + ((t - words) & 7)];
        }
    }
    if (!mail.flag) return;
    __threadfence_system();
    if (last_block(arrived) && threadIdx.x == 0) deliver(mail);
}
