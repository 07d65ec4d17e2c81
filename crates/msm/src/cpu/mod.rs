//! The processor's variants of the curve arithmetic.
#![deny(unsafe_code)]

#[cfg(any(test, target_arch = "x86_64"))]
pub(crate) mod lanes;
pub(crate) mod pages;
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

/// The fastest products on 64-bit limbs that this processor has: for work that is not in bulk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Best {
    #[cfg(target_arch = "x86_64")]
    adx: Option<x86_64::adx::Adx>,
}

impl Best {
    /// Chooses.
    pub(crate) fn new() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            adx: x86_64::adx::Adx::new(),
        }
    }
}

impl Arithmetic for Best {
    #[inline(always)]
    fn mul<M: Modulus<N>, const N: usize>(self, a: &Fp<M, N>, b: &Fp<M, N>) -> Fp<M, N> {
        #[cfg(target_arch = "x86_64")]
        if let Some(adx) = self.adx {
            return adx.mul(a, b);
        }
        Portable.mul(a, b)
    }
}
