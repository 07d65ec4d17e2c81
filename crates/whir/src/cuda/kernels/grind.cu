// Proof of work: the smallest witness whose sample has enough zero bits.
#include "field.cuh"
#include "quad.cuh"
#include "reduce.cuh"

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
