//! The curves `y^2 = x^3 + b` and their points.
//!
//! All three have `a = 0` and no point with `x = y = 0`, so that pair stands for infinity.
#![forbid(unsafe_code)]

mod bls12_377;
mod bls12_381;
mod bn254;
pub mod edwards;
mod subgroup;
pub(crate) mod xyzz;

use core::fmt;

pub use bls12_377::Bls12_377;
pub use bls12_381::Bls12_381;
pub use bn254::Bn254;
pub(crate) use xyzz::Xyzz;

use crate::{
    compute::VectorSums,
    field::{Fp, Modulus},
};

/// The group G1 of a pairing-friendly curve `y^2 = x^3 + b` over a field of `N` limbs.
pub trait Curve<const N: usize>: Modulus<N> + VectorSums<N> {
    /// Its name in files, on the command line and in reports.
    const NAME: &'static str;
    /// The coefficient `b`.
    const B: u64;
    /// The generator's coordinates, plain values.
    const GENERATOR: ([u64; N], [u64; N]);
    /// The prime order `r` of the group, little-endian limbs.
    const ORDER: [u64; 4];
    /// How membership of the prime-order subgroup is decided.
    const SUBGROUP: Subgroup<N>;
    /// How arkworks writes a point.
    const FORMAT: Format;
}

/// How a curve's points are written in arkworks' canonical serialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Little-endian, flags in the two highest bits of the last byte: `y` is the larger, infinity.
    Little,
    /// Big-endian, flags in the three highest bits of the first byte: compressed, infinity, `y` is the
    /// larger. The format of Zcash, which arkworks has for BLS12-381.
    Big,
}

/// How membership of the prime-order subgroup is decided.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Subgroup<const N: usize> {
    /// Every point of the curve is in it: the cofactor is 1.
    Whole,
    /// `(beta x, y) = -[z^2] (x, y)` for members only: since the map on the left has the minimal
    /// polynomial `t^2 + t + 1` on the whole curve, the equation gives `(z^4 - z^2 + 1) P = 0`, and
    /// that number is the order `r` (Scott, ePrint 2021/1130).
    Endomorphism {
        /// The cube root of one, a plain value.
        beta: [u64; N],
        /// The absolute value of the curve's parameter `z`.
        z: u64,
    },
    /// By multiplication with the order.
    Order,
}

/// A point by its affine coordinates in Montgomery form; `(0, 0)` is infinity.
///
/// The layout is `x` then `y`, `N` limbs each, without padding.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Affine<C, const N: usize> {
    /// The x coordinate.
    pub x: Fp<C, N>,
    /// The y coordinate.
    pub y: Fp<C, N>,
}

impl<C: Curve<N>, const N: usize> Affine<C, N> {
    /// The point at infinity.
    pub const INFINITY: Self = Self {
        x: Fp::ZERO,
        y: Fp::ZERO,
    };

    /// The group's generator.
    #[must_use]
    pub fn generator() -> Self {
        Self {
            x: Fp::constant(C::GENERATOR.0),
            y: Fp::constant(C::GENERATOR.1),
        }
    }

    /// Whether it is the point at infinity.
    #[inline(always)]
    #[must_use]
    pub fn is_infinity(&self) -> bool {
        self.x.is_zero() && self.y.is_zero()
    }

    /// The inverse element.
    #[inline(always)]
    #[must_use]
    pub fn neg(&self) -> Self {
        Self {
            x: self.x,
            y: self.y.neg(),
        }
    }

    /// Whether the coordinates satisfy the curve's equation, or the point is infinity.
    #[must_use]
    pub fn is_on_curve(&self) -> bool {
        let right = self.x.square().mul(&self.x).add(&Fp::from_u64(C::B));
        self.is_infinity() || self.y.square() == right
    }

    /// The point with this x coordinate and, of the two, the larger y if `large`; `None` if there is
    /// none.
    #[must_use]
    pub fn from_x(x: Fp<C, N>, large: bool) -> Option<Self> {
        let y = x.square().mul(&x).add(&Fp::from_u64(C::B)).sqrt()?;
        let y = if y.is_large() == large { y } else { y.neg() };
        Some(Self { x, y })
    }
}

impl<C: Curve<N>, const N: usize> Default for Affine<C, N> {
    fn default() -> Self {
        Self::INFINITY
    }
}

impl<C: Curve<N>, const N: usize> fmt::Debug for Affine<C, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_infinity() {
            return f.write_str("infinity");
        }
        write!(f, "({:?}, {:?})", self.x, self.y)
    }
}
