//! AArch64 with SVE: eight states side by side, each in a lane of its own, their S-boxes in inline
//! assembly.
//!
//! SVE multiplies words of 64 bits lane by lane (`mul`, `umulh`), which NEON does not. How many lanes a
//! vector has is known at run time only, and stable Rust has no type for it. So a state's words lie in
//! memory between the steps of an S-box, eight states' words of one element together, and the assembly
//! takes as many of them to a vector as there is room for: two of 128 bits, four of 256, all eight of 512.
//! Longer vectors take words of two elements, and lengths that are no power of two work as well, since
//! the last vector's lanes beyond the words are masked.
//!
//! The matrix, a twentieth of the time, is left to the compiler, whose loops over eight words become NEON.

#![allow(unsafe_code)]

mod steps;

use crate::State;
use crate::cpu::isa::{Isa, Kernel, MAX_LANES};
use crate::cpu::portable::Portable;
use crate::cpu::sbox::{Powers, chain};

/// Proof that the processor has SVE.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sve(());

impl Sve {
    /// `None` if the processor lacks it.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("sve").then_some(Self(()))
    }
}

/// `G` times `L` words for the assembly, and the proof that it may run.
#[derive(Clone, Copy)]
struct Block<const L: usize, const G: usize> {
    _isa: Sve,
    words: [[u64; L]; G],
}

impl<const L: usize, const G: usize> Powers for Block<L, G> {
    #[inline(always)]
    fn squares(mut self, n: usize) -> Self {
        // SAFETY: a token exists only where SVE was detected.
        unsafe { steps::squares(self.words.as_flattened_mut(), n) };
        self
    }

    #[inline(always)]
    fn mul(mut self, other: Self) -> Self {
        // SAFETY: a token exists only where SVE was detected.
        unsafe { steps::products(self.words.as_flattened_mut(), other.words.as_flattened()) };
        self
    }
}

/// Lane by lane.
#[inline(always)]
fn each<const N: usize>(mut a: [u64; N], b: [u64; N], word: impl Fn(u64, u64) -> u64) -> [u64; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = word(*a, b);
    }
    a
}

impl Isa for Sve {
    const LANES: usize = 8;
    const BESIDE: usize = 0;
    type V = [u64; MAX_LANES];

    #[inline]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: u64) -> Self::V {
        [x; MAX_LANES]
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> Self::V {
        *words
    }

    #[inline(always)]
    fn store(self, v: Self::V, words: &mut [u64; MAX_LANES]) {
        *words = v;
    }

    #[inline(always)]
    fn add(self, a: Self::V, b: Self::V) -> Self::V {
        each(a, b, u64::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Self::V, b: Self::V) -> Self::V {
        each(a, b, u64::wrapping_sub)
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: Self::V) -> Self::V {
        a.map(|x| x << N)
    }

    #[inline(always)]
    fn low(self, a: Self::V) -> Self::V {
        a.map(|x| Portable.low(x))
    }

    #[inline(always)]
    fn high(self, a: Self::V) -> Self::V {
        a.map(|x| Portable.high(x))
    }

    #[inline(always)]
    fn join(self, low: Self::V, high: Self::V) -> Self::V {
        each(low, high, |low, high| Portable.join(low, high))
    }

    #[inline(always)]
    fn square(self, x: Self::V) -> Self::V {
        let block = Block {
            _isa: self,
            words: [x],
        };
        block.squares(1).words[0]
    }

    #[inline(always)]
    fn mul(self, a: Self::V, b: Self::V) -> Self::V {
        let block = |x| Block {
            _isa: self,
            words: [x],
        };
        block(a).mul(block(b)).words[0]
    }

    #[inline(always)]
    fn power<const INVERSE: bool, const G: usize, const S: usize, const J: usize>(
        self,
        v: [Self::V; G],
        s: [u64; S],
    ) -> ([Self::V; G], [u64; S]) {
        let block = Block {
            _isa: self,
            words: v,
        };
        let v = chain::<_, INVERSE>(block).words;
        if S == 0 {
            return (v, s);
        }
        // Words beside go into vectors too: no batch of this variant has any.
        let block = Block {
            _isa: self,
            words: [s],
        };
        let [s] = chain::<_, INVERSE>(block).words;
        (v, s)
    }

    #[inline(always)]
    fn power_one<const INVERSE: bool>(self, state: &mut State) {
        let block = Block {
            _isa: self,
            words: [*state],
        };
        [*state] = chain::<_, INVERSE>(block).words;
    }
}
