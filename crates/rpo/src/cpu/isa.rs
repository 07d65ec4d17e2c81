//! What a kernel needs of an instruction set.
//!
//! A kernel is a value that implements [`Kernel`]: its `run` is generic over an [`Isa`] token and
//! `#[inline(always)]`. [`Isa::vectorize`] enters the one `#[target_feature]` function of the variant
//! and the kernel is compiled inside it. A token can only be obtained from `detect`, so holding one
//! proves that the processor has the instructions; that is why the methods are safe to call.
#![forbid(unsafe_code)]

use super::portable::Portable;
use super::sbox::power;
use super::words::Words;
use crate::{State, WIDTH};

/// The most lanes of any variant.
pub(crate) const MAX_LANES: usize = 8;

/// A computation to be compiled once per instruction set.
pub(crate) trait Kernel {
    /// What it returns.
    type Output;
    /// The body. Implementations are `#[inline(always)]`.
    fn run<I: Isa>(self, isa: I) -> Self::Output;
}

/// Vectors of `LANES` words of 64 bits.
///
/// Where a word is a field element, it may be any 64-bit representative, here and in results.
pub(crate) trait Isa: Copy + Send + Sync + 'static {
    /// States side by side in vectors.
    const LANES: usize;
    /// States in general registers beside them in a batch: 0, 2 or 3.
    const BESIDE: usize;
    /// A vector.
    type V: Copy;

    /// Runs `kernel` inside this variant's `#[target_feature]` function.
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output;

    /// All lanes equal to `x`.
    fn splat(self, x: u64) -> Self::V;
    /// The first `LANES` words.
    fn load(self, words: &[u64; MAX_LANES]) -> Self::V;
    /// Into the first `LANES` words.
    fn store(self, v: Self::V, words: &mut [u64; MAX_LANES]);

    /// Lane-wise sum modulo 2^64.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// Lane-wise difference modulo 2^64.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts every lane left.
    fn shl<const N: u32>(self, a: Self::V) -> Self::V;
    /// The low 32 bits of every lane.
    fn low(self, a: Self::V) -> Self::V;
    /// The high 32 bits of every lane.
    fn high(self, a: Self::V) -> Self::V;

    /// The field element `low + 2^32 high`, of words below 2^42.
    fn join(self, low: Self::V, high: Self::V) -> Self::V;

    /// The square, times a power of 2^64 or of 2^32 that is this variant's own.
    ///
    /// 2^32 has order 6 in the field. A chain of such products that raises to the power `e` gives
    /// `x^e` times the `e - 1`-th power of that factor, and 6 divides both 7 - 1 and 1/7 - 1: in both
    /// S-boxes, and nowhere else, the factor vanishes.
    fn square(self, x: Self::V) -> Self::V;
    /// [`Isa::square`] of each, all of them step by step: sooner done where nothing else hides the
    /// latency of a step.
    #[inline(always)]
    fn square_together<const N: usize>(self, mut x: [Self::V; N]) -> [Self::V; N] {
        for x in &mut x {
            *x = self.square(*x);
        }
        x
    }
    /// The product, times the same factor.
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;

    /// [`Isa::square`] of a word in a general register, with a factor of its own.
    #[inline(always)]
    fn square_word(self, x: u64) -> u64 {
        Portable.square(x)
    }
    /// [`Isa::mul`] of words in general registers, with the same factor.
    #[inline(always)]
    fn mul_word(self, a: u64, b: u64) -> u64 {
        Portable.mul(a, b)
    }
    /// An S-box on `G` vectors and on `S / G` words beside each; `J` vectors at a time are squared step
    /// by step.
    #[inline(always)]
    fn power<const INVERSE: bool, const G: usize, const S: usize, const J: usize>(
        self,
        v: [Self::V; G],
        s: [u64; S],
    ) -> ([Self::V; G], [u64; S]) {
        power::<Self, INVERSE, G, S, J>(self, v, s)
    }
    /// An S-box on the elements of one state alone, in general registers or in lanes: whatever is sooner
    /// done.
    #[inline(always)]
    fn power_one<const INVERSE: bool>(self, state: &mut State) {
        *state = power::<_, INVERSE, WIDTH, 0, 1>(Words(self), *state, []).0;
    }
}
