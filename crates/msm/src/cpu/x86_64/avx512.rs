//! AVX-512 with 52-bit multiplications (IFMA): eight lanes.
#![allow(unsafe_code)]

#[cfg(test)]
mod tests;

use core::arch::x86_64::*;

use super::super::lanes::{Lanes, Task, kernel::Vector};

/// The kernel of the variant.
pub(crate) type Ifma = Vector<Avx512>;

/// Runs what needs the features that the token proves.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: `Avx512` is only built by `detect`, after the processor was found to have the
        // features; nothing in this block touches memory.
        unsafe { $body }
    };
}

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// Whether the processor has AVX-512 F, IFMA and VBMI2. Once true, always true.
    pub(crate) fn is_available() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512ifma")
            && std::arch::is_x86_feature_detected!("avx512vbmi2")
    }
}

#[target_feature(enable = "avx512f,avx512ifma,avx512vbmi2")]
fn enter<T: Task>(lanes: Avx512, task: T) -> T::Output {
    task.run(lanes)
}

impl Lanes for Avx512 {
    type V = __m512i;

    fn detect() -> Option<Self> {
        Self::is_available().then_some(Self(()))
    }

    #[inline]
    fn enter<T: Task>(self, task: T) -> T::Output {
        intrinsics!(enter(self, task))
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        intrinsics!(_mm512_set1_epi64(x as i64))
    }

    #[inline(always)]
    fn load(self, from: &[u64]) -> __m512i {
        let from = &from[..8];
        // SAFETY: the features as above; the slice has 64 bytes, and the load is unaligned.
        unsafe { _mm512_loadu_si512(from.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: __m512i, to: &mut [u64]) {
        let to = &mut to[..8];
        // SAFETY: the features as above; the slice has 64 bytes, and the store is unaligned.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn store_half<const HIGH: bool>(self, v: __m512i, to: &mut [u64]) {
        let to = &mut to[..4];
        // SAFETY: the features as above (AVX-512 F implies AVX); the slice has 32 bytes, and the
        // store is unaligned.
        unsafe {
            let half = if HIGH {
                _mm512_extracti64x4_epi64::<1>(v)
            } else {
                _mm512_castsi512_si256(v)
            };
            _mm256_storeu_si256(to.as_mut_ptr().cast(), half);
        }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_add_epi64(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_sub_epi64(a, b))
    }

    #[inline(always)]
    fn add_signed(self, minus: u8, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_mask_sub_epi64(_mm512_add_epi64(a, b), minus, a, b))
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_and_si512(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_or_si512(a, b))
    }

    // Shifts by a vector of counts become shifts by an immediate where the count is a constant.

    #[inline(always)]
    fn shl(self, a: __m512i, bits: usize) -> __m512i {
        intrinsics!(_mm512_sllv_epi64(a, _mm512_set1_epi64(bits as i64)))
    }

    #[inline(always)]
    fn shr(self, a: __m512i, bits: usize) -> __m512i {
        intrinsics!(_mm512_srlv_epi64(a, _mm512_set1_epi64(bits as i64)))
    }

    #[inline(always)]
    fn shr_wide(self, low: __m512i, high: __m512i, bits: usize) -> __m512i {
        intrinsics!(_mm512_shrdv_epi64(
            low,
            high,
            _mm512_set1_epi64(bits as i64)
        ))
    }

    #[inline(always)]
    fn select(self, mask: u8, yes: __m512i, no: __m512i) -> __m512i {
        intrinsics!(_mm512_mask_blend_epi64(mask, no, yes))
    }

    #[inline(always)]
    fn equal(self, a: __m512i, b: __m512i) -> u8 {
        intrinsics!(_mm512_cmpeq_epi64_mask(a, b))
    }

    #[inline(always)]
    fn at_most(self, a: __m512i, b: __m512i) -> u8 {
        intrinsics!(_mm512_cmple_epu64_mask(a, b))
    }

    #[inline(always)]
    fn madd_low(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_madd52lo_epu64(sum, a, b))
    }

    #[inline(always)]
    fn madd_high(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_madd52hi_epu64(sum, a, b))
    }

    /// Three layers: pairs of words inside 128 bits, pairs of those inside each half, halves.
    #[inline(always)]
    fn transpose(self, r: [__m512i; 8]) -> [__m512i; 8] {
        intrinsics!({
            let low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
            let high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
            let mut pairs = r;
            for k in 0..4 {
                pairs[2 * k] = _mm512_unpacklo_epi64(r[2 * k], r[2 * k + 1]);
                pairs[2 * k + 1] = _mm512_unpackhi_epi64(r[2 * k], r[2 * k + 1]);
            }
            // fours[k] holds columns k and k + 4 of rows 0 to 3, fours[k + 4] of rows 4 to 7
            let mut fours = pairs;
            for half in 0..2 {
                for k in 0..2 {
                    let (a, b) = (pairs[4 * half + k], pairs[4 * half + k + 2]);
                    fours[4 * half + k] = _mm512_permutex2var_epi64(a, low, b);
                    fours[4 * half + k + 2] = _mm512_permutex2var_epi64(a, high, b);
                }
            }
            let mut columns = fours;
            for k in 0..4 {
                columns[k] = _mm512_shuffle_i64x2::<0b01_00_01_00>(fours[k], fours[k + 4]);
                columns[k + 4] = _mm512_shuffle_i64x2::<0b11_10_11_10>(fours[k], fours[k + 4]);
            }
            columns
        })
    }

    #[inline(always)]
    fn four_columns_to_rows(self, c: [__m512i; 4]) -> [__m512i; 4] {
        intrinsics!({
            let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
            let second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
            let (even01, odd01) = (
                _mm512_unpacklo_epi64(c[0], c[1]),
                _mm512_unpackhi_epi64(c[0], c[1]),
            );
            let (even23, odd23) = (
                _mm512_unpacklo_epi64(c[2], c[3]),
                _mm512_unpackhi_epi64(c[2], c[3]),
            );
            [
                _mm512_permutex2var_epi64(even01, first, even23),
                _mm512_permutex2var_epi64(even01, second, even23),
                _mm512_permutex2var_epi64(odd01, first, odd23),
                _mm512_permutex2var_epi64(odd01, second, odd23),
            ]
        })
    }

    #[inline(always)]
    fn prefetch<const SOON: bool>(self, words: &[u64]) {
        let mut at = 0;
        while at < words.len() {
            let line = words[at..].as_ptr().cast();
            // SAFETY: a prefetch reads nothing and faults at no address; SSE is in every x86-64.
            unsafe {
                if SOON {
                    _mm_prefetch::<_MM_HINT_T0>(line);
                } else {
                    _mm_prefetch::<_MM_HINT_T1>(line);
                }
            }
            at += 8;
        }
    }
}
