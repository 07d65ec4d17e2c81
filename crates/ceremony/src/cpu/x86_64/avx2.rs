//! AVX2: 4 states side by side.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::isa::{Isa, Kernel, MAX_LANES};
use super::super::keccak::{Block, Digest};

/// Proof that this processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// `None` without AVX2 and the bit instructions that came with it.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        let has = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi1")
            && std::arch::is_x86_feature_detected!("bmi2");
        has.then_some(Self(()))
    }
}

#[target_feature(enable = "avx2,bmi1,bmi2")]
fn enter<K: Kernel>(isa: Avx2, kernel: K) -> K::Output {
    kernel.run(isa)
}

/// Runs intrinsics of the feature that the token proves.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: `Avx2` is only built by `detect`, after the processor was found to have AVX2;
        // no intrinsic in this block touches memory unless its line says so.
        unsafe { $body }
    };
}

/// Turns four rows of four words into four columns; AVX2 must be there.
#[inline(always)]
pub(super) fn transpose4(rows: [__m256i; 4]) -> [__m256i; 4] {
    let [r0, r1, r2, r3] = rows;
    intrinsics!({
        let even01 = _mm256_unpacklo_epi64(r0, r1);
        let odd01 = _mm256_unpackhi_epi64(r0, r1);
        let even23 = _mm256_unpacklo_epi64(r2, r3);
        let odd23 = _mm256_unpackhi_epi64(r2, r3);
        [
            _mm256_permute2x128_si256::<0x20>(even01, even23),
            _mm256_permute2x128_si256::<0x20>(odd01, odd23),
            _mm256_permute2x128_si256::<0x31>(even01, even23),
            _mm256_permute2x128_si256::<0x31>(odd01, odd23),
        ]
    })
}

/// Words `4 * group ..` of a block; AVX2 must be there.
#[inline(always)]
pub(super) fn load4(block: &Block, group: usize) -> __m256i {
    let bytes = &block[32 * group..32 * group + 32];
    // SAFETY: AVX2 as the callers' tokens prove; the slice has the 32 bytes that the load reads.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// The last word of a block.
#[inline(always)]
pub(super) fn last_word(block: &Block) -> i64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&block[128..]);
    i64::from_le_bytes(bytes)
}

/// Writes a digest; AVX2 must be there.
#[inline(always)]
pub(super) fn store4(v: __m256i, digest: &mut Digest) {
    // SAFETY: AVX2 as the callers' tokens prove; a digest has the 32 bytes that the store writes.
    unsafe { _mm256_storeu_si256(digest.as_mut_ptr().cast(), v) }
}

/// The words of four blocks, word by word; AVX2 must be there.
#[inline(always)]
pub(super) fn transpose_blocks(blocks: [&Block; 4]) -> [__m256i; 17] {
    let [b0, b1, b2, b3] = blocks;
    let last = intrinsics!(_mm256_set_epi64x(
        last_word(b3),
        last_word(b2),
        last_word(b1),
        last_word(b0)
    ));
    let mut words = [last; 17];
    for group in 0..4 {
        let columns = transpose4([
            load4(b0, group),
            load4(b1, group),
            load4(b2, group),
            load4(b3, group),
        ]);
        words[4 * group..4 * group + 4].copy_from_slice(&columns);
    }
    words
}

impl Isa for Avx2 {
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
        intrinsics!(_mm256_xor_si256(a, _mm256_andnot_si256(b, c)))
    }

    #[inline(always)]
    fn xor3(self, a: __m256i, b: __m256i, c: __m256i) -> __m256i {
        intrinsics!(_mm256_xor_si256(_mm256_xor_si256(a, b), c))
    }

    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, v: __m256i) -> __m256i {
        // By whole bytes one shuffle does.
        if L == 8 {
            return intrinsics!(_mm256_shuffle_epi8(
                v,
                _mm256_setr_epi8(
                    7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14, 7, 0, 1, 2, 3, 4, 5, 6,
                    15, 8, 9, 10, 11, 12, 13, 14
                )
            ));
        }
        if L == 56 {
            return intrinsics!(_mm256_shuffle_epi8(
                v,
                _mm256_setr_epi8(
                    1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8, 1, 2, 3, 4, 5, 6, 7, 0,
                    9, 10, 11, 12, 13, 14, 15, 8
                )
            ));
        }
        intrinsics!(_mm256_or_si256(
            _mm256_slli_epi64::<L>(v),
            _mm256_srli_epi64::<R>(v)
        ))
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
