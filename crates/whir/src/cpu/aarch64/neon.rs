//! NEON: 4 lanes.
#![allow(unsafe_code)]

use core::arch::aarch64::*;

use super::super::isa::{Isa, Kernel, NegativeForm};
use crate::field::F;

const P: u32 = 0x7800_0001;
/// p^-1 mod 2^32.
const MU: u32 = 0x8800_0001;

/// Proof that this processor has NEON.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neon(());

impl Neon {
    /// `None` without NEON.
    #[inline]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_aarch64_feature_detected!("neon").then_some(Self(()))
    }
}

#[target_feature(enable = "neon")]
fn enter<K: Kernel>(isa: Neon, kernel: K) -> K::Output {
    kernel.run(isa)
}

/// Runs intrinsics of the feature that the token proves.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: `Neon` is only built by `detect`, after the processor was found to have NEON;
        // no intrinsic in this block touches memory unless its line says so.
        #[allow(unused_unsafe)]
        unsafe {
            $body
        }
    };
}

/// `[-p, p)` to `[0, p)`.
#[inline(always)]
fn canonical(x: uint32x4_t) -> uint32x4_t {
    intrinsics!(vminq_u32(x, vaddq_u32(x, vdupq_n_u32(P))))
}

/// The high words of four 64-bit values.
#[inline(always)]
fn high_words(low: uint64x2_t, high: uint64x2_t) -> uint32x4_t {
    intrinsics!(vuzp2q_u32(
        vreinterpretq_u32_u64(low),
        vreinterpretq_u32_u64(high)
    ))
}

/// Signed Montgomery product of i32 values, not both -2^31; in (-p, p) if |a * b| <= p^2.
///
/// The doubled products agree in their low words, so the difference of the high words is exactly
/// twice the result.
#[inline(always)]
fn signed_product(a: int32x4_t, b: int32x4_t) -> int32x4_t {
    intrinsics!({
        let q = vmulq_s32(vmulq_s32(a, b), vdupq_n_s32(MU as i32));
        vhsubq_s32(vqdmulhq_s32(a, b), vqdmulhq_s32(q, vdupq_n_s32(P as i32)))
    })
}

