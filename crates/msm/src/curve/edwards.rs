//! BLS12-377 G1 as a twisted Edwards curve, `-x^2 + y^2 = 1 + d x^2 y^2`.
//!
//! Its mixed addition takes seven multiplications and has no special case among points of the subgroup
//! of prime order, which suits deep pipelines and many threads: Hisil, Wong, Carter, Dawson, "Twisted
//! Edwards Curves Revisited" (ASIACRYPT 2008), section 4.2. The map from `y^2 = x^3 + 1` goes through
//! the Montgomery form `u = s (x + 1)`, `v = s y` with `s = 1 / sqrt(3)`; then `x = f u / v` and
//! `y = (u - 1) / (u + 1)`.
//!
//! Five points have no image: the three with `y = 0` and the two with `u = -1`. They have order 2 or 4,
//! so none is in the subgroup of prime order. Outside that subgroup the addition is not complete either,
//! since `d` is a square.
//!
//! This is the definition, in plain arithmetic.
#![forbid(unsafe_code)]

use super::{Affine, Bls12_377};
use crate::field::Fp;

type F = Fp<Bls12_377, 6>;
type Weierstrass = Affine<Bls12_377, 6>;

/// The coefficient `d`, a plain value.
#[rustfmt::skip]
pub const D: [u64; 6] = [
    0x7016092b426b700b, 0xb9aeca3c3871e9f2, 0xbf8b2d97f059909c,
    0x1bbc34cc60d19690, 0x6505bb385732fe3a, 0x00cb5d5818b4d279,
];
/// `s = 1 / sqrt(3)` of the map, a plain value.
#[rustfmt::skip]
pub const S: [u64; 6] = [
    0x3401d618f0339eab, 0x0f793b8504b428d4, 0x0ff643cca95ccc0d,
    0xd7a504665d66cc8c, 0x1dc07a44b1eeea84, 0x0010f272020f118a,
];
/// `f` of the map, which makes the coefficient of `x^2` minus one, a plain value.
#[rustfmt::skip]
pub const F_SCALE: [u64; 6] = [
    0x450ae9206343e6e4, 0x7af39509df5027b6, 0xab82b31405cf8a30,
    0x80d743e1f6c15c7c, 0x0cec22e650360183, 0x00272fd56ac5c669,
];

/// A point for mixed addition: `(y - x, y + x, 2 d x y)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cached {
    /// `y - x`.
    pub minus: F,
    /// `y + x`.
    pub plus: F,
    /// `2 d x y`.
    pub product: F,
}

impl Cached {
    /// The inverse element.
    #[must_use]
    pub fn neg(&self) -> Self {
        Self {
            minus: self.plus,
            plus: self.minus,
            product: self.product.neg(),
        }
    }

    /// The images of the points: `None` for each that has none.
    ///
    /// One inversion for all.
    #[must_use]
    pub fn from_weierstrass(points: &[Weierstrass]) -> Vec<Option<Self>> {
        let (s, f, d) = constants();
        // x = f (X + 1) / Y and y = (u - 1) / (u + 1): the denominators, and their product.
        let denominators = |p: &Weierstrass| {
            let u = s.mul(&p.x.add(&F::ONE));
            (u, p.y, u.add(&F::ONE))
        };
        let mut product = F::ONE;
        let mut before = Vec::with_capacity(points.len());
        for point in points {
            before.push(product);
            let (_, y, u_plus) = denominators(point);
            let both = y.mul(&u_plus);
            if !both.is_zero() {
                product = product.mul(&both);
            }
        }
        let mut inverse = product.invert().unwrap_or(F::ZERO);
        let mut images = vec![None; points.len()];
        for ((point, before), image) in points.iter().zip(before).zip(&mut images).rev() {
            if point.is_infinity() {
                *image = Some(Extended::IDENTITY.cached_affine(&d));
                // Its y is zero, so it took no part in the product.
                continue;
            }
            let (u, y, u_plus) = denominators(point);
            let both = y.mul(&u_plus);
            if both.is_zero() {
                continue;
            }
            let own = inverse.mul(&before);
            inverse = inverse.mul(&both);
            let x = f.mul(&point.x.add(&F::ONE)).mul(&own.mul(&u_plus));
            let y = u.sub(&F::ONE).mul(&own.mul(&y));
            let product = x.mul(&y).mul(&d).double();
            *image = Some(Self {
                minus: y.sub(&x),
                plus: y.add(&x),
                product,
            });
        }
        images
    }
}

/// A point in extended coordinates: `x = X / Z`, `y = Y / Z`, `X Y = Z T`.
#[derive(Clone, Copy, Debug)]
pub struct Extended {
    /// `X`.
    pub x: F,
    /// `Y`.
    pub y: F,
    /// `Z`, never zero.
    pub z: F,
    /// `T`.
    pub t: F,
}

impl Extended {
    /// The neutral element `(0, 1)`.
    pub const IDENTITY: Self = Self {
        x: F::ZERO,
        y: F::ONE,
        z: F::ONE,
        t: F::ZERO,
    };

    /// `self + other`. 7M.
    #[must_use]
    pub fn add_cached(&self, other: &Cached) -> Self {
        let a = self.y.sub(&self.x).mul(&other.minus);
        let b = self.y.add(&self.x).mul(&other.plus);
        let c = self.t.mul(&other.product);
        self.finish(&a, &b, &c, &self.z.double())
    }

