// Proof of work: the smallest witness whose sample has enough zero bits.
#include "field.cuh"
#include "quad.cuh"
#include "reduce.cuh"
#include "shape.cuh"

struct Grind {
    u32 state[16];
    u32 slot;
    u32 mask;
};

// `*best` is 2^32 - 1 before and after. Every thread walks up; it stops at the first witness above
// the best one known, so that all smaller ones have been tried by someone.
extern "C" __global__ void __launch_bounds__(256, FULL)
    grind(Grind task, u32* best, u32* arrived, Mail mail) {
    u32 stride = gridDim.x * blockDim.x;
    for (u32 w = blockIdx.x * blockDim.x + threadIdx.x; w < P; w += stride) {
        if (w > *(volatile u32*)best) break;
        u32 s[16], x = from_canonical(w);
#pragma unroll
        for (int i = 0; i < 16; i++) s[i] = i == task.slot ? x : task.state[i];
        poseidon2_16_permute(s);
        if ((to_canonical(s[7]) & task.mask) == 0) {
            atomicMin(best, w);
            break;
        }
    }
    if (last_block(arrived) && threadIdx.x == 0) {
        mail.results[0] = atomicExch(best, ~0u);
        deliver(mail);
    }
}

// The same where few witnesses are expected to be tried: four threads share a permutation, which then
// takes a third of the time.
extern "C" __global__ void __launch_bounds__(256, FULL)
    grind_quad(Grind task, u32* best, u32* arrived, Mail mail) {
    __shared__ u32 constants[QUAD_CONSTANTS];
    quad_load(constants);
    __syncthreads();
    u32 q = threadIdx.x & 3, stride = (gridDim.x * blockDim.x) >> 2;
    u32 w = (blockIdx.x * blockDim.x + threadIdx.x) >> 2;
    while (true) {
        // whole warps go on or stop: what its first thread sees counts
        u32 first = __shfl_sync(~0u, w, 0), known = *(volatile u32*)best;
        if (first >= P || first > __shfl_sync(~0u, known, 0)) break;
        u32 x[4], witness = from_canonical(w < P ? w : 0);
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 i = 4 * q + k;
            x[k] = i == task.slot ? witness : task.state[i];
        }
        quad_permute(x, constants);
        bool found = q == 1 && w < P && (to_canonical(x[3]) & task.mask) == 0;
        if (found) atomicMin(best, w);
        if (__any_sync(~0u, found)) break;
        w += stride;
    }
    if (last_block(arrived) && threadIdx.x == 0) {
        mail.results[0] = atomicExch(best, ~0u);
        deliver(mail);
    }
}
