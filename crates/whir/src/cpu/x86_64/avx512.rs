//! AVX-512: 16 lanes.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::isa::{Isa, Kernel, NegativeForm};
use crate::field::F;

const P: i32 = 0x7800_0001;
/// p^-1 mod 2^32.
const MU: i32 = 0x8800_0001_u32 as i32;

/// Proof that this processor has AVX-512F.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// `None` without AVX-512F.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx512f").then_some(Self(()))
    }
}

#[target_feature(enable = "avx512f")]
fn enter<K: Kernel>(isa: Avx512, kernel: K) -> K::Output {
    kernel.run(isa)
}

/// Runs intrinsics of the feature that the token proves.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: `Avx512` is only built by `detect`, after the processor was found to have AVX-512F;
        // no intrinsic in this block touches memory unless its line says so.
        unsafe { $body }
    };
}

/// The odd 32-bit words, moved to the even positions.
#[inline(always)]
fn odd_words(x: __m512i) -> __m512i {
    intrinsics!(_mm512_castps_si512(_mm512_movehdup_ps(
        _mm512_castsi512_ps(x)
    )))
}

/// The high words of two vectors of 64-bit values, as the even and odd words of one vector.
#[inline(always)]
fn high_words(even: __m512i, odd: __m512i) -> __m512i {
    intrinsics!(_mm512_mask_blend_epi32(0xaaaa, odd_words(even), odd))
}

/// `[-p, p)` to `[0, p)`.
#[inline(always)]
fn canonical(x: __m512i) -> __m512i {
    intrinsics!(_mm512_min_epu32(
        x,
        _mm512_add_epi32(x, _mm512_set1_epi32(P))
    ))
}

/// Signed Montgomery products of the even words, in the odd words; the even words are zero.
///
/// Step by step over all pairs, so that their chains of dependent operations overlap. (Loops and
/// not closures: a closure would be compiled without the instruction set.)
#[inline(always)]
fn signed_products<const N: usize>(a: &[__m512i; N], b: &[__m512i; N]) -> [__m512i; N] {
    intrinsics!({
        let (p, mu) = (_mm512_set1_epi32(P), _mm512_set1_epi32(MU));
        let mut product = *a;
        for i in 0..N {
            product[i] = _mm512_mul_epi32(a[i], b[i]);
        }
        let mut qp = product;
        for i in 0..N {
            qp[i] = _mm512_mul_epi32(product[i], mu);
        }
        for qp in &mut qp {
            *qp = _mm512_mul_epi32(*qp, p);
        }
        for i in 0..N {
            product[i] = _mm512_sub_epi32(product[i], qp[i]);
        }
        product
    })
}

/// [`odd_words`] of each.
#[inline(always)]
fn all_odd_words<const N: usize>(mut x: [__m512i; N]) -> [__m512i; N] {
    for x in &mut x {
        *x = odd_words(*x);
    }
    x
}

