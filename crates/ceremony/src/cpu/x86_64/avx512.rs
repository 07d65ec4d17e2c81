//! AVX-512: 8 states side by side, or 4 in half-width registers.
//!
//! Rotations are one instruction, and so are sums of three and chi. Where wide registers are worked
//! off in two halves, four states in half-width registers take half the time of eight.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::isa::{Isa, Kernel, MAX_LANES};
use super::super::keccak::{Block, Digest};
use super::avx2::{store4, transpose_blocks, transpose4};

/// `a ^ b ^ c` as a truth table.
const XOR3: i32 = 0x96;
/// `a ^ (!b & c)` as a truth table.
const CHI: i32 = 0xd2;

fn has_avx512() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
}

/// Proof that this processor has AVX-512F and VL: 8 states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

/// The same proof: 4 states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512Half(());

impl Avx512 {
    /// `None` without the instructions.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        has_avx512().then_some(Self(()))
    }
}

impl Avx512Half {
    /// `None` without the instructions.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        has_avx512().then_some(Self(()))
    }
}

#[target_feature(enable = "avx512f,avx512vl,avx2,bmi1,bmi2")]
fn enter<I: Isa, K: Kernel>(isa: I, kernel: K) -> K::Output {
    kernel.run(isa)
}

/// Runs intrinsics of the features that the tokens prove.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: the tokens are only built by `detect`, after the processor was found to have
        // these instructions; no intrinsic in this block touches memory unless its line says so.
        unsafe { $body }
    };
}

impl Isa for Avx512 {
    const LANES: usize = 8;
    type V = __m512i;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        intrinsics!(enter(self, kernel))
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        intrinsics!(_mm512_set1_epi64(x.cast_signed()))
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> __m512i {
        // SAFETY: AVX-512 as above; the array has the 64 bytes that the load reads.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_xor_si512(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn chi(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        intrinsics!(_mm512_ternarylogic_epi64::<CHI>(a, b, c))
    }

    #[inline(always)]
    fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        intrinsics!(_mm512_ternarylogic_epi64::<XOR3>(a, b, c))
    }

    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, v: __m512i) -> __m512i {
        intrinsics!(_mm512_rol_epi64::<L>(v))
    }

    #[inline(always)]
    fn transpose_in(self, blocks: &[&Block; MAX_LANES]) -> [__m512i; 17] {
        let low = transpose_blocks([blocks[0], blocks[1], blocks[2], blocks[3]]);
        let high = transpose_blocks([blocks[4], blocks[5], blocks[6], blocks[7]]);
        let mut words = [self.splat(0); 17];
        for i in 0..17 {
            words[i] = intrinsics!(_mm512_inserti64x4::<1>(
                _mm512_castsi256_si512(low[i]),
                high[i]
            ));
        }
        words
    }

    #[inline(always)]
    fn transpose_out(self, words: [__m512i; 4], digests: &mut [Digest; MAX_LANES]) {
        let [w0, w1, w2, w3] = words;
        let low = intrinsics!([
            _mm512_castsi512_si256(w0),
            _mm512_castsi512_si256(w1),
            _mm512_castsi512_si256(w2),
            _mm512_castsi512_si256(w3),
        ]);
        let high = intrinsics!([
            _mm512_extracti64x4_epi64::<1>(w0),
            _mm512_extracti64x4_epi64::<1>(w1),
            _mm512_extracti64x4_epi64::<1>(w2),
            _mm512_extracti64x4_epi64::<1>(w3),
        ]);
        let (low, high) = (transpose4(low), transpose4(high));
        for i in 0..4 {
            store4(low[i], &mut digests[i]);
            store4(high[i], &mut digests[i + 4]);
        }
    }
}

impl Isa for Avx512Half {
    const LANES: usize = 4;
    type V = __m256i;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        intrinsics!(enter(self, kernel))
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        intrinsics!(_mm256_set1_epi64x(x.cast_signed()))
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> __m256i {
        // SAFETY: AVX2 as above; the array has more than the 32 bytes that the load reads.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsics!(_mm256_xor_si256(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsics!(_mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn chi(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        intrinsics!(_mm256_ternarylogic_epi64::<CHI>(a, b, c))
    }

    #[inline(always)]
    fn xor3(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        intrinsics!(_mm256_ternarylogic_epi64::<XOR3>(a, b, c))
    }

    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, v: __m256i) -> __m256i {
        intrinsics!(_mm256_rol_epi64::<L>(v))
    }

    #[inline(always)]
    fn transpose_in(self, blocks: &[&Block; MAX_LANES]) -> [__m256i; 17] {
        transpose_blocks([blocks[0], blocks[1], blocks[2], blocks[3]])
    }

    #[inline(always)]
    fn transpose_out(self, words: [__m256i; 4], digests: &mut [Digest; MAX_LANES]) {
        let rows = transpose4(words);
        for i in 0..4 {
            store4(rows[i], &mut digests[i]);
        }
    }
}
