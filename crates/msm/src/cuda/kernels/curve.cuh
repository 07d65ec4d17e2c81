// What a translation unit sees of its curve: `Point`, a base as the accumulation reads it, `Acc`, a sum of
// bases, and acc_identity, acc_add_affine, acc_add, acc_double, acc_canonical on them. With MSM_EDWARDS 1
// (BLS12-377 only) points and sums are those of the twisted Edwards form; the Weierstrass functions are
// there beside them.
#pragma once

#include "weierstrass.cuh"

#ifndef MSM_EDWARDS
#define MSM_EDWARDS (MSM_CURVE == 377)
#endif

#if MSM_EDWARDS
#include "edwards.cuh"
typedef Ed3 Point;
typedef EdExt Acc;
FN Acc acc_identity() { return edwards_identity(); }
#else
typedef Affine Point;
typedef Xyzz Acc;
FN Acc acc_identity() { return xyzz_identity(); }
#endif
