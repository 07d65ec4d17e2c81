//! The last doublings, on the host.
#![forbid(unsafe_code)]

use super::form::Form;
use super::plan::{Columns, Shape};
use crate::{
    cpu::Best,
    curve::{Affine, Curve, Xyzz, edwards},
    field::Fp,
};

/// Sums as they come, and the places (powers of two) that they go to.
struct Terms<T> {
    /// By place.
    at: Vec<Vec<T>>,
}

impl<T> Terms<T> {
    /// `sums` lie column after column: a bit's sum for every bit of a group's number and then the plain
    /// one, each in parts.
    fn new(columns: &Columns, shape: &Shape, sums: Vec<T>) -> Self {
        let width = columns.windows.width as usize;
        let group = shape.group.trailing_zeros() as usize;
        let bits = shape.bits as usize;
        let mut at: Vec<Vec<T>> = Vec::new();
        at.resize_with(shape.columns * width + group + bits + 1, Vec::new);
        for (i, sum) in sums.into_iter().enumerate() {
            let term = i / shape.parts;
            let (column, bit) = (term / (bits + 1), term % (bits + 1));
            let offset = if bit == bits { 0 } else { group + bit };
            at[column * width + offset].push(sum);
        }
        Self { at }
    }

    fn horner(self, zero: T, double: impl Fn(&T) -> T, add: impl Fn(&T, &T) -> T) -> T {
        let mut sum = zero;
        for terms in self.at.iter().rev() {
            sum = double(&sum);
            for term in terms {
                sum = add(&sum, term);
            }
        }
        sum
    }
}

/// A coordinate: the limbs are those of the curve's field.
fn element<M: crate::field::Modulus<N>, const N: usize>(limbs: &[u64]) -> Option<Fp<M, N>> {
    Fp::from_montgomery(limbs.try_into().ok()?)
}

/// The sum, from the sums that the device found; `None` if one is no point's coordinates at all.
pub(super) fn finish<C: Curve<N>, const N: usize>(
    form: Form,
    columns: &Columns,
    shape: &Shape,
    sums: &[u64],
) -> Option<Affine<C, N>> {
    let each = sums.chunks_exact(form.sum_limbs());
    if form.edwards() {
        let points = each.map(|s| {
            let mut coordinates = s.chunks_exact(6).map(element::<_, 6>);
            let mut next = || coordinates.next().flatten();
            Some(edwards::Extended {
                x: next()?,
                y: next()?,
                z: next()?,
                t: next()?,
            })
        });
        let terms = Terms::new(columns, shape, points.collect::<Option<Vec<_>>>()?);
        let zero = edwards::Extended::IDENTITY;
        let sum = terms.horner(zero, |p| p.add(p), edwards::Extended::add);
        let sum = sum.to_weierstrass();
        return Some(Affine {
            x: element(sum.x.montgomery())?,
            y: element(sum.y.montgomery())?,
        });
    }
    let points = each.map(|s| {
        let mut coordinates = s.chunks_exact(N).map(element::<C, N>);
        let mut next = || coordinates.next().flatten();
        Some(Xyzz::from_coordinates(next()?, next()?, next()?, next()?))
    });
    let terms = Terms::new(columns, shape, points.collect::<Option<Vec<_>>>()?);
    let a = Best::new();
    let sum = terms.horner(Xyzz::<C, N>::INFINITY, |p| p.double(a), |p, q| p.add(a, q));
    Some(sum.to_affine(a))
}
