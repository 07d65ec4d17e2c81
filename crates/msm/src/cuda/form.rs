//! The forms that points have on the device.
#![forbid(unsafe_code)]

use crate::curve::{Bls12_377, Bls12_381, Bn254, Curve};

/// A curve in one of its forms: a pair of modules of the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// BLS12-377 as a twisted Edwards curve: right in the subgroup of prime order.
    Edwards377,
    /// BLS12-377 as it is.
    Weierstrass377,
    /// BLS12-381.
    Weierstrass381,
    /// BN254.
    Weierstrass254,
}

impl Form {
    pub(super) const COUNT: usize = 4;

    /// The form in which points of the subgroup are summed, or any points if not `subgroup`; `None` for
    /// a curve that the device does not have.
    pub(super) fn of<C: Curve<N>, const N: usize>(subgroup: bool) -> Option<Self> {
        let name = C::NAME;
        Some(if name == Bls12_377::NAME && subgroup {
            Self::Edwards377
        } else if name == Bls12_377::NAME {
            Self::Weierstrass377
        } else if name == Bls12_381::NAME {
            Self::Weierstrass381
        } else if name == Bn254::NAME {
            Self::Weierstrass254
        } else {
            return None;
        })
    }

    pub(super) const fn index(self) -> usize {
        self as usize
    }

    /// The modules: accumulation, and the rest.
    pub(super) const fn modules(self) -> (&'static str, &'static str) {
        match self {
            Self::Edwards377 => ("bls12_377_accumulate", "bls12_377_reduce"),
            Self::Weierstrass377 => (
                "bls12_377_weierstrass_accumulate",
                "bls12_377_weierstrass_reduce",
            ),
            Self::Weierstrass381 => ("bls12_381_accumulate", "bls12_381_reduce"),
            Self::Weierstrass254 => ("bn254_accumulate", "bn254_reduce"),
        }
    }

    pub(super) const fn edwards(self) -> bool {
        matches!(self, Self::Edwards377)
    }

    /// 64-bit limbs of a coordinate.
    pub(super) const fn limbs(self) -> usize {
        match self {
            Self::Weierstrass254 => 4,
            _ => 6,
        }
    }

    /// Limbs of a base: x and y, or y - x, y + x and 2 d x y.
    pub(super) const fn point_limbs(self) -> usize {
        self.limbs() * if self.edwards() { 3 } else { 2 }
    }

    /// Limbs of a sum of bases: four coordinates.
    pub(super) const fn sum_limbs(self) -> usize {
        4 * self.limbs()
    }

    /// Nanoseconds on an H200: to add a base, a bucket's part in the reduction, and its part in the merging
    /// of chunks.
    pub(super) const fn costs(self) -> (f64, f64, f64) {
        match self {
            Self::Edwards377 => (0.275, 0.9, 0.7),
            Self::Weierstrass377 | Self::Weierstrass381 => (0.42, 1.3, 0.9),
            Self::Weierstrass254 => (0.175, 0.7, 0.5),
        }
    }
}
