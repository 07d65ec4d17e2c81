//! One lane in general registers, with the products that the instruction set has for them.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::portable::Portable;

/// The general registers beside the vectors of `I`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<I>(pub(crate) I);

impl<I: Isa> Isa for Words<I> {
    const LANES: usize = 1;
    const BESIDE: usize = 0;
    type V = u64;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: u64) -> u64 {
        Portable.splat(x)
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> u64 {
        Portable.load(words)
    }

    #[inline(always)]
    fn store(self, v: u64, words: &mut [u64; MAX_LANES]) {
        Portable.store(v, words);
    }

    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        Portable.add(a, b)
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        Portable.sub(a, b)
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: u64) -> u64 {
        Portable.shl::<N>(a)
    }

    #[inline(always)]
    fn low(self, a: u64) -> u64 {
        Portable.low(a)
    }

    #[inline(always)]
    fn high(self, a: u64) -> u64 {
        Portable.high(a)
    }

    #[inline(always)]
    fn join(self, low: u64, high: u64) -> u64 {
        Portable.join(low, high)
    }

    #[inline(always)]
    fn square(self, x: u64) -> u64 {
        self.0.square_word(x)
    }

    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u64 {
        self.0.mul_word(a, b)
    }
}
