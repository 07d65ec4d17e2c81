// BLS12-377 as a twisted Edwards curve, -x^2 + y^2 = 1 + d x^2 y^2, in extended coordinates: x = X / Z,
// y = Y / Z, X Y = Z T. Hisil, Wong, Carter, Dawson (ASIACRYPT 2008), section 4.2: 7M a mixed addition, 9M
// an addition, without a special case among the points of odd order, which the subgroup's are. The map is
// that of ../../curve/edwards.rs.
//
// R is 152 p, so sums before a product stay unreduced: coordinates are below 1.2 p, and no factor is
// above 6 p.
#pragma once

#include "field.cuh"

// For mixed addition: (y - x, y + x, 2 d x y), canonical. Infinity is (1, 1, 0).
struct Ed3 {
    Fq ymx, ypx, t2d;
};

struct EdExt {
    Fq x, y, z, t;
};

#define ED_CONSTANT(NAME, WORDS)                                  \
    FN Fq NAME() {                                                \
        constexpr Words w = to_montgomery(Words WORDS);           \
        Fq r;                                                     \
        _Pragma("unroll") for (int i = 0; i < N; i++) r.l[i] = w.l[i]; \
        return r;                                                 \
    }
ED_CONSTANT(edwards_d, MSM_EDWARDS_D)
ED_CONSTANT(edwards_s, MSM_EDWARDS_S)
ED_CONSTANT(edwards_f, MSM_EDWARDS_F)
#undef ED_CONSTANT

FN Fq edwards_2d() { return fq_add(edwards_d(), edwards_d()); }

FN EdExt edwards_identity() { return EdExt{fq_zero(), fq_one(), fq_one(), fq_zero()}; }

// e f, g h, f g, e h.
FN EdExt edwards_end(const Fq& e, const Fq& f, const Fq& g, const Fq& h) {
    EdExt r;
    r.x = lz_mul(e, f);
    r.y = lz_mul(g, h);
    r.t = lz_mul(e, h);
    r.z = lz_mul(f, g);
    return r;
}

// acc += point, or -= point, whose inverse is (y + x, y - x, -2 d x y). 7M.
FN void acc_add_affine(EdExt& acc, const Ed3& point, bool negate) {
    Fq minus = lz_sub<2>(acc.y, acc.x), plus = lz_add(acc.y, acc.x);
    Fq a = lz_mul(minus, fq_select(negate, point.ypx, point.ymx));
    Fq b = lz_mul(plus, fq_select(negate, point.ymx, point.ypx));
    Fq c = lz_mul(acc.t, point.t2d);
    c = fq_select(negate, lz_neg<2>(c), c);
    Fq d = lz_add(acc.z, acc.z);
    acc = edwards_end(lz_sub<2>(b, a), lz_sub<2>(d, c), lz_add(d, c), lz_add(b, a));
}

// acc += other. 9M.
FN void acc_add(EdExt& acc, const EdExt& other) {
    Fq a = lz_mul(lz_sub<2>(acc.y, acc.x), lz_sub<2>(other.y, other.x));
    Fq b = lz_mul(lz_add(acc.y, acc.x), lz_add(other.y, other.x));
    Fq c = lz_mul(lz_mul(acc.t, edwards_2d()), other.t);
    Fq d = lz_mul(acc.z, lz_add(other.z, other.z));
    acc = edwards_end(lz_sub<2>(b, a), lz_sub<2>(d, c), lz_add(d, c), lz_add(b, a));
}

// 2 p. 4M + 4S.
FN EdExt acc_double(const EdExt& p) {
    Fq a = lz_sqr(p.x), b = lz_sqr(p.y), c = lz_sqr(p.z);
    c = lz_add(c, c);
    Fq sum = lz_add(a, b);
    Fq e = lz_sub<4>(lz_sqr(lz_add(p.x, p.y)), sum);
    Fq g = lz_sub<2>(b, a);
    // g - c and -(a + b)
    return edwards_end(e, lz_sub<4>(g, c), g, lz_neg<4>(sum));
}

// The same point with every coordinate below p: what leaves the device.
FN EdExt acc_canonical(const EdExt& p) {
    return EdExt{fq_reduce(p.x), fq_reduce(p.y), fq_reduce(p.z), fq_reduce(p.t)};
}

// ---- the map from the Weierstrass form: x = f (X + 1) / Y, y = (u - 1) / (u + 1), u = s (X + 1) ----

// Y (u + 1), to be inverted; one where there is no image, and for infinity.
FN Fq edwards_denominator(const Fq& x, const Fq& y) {
    Fq u = fq_mul(edwards_s(), lz_add(x, fq_one()));
    Fq d = fq_mul(y, lz_add(u, fq_one()));
    return fq_is_zero(d) ? fq_one() : d;
}

// Whether the point (0, 0 is infinity) has an image: five points have none, all outside the subgroup.
FN bool edwards_has_image(const Fq& x, const Fq& y) {
    if (fq_is_zero(x) && fq_is_zero(y)) return true;
    Fq u = fq_mul(edwards_s(), fq_add(x, fq_one()));
    return !fq_is_zero(y) && !fq_is_zero(fq_add(u, fq_one()));
}

// The image of (x, y), which has one, given the inverse of edwards_denominator.
FN Ed3 edwards_image(const Fq& x, const Fq& y, const Fq& inverse) {
    if (fq_is_zero(x) && fq_is_zero(y)) return Ed3{fq_one(), fq_one(), fq_zero()};
    Fq x1 = fq_add(x, fq_one());
    Fq u = fq_mul(edwards_s(), x1);
    Fq ex = fq_mul(fq_mul(edwards_f(), x1), fq_mul(inverse, fq_add(u, fq_one())));
    Fq ey = fq_mul(fq_sub(u, fq_one()), fq_mul(inverse, y));
    return Ed3{fq_sub(ey, ex), fq_add(ey, ex), fq_mul(fq_mul(ex, ey), edwards_2d())};
}