impl Isa for Neon {
    const LANES: usize = 4;
    type V = uint32x4_t;
    /// 64-bit sums of the lower two lanes' products and of the upper two's.
    type Wide = (uint64x2_t, uint64x2_t);

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        intrinsics!(enter(self, kernel))
    }

    #[inline(always)]
    fn splat(self, x: F) -> uint32x4_t {
        // SAFETY: `F` is a transparent u32.
        let word = unsafe { core::mem::transmute::<F, u32>(x) };
        intrinsics!(vdupq_n_u32(word))
    }

    #[inline(always)]
    fn load(self, src: &[F]) -> uint32x4_t {
        let src = &src[..Self::LANES];
        // SAFETY: NEON as above; the slice has 4 elements of 4 bytes.
        unsafe { vld1q_u32(src.as_ptr().cast()) }
    }

    #[inline(always)]
    fn store(self, v: uint32x4_t, dst: &mut [F]) {
        let dst = &mut dst[..Self::LANES];
        // SAFETY: NEON as above; the slice has 4 elements of 4 bytes, and a canonical vector
        // holds valid elements.
        unsafe { vst1q_u32(dst.as_mut_ptr().cast(), v) }
    }

    #[inline(always)]
    fn add(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsics!({
            let t = vaddq_u32(a, b);
            vminq_u32(t, vsubq_u32(t, vdupq_n_u32(P)))
        })
    }

    #[inline(always)]
    fn sub(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        canonical(intrinsics!(vsubq_u32(a, b)))
    }

    #[inline(always)]
    fn mul(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsics!({
            let product = signed_product(vreinterpretq_s32_u32(a), vreinterpretq_s32_u32(b));
            canonical(vreinterpretq_u32_s32(product))
        })
    }

    #[inline(always)]
    fn wide_zero(self) -> Self::Wide {
        intrinsics!((vdupq_n_u64(0), vdupq_n_u64(0)))
    }

    #[inline(always)]
    fn wide_mul_add(self, acc: Self::Wide, a: uint32x4_t, b: uint32x4_t) -> Self::Wide {
        intrinsics!((
            vmlal_u32(acc.0, vget_low_u32(a), vget_low_u32(b)),
            vmlal_high_u32(acc.1, a, b),
        ))
    }

    #[inline(always)]
    fn wide_reduce(self, acc: Self::Wide) -> uint32x4_t {
        // Four products sum to at most 4(p-1)^2 < 2^64, whose high word is below 2p: one
        // conditional subtraction brings it into [0, p), then the usual reduction applies.
        intrinsics!({
            let p = vdupq_n_u32(P);
            let low = vuzp1q_u32(vreinterpretq_u32_u64(acc.0), vreinterpretq_u32_u64(acc.1));
            let q = vmulq_u32(low, vdupq_n_u32(MU));
            let qp = high_words(
                vmull_u32(vget_low_u32(q), vget_low_u32(p)),
                vmull_high_u32(q, p),
            );
            let high = high_words(acc.0, acc.1);
            let high = vminq_u32(high, vsubq_u32(high, p));
            canonical(vsubq_u32(high, qp))
        })
    }

    #[inline(always)]
    fn unzip(self, a: uint32x4_t, b: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        intrinsics!((vuzp1q_u32(a, b), vuzp2q_u32(a, b)))
    }

    #[inline(always)]
    fn zip(self, even: uint32x4_t, odd: uint32x4_t) -> (uint32x4_t, uint32x4_t) {
        intrinsics!((vzip1q_u32(even, odd), vzip2q_u32(even, odd)))
    }

    #[inline(always)]
    fn sum(self, v: uint32x4_t) -> F {
        intrinsics!({
            let v = self.add(v, vextq_u32::<2>(v, v));
            let v = self.add(v, vextq_u32::<1>(v, v));
            let word = vgetq_lane_u32::<0>(v);
            // `F` is a transparent u32 and the word is a canonical residue
            core::mem::transmute::<u32, F>(word)
        })
    }

    #[inline(always)]
    fn wide_fold(self, acc: Self::Wide) -> Self::Wide {
        // Word-wise: the low words stay, the high words (below 2p) lose p where they can.
        intrinsics!({
            let p = vreinterpretq_u32_u64(vdupq_n_u64(u64::from(P) << 32));
            let fold = |acc| {
                let acc = vreinterpretq_u32_u64(acc);
                vreinterpretq_u64_u32(vminq_u32(acc, vsubq_u32(acc, p)))
            };
            (fold(acc.0), fold(acc.1))
        })
    }

    // Number-theoretic transform: a factor needs no preparation here.

    type Factor = uint32x4_t;

    #[inline(always)]
    fn factor(self, x: F) -> uint32x4_t {
        self.splat(x)
    }

    #[inline(always)]
    fn mul_factor(self, a: uint32x4_t, x: uint32x4_t) -> uint32x4_t {
        self.mul(a, x)
    }

    #[inline(always)]
    fn sub_mul_factor(self, a: uint32x4_t, b: uint32x4_t, x: uint32x4_t) -> uint32x4_t {
        self.mul(self.sub(a, b), x)
    }

    /// `w`, `i w` and `w^2`.
    type Quad = [uint32x4_t; 3];

    #[inline(always)]
    fn quad(self, [w, iw, w2, _, _]: [F; 5]) -> Self::Quad {
        [self.splat(w), self.splat(iw), self.splat(w2)]
    }

    #[inline(always)]
    fn butterfly4(self, [x, y, z, t]: [uint32x4_t; 4], [w, iw, w2]: Self::Quad) -> [uint32x4_t; 4] {
        let (s, r) = (self.add(x, z), self.add(y, t));
        let (u, v) = (self.sub_mul_factor(x, z, w), self.sub_mul_factor(y, t, iw));
        [
            self.add(s, r),
            self.sub_mul_factor(s, r, w2),
            self.add(u, v),
            self.sub_mul_factor(u, v, w2),
        ]
    }

    #[inline(always)]
    fn prefetch(self, _: &[F], _: usize) {
        // no stable intrinsic
    }

    // Poseidon2.

    #[inline(always)]
    fn add_constant(self, a: uint32x4_t, c: NegativeForm) -> uint32x4_t {
        intrinsics!(vaddq_u32(a, vdupq_n_u32(c.word as u32)))
    }

    #[inline(always)]
    fn pow7<const N: usize>(self, x: [uint32x4_t; N]) -> [uint32x4_t; N] {
        intrinsics!({
            let mut x1 = [vdupq_n_s32(0); N];
            for i in 0..N {
                x1[i] = vreinterpretq_s32_u32(x[i]);
            }
            let (mut x2, mut x3) = (x1, x1);
            for i in 0..N {
                x2[i] = signed_product(x1[i], x1[i]);
            }
            for i in 0..N {
                x3[i] = signed_product(x2[i], x1[i]);
            }
            for i in 0..N {
                x2[i] = signed_product(x2[i], x2[i]);
            }
            let mut out = x;
            for i in 0..N {
                out[i] = canonical(vreinterpretq_u32_s32(signed_product(x2[i], x3[i])));
            }
            out
        })
    }

    #[inline(always)]
    fn div_2exp<const N: u32>(self, x: uint32x4_t) -> uint32x4_t {
        let (mask, c) = const {
            assert!(N >= 1 && N <= 27);
            ((1_u32 << N) - 1, 15_u32 << (27 - N))
        };
        intrinsics!({
            let low = vbicq_u32(vdupq_n_u32(mask), x);
            let high = vshlq_u32(x, vdupq_n_s32(-(N as i32)));
            vmlaq_u32(high, low, vdupq_n_u32(c))
        })
    }

    // Poseidon2, internal rounds.

    #[inline(always)]
    fn mul_small<const M: u32>(self, x: uint32x4_t) -> uint32x4_t {
        const { assert!(2 <= M && M <= 16) };
        intrinsics!({
            let p = vdupq_n_u32(P);
            // the quotient by 2^31, at most one less than that of the exact product
            let q = vshrq_n_u32::<15>(vmulq_n_u32(vshrq_n_u32::<16>(x), M));
            // in [0, 2p)
            let t = vmlsq_u32(vmulq_n_u32(x, M), q, p);
            vminq_u32(t, vsubq_u32(t, p))
        })
    }

    #[inline(always)]
    fn sub_signed(self, a: uint32x4_t, b: uint32x4_t) -> uint32x4_t {
        intrinsics!(vsubq_u32(a, b))
    }

    #[inline(always)]
    fn canonical(self, x: uint32x4_t) -> uint32x4_t {
        canonical(x)
    }
}
