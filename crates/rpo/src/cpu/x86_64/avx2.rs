//! AVX2: four states to a vector.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m256i, _mm_cvtsi32_si128, _mm256_add_epi64, _mm256_and_si256, _mm256_cmpgt_epi64,
    _mm256_loadu_si256, _mm256_mul_epu32, _mm256_set1_epi64x, _mm256_sll_epi64, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
};

use core::hint::black_box;

use super::bmi2;
use super::one::in_vectors;
use crate::State;
use crate::cpu::isa::{Isa, Kernel, MAX_LANES};

const EPSILON: u64 = 0xFFFF_FFFF;
const SIGN: u64 = 1 << 63;

/// Proof that the processor has AVX2 and BMI2.
///
/// It holds 2^32 - 1 where the compiler cannot see it: it would replace the product by that number, one
/// instruction, with a mask, a shift and a difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2 {
    epsilon: u64,
}

impl Avx2 {
    /// `None` if the processor lacks it.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        let has = std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("bmi2");
        has.then(|| Self {
            epsilon: black_box(EPSILON),
        })
    }

    /// `high 2^64 + low` modulo p: `low + (2^32 - 1) high0 - high1` with the digits of `high`.
    ///
    /// Comparisons are signed here, so words are compared with their top bit flipped.
    #[inline(always)]
    fn reduce(self, low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe {
            let flipped = _mm256_xor_si256(low, self.splat(SIGN));
            let less = _mm256_sub_epi64(flipped, _mm256_srli_epi64::<32>(high));
            let borrowed = _mm256_cmpgt_epi64(less, flipped);
            let less = _mm256_sub_epi64(less, _mm256_srli_epi64::<32>(borrowed));
            let more = _mm256_mul_epu32(high, self.splat(self.epsilon));
            let sum = _mm256_add_epi64(less, more);
            let wrapped = _mm256_cmpgt_epi64(less, sum);
            let sum = _mm256_add_epi64(sum, _mm256_srli_epi64::<32>(wrapped));
            _mm256_xor_si256(sum, self.splat(SIGN))
        }
    }
}

impl Isa for Avx2 {
    const LANES: usize = 4;
    const BESIDE: usize = 2;
    type V = __m256i;

