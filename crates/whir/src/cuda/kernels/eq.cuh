// eq(point, y): the multilinear Lagrange basis.
//
// Over m bits it is a product of a factor of the high bits and one of the low bits. A thread keeps
// its low bits, whose factor it makes once, and walks over high ones, whose factors the block makes
// once for all its threads: no table of eq ever lies in memory.
#pragma once
#include "memory.cuh"

// Most values of the high bits that a block walks over.
#define OUTER 128

struct EqPoint {
    u32 outer_bits;
    u32 inner_bits;
    Element scale;
    u32 c[32 * 5]; // coordinate 0, the most significant bit, first
};

// start * eq(coordinates first .. first + bits, y)
template <int D>
FN Ext<D> eq_factor(EqPoint const& p, u32 first, u32 bits, u32 y, Ext<D> start) {
    for (u32 i = 0; i < bits; i++) {
        Ext<D> z;
#pragma unroll
        for (int d = 0; d < D; d++) z.c[d] = p.c[(first + i) * D + d];
        if (((y >> (bits - 1 - i)) & 1) == 0) z = sub<D>(ext_one<D>(), z);
        start = mul<D>(start, z);
    }
    return start;
}

// The factor of the low bits.
template <int D>
FN Ext<D> eq_inner(EqPoint const& p, u32 y) {
    return eq_factor<D>(p, p.outer_bits, p.inner_bits, y, ext_one<D>());
}

// The factors of the high bits `from .. from + count`, with the scale, into shared memory. For all
// threads of the block; a barrier must follow.
template <int D>
FN void eq_outer(EqPoint const& p, u32 from, u32 count, u32* shared) {
    for (u32 i = threadIdx.x; i < count; i += blockDim.x)
        store_table<D>(shared, i,
                       eq_factor<D>(p, 0, p.outer_bits, from + i, element<D>(p.scale)));
}

template <int D>
FN Ext<D> from_shared(const u32* shared, u32 i) {
    Ext<D> x;
#pragma unroll
    for (int d = 0; d < D; d++) x.c[d] = shared[i * D + d];
    return x;
}