impl Isa for Avx512 {
    const LANES: usize = 16;
    type V = __m512i;
    /// 64-bit sums of the even lanes' products and of the odd lanes'.
    type Wide = (__m512i, __m512i);

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        intrinsics!(enter(self, kernel))
    }

    #[inline(always)]
    fn splat(self, x: F) -> __m512i {
        // SAFETY: `F` is a transparent u32.
        let word = unsafe { core::mem::transmute::<F, i32>(x) };
        intrinsics!(_mm512_set1_epi32(word))
    }

    #[inline(always)]
    fn load(self, src: &[F]) -> __m512i {
        let src = &src[..Self::LANES];
        // SAFETY: AVX-512F as above; the slice has 16 elements of 4 bytes, and the load is unaligned.
        unsafe { _mm512_loadu_si512(src.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: __m512i, dst: &mut [F]) {
        let dst = &mut dst[..Self::LANES];
        // SAFETY: AVX-512F as above; the slice has 16 elements of 4 bytes, the store is unaligned, and
        // a canonical vector holds valid elements.
        unsafe { _mm512_storeu_si512(dst.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!({
            let t = _mm512_add_epi32(a, b);
            _mm512_min_epu32(t, _mm512_sub_epi32(t, _mm512_set1_epi32(P)))
        })
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        canonical(intrinsics!(_mm512_sub_epi32(a, b)))
    }

    #[inline(always)]
    fn mul(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!({
            let (p, mu) = (_mm512_set1_epi32(P), _mm512_set1_epi32(MU));
            let even = _mm512_mul_epu32(a, b);
            let odd = _mm512_mul_epu32(odd_words(a), odd_words(b));
            let even_qp = _mm512_mul_epu32(_mm512_mul_epu32(even, mu), p);
            let odd_qp = _mm512_mul_epu32(_mm512_mul_epu32(odd, mu), p);
            canonical(high_words(
                _mm512_sub_epi64(even, even_qp),
                _mm512_sub_epi64(odd, odd_qp),
            ))
        })
    }

    #[inline(always)]
    fn wide_zero(self) -> Self::Wide {
        intrinsics!((_mm512_setzero_si512(), _mm512_setzero_si512()))
    }

    #[inline(always)]
    fn wide_mul_add(self, acc: Self::Wide, a: __m512i, b: __m512i) -> Self::Wide {
        intrinsics!((
            _mm512_add_epi64(acc.0, _mm512_mul_epu32(a, b)),
            _mm512_add_epi64(acc.1, _mm512_mul_epu32(odd_words(a), odd_words(b))),
        ))
    }

    #[inline(always)]
    fn wide_reduce(self, acc: Self::Wide) -> __m512i {
        // Four products sum to at most 4(p-1)^2 < 2^64, whose high word is below 2p: one
        // conditional subtraction brings it into [0, p), then the usual reduction applies.
        intrinsics!({
            let (p, mu) = (_mm512_set1_epi32(P), _mm512_set1_epi32(MU));
            let even_qp = _mm512_mul_epu32(_mm512_mul_epu32(acc.0, mu), p);
            let odd_qp = _mm512_mul_epu32(_mm512_mul_epu32(acc.1, mu), p);
            let high = high_words(acc.0, acc.1);
            let high = _mm512_min_epu32(high, _mm512_sub_epi32(high, p));
            canonical(_mm512_sub_epi32(high, high_words(even_qp, odd_qp)))
        })
    }

    #[inline(always)]
    fn unzip(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        intrinsics!({
            let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
            (
                _mm512_permutex2var_epi32(a, even, b),
                _mm512_permutex2var_epi32(a, odd, b),
            )
        })
    }

    #[inline(always)]
    fn zip(self, even: __m512i, odd: __m512i) -> (__m512i, __m512i) {
        intrinsics!({
            let lo = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
            let hi =
                _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
            (
                _mm512_permutex2var_epi32(even, lo, odd),
                _mm512_permutex2var_epi32(even, hi, odd),
            )
        })
    }

    #[inline(always)]
    fn sum(self, v: __m512i) -> F {
        intrinsics!({
            let v = self.add(v, _mm512_shuffle_i64x2::<0b01_00_11_10>(v, v));
            let v = self.add(v, _mm512_shuffle_i64x2::<0b10_11_00_01>(v, v));
            let v = self.add(v, _mm512_shuffle_epi32::<0b01_00_11_10>(v));
            let v = self.add(v, _mm512_shuffle_epi32::<0b10_11_00_01>(v));
            let word = _mm512_cvtsi512_si32(v);
            // `F` is a transparent u32 and the word is a canonical residue
            core::mem::transmute::<i32, F>(word)
        })
    }

    #[inline(always)]
    fn wide_fold(self, acc: Self::Wide) -> Self::Wide {
        // Word-wise: the low words stay, the high words (below 2p) lose p where they can. What is
        // left is below p 2^32, and p 2^32 + 2 (p-1)^2 < 2p 2^32 is what `wide_reduce` takes.
        intrinsics!({
            let p = _mm512_set1_epi64((P as i64) << 32);
            (
                _mm512_min_epu32(acc.0, _mm512_sub_epi32(acc.0, p)),
                _mm512_min_epu32(acc.1, _mm512_sub_epi32(acc.1, p)),
            )
        })
    }

    // Poseidon2.

    #[inline(always)]
    fn add_constant(self, a: __m512i, c: NegativeForm) -> __m512i {
        intrinsics!(_mm512_add_epi32(a, _mm512_set1_epi32(c.word)))
    }

    #[inline(always)]
    fn pow7<const N: usize>(self, x: [__m512i; N]) -> [__m512i; N] {
        // Even and odd words stay apart until the end. A signed Montgomery product of i32 inputs
        // with |a * b| <= p^2 lies in (-p, p): |a * b| / 2^32 + p / 2 < p.
        let odd = all_odd_words(x);
        let even2 = all_odd_words(signed_products(&x, &x));
        let odd2 = all_odd_words(signed_products(&odd, &odd));
        let even3 = all_odd_words(signed_products(&even2, &x));
        let odd3 = all_odd_words(signed_products(&odd2, &odd));
        let even4 = all_odd_words(signed_products(&even2, &even2));
        let odd4 = all_odd_words(signed_products(&odd2, &odd2));
        let even7 = signed_products(&even4, &even3);
        let odd7 = signed_products(&odd4, &odd3);
        let mut out = x;
        for i in 0..N {
            out[i] = canonical(high_words(even7[i], odd7[i]));
        }
        out
    }

    #[inline(always)]
    fn div_2exp<const N: u32>(self, x: __m512i) -> __m512i {
        let (mask, c) = const {
            assert!(N >= 1 && N <= 27);
            ((1_i32 << N) - 1, 15_i32 << (27 - N))
        };
        intrinsics!({
            let low = _mm512_andnot_si512(x, _mm512_set1_epi32(mask));
            let product = _mm512_mullo_epi32(low, _mm512_set1_epi32(c));
            let high = _mm512_srl_epi32(x, _mm_cvtsi32_si128(N as i32));
            _mm512_add_epi32(high, product)
        })
    }

    #[inline(always)]
    fn prefetch(self, src: &[F], index: usize) {
        // SAFETY: a prefetch is a hint and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(src.as_ptr().wrapping_add(index).cast()) }
    }

    // ---- multiplication by a factor that many vectors share (number-theoretic transform) ----

    /// The factor and its product with p^-1 mod 2^32.
    type Factor = (__m512i, __m512i);

    #[inline(always)]
    fn factor(self, x: F) -> Self::Factor {
        let x = self.splat(x);
        (x, intrinsics!(_mm512_mullo_epi32(x, _mm512_set1_epi32(MU))))
    }

    #[inline(always)]
    fn mul_factor(self, a: __m512i, x: Self::Factor) -> __m512i {
        mul_signed(a, x)
    }

    #[inline(always)]
    fn sub_mul_factor(self, a: __m512i, b: __m512i, x: Self::Factor) -> __m512i {
        // canonical residues are below 2^31, so their difference is a signed word in (-p, p)
        mul_signed(intrinsics!(_mm512_sub_epi32(a, b)), x)
    }

    /// w^2 as a [`Isa::Factor`], then w, i w, w^3, i w^3 in (-p/2, p/2).
    type Quad = (Self::Factor, [__m512i; 4]);

    #[inline(always)]
    fn quad(self, [w, iw, w2, w3, iw3]: [F; 5]) -> Self::Quad {
        (
            self.factor(w2),
            [
                balanced(self.splat(w)),
                balanced(self.splat(iw)),
                balanced(self.splat(w3)),
                balanced(self.splat(iw3)),
            ],
        )
    }

    #[inline(always)]
    fn butterfly4(
        self,
        [x, y, z, t]: [__m512i; 4],
        (w2, [w, iw, w3, iw3]): Self::Quad,
    ) -> [__m512i; 4] {
        let (s, r) = (self.add(x, z), self.add(y, t));
        // two products share a reduction: their sum is below 2 p (p / 2) in magnitude
        let (c, d) = intrinsics!({
            let (a, b) = (_mm512_sub_epi32(x, z), _mm512_sub_epi32(y, t));
            let (a_odd, b_odd) = (odd_words(a), odd_words(b));
            (
                reduce_signed(
                    _mm512_add_epi64(_mm512_mul_epi32(a, w), _mm512_mul_epi32(b, iw)),
                    _mm512_add_epi64(_mm512_mul_epi32(a_odd, w), _mm512_mul_epi32(b_odd, iw)),
                ),
                reduce_signed(
                    _mm512_sub_epi64(_mm512_mul_epi32(a, w3), _mm512_mul_epi32(b, iw3)),
                    _mm512_sub_epi64(_mm512_mul_epi32(a_odd, w3), _mm512_mul_epi32(b_odd, iw3)),
                ),
            )
        });
        [self.add(s, r), self.sub_mul_factor(s, r, w2), c, d]
    }

    // Poseidon2, internal rounds.

    #[inline(always)]
    fn mul_small<const M: u32>(self, x: __m512i) -> __m512i {
        const { assert!(2 <= M && M <= 16) };
        // The multiples of p from a table: a multiplication of words takes two operations of one
        // port. The quotients are below 16.
        const MULTIPLES: [i32; 16] = {
            let mut out = [0; 16];
            let mut i = 1;
            while i < 16 {
                out[i] = P.wrapping_mul(i as i32);
                i += 1;
            }
            out
        };
        intrinsics!({
            let p = _mm512_set1_epi32(P);
            // the quotient by 2^31, at most one less than that of the exact product
            let (product, q) = if M.is_power_of_two() {
                let log = _mm_cvtsi32_si128(M.ilog2() as i32);
                let rest = _mm_cvtsi32_si128(31 - M.ilog2() as i32);
                (_mm512_sll_epi32(x, log), _mm512_srl_epi32(x, rest))
            } else {
                let m = _mm512_set1_epi32(M as i32);
                let high = _mm512_mullo_epi32(_mm512_srli_epi32::<16>(x), m);
                (_mm512_mullo_epi32(x, m), _mm512_srli_epi32::<15>(high))
            };
            // the table is 64 bytes long; the load is unaligned
            let multiples = _mm512_loadu_si512(MULTIPLES.as_ptr().cast());
            // in [0, 2p)
            let t = _mm512_sub_epi32(product, _mm512_permutexvar_epi32(q, multiples));
            _mm512_min_epu32(t, _mm512_sub_epi32(t, p))
        })
    }

    #[inline(always)]
    fn sub_signed(self, a: __m512i, b: __m512i) -> __m512i {
        intrinsics!(_mm512_sub_epi32(a, b))
    }

    #[inline(always)]
    fn canonical(self, x: __m512i) -> __m512i {
        canonical(x)
    }
}

/// `a * x` for signed `a` in `(-p, p)`.
///
/// The quotients of the Montgomery reduction come from `a` directly, in parallel with the products:
/// only their low words count. The high words differ by less than p^2 / 2^32 + p / 2 < p. A 32-bit
/// low multiplication would do for both quotients, but it costs two and its own shuffle.
#[inline(always)]
fn mul_signed(a: __m512i, (x, x_mu): (__m512i, __m512i)) -> __m512i {
    intrinsics!({
        let p = _mm512_set1_epi32(P);
        let a_odd = odd_words(a);
        let even_qp = _mm512_mul_epi32(_mm512_mul_epi32(a, x_mu), p);
        let odd_qp = _mm512_mul_epi32(_mm512_mul_epi32(a_odd, x_mu), p);
        canonical(high_words(
            _mm512_sub_epi64(_mm512_mul_epi32(a, x), even_qp),
            _mm512_sub_epi64(_mm512_mul_epi32(a_odd, x), odd_qp),
        ))
    })
}

/// `[0, p)` to `(-p/2, p/2)`.
#[inline(always)]
fn balanced(x: __m512i) -> __m512i {
    intrinsics!({
        let half = _mm512_set1_epi32(P / 2);
        let large = _mm512_cmpgt_epi32_mask(x, half);
        _mm512_mask_sub_epi32(x, large, x, _mm512_set1_epi32(P))
    })
}

/// The Montgomery reduction of 64-bit values of magnitude below p^2, those of the even lanes and of
/// the odd ones. The high words differ by less than p^2 / 2^32 + p / 2 < p.
#[inline(always)]
fn reduce_signed(even: __m512i, odd: __m512i) -> __m512i {
    intrinsics!({
        let (p, mu) = (_mm512_set1_epi32(P), _mm512_set1_epi32(MU));
        let even_qp = _mm512_mul_epi32(_mm512_mul_epi32(even, mu), p);
        let odd_qp = _mm512_mul_epi32(_mm512_mul_epi32(odd, mu), p);
        canonical(high_words(
            _mm512_sub_epi64(even, even_qp),
            _mm512_sub_epi64(odd, odd_qp),
        ))
    })
}
