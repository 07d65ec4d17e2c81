//! AVX2: 8 lanes.
#![allow(unsafe_code)]

use core::arch::x86_64::*;

use super::super::isa::{Isa, Kernel, NegativeForm, unzip_rows, zip_columns};
use crate::field::F;

const P: i32 = 0x7800_0001;
/// p^-1 mod 2^32.
const MU: i32 = 0x8800_0001_u32 as i32;

/// Proof that this processor has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// `None` without AVX2.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }
}

#[target_feature(enable = "avx2")]
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

/// The odd 32-bit words, moved to the even positions.
#[inline(always)]
fn odd_words(x: __m256i) -> __m256i {
    intrinsics!(_mm256_castps_si256(_mm256_movehdup_ps(
        _mm256_castsi256_ps(x)
    )))
}

/// The high words of two vectors of 64-bit values, as the even and odd words of one vector.
#[inline(always)]
fn high_words(even: __m256i, odd: __m256i) -> __m256i {
    intrinsics!(_mm256_blend_epi32::<0b1010_1010>(odd_words(even), odd))
}

/// The high words of two vectors of 64-bit values in the order of an exchange of the words 4k + 1
/// and 4k + 2 of their [`high_words`].
#[inline(always)]
fn joined_high_words(even: __m256i, odd: __m256i) -> __m256i {
    intrinsics!(_mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(
        _mm256_castsi256_ps(even),
        _mm256_castsi256_ps(odd)
    )))
}

/// `[-p, p)` to `[0, p)`.
#[inline(always)]
fn canonical(x: __m256i) -> __m256i {
    intrinsics!(_mm256_min_epu32(
        x,
        _mm256_add_epi32(x, _mm256_set1_epi32(P))
    ))
}

/// Signed Montgomery products of the even words, in the odd words; the even words are zero.
///
/// Step by step over all pairs, so that their chains of dependent operations overlap. (Loops and
/// not closures: a closure would be compiled without the instruction set.)
#[inline(always)]
fn signed_products<const N: usize>(a: &[__m256i; N], b: &[__m256i; N]) -> [__m256i; N] {
    intrinsics!({
        let (p, mu) = (_mm256_set1_epi32(P), _mm256_set1_epi32(MU));
        let mut product = *a;
        for i in 0..N {
            product[i] = _mm256_mul_epi32(a[i], b[i]);
        }
        let mut qp = product;
        for i in 0..N {
            qp[i] = _mm256_mul_epi32(product[i], mu);
        }
        for qp in &mut qp {
            *qp = _mm256_mul_epi32(*qp, p);
        }
        for i in 0..N {
            product[i] = _mm256_sub_epi32(product[i], qp[i]);
        }
        product
    })
}

/// [`odd_words`] of each.
#[inline(always)]
fn all_odd_words<const N: usize>(mut x: [__m256i; N]) -> [__m256i; N] {
    for x in &mut x {
        *x = odd_words(*x);
    }
    x
}

/// Seventh powers of the even and of the odd words, in the odd words and in `(-p, p)`.
///
/// Even and odd words stay apart until the end. A signed Montgomery product of i32 inputs with
/// |a * b| <= p^2 lies in (-p, p): |a * b| / 2^32 + p / 2 < p.
#[inline(always)]
fn split_pow7<const N: usize>(x: [__m256i; N]) -> ([__m256i; N], [__m256i; N]) {
    let odd = all_odd_words(x);
    let even2 = all_odd_words(signed_products(&x, &x));
    let odd2 = all_odd_words(signed_products(&odd, &odd));
    let even3 = all_odd_words(signed_products(&even2, &x));
    let odd3 = all_odd_words(signed_products(&odd2, &odd));
    let even4 = all_odd_words(signed_products(&even2, &even2));
    let odd4 = all_odd_words(signed_products(&odd2, &odd2));
    (
        signed_products(&even4, &even3),
        signed_products(&odd4, &odd3),
    )
}

