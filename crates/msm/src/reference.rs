//! The definition of correct: chords and tangents, double-and-add, one scalar after the other.
//!
//! As in the textbook, an inversion for every addition. Everything else is tested against it.
#![forbid(unsafe_code)]

use crate::curve::{Affine, Curve};

/// `p + q`.
#[must_use]
pub fn add<C: Curve<N>, const N: usize>(p: &Affine<C, N>, q: &Affine<C, N>) -> Affine<C, N> {
    if p.is_infinity() {
        return *q;
    }
    if q.is_infinity() {
        return *p;
    }
    let (numerator, denominator) = if p.x == q.x {
        if p.y != q.y {
            return Affine::INFINITY;
        }
        let xx = p.x.square();
        (xx.double().add(&xx), p.y.double())
    } else {
        (q.y.sub(&p.y), q.x.sub(&p.x))
    };
    // Only the tangent in a point of order 2 has no slope.
    let Some(inverse) = denominator.invert() else {
        return Affine::INFINITY;
    };
    let slope = numerator.mul(&inverse);
    let x = slope.square().sub(&p.x).sub(&q.x);
    Affine {
        x,
        y: slope.mul(&p.x.sub(&x)).sub(&p.y),
    }
}

/// `scalar * p`; the scalar is any number of little-endian limbs.
#[must_use]
pub fn multiply<C: Curve<N>, const N: usize>(p: &Affine<C, N>, scalar: &[u64]) -> Affine<C, N> {
    let mut sum = Affine::INFINITY;
    for limb in scalar.iter().rev() {
        for bit in (0..64).rev() {
            sum = add(&sum, &sum);
            if limb >> bit & 1 == 1 {
                sum = add(&sum, p);
            }
        }
    }
    sum
}

/// `sum of scalars[i] * points[i]` over the pairs that there are.
#[must_use]
pub fn msm<C: Curve<N>, const N: usize>(
    points: &[Affine<C, N>],
    scalars: &[[u64; 4]],
) -> Affine<C, N> {
    points
        .iter()
        .zip(scalars)
        .fold(Affine::INFINITY, |sum, (p, s)| add(&sum, &multiply(p, s)))
}
