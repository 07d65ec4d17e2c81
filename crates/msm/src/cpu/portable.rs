//! Products in plain Rust.
#![forbid(unsafe_code)]

use super::Arithmetic;
use crate::field::{Fp, Modulus};

/// Runs everywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Arithmetic for Portable {
    // A call costs little against the product, and the callers stay small enough for the cache of
    // decoded instructions.
    #[inline(never)]
    fn mul<M: Modulus<N>, const N: usize>(self, a: &Fp<M, N>, b: &Fp<M, N>) -> Fp<M, N> {
        a.mul(b)
    }
}
