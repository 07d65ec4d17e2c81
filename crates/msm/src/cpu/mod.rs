//! The processor's variants of the curve arithmetic.
#![deny(unsafe_code)]

#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) mod lanes;
pub(crate) mod memory;
mod portable;
mod scalar;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86_64;

pub(crate) use portable::Portable;
pub(crate) use scalar::Scalar;

use crate::field::{Fp, Modulus};

/// Products of field elements by one instruction set.
///
/// A value is a token: it exists only where the processor has the instructions.
pub(crate) trait Arithmetic: Copy + Send + Sync + 'static {
    /// `a b`.
    fn mul<M: Modulus<N>, const N: usize>(self, a: &Fp<M, N>, b: &Fp<M, N>) -> Fp<M, N>;

    /// `a^2`.
    #[inline(always)]
    fn square<M: Modulus<N>, const N: usize>(self, a: &Fp<M, N>) -> Fp<M, N> {
        self.mul(a, a)
    }
}
