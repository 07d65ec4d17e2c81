//! Membership of the subgroup of prime order.
#![forbid(unsafe_code)]

use super::{Affine, Curve, Subgroup, Xyzz};
use crate::{cpu::Arithmetic, field::Fp};

impl<C: Curve<N>, const N: usize> Affine<C, N> {
    /// Whether a point of the curve is in the subgroup of prime order.
    pub(crate) fn is_in_subgroup<A: Arithmetic>(&self, a: A) -> bool {
        if self.is_infinity() {
            return true;
        }
        match C::SUBGROUP {
            Subgroup::Whole => true,
            Subgroup::Order => multiply(a, self, &C::ORDER).is_infinity(),
            Subgroup::Endomorphism { beta, z } => {
                let once = multiply(a, self, &[z]).to_affine(a);
                let square = multiply(a, &once, &[z]).to_affine(a);
                let beta = Fp::constant(beta);
                square.x == a.mul(&beta, &self.x) && square.y == self.y.neg()
            }
        }
    }
}

/// `scalar * point`, from the top bit down.
pub(crate) fn multiply<A: Arithmetic, C: Curve<N>, const N: usize>(
    a: A,
    point: &Affine<C, N>,
    scalar: &[u64],
) -> Xyzz<C, N> {
    let mut sum = Xyzz::INFINITY;
    for limb in scalar.iter().rev() {
        for bit in (0..64).rev() {
            sum = sum.double(a);
            if limb >> bit & 1 == 1 {
                sum = sum.add_affine(a, point);
            }
        }
    }
    sum
}
