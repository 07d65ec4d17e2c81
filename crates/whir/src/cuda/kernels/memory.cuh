// Extension elements in memory: planes (coefficient d of element i at d * stride + i), or tables
// (the D coefficients of an element side by side).
#pragma once
#include "field.cuh"

template <int D>
FN Ext<D> load_planes(const u32* __restrict__ planes, u64 stride, u64 i) {
    Ext<D> x;
#pragma unroll
    for (int d = 0; d < D; d++) x.c[d] = planes[d * stride + i];
    return x;
}

template <int D>
FN void store_planes(u32* planes, u64 stride, u64 i, Ext<D> x) {
#pragma unroll
    for (int d = 0; d < D; d++) planes[d * stride + i] = x.c[d];
}

template <int D>
FN Ext<D> load_table(const u32* __restrict__ table, u64 i) {
    Ext<D> x;
    if (D == 4) {
        uint4 v = __ldg((const uint4*)table + i);
        x.c[0] = v.x, x.c[1] = v.y, x.c[2] = v.z, x.c[3] = v.w;
    } else {
#pragma unroll
        for (int d = 0; d < D; d++) x.c[d] = __ldg(table + i * D + d);
    }
    return x;
}

template <int D>
FN void store_table(u32* table, u64 i, Ext<D> x) {
#pragma unroll
    for (int d = 0; d < D; d++) table[i * D + d] = x.c[d];
}

// An extension element as a kernel's argument.
struct Element {
    u32 c[5];
};

template <int D>
FN Ext<D> element(Element e) {
    Ext<D> x;
#pragma unroll
    for (int d = 0; d < D; d++) x.c[d] = e.c[d];
    return x;
}