    #[inline]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx2,bmi2")]
        fn inner<K: Kernel>(isa: Avx2, kernel: K) -> K::Output {
            kernel.run(isa)
        }
        // SAFETY: a token exists only where AVX2 and BMI2 were detected.
        unsafe { inner(self, kernel) }
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_set1_epi64x(x.cast_signed()) }
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected; there are at least 4 words.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: __m256i, words: &mut [u64; MAX_LANES]) {
        // SAFETY: a token exists only where AVX2 was detected; there are at least 4 words.
        unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_add_epi64(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_sub_epi64(a, b) }
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: __m256i) -> __m256i {
        // A constant count becomes an immediate.
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_sll_epi64(a, _mm_cvtsi32_si128(N.cast_signed())) }
    }

    #[inline(always)]
    fn low(self, a: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_and_si256(a, self.splat(EPSILON)) }
    }

    #[inline(always)]
    fn high(self, a: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe { _mm256_srli_epi64::<32>(a) }
    }

    #[inline(always)]
    fn join(self, low: __m256i, high: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe {
            // 2^64 = 2^32 - 1
            let over = _mm256_srli_epi64::<32>(high);
            let over = _mm256_sub_epi64(_mm256_slli_epi64::<32>(over), over);
            let shifted = _mm256_slli_epi64::<32>(high);
            let flipped = _mm256_xor_si256(shifted, self.splat(SIGN));
            let sum = _mm256_add_epi64(flipped, _mm256_add_epi64(low, over));
            let wrapped = _mm256_cmpgt_epi64(flipped, sum);
            // After a wrap the sum is below 2^44.
            let sum = _mm256_add_epi64(sum, _mm256_srli_epi64::<32>(wrapped));
            _mm256_xor_si256(sum, self.splat(SIGN))
        }
    }

    #[inline(always)]
    fn square(self, x: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe {
            let xh = _mm256_srli_epi64::<32>(x);
            let ll = _mm256_mul_epu32(x, x);
            let lh = _mm256_mul_epu32(x, xh);
            let hh = _mm256_mul_epu32(xh, xh);
            // ll + 2^33 lh + 2^64 hh; the sum is below 2^64 as lh is at most (2^32 - 1)^2
            let middle = _mm256_add_epi64(lh, _mm256_srli_epi64::<33>(ll));
            let high = _mm256_add_epi64(hh, _mm256_srli_epi64::<31>(middle));
            let low = _mm256_add_epi64(ll, _mm256_slli_epi64::<33>(lh));
            self.reduce(low, high)
        }
    }

    #[inline(always)]
    fn square_together<const N: usize>(self, x: [__m256i; N]) -> [__m256i; N] {
        // The steps of `square` and `reduce`.
        let [mut xh, mut ll, mut lh, mut hh, mut high, mut low, mut mask] = [x; 7];
        let sign = self.splat(SIGN);
        let epsilon = self.splat(self.epsilon);
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe {
            for j in 0..N {
                xh[j] = _mm256_srli_epi64::<32>(x[j]);
            }
            for j in 0..N {
                ll[j] = _mm256_mul_epu32(x[j], x[j]);
                lh[j] = _mm256_mul_epu32(x[j], xh[j]);
                hh[j] = _mm256_mul_epu32(xh[j], xh[j]);
            }
            for j in 0..N {
                high[j] = _mm256_srli_epi64::<33>(ll[j]);
                ll[j] = _mm256_xor_si256(ll[j], sign);
            }
            for j in 0..N {
                high[j] = _mm256_add_epi64(lh[j], high[j]);
                low[j] = _mm256_slli_epi64::<33>(lh[j]);
            }
            for j in 0..N {
                high[j] = _mm256_srli_epi64::<31>(high[j]);
                low[j] = _mm256_add_epi64(ll[j], low[j]);
            }
            for j in 0..N {
                high[j] = _mm256_add_epi64(hh[j], high[j]);
            }
            let (mut less, mut more) = (high, high);
            for j in 0..N {
                less[j] = _mm256_srli_epi64::<32>(high[j]);
                more[j] = _mm256_mul_epu32(high[j], epsilon);
            }
            for j in 0..N {
                less[j] = _mm256_sub_epi64(low[j], less[j]);
            }
            for j in 0..N {
                mask[j] = _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(less[j], low[j]));
            }
            for j in 0..N {
                low[j] = _mm256_sub_epi64(_mm256_add_epi64(less[j], more[j]), mask[j]);
                less[j] = _mm256_sub_epi64(less[j], mask[j]);
            }
            for j in 0..N {
                mask[j] = _mm256_srli_epi64::<32>(_mm256_cmpgt_epi64(less[j], low[j]));
                low[j] = _mm256_xor_si256(low[j], sign);
            }
            for j in 0..N {
                low[j] = _mm256_add_epi64(low[j], mask[j]);
            }
        }
        low
    }

    #[inline(always)]
    fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: a token exists only where AVX2 was detected.
        unsafe {
            let ah = _mm256_srli_epi64::<32>(a);
            let bh = _mm256_srli_epi64::<32>(b);
            let ll = _mm256_mul_epu32(a, b);
            let lh = _mm256_mul_epu32(a, bh);
            let hl = _mm256_mul_epu32(ah, b);
            let hh = _mm256_mul_epu32(ah, bh);
            // Neither sum reaches 2^64: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64.
            let first = _mm256_add_epi64(hl, _mm256_srli_epi64::<32>(ll));
            let second = _mm256_add_epi64(lh, self.low(first));
            let high = _mm256_add_epi64(hh, _mm256_srli_epi64::<32>(first));
            let high = _mm256_add_epi64(high, _mm256_srli_epi64::<32>(second));
            let cross = _mm256_slli_epi64::<32>(_mm256_add_epi64(lh, hl));
            let low = _mm256_add_epi64(ll, cross);
            self.reduce(low, high)
        }
    }

    #[inline(always)]
    fn square_word(self, x: u64) -> u64 {
        // SAFETY: a token exists only where AVX2 and BMI2 were detected.
        unsafe { bmi2::mul(x, x) }
    }

    #[inline(always)]
    fn mul_word(self, a: u64, b: u64) -> u64 {
        // SAFETY: a token exists only where AVX2 and BMI2 were detected.
        unsafe { bmi2::mul(a, b) }
    }
    #[inline(always)]
    fn power_one<const INVERSE: bool>(self, state: &mut State) {
        in_vectors::<Self, 2, 4, INVERSE>(self, state);
    }
}
