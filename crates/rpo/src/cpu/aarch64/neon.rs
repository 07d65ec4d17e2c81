//! AArch64 with NEON: one state to a lane, in general registers.
//!
//! A product of 64-bit words is two instructions there (`mul`, `umulh`). NEON would need four products
//! of halves for two lanes, and as many instructions again to put them together, so that its vectors gain
//! nothing for the S-boxes, which are all but a twentieth of the time.
#![forbid(unsafe_code)]

use crate::cpu::isa::{Isa, Kernel, MAX_LANES};
use crate::cpu::portable::Portable;

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// `None` if the processor lacks it.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

impl Isa for Neon {
    const LANES: usize = 1;
    const BESIDE: usize = 0;
    type V = u64;

    #[inline]
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
        Portable.square(x)
    }

    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u64 {
        Portable.mul(a, b)
    }
}
