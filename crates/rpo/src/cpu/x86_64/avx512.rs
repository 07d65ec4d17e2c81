//! AVX-512: eight states to a vector.

#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmplt_epu64_mask, _mm512_loadu_si512,
    _mm512_mask_add_epi64, _mm512_mask_sub_epi64, _mm512_mul_epu32, _mm512_set1_epi64,
    _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi64,
};

use core::hint::black_box;

use super::bmi2;
use crate::cpu::isa::{Isa, Kernel, MAX_LANES};

const EPSILON: u64 = 0xFFFF_FFFF;

/// Proof that the processor has AVX-512 F and BMI2.
///
/// It holds 2^32 - 1 where the compiler cannot see it: it would replace the product by that number, one
/// instruction, with a mask, a shift and a difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512 {
    epsilon: u64,
}

impl Avx512 {
    /// `None` if the processor lacks it.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        let has = std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("bmi2");
        has.then(|| Self {
            epsilon: black_box(EPSILON),
        })
    }

    /// `high 2^64 + low` modulo p: `low + (2^32 - 1) high0 - high1` with the digits of `high`.
    #[inline(always)]
    fn reduce(self, low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe {
            let epsilon = self.splat(self.epsilon);
            let high1 = _mm512_srli_epi64::<32>(high);
            let borrowed = _mm512_cmplt_epu64_mask(low, high1);
            let less = _mm512_sub_epi64(low, high1);
            let less = _mm512_mask_sub_epi64(less, borrowed, less, epsilon);
            let more = _mm512_mul_epu32(high, epsilon);
            let sum = _mm512_add_epi64(less, more);
            let wrapped = _mm512_cmplt_epu64_mask(sum, more);
            _mm512_mask_add_epi64(sum, wrapped, sum, epsilon)
        }
    }
}

impl Isa for Avx512 {
    const LANES: usize = 8;
    const BESIDE: usize = 3;
    type V = __m512i;