impl Isa for Avx2 {
    const LANES: usize = 8;
    type V = __m256i;
    /// 64-bit sums of the even lanes' products and of the odd lanes'.
    type Wide = (__m256i, __m256i);

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        intrinsics!(enter(self, kernel))
    }

    #[inline(always)]
    fn splat(self, x: F) -> __m256i {
        // SAFETY: `F` is a transparent u32.
        let word = unsafe { core::mem::transmute::<F, i32>(x) };
        intrinsics!(_mm256_set1_epi32(word))
    }

    #[inline(always)]
    fn load(self, src: &[F]) -> __m256i {
        let src = &src[..Self::LANES];
        // SAFETY: AVX2 as above; the slice has 8 elements of 4 bytes, and the load is unaligned.
        unsafe { _mm256_loadu_si256(src.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: __m256i, dst: &mut [F]) {
        let dst = &mut dst[..Self::LANES];
        // SAFETY: AVX2 as above; the slice has 8 elements of 4 bytes, the store is unaligned, and
        // a canonical vector holds valid elements.
        unsafe { _mm256_storeu_si256(dst.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsics!({
            let t = _mm256_add_epi32(a, b);
            _mm256_min_epu32(t, _mm256_sub_epi32(t, _mm256_set1_epi32(P)))
        })
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        canonical(intrinsics!(_mm256_sub_epi32(a, b)))
    }

    #[inline(always)]
    fn mul(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsics!({
            let (p, mu) = (_mm256_set1_epi32(P), _mm256_set1_epi32(MU));
            let even = _mm256_mul_epu32(a, b);
            let odd = _mm256_mul_epu32(odd_words(a), odd_words(b));
            let even_qp = _mm256_mul_epu32(_mm256_mul_epu32(even, mu), p);
            let odd_qp = _mm256_mul_epu32(_mm256_mul_epu32(odd, mu), p);
            canonical(high_words(
                _mm256_sub_epi64(even, even_qp),
                _mm256_sub_epi64(odd, odd_qp),
            ))
        })
    }

    #[inline(always)]
    fn wide_zero(self) -> Self::Wide {
        intrinsics!((_mm256_setzero_si256(), _mm256_setzero_si256()))
    }

    #[inline(always)]
    fn wide_mul_add(self, acc: Self::Wide, a: __m256i, b: __m256i) -> Self::Wide {
        intrinsics!((
            _mm256_add_epi64(acc.0, _mm256_mul_epu32(a, b)),
            _mm256_add_epi64(acc.1, _mm256_mul_epu32(odd_words(a), odd_words(b))),
        ))
    }

    #[inline(always)]
    fn wide_reduce(self, acc: Self::Wide) -> __m256i {
        // Four products sum to at most 4(p-1)^2 < 2^64, whose high word is below 2p: one
        // conditional subtraction brings it into [0, p), then the usual reduction applies.
        intrinsics!({
            let (p, mu) = (_mm256_set1_epi32(P), _mm256_set1_epi32(MU));
            let even_qp = _mm256_mul_epu32(_mm256_mul_epu32(acc.0, mu), p);
            let odd_qp = _mm256_mul_epu32(_mm256_mul_epu32(acc.1, mu), p);
            let high = high_words(acc.0, acc.1);
            let high = _mm256_min_epu32(high, _mm256_sub_epi32(high, p));
            canonical(_mm256_sub_epi32(high, high_words(even_qp, odd_qp)))
        })
    }

    #[inline(always)]
    fn unzip(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        intrinsics!({
            let (fa, fb) = (_mm256_castsi256_ps(a), _mm256_castsi256_ps(b));
            let even = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(fa, fb));
            let odd = _mm256_castps_si256(_mm256_shuffle_ps::<0b11_01_11_01>(fa, fb));
            (
                _mm256_permute4x64_epi64::<0b11_01_10_00>(even),
                _mm256_permute4x64_epi64::<0b11_01_10_00>(odd),
            )
        })
    }

    #[inline(always)]
    fn zip(self, even: __m256i, odd: __m256i) -> (__m256i, __m256i) {
        intrinsics!({
            let lo = _mm256_unpacklo_epi32(even, odd);
            let hi = _mm256_unpackhi_epi32(even, odd);
            (
                _mm256_permute2x128_si256::<0x20>(lo, hi),
                _mm256_permute2x128_si256::<0x31>(lo, hi),
            )
        })
    }

    // By 8 x 8 tiles where there are any: `unzip` and `zip` take four instructions.

    #[inline(always)]
    fn rows_to_columns<const N: usize>(self, v: &mut [__m256i; N]) {
        if !N.is_multiple_of(8) {
            return unzip_rows(self, v);
        }
        let rows = *v;
        for k in 0..N / 8 {
            let mut tile = [rows[k]; 8];
            for i in 1..8 {
                tile[i] = rows[i * (N / 8) + k];
            }
            v[8 * k..8 * k + 8].copy_from_slice(&transpose(&tile));
        }
    }

    #[inline(always)]
    fn columns_to_rows<const N: usize>(self, v: &mut [__m256i; N]) {
        if !N.is_multiple_of(8) {
            return zip_columns(self, v);
        }
        let columns = *v;
        for k in 0..N / 8 {
            let mut tile = [columns[8 * k]; 8];
            tile.copy_from_slice(&columns[8 * k..8 * k + 8]);
            for (i, row) in transpose(&tile).into_iter().enumerate() {
                v[i * (N / 8) + k] = row;
            }
        }
    }

    #[inline(always)]
    fn sum(self, v: __m256i) -> F {
        intrinsics!({
            let v = self.add(v, _mm256_permute2x128_si256::<0x01>(v, v));
            let v = self.add(v, _mm256_shuffle_epi32::<0b01_00_11_10>(v));
            let v = self.add(v, _mm256_shuffle_epi32::<0b10_11_00_01>(v));
            let word = _mm256_cvtsi256_si32(v);
            // `F` is a transparent u32 and the word is a canonical residue
            core::mem::transmute::<i32, F>(word)
        })
    }

    #[inline(always)]
    fn wide_fold(self, acc: Self::Wide) -> Self::Wide {
        // Word-wise: the low words stay, the high words (below 2p) lose p where they can. What is
        // left is below p 2^32, and p 2^32 + 2 (p-1)^2 < 2p 2^32 is what `wide_reduce` takes.
        intrinsics!({
            let p = _mm256_set1_epi64x((P as i64) << 32);
            (
                _mm256_min_epu32(acc.0, _mm256_sub_epi32(acc.0, p)),
                _mm256_min_epu32(acc.1, _mm256_sub_epi32(acc.1, p)),
            )
        })
    }

    // Poseidon2.

    #[inline(always)]
    fn add_constant(self, a: __m256i, c: NegativeForm) -> __m256i {
        intrinsics!(_mm256_add_epi32(a, _mm256_set1_epi32(c.word)))
    }

    #[inline(always)]
    fn pow7<const N: usize>(self, x: [__m256i; N]) -> [__m256i; N] {
        let (even7, odd7) = split_pow7(x);
        let mut out = x;
        for i in 0..N {
            out[i] = canonical(high_words(even7[i], odd7[i]));
        }
        out
    }

    #[inline(always)]
    fn pow7_swapped<const N: usize>(self, x: [__m256i; N]) -> [__m256i; N] {
        let (even7, odd7) = split_pow7(x);
        let mut out = x;
        for i in 0..N {
            out[i] = canonical(joined_high_words(even7[i], odd7[i]));
        }
        out
    }

    #[inline(always)]
    fn div_2exp<const N: u32>(self, x: __m256i) -> __m256i {
        let (mask, c) = const {
            assert!(N >= 1 && N <= 27);
            ((1_i32 << N) - 1, 15_i32 << (27 - N))
        };
        intrinsics!({
            let low = _mm256_andnot_si256(x, _mm256_set1_epi32(mask));
            let product = _mm256_mullo_epi32(low, _mm256_set1_epi32(c));
            let high = _mm256_srl_epi32(x, _mm_cvtsi32_si128(N as i32));
            _mm256_add_epi32(high, product)
        })
    }

    #[inline(always)]
    fn prefetch(self, src: &[F], index: usize) {
        // SAFETY: a prefetch is a hint and never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(src.as_ptr().wrapping_add(index).cast()) }
    }

    // ---- multiplication by a factor that many vectors share (number-theoretic transform) ----

    /// The factor and its product with p^-1 mod 2^32.
    type Factor = (__m256i, __m256i);

    #[inline(always)]
    fn factor(self, x: F) -> Self::Factor {
        let x = self.splat(x);
        (x, intrinsics!(_mm256_mullo_epi32(x, _mm256_set1_epi32(MU))))
    }

    #[inline(always)]
    fn mul_factor(self, a: __m256i, x: Self::Factor) -> __m256i {
        mul_signed(a, x)
    }

    #[inline(always)]
    fn sub_mul_factor(self, a: __m256i, b: __m256i, x: Self::Factor) -> __m256i {
        // canonical residues are below 2^31, so their difference is a signed word in (-p, p)
        mul_signed(intrinsics!(_mm256_sub_epi32(a, b)), x)
    }

    /// w^2 as a [`Isa::Factor`], then w, i w, w^3, i w^3 in (-p/2, p/2).
    type Quad = (Self::Factor, [__m256i; 4]);

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
        [x, y, z, t]: [__m256i; 4],
        (w2, [w, iw, w3, iw3]): Self::Quad,
    ) -> [__m256i; 4] {
        let (s, r) = (self.add(x, z), self.add(y, t));
        // two products share a reduction: their sum is below 2 p (p / 2) in magnitude
        let (c, d) = intrinsics!({
            let (a, b) = (_mm256_sub_epi32(x, z), _mm256_sub_epi32(y, t));
            let (a_odd, b_odd) = (odd_words(a), odd_words(b));
            (
                reduce_signed(
                    _mm256_add_epi64(_mm256_mul_epi32(a, w), _mm256_mul_epi32(b, iw)),
                    _mm256_add_epi64(_mm256_mul_epi32(a_odd, w), _mm256_mul_epi32(b_odd, iw)),
                ),
                reduce_signed(
                    _mm256_sub_epi64(_mm256_mul_epi32(a, w3), _mm256_mul_epi32(b, iw3)),
                    _mm256_sub_epi64(_mm256_mul_epi32(a_odd, w3), _mm256_mul_epi32(b_odd, iw3)),
                ),
            )
        });
        [self.add(s, r), self.sub_mul_factor(s, r, w2), c, d]
    }

    // Poseidon2, internal rounds.

    #[inline(always)]
    fn mul_small<const M: u32>(self, x: __m256i) -> __m256i {
        const { assert!(2 <= M && M <= 16) };
        intrinsics!({
            let (p, m) = (_mm256_set1_epi32(P), _mm256_set1_epi32(M as i32));
            // the quotient by 2^31, at most one less than that of the exact product
            let (product, q) = if M.is_power_of_two() {
                let log = _mm_cvtsi32_si128(M.ilog2() as i32);
                let rest = _mm_cvtsi32_si128(31 - M.ilog2() as i32);
                (_mm256_sll_epi32(x, log), _mm256_srl_epi32(x, rest))
            } else {
                let high = _mm256_mullo_epi32(_mm256_srli_epi32::<16>(x), m);
                (_mm256_mullo_epi32(x, m), _mm256_srli_epi32::<15>(high))
            };
            // in [0, 2p)
            let t = _mm256_sub_epi32(product, _mm256_mullo_epi32(q, p));
            _mm256_min_epu32(t, _mm256_sub_epi32(t, p))
        })
    }

    #[inline(always)]
    fn sum_and_double(self, single: [__m256i; 5], double: [__m256i; 5]) -> __m256i {
        intrinsics!({
            let p = _mm256_set1_epi32(P);
            let [a, b, c, d, e] = single;
            let [f, g, h, i, j] = double;
            // below 2p each
            let (ab, cd) = (_mm256_add_epi32(a, b), _mm256_add_epi32(c, d));
            let (fg, hi) = (_mm256_add_epi32(f, g), _mm256_add_epi32(h, i));
            let jj = _mm256_add_epi32(j, j);
            // the sum modulo 2^32
            let fi = _mm256_add_epi32(fg, hi);
            let low = _mm256_add_epi32(
                _mm256_add_epi32(_mm256_add_epi32(fi, fi), _mm256_add_epi32(ab, cd)),
                _mm256_add_epi32(jj, e),
            );
            // an eighth of it, in the high halves, off by less than two units
            let eighth = _mm256_avg_epu16(
                _mm256_avg_epu16(fg, hi),
                _mm256_avg_epu16(_mm256_avg_epu16(ab, cd), _mm256_avg_epu16(jj, e)),
            );
            let q = _mm256_srli_epi32::<28>(eighth);
            let t = _mm256_sub_epi32(low, _mm256_mullo_epi32(q, p));
            _mm256_min_epu32(t, _mm256_sub_epi32(t, p))
        })
    }

    #[inline(always)]
    fn sub_signed(self, a: __m256i, b: __m256i) -> __m256i {
        intrinsics!(_mm256_sub_epi32(a, b))
    }

    #[inline(always)]
    fn canonical(self, x: __m256i) -> __m256i {
        canonical(x)
    }
}

/// Exchanges rows and columns.
#[inline(always)]
fn transpose(v: &[__m256i; 8]) -> [__m256i; 8] {
    // words of two rows, then of four, then the halves
    let (mut two, mut four, mut out) = (*v, *v, *v);
    intrinsics!({
        for i in 0..4 {
            two[2 * i] = _mm256_unpacklo_epi32(v[2 * i], v[2 * i + 1]);
            two[2 * i + 1] = _mm256_unpackhi_epi32(v[2 * i], v[2 * i + 1]);
        }
        for i in [0, 4] {
            four[i] = _mm256_unpacklo_epi64(two[i], two[i + 2]);
            four[i + 1] = _mm256_unpackhi_epi64(two[i], two[i + 2]);
            four[i + 2] = _mm256_unpacklo_epi64(two[i + 1], two[i + 3]);
            four[i + 3] = _mm256_unpackhi_epi64(two[i + 1], two[i + 3]);
        }
        for i in 0..4 {
            out[i] = _mm256_permute2x128_si256::<0x20>(four[i], four[i + 4]);
            out[i + 4] = _mm256_permute2x128_si256::<0x31>(four[i], four[i + 4]);
        }
    });
    out
}

/// `a * x` for signed `a` in `(-p, p)`.
///
/// The quotients of the Montgomery reduction come from `a` directly, in parallel with the products:
/// only their low words count. The high words differ by less than p^2 / 2^32 + p / 2 < p. A 32-bit
/// low multiplication would do for both quotients, but it costs two and its own shuffle.
#[inline(always)]
fn mul_signed(a: __m256i, (x, x_mu): (__m256i, __m256i)) -> __m256i {
    intrinsics!({
        let p = _mm256_set1_epi32(P);
        let a_odd = odd_words(a);
        let even_qp = _mm256_mul_epi32(_mm256_mul_epi32(a, x_mu), p);
        let odd_qp = _mm256_mul_epi32(_mm256_mul_epi32(a_odd, x_mu), p);
        canonical(high_words(
            _mm256_sub_epi64(_mm256_mul_epi32(a, x), even_qp),
            _mm256_sub_epi64(_mm256_mul_epi32(a_odd, x), odd_qp),
        ))
    })
}

/// `[0, p)` to `(-p/2, p/2)`.
#[inline(always)]
fn balanced(x: __m256i) -> __m256i {
    intrinsics!({
        let half = _mm256_set1_epi32(P / 2);
        _mm256_sub_epi32(
            x,
            _mm256_and_si256(_mm256_cmpgt_epi32(x, half), _mm256_set1_epi32(P)),
        )
    })
}

/// The Montgomery reduction of 64-bit values of magnitude below p^2, those of the even lanes and of
/// the odd ones. The high words differ by less than p^2 / 2^32 + p / 2 < p.
#[inline(always)]
fn reduce_signed(even: __m256i, odd: __m256i) -> __m256i {
    intrinsics!({
        let (p, mu) = (_mm256_set1_epi32(P), _mm256_set1_epi32(MU));
        let even_qp = _mm256_mul_epi32(_mm256_mul_epi32(even, mu), p);
        let odd_qp = _mm256_mul_epi32(_mm256_mul_epi32(odd, mu), p);
        canonical(high_words(
            _mm256_sub_epi64(even, even_qp),
            _mm256_sub_epi64(odd, odd_qp),
        ))
    })
}
