// y^2 = x^3 + b. Accumulators are (X, Y, ZZ, ZZZ) with x = X / ZZ, y = Y / ZZZ, ZZ^3 = ZZZ^2: formulas
// madd-2008-s, add-2008-s, dbl-2008-s-1 and mdbl-2008-s-1 of the Explicit-Formulas Database with a = 0.
// A mixed addition is 8M + 2S, where the two products of Y share a reduction.
//
// Affine points are canonical, (0, 0) is infinity. The coordinates of an accumulator are below 2 p; ZZ of
// infinity is all zero, and no other's is, since a product that is 0 modulo p comes from a zero factor
// alone. Every exceptional case is decided by a comparison.
#pragma once

#include "field.cuh"

struct Affine {
    Fq x, y;
};

struct Xyzz {
    Fq x, y, zz, zzz;
};

FN bool is_infinity(const Affine& p) {
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < N; i++) any |= p.x.l[i] | p.y.l[i];
    return any == 0;
}
FN bool is_infinity(const Xyzz& p) { return limbs_zero(p.zz); }

FN Xyzz xyzz_identity() { return Xyzz{fq_zero(), fq_zero(), fq_zero(), fq_zero()}; }

// p or -p.
FN Xyzz acc_from_affine(const Affine& p, bool negate) {
    if (is_infinity(p)) return xyzz_identity();
    Fq y = fq_select(negate, lz_neg<1>(p.y), p.y);
    return Xyzz{p.x, y, fq_one(), fq_one()};
}

// Bounds of the mixed addition, in multiples of p. 381 and 377 (R >= 9.84 p): U2, S2 < 1.26; P < 3.26,
// R < 4.26; PP < 2.09, PPP < 1.70, Q < 1.43; R^2 < 2.85; R^2 - PPP - 2 Q + 5 in (0, 7.9); Q - X3 < 2;
// Y3 < 4.26 * 2 / 9.84 + 2.5 * 2 / 9.84 + 1 < 2.5, the bound of Y. 254 (R = 5.29 p): everything below 2.
#if MSM_CURVE == 254
FN Fq difference_x(const Fq& a, const Fq& b) { return lz_sub_mod<2>(a, b); }
FN Fq difference_y(const Fq& a, const Fq& b) { return lz_sub_mod<2>(a, b); }
FN Fq next_x(const Fq& r2, const Fq& ppp, const Fq& q) {
    return lz_sub_mod<2>(lz_sub_mod<2>(lz_sub_mod<2>(r2, ppp), q), q);
}
FN Fq next_y(const Fq& r, const Fq& d, const Fq& y, const Fq& ppp) {
    return lz_reduce<2>(lz_mul_add(r, d, y, lz_neg<2>(ppp)));
}
#else
FN Fq difference_x(const Fq& a, const Fq& b) { return lz_sub<2>(a, b); }
FN Fq difference_y(const Fq& a, const Fq& b) { return lz_sub<3>(a, b); }
FN Fq next_x(const Fq& r2, const Fq& ppp, const Fq& q) {
    return lz_reduce<2>(lz_reduce<4>(lz_sub<5>(r2, lz_add(lz_add(ppp, q), q))));
}
FN Fq next_y(const Fq& r, const Fq& d, const Fq& y, const Fq& ppp) {
    return lz_mul_add(r, d, y, lz_neg<2>(ppp));
}
#endif

// 2 p. 6M + 3S.
FN Xyzz acc_double(const Xyzz& p) {
    // ZZ = 0 stays so; a point of order 2 has Y = 0 and gets ZZ = 0, once Y is canonical.
    Fq y = fq_reduce(lz_reduce<2>(p.y));
    Fq u = lz_reduce<2>(lz_add(y, y));
    Fq v = lz_sqr(u);
    Fq w = lz_mul(u, v);
    Fq s = lz_mul(p.x, v);
    Fq xx = lz_sqr(p.x);
    Fq m = lz_reduce<2>(lz_add(lz_reduce<2>(lz_add(xx, xx)), xx));
    Xyzz r;
    r.x = lz_sub_mod<2>(lz_sub_mod<2>(lz_sqr(m), s), s);
    r.y = lz_reduce<2>(lz_mul_add(m, lz_sub_mod<2>(s, r.x), w, lz_neg<1>(y)));
    r.zz = lz_mul(v, p.zz);
    r.zzz = lz_mul(w, p.zzz);
    return r;
}