    #[inline]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        #[target_feature(enable = "avx512f,bmi2")]
        fn inner<K: Kernel>(isa: Avx512, kernel: K) -> K::Output {
            kernel.run(isa)
        }
        // SAFETY: a token exists only where AVX-512 F and BMI2 were detected.
        unsafe { inner(self, kernel) }
    }

    #[inline(always)]
    fn splat(self, x: u64) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_set1_epi64(x.cast_signed()) }
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected; there are 8 words.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: __m512i, words: &mut [u64; MAX_LANES]) {
        // SAFETY: a token exists only where AVX-512 F was detected; there are 8 words.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_add_epi64(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_sub_epi64(a, b) }
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_slli_epi64::<N>(a) }
    }

    #[inline(always)]
    fn low(self, a: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_and_si512(a, self.splat(EPSILON)) }
    }

    #[inline(always)]
    fn high(self, a: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe { _mm512_srli_epi64::<32>(a) }
    }

    #[inline(always)]
    fn join(self, low: __m512i, high: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe {
            // 2^64 = 2^32 - 1
            let over = _mm512_srli_epi64::<32>(high);
            let over = _mm512_sub_epi64(_mm512_slli_epi64::<32>(over), over);
            let small = _mm512_add_epi64(low, over);
            let sum = _mm512_add_epi64(_mm512_slli_epi64::<32>(high), small);
            let wrapped = _mm512_cmplt_epu64_mask(sum, small);
            // After a wrap the sum is below 2^44.
            _mm512_mask_add_epi64(sum, wrapped, sum, self.splat(EPSILON))
        }
    }

    #[inline(always)]
    fn square(self, x: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe {
            let xh = _mm512_srli_epi64::<32>(x);
            let ll = _mm512_mul_epu32(x, x);
            let lh = _mm512_mul_epu32(x, xh);
            let hh = _mm512_mul_epu32(xh, xh);
            // ll + 2^33 lh + 2^64 hh; the sum is below 2^64 as lh is at most (2^32 - 1)^2
            let middle = _mm512_add_epi64(lh, _mm512_srli_epi64::<33>(ll));
            let high = _mm512_add_epi64(hh, _mm512_srli_epi64::<31>(middle));
            let low = _mm512_add_epi64(ll, _mm512_slli_epi64::<33>(lh));
            self.reduce(low, high)
        }
    }

    #[inline(always)]
    fn square_together<const N: usize>(self, x: [__m512i; N]) -> [__m512i; N] {
        // The steps of `square` and `reduce`.
        let [mut xh, mut ll, mut lh, mut hh, mut high, mut low] = [x; 6];
        let mut mask = [0; N];
        let epsilon = self.splat(self.epsilon);
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe {
            for j in 0..N {
                xh[j] = _mm512_srli_epi64::<32>(x[j]);
            }
            for j in 0..N {
                ll[j] = _mm512_mul_epu32(x[j], x[j]);
                lh[j] = _mm512_mul_epu32(x[j], xh[j]);
                hh[j] = _mm512_mul_epu32(xh[j], xh[j]);
            }
            for j in 0..N {
                high[j] = _mm512_srli_epi64::<33>(ll[j]);
            }
            for j in 0..N {
                high[j] = _mm512_add_epi64(lh[j], high[j]);
                low[j] = _mm512_slli_epi64::<33>(lh[j]);
            }
            for j in 0..N {
                high[j] = _mm512_srli_epi64::<31>(high[j]);
                low[j] = _mm512_add_epi64(ll[j], low[j]);
            }
            for j in 0..N {
                high[j] = _mm512_add_epi64(hh[j], high[j]);
            }
            let (mut less, mut more) = (high, high);
            for j in 0..N {
                less[j] = _mm512_srli_epi64::<32>(high[j]);
                more[j] = _mm512_mul_epu32(high[j], epsilon);
            }
            for j in 0..N {
                mask[j] = _mm512_cmplt_epu64_mask(low[j], less[j]);
                low[j] = _mm512_sub_epi64(low[j], less[j]);
            }
            for j in 0..N {
                low[j] = _mm512_mask_sub_epi64(low[j], mask[j], low[j], epsilon);
            }
            for j in 0..N {
                low[j] = _mm512_add_epi64(low[j], more[j]);
                mask[j] = _mm512_cmplt_epu64_mask(low[j], more[j]);
            }
            for j in 0..N {
                low[j] = _mm512_mask_add_epi64(low[j], mask[j], low[j], epsilon);
            }
        }
        low
    }

    #[inline(always)]
    fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: a token exists only where AVX-512 F was detected.
        unsafe {
            let ah = _mm512_srli_epi64::<32>(a);
            let bh = _mm512_srli_epi64::<32>(b);
            let ll = _mm512_mul_epu32(a, b);
            let lh = _mm512_mul_epu32(a, bh);
            let hl = _mm512_mul_epu32(ah, b);
            let hh = _mm512_mul_epu32(ah, bh);
            // Neither sum reaches 2^64: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64.
            let first = _mm512_add_epi64(hl, _mm512_srli_epi64::<32>(ll));
            let second = _mm512_add_epi64(lh, self.low(first));
            let high = _mm512_add_epi64(hh, _mm512_srli_epi64::<32>(first));
            let high = _mm512_add_epi64(high, _mm512_srli_epi64::<32>(second));
            let cross = _mm512_slli_epi64::<32>(_mm512_add_epi64(lh, hl));
            let low = _mm512_add_epi64(ll, cross);
            self.reduce(low, high)
        }
    }

    #[inline(always)]
    fn square_word(self, x: u64) -> u64 {
        // SAFETY: a token exists only where AVX-512 F and BMI2 were detected.
        unsafe { bmi2::mul(x, x) }
    }

    #[inline(always)]
    fn mul_word(self, a: u64, b: u64) -> u64 {
        // SAFETY: a token exists only where AVX-512 F and BMI2 were detected.
        unsafe { bmi2::mul(a, b) }
    }
}