    /// `self + other`. 9M: two to bring the other into the form of the mixed addition.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        let d = F::constant(D);
        let a = self.y.sub(&self.x).mul(&other.y.sub(&other.x));
        let b = self.y.add(&self.x).mul(&other.y.add(&other.x));
        let c = self.t.mul(&other.t.mul(&d).double());
        let z = self.z.mul(&other.z).double();
        self.finish(&a, &b, &c, &z)
    }

    /// The last four products.
    fn finish(&self, a: &F, b: &F, c: &F, z: &F) -> Self {
        let (e, f, g, h) = (b.sub(a), z.sub(c), z.add(c), b.add(a));
        Self {
            x: e.mul(&f),
            y: g.mul(&h),
            z: f.mul(&g),
            t: e.mul(&h),
        }
    }

    /// For a point with `Z = 1`.
    fn cached_affine(&self, d: &F) -> Cached {
        Cached {
            minus: self.y.sub(&self.x),
            plus: self.y.add(&self.x),
            product: self.t.mul(d).double(),
        }
    }

    /// The point in the Weierstrass form.
    #[must_use]
    pub fn to_weierstrass(&self) -> Weierstrass {
        let (s, f, _) = constants();
        // (0, 1) is infinity, (0, -1) the image that the point (-1, 0) would have
        if self.x.is_zero() {
            if self.y == self.z {
                return Affine::INFINITY;
            }
            return Affine {
                x: F::ONE.neg(),
                y: F::ZERO,
            };
        }
        // u = (Z + Y) / (Z - Y), v = f u Z / X, then X_w = u / s - 1, Y_w = v / s
        let denominator = self.z.sub(&self.y).mul(&self.x).mul(&s);
        let inverse = denominator.invert().unwrap_or(F::ZERO);
        let u = self.z.add(&self.y).mul(&inverse);
        Affine {
            x: u.mul(&self.x).sub(&F::ONE),
            y: u.mul(&f).mul(&self.z),
        }
    }
}

/// `s`, `f`, `d`.
fn constants() -> (F, F, F) {
    (F::constant(S), F::constant(F_SCALE), F::constant(D))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{inputs, reference};

    fn image(p: &Weierstrass) -> Extended {
        Extended::IDENTITY.add_cached(&Cached::from_weierstrass(&[*p])[0].unwrap())
    }

    #[test]
    fn images_are_on_the_curve_and_come_back() {
        let mut points = inputs::points::<Bls12_377, 6>(1, 20);
        points.insert(7, Affine::INFINITY);
        let d = F::constant(D);
        for (point, cached) in points.iter().zip(Cached::from_weierstrass(&points)) {
            let p = Extended::IDENTITY.add_cached(&cached.unwrap());
            assert_eq!(p.x.mul(&p.y), p.z.mul(&p.t));
            let (xx, yy, zz) = (p.x.square(), p.y.square(), p.z.square());
            let right = zz.square().add(&d.mul(&xx).mul(&yy));
            assert_eq!(yy.sub(&xx).mul(&zz), right);
            assert_eq!(p.to_weierstrass(), *point);
        }
    }

    #[test]
    fn sums_are_those_of_the_weierstrass_curve() {
        let g = Weierstrass::generator();
        let mut points = inputs::points::<Bls12_377, 6>(2, 4);
        points.extend([g, g.neg(), Affine::INFINITY, reference::add(&g, &g)]);
        let cached = Cached::from_weierstrass(&points);
        for p in &points {
            for (q, cached) in points.iter().zip(&cached) {
                let cached = cached.unwrap();
                let want = reference::add(p, q);
                assert_eq!(image(p).add_cached(&cached).to_weierstrass(), want);
                assert_eq!(image(p).add(&image(q)).to_weierstrass(), want);
                let want = reference::add(p, &q.neg());
                assert_eq!(image(p).add_cached(&cached.neg()).to_weierstrass(), want);
            }
        }
    }

    #[test]
    fn five_points_have_no_image() {
        // y = 0: x is minus a cube root of one
        let minus_one = F::ONE.neg();
        let third = {
            let super::super::Subgroup::Endomorphism { beta, .. } =
                <Bls12_377 as super::super::Curve<6>>::SUBGROUP
            else {
                unreachable!()
            };
            F::constant(beta)
        };
        let mut special: Vec<_> = [F::ONE, third, third.square()]
            .iter()
            .map(|root| Affine {
                x: root.mul(&minus_one),
                y: F::ZERO,
            })
            .collect();
        // u = -1: x = -1 / s - 1
        let x = minus_one
            .mul(&F::constant(S).invert().unwrap())
            .sub(&F::ONE);
        let point = Weierstrass::from_x(x, false).unwrap();
        special.extend([point, point.neg()]);
        assert!(special.iter().all(Affine::is_on_curve));
        let mut mixed = special.clone();
        mixed.insert(2, Weierstrass::generator());
        let images = Cached::from_weierstrass(&mixed);
        assert_eq!(images.iter().filter(|i| i.is_none()).count(), 5);
        assert!(images[2].is_some());
        // of order 2 or 4
        for point in special {
            assert!(reference::multiply(&point, &[4]).is_infinity());
        }
    }
}
