//! One algorithm text, several instruction sets.
//!
//! A kernel is a value that implements [`Kernel`]: its `run` is generic over an [`Isa`] token and
//! `#[inline(always)]`. [`Variant::run`] enters the one `#[target_feature]` function of the chosen
//! variant and the kernel is compiled inside it. A token can only be obtained from `detect`, so
//! holding one proves that the processor has the instructions.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;

use super::keccak::{Block, Digest};
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::{
    avx2::Avx2,
    avx512::{Avx512, Avx512Half},
};

/// The most lanes of any variant.
pub(crate) const MAX_LANES: usize = 8;

/// A computation to be compiled once per instruction set.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// The body. Implementations are `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// Vectors of `LANES` words of 64 bits: word `i` of the Keccak states of `LANES` messages.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// States side by side, at most [`MAX_LANES`].
    const LANES: usize;
    /// One word of each state.
    type V: Copy;

    /// Runs `kernel` inside this variant's `#[target_feature]` function.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;

    /// The same word in all lanes.
    fn splat(self, x: u64) -> Self::V;
    /// The first `LANES` words; panics if there are fewer.
    fn load(self, words: &[u64; MAX_LANES]) -> Self::V;
    /// Lane-wise exclusive or.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lane-wise and.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a ^ (!b & c)`.
    fn chi(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `a ^ b ^ c`.
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// Rotates every lane left by `L`; `R` is `64 - L`.
    fn rotl<const L: i32, const R: i32>(self, v: Self::V) -> Self::V;

    /// Word `i` of result `i` comes from word `i` of each of the first `LANES` blocks.
    fn transpose_in(self, blocks: &[&Block; MAX_LANES]) -> [Self::V; 17];
    /// The first four words of each state.
    fn transpose_out(self, words: [Self::V; 4], digests: &mut [Digest; MAX_LANES]);
}

/// A CPU variant that has been checked to be available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Variant(CpuVariant);

impl Variant {
    /// `None` if this processor lacks the variant's instructions or this build has no code for it.
    pub(crate) fn new(variant: CpuVariant) -> Option<Self> {
        let has = CpuVariant::ALL.contains(&variant) && variant.is_available();
        has.then_some(Self(variant))
    }

    /// The fastest one.
    pub(crate) fn best() -> Self {
        Self(CpuVariant::best())
    }

    /// Which one it is.
    pub(crate) const fn kind(self) -> CpuVariant {
        self.0
    }

    /// Runs `kernel` with as many lanes as a permutation takes without becoming slower: for work
    /// that waits for serial chains.
    #[inline]
    pub(crate) fn run<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        {
            if self.0 == CpuVariant::Avx512
                && let Some(isa) = Avx512Half::detect()
            {
                return isa.vectorize(kernel);
            }
            if matches!(self.0, CpuVariant::Avx512 | CpuVariant::Avx2)
                && let Some(isa) = Avx2::detect()
            {
                return isa.vectorize(kernel);
            }
        }
        Portable.vectorize(kernel)
    }

    /// Runs `kernel` with all the lanes there are: for work without order.
    #[inline]
    pub(crate) fn run_wide<K: Kernel>(self, kernel: K) -> K::Output {
        #[cfg(target_arch = "x86_64")]
        if self.0 == CpuVariant::Avx512
            && let Some(isa) = Avx512::detect()
        {
            return isa.vectorize(kernel);
        }
        self.run(kernel)
    }
}
