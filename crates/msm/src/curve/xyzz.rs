//! Points as (X, Y, ZZ, ZZZ) with `x = X / ZZ`, `y = Y / ZZZ`, `ZZ^3 = ZZZ^2`: for the few
//! additions that are not batched.
//!
//! Formulas dbl-2008-s-1, add-2008-s and madd-2008-s of the Explicit-Formulas Database with a = 0;
//! every exceptional case is decided by a comparison.
#![forbid(unsafe_code)]

use super::{Affine, Curve};
use crate::{cpu::Arithmetic, field::Fp};

/// A point in extended Jacobian coordinates; `zz = 0` is infinity.
#[derive(Clone, Copy)]
pub(crate) struct Xyzz<C, const N: usize> {
    x: Fp<C, N>,
    y: Fp<C, N>,
    zz: Fp<C, N>,
    zzz: Fp<C, N>,
}

impl<C: Curve<N>, const N: usize> Xyzz<C, N> {
    /// The point at infinity.
    pub(crate) const INFINITY: Self = Self {
        x: Fp::ONE,
        y: Fp::ONE,
        zz: Fp::ZERO,
        zzz: Fp::ZERO,
    };

    /// From its coordinates, with `zz^3 = zzz^2`.
    pub(crate) const fn from_coordinates(
        x: Fp<C, N>,
        y: Fp<C, N>,
        zz: Fp<C, N>,
        zzz: Fp<C, N>,
    ) -> Self {
        Self { x, y, zz, zzz }
    }

    /// The same point.
    pub(crate) fn from_affine(point: &Affine<C, N>) -> Self {
        if point.is_infinity() {
            return Self::INFINITY;
        }
        Self {
            x: point.x,
            y: point.y,
            zz: Fp::ONE,
            zzz: Fp::ONE,
        }
    }

    /// Whether it is the point at infinity.
    pub(crate) fn is_infinity(&self) -> bool {
        self.zz.is_zero()
    }

    /// `2 self`. 6M + 3S.
    pub(crate) fn double<A: Arithmetic>(&self, a: A) -> Self {
        if self.is_infinity() {
            return *self;
        }
        let u = self.y.double();
        let v = a.square(&u);
        let w = a.mul(&u, &v);
        let s = a.mul(&self.x, &v);
        let xx = a.square(&self.x);
        let m = xx.double().add(&xx);
        let x = a.square(&m).sub(&s.double());
        let y = a.mul(&m, &s.sub(&x)).sub(&a.mul(&w, &self.y));
        // A point of order 2 has y = 0 and so doubles to zz = 0.
        Self {
            x,
            y,
            zz: a.mul(&v, &self.zz),
            zzz: a.mul(&w, &self.zzz),
        }
    }

    /// `self + other`. 8M + 2S.
    pub(crate) fn add_affine<A: Arithmetic>(&self, a: A, other: &Affine<C, N>) -> Self {
        if other.is_infinity() {
            return *self;
        }
        if self.is_infinity() {
            return Self::from_affine(other);
        }
        let p = a.mul(&other.x, &self.zz).sub(&self.x);
        let r = a.mul(&other.y, &self.zzz).sub(&self.y);
        if p.is_zero() {
            return self.same_x(a, &r);
        }
        let pp = a.square(&p);
        let ppp = a.mul(&p, &pp);
        let q = a.mul(&self.x, &pp);
        let x = a.square(&r).sub(&ppp).sub(&q.double());
        Self {
            x,
            y: a.mul(&r, &q.sub(&x)).sub(&a.mul(&self.y, &ppp)),
            zz: a.mul(&self.zz, &pp),
            zzz: a.mul(&self.zzz, &ppp),
        }
    }

    /// `self + other`. 12M + 2S.
    pub(crate) fn add<A: Arithmetic>(&self, a: A, other: &Self) -> Self {
        if other.is_infinity() {
            return *self;
        }
        if self.is_infinity() {
            return *other;
        }
        let u = a.mul(&self.x, &other.zz);
        let s = a.mul(&self.y, &other.zzz);
        let p = a.mul(&other.x, &self.zz).sub(&u);
        let r = a.mul(&other.y, &self.zzz).sub(&s);
        if p.is_zero() {
            return self.same_x(a, &r);
        }
        let pp = a.square(&p);
        let ppp = a.mul(&p, &pp);
        let q = a.mul(&u, &pp);
        let x = a.square(&r).sub(&ppp).sub(&q.double());
        Self {
            x,
            y: a.mul(&r, &q.sub(&x)).sub(&a.mul(&s, &ppp)),
            zz: a.mul(&a.mul(&self.zz, &other.zz), &pp),
            zzz: a.mul(&a.mul(&self.zzz, &other.zzz), &ppp),
        }
    }

    /// The sum with a point of the same x, whose y differs by `r`.
    fn same_x<A: Arithmetic>(&self, a: A, r: &Fp<C, N>) -> Self {
        if r.is_zero() {
            self.double(a)
        } else {
            Self::INFINITY
        }
    }

    /// The same point in affine coordinates. One inversion.
    pub(crate) fn to_affine<A: Arithmetic>(self, a: A) -> Affine<C, N> {
        let Some(inverse) = self.zzz.invert() else {
            return Affine::INFINITY;
        };
        self.scaled(a, &inverse)
    }

    /// The same points in affine coordinates, with one inversion for all.
    pub(crate) fn batch_to_affine<A: Arithmetic>(a: A, points: &[Self]) -> Vec<Affine<C, N>> {
        let mut product = Fp::ONE;
        let mut before = Vec::with_capacity(points.len());
        for point in points {
            before.push(product);
            if !point.is_infinity() {
                product = a.mul(&product, &point.zzz);
            }
        }
        let mut inverse = product.invert().unwrap_or(Fp::ZERO);
        let mut affine = vec![Affine::INFINITY; points.len()];
        for ((point, before), to) in points.iter().zip(before).zip(&mut affine).rev() {
            if !point.is_infinity() {
                let own = a.mul(&inverse, &before);
                inverse = a.mul(&inverse, &point.zzz);
                *to = point.scaled(a, &own);
            }
        }
        affine
    }

    /// The affine point, given `1 / ZZZ`.
    fn scaled<A: Arithmetic>(&self, a: A, inverse: &Fp<C, N>) -> Affine<C, N> {
        // 1 / ZZ = (ZZ / ZZZ)^2, since ZZ^3 = ZZZ^2
        let root = a.mul(&self.zz, inverse);
        Affine {
            x: a.mul(&self.x, &a.square(&root)),
            y: a.mul(&self.y, inverse),
        }
    }
}