// A point of the same x is the same or its inverse: `r` is the difference of the y, below 5 p. Rare, so
// out of the way of the registers.
__device__ __noinline__ Xyzz same_x(Fq r, Xyzz p) {
    r = fq_reduce(lz_reduce<2>(lz_reduce<4>(r)));
    return limbs_zero(r) ? acc_double(p) : xyzz_identity();
}

// acc += point, or -= point. 8M + 2S, with one reduction less.
FN void acc_add_affine(Xyzz& acc, const Affine& point, bool negate) {
    if (is_infinity(point)) return;
    if (is_infinity(acc)) {
        acc = acc_from_affine(point, negate);
        return;
    }
    Fq y = fq_select(negate, lz_neg<1>(point.y), point.y);
    Fq p = difference_x(lz_mul(point.x, acc.zz), acc.x);
    Fq r = difference_y(lz_mul(y, acc.zzz), acc.y);
    if (lz_is_zero(p)) {
        acc = same_x(r, acc);
        return;
    }
    Fq pp = lz_sqr(p);
    Fq ppp = lz_mul(p, pp);
    Fq q = lz_mul(acc.x, pp);
    acc.zz = lz_mul(acc.zz, pp);
    acc.zzz = lz_mul(acc.zzz, ppp);
    acc.x = next_x(lz_sqr(r), ppp, q);
    acc.y = next_y(r, lz_sub_mod<2>(q, acc.x), acc.y, ppp);
}

// acc += other. 12M + 2S, with one reduction less.
FN void acc_add(Xyzz& acc, const Xyzz& other) {
    if (is_infinity(other)) return;
    if (is_infinity(acc)) {
        acc = other;
        return;
    }
    Fq u = lz_mul(acc.x, other.zz);
    Fq s = lz_mul(acc.y, other.zzz);
    Fq p = difference_x(lz_mul(other.x, acc.zz), u);
    Fq r = difference_y(lz_mul(other.y, acc.zzz), s);
    if (lz_is_zero(p)) {
        acc = same_x(r, acc);
        return;
    }
    Fq pp = lz_sqr(p);
    Fq ppp = lz_mul(p, pp);
    Fq q = lz_mul(u, pp);
    acc.zz = lz_mul(lz_mul(acc.zz, other.zz), pp);
    acc.zzz = lz_mul(lz_mul(acc.zzz, other.zzz), ppp);
    acc.x = next_x(lz_sqr(r), ppp, q);
    acc.y = next_y(r, lz_sub_mod<2>(q, acc.x), s, ppp);
}

// The same point with every coordinate below p: what leaves the device.
FN Xyzz acc_canonical(const Xyzz& p) {
    return Xyzz{fq_reduce(p.x), fq_reduce(lz_reduce<2>(p.y)), fq_reduce(p.zz), fq_reduce(p.zzz)};
}

// The affine point, given 1 / ZZZ (any number for infinity). 3M + 1S.
FN Affine acc_to_affine(const Xyzz& p, const Fq& inverse) {
    if (is_infinity(p)) return Affine{fq_zero(), fq_zero()};
    // 1 / ZZ = (ZZ / ZZZ)^2
    Fq root = lz_mul(p.zz, inverse);
    return Affine{fq_mul(p.x, lz_sqr(root)), fq_mul(p.y, inverse)};
}
// What has to be inverted for it; one for infinity.
FN Fq acc_denominator(const Xyzz& p) { return is_infinity(p) ? fq_one() : p.zzz; }
