//! Prime fields of 64-bit limbs in Montgomery form.
//!
//! An element is `N` little-endian limbs holding `a * 2^(64 N) mod p`, always below `p`. That is
//! also what arkworks holds in memory, so its elements are taken without a conversion.
//!
//! Everything here is variable-time: the elements are coordinates of public points.
#![forbid(unsafe_code)]
// Limb i of one number goes with limb i of another.
#![allow(clippy::needless_range_loop)]

mod inverse;
pub(crate) mod limbs;
mod sqrt;

use core::{fmt, marker::PhantomData};

pub use limbs::{adc, mac, sbb};

/// A prime modulus of `N` limbs with its top bit free, and what follows from it.
pub trait Modulus<const N: usize>:
    Copy + Default + Eq + fmt::Debug + Send + Sync + 'static
{
    /// The prime, little-endian limbs. Odd, and its highest limb below `2^63 - 1`.
    const P: [u64; N];
    /// `-p^-1 mod 2^64`.
    const INV: u64 = limbs::negative_inverse(Self::P[0]);
    /// `2^(64 N) mod p`: one in Montgomery form.
    const R: [u64; N] = limbs::power_of_two(64 * N, &Self::P);
    /// `2^(128 N) mod p`: takes a plain value into Montgomery form.
    const R2: [u64; N] = limbs::power_of_two(128 * N, &Self::P);
    /// `2^(192 N) mod p`: what an inversion is corrected with.
    const R3: [u64; N] = limbs::power_of_two(192 * N, &Self::P);
    /// A plain value whose order is the largest power of two that divides `p - 1`: minus one where `p` is
    /// 3 modulo 4.
    const ROOT: [u64; N] = limbs::minus_one(&Self::P);
    /// Bits of the prime.
    const BITS: u32 = limbs::bits(&Self::P);
}

/// An element of the field with modulus `M`, in Montgomery form, below the modulus.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp<M, const N: usize> {
    limbs: [u64; N],
    modulus: PhantomData<M>,
}

impl<M: Modulus<N>, const N: usize> Fp<M, N> {
    /// Zero.
    pub const ZERO: Self = Self::from_montgomery_unchecked([0; N]);
    /// One.
    pub const ONE: Self = Self::from_montgomery_unchecked(M::R);

    /// Wraps limbs that are in Montgomery form and below the modulus already.
    #[inline(always)]
    pub(crate) const fn from_montgomery_unchecked(limbs: [u64; N]) -> Self {
        Self {
            limbs,
            modulus: PhantomData,
        }
    }

    /// Wraps limbs in Montgomery form; `None` if they are not below the modulus.
    #[inline]
    #[must_use]
    pub fn from_montgomery(limbs: [u64; N]) -> Option<Self> {
        limbs::less(&limbs, &M::P).then(|| Self::from_montgomery_unchecked(limbs))
    }

    /// The element with this plain value (not Montgomery form); `None` if it is not below the modulus.
    #[must_use]
    pub fn from_canonical(value: [u64; N]) -> Option<Self> {
        limbs::less(&value, &M::P).then(|| Self::constant(value))
    }

    /// The element with this plain value, which must be below the modulus. For constants.
    #[must_use]
    pub const fn constant(value: [u64; N]) -> Self {
        Self::from_montgomery_unchecked(limbs::mul(&value, &M::R2, &M::P, M::INV))
    }

    /// The element with this plain value, which must be below the modulus.
    #[must_use]
    pub const fn from_u64(value: u64) -> Self {
        let mut limbs = [0; N];
        limbs[0] = value;
        Self::constant(limbs)
    }

    /// The plain value, below the modulus.
    #[must_use]
    pub fn to_canonical(self) -> [u64; N] {
        let mut one = [0; N];
        one[0] = 1;
        limbs::mul(&self.limbs, &one, &M::P, M::INV)
    }

    /// The limbs in Montgomery form.
    #[inline(always)]
    #[must_use]
    pub const fn montgomery(&self) -> &[u64; N] {
        &self.limbs
    }

    /// Whether it is zero.
    #[inline(always)]
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().fold(0, |or, l| or | l) == 0
    }

    /// `self + other`.
    #[inline(always)]
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        // The top bit is free, so the sum does not overflow.
        let mut sum = [0; N];
        let mut carry = 0;
        for i in 0..N {
            (sum[i], carry) = adc(self.limbs[i], other.limbs[i], carry);
        }
        Self::from_montgomery_unchecked(limbs::reduce_once(&sum, &M::P))
    }

    /// `2 self`.
    #[inline(always)]
    #[must_use]
    pub fn double(&self) -> Self {
        self.add(self)
    }

    /// `self - other`.
    #[inline(always)]
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        let mut difference = [0; N];
        let mut borrow = 0;
        for i in 0..N {
            (difference[i], borrow) = sbb(self.limbs[i], other.limbs[i], borrow);
        }
        // all ones if it fell below zero
        let mask = borrow.wrapping_neg();
        let mut carry = 0;
        for i in 0..N {
            (difference[i], carry) = adc(difference[i], M::P[i] & mask, carry);
        }
        Self::from_montgomery_unchecked(difference)
    }

    /// `-self`.
    #[inline(always)]
    #[must_use]
    pub fn neg(&self) -> Self {
        Self::ZERO.sub(self)
    }

    /// `self * other`, portable. Code that runs often takes its product from
    /// the variant that was chosen at run time instead.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        Self::from_montgomery_unchecked(limbs::mul(&self.limbs, &other.limbs, &M::P, M::INV))
    }

    /// `self^2`, portable.
    #[inline(always)]
    #[must_use]
    pub fn square(&self) -> Self {
        self.mul(self)
    }

    /// `self^exponent`, with the exponent as little-endian limbs.
    #[must_use]
    pub fn pow(&self, exponent: &[u64]) -> Self {
        let mut power = Self::ONE;
        for limb in exponent.iter().rev() {
            for bit in (0..64).rev() {
                power = power.square();
                if limb >> bit & 1 == 1 {
                    power = power.mul(self);
                }
            }
        }
        power
    }

    /// `1 / self`; `None` for zero.
    #[must_use]
    pub fn invert(&self) -> Option<Self> {
        let inverse = inverse::invert(&self.limbs, &M::P, M::INV)?;
        Some(Self::from_montgomery_unchecked(limbs::mul(
            &inverse,
            &M::R3,
            &M::P,
            M::INV,
        )))
    }

    /// Whether the plain value is above `(p - 1) / 2`: the sign that compressed points carry.
    #[must_use]
    pub fn is_large(&self) -> bool {
        limbs::less(&limbs::half(&M::P), &self.to_canonical())
    }
}

impl<M: Modulus<N>, const N: usize> Default for Fp<M, N> {
    fn default() -> Self {
        Self::ZERO
    }
}

impl<M: Modulus<N>, const N: usize> fmt::Debug for Fp<M, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        for limb in self.to_canonical().iter().rev() {
            write!(f, "{limb:016x}")?;
        }
        Ok(())
    }
}
