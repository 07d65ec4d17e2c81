//! Batch-affine addition on 64-bit limbs, one pair after the other.
//!
//! A pair costs 5M + 1S and three more for its share of the one inversion (Montgomery's trick): on
//! the way forward the denominators are multiplied up, on the way back each gives its inverse.
#![forbid(unsafe_code)]

use super::{Arithmetic, pages::prefetch};
use crate::{
    curve::{Affine, Curve},
    field::Fp,
    kernel::{Kernel, NEGATE, Operands, Pair},
};

/// The kernel over the products of `A`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scalar<A>(pub(crate) A);

/// So many pairs ahead of their use, points are fetched from memory.
const AHEAD: usize = 8;

impl<A: Arithmetic, C: Curve<N>, const N: usize> Kernel<C, N> for Scalar<A> {
    type Point = Affine<C, N>;
    const INFINITY: Affine<C, N> = Affine::INFINITY;
    /// For each pair the product of the denominators before it.
    type Scratch = Vec<Fp<C, N>>;
    const CHUNK: usize = 4096;
    const FEW: usize = 32;

    fn scratch(self, pairs: usize) -> Self::Scratch {
        Vec::with_capacity(pairs)
    }

    fn load(self, from: &[Affine<C, N>], to: &mut [Self::Point]) {
        to.copy_from_slice(from);
    }

    fn table(self, points: &[Affine<C, N>]) -> std::borrow::Cow<'_, [Self::Point]> {
        std::borrow::Cow::Borrowed(points)
    }

    fn store(self, from: &[Self::Point], to: &mut [Affine<C, N>]) {
        to.copy_from_slice(from);
    }

    fn negate(self, point: &Self::Point) -> Self::Point {
        point.neg()
    }

    fn add(
        self,
        left: &[Self::Point],
        right: &[Self::Point],
        pairs: &[Pair],
        out: &mut [Self::Point],
        scratch: &mut Self::Scratch,
        operands: Operands,
    ) {
        match operands {
            Operands::Scattered => add::<A, C, N, true>(self.0, left, right, pairs, out, scratch),
            Operands::Near => add::<A, C, N, false>(self.0, left, right, pairs, out, scratch),
        }
    }
}

/// What a pair is.
enum Case<C, const N: usize> {
    /// Different x: the chord, with the difference of the x.
    Chord(Fp<C, N>),
    /// Equal points: the tangent, with twice their y.
    Tangent(Fp<C, N>),
    /// No slope: the sum is this.
    Known(Affine<C, N>),
}

#[inline(always)]
fn operand<C: Curve<N>, const N: usize, const SIGNED: bool>(
    points: &[Affine<C, N>],
    index: u32,
) -> Affine<C, N> {
    if SIGNED {
        let point = &points[(index & !NEGATE) as usize];
        if index & NEGATE != 0 {
            return point.neg();
        }
        *point
    } else {
        points[index as usize]
    }
}

#[inline(always)]
fn case<C: Curve<N>, const N: usize, const SIGNED: bool>(
    left: &[Affine<C, N>],
    right: &[Affine<C, N>],
    pair: Pair,
) -> Case<C, N> {
    let mask = if SIGNED { !NEGATE } else { !0 };
    let xs = (
        &left[(pair.a & mask) as usize].x,
        &right[(pair.b & mask) as usize].x,
    );
    let difference = xs.1.sub(xs.0);
    // x = 0 for infinity, and on some curves for a point of order 3.
    if difference.is_zero() || xs.0.is_zero() || xs.1.is_zero() {
        return unusual::<C, N, SIGNED>(left, right, pair, difference);
    }
    Case::Chord(difference)
}

#[cold]
#[inline(never)]
fn unusual<C: Curve<N>, const N: usize, const SIGNED: bool>(
    left: &[Affine<C, N>],
    right: &[Affine<C, N>],
    pair: Pair,
    difference: Fp<C, N>,
) -> Case<C, N> {
    let a = operand::<C, N, SIGNED>(left, pair.a);
    let b = operand::<C, N, SIGNED>(right, pair.b);
    if a.is_infinity() {
        return Case::Known(b);
    }
    if b.is_infinity() {
        return Case::Known(a);
    }
    if !difference.is_zero() {
        return Case::Chord(difference);
    }
    // The last condition: a point of order 2 is its own inverse.
    if a.y != b.y || a.y.is_zero() {
        return Case::Known(Affine::INFINITY);
    }
    Case::Tangent(a.y.double())
}

fn add<A: Arithmetic, C: Curve<N>, const N: usize, const SIGNED: bool>(
    m: A,
    left: &[Affine<C, N>],
    right: &[Affine<C, N>],
    pairs: &[Pair],
    out: &mut [Affine<C, N>],
    products: &mut Vec<Fp<C, N>>,
) {
    products.clear();
    let mut product = Fp::ONE;
    for (i, &pair) in pairs.iter().enumerate() {
        if SIGNED && let Some(ahead) = pairs.get(i + AHEAD) {
            prefetch(left, (ahead.a & !NEGATE) as usize);
            prefetch(right, (ahead.b & !NEGATE) as usize);
        }
        products.push(product);
        // A pair without a slope takes no part in the product.
        if let Case::Chord(d) | Case::Tangent(d) = case::<C, N, SIGNED>(left, right, pair) {
            product = m.mul(&product, &d);
        }
    }
    // No denominator is zero, so neither is their product.
    let mut inverse = product.invert().unwrap_or(Fp::ZERO);
    for (i, (&pair, before)) in pairs.iter().zip(products.iter()).enumerate().rev() {
        if SIGNED && let Some(ahead) = i.checked_sub(AHEAD) {
            prefetch(left, (pairs[ahead].a & !NEGATE) as usize);
            prefetch(right, (pairs[ahead].b & !NEGATE) as usize);
        }
        let a = operand::<C, N, SIGNED>(left, pair.a);
        let b = operand::<C, N, SIGNED>(right, pair.b);
        let (numerator, denominator) = match case::<C, N, SIGNED>(left, right, pair) {
            Case::Chord(d) => (b.y.sub(&a.y), d),
            Case::Tangent(d) => {
                let xx = m.square(&a.x);
                (xx.double().add(&xx), d)
            }
            Case::Known(sum) => {
                out[pair.out as usize] = sum;
                continue;
            }
        };
        let slope = m.mul(&numerator, &m.mul(&inverse, before));
        inverse = m.mul(&inverse, &denominator);
        let x = m.square(&slope).sub(&a.x).sub(&b.x);
        out[pair.out as usize] = Affine {
            x,
            y: m.mul(&slope, &a.x.sub(&x)).sub(&a.y),
        };
    }
}
