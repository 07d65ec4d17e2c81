//! The portable variant: one lane, Plonky3's scalar arithmetic.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;

use super::isa::{Isa, Kernel, NegativeForm};
use crate::field::F;

/// The element whose Montgomery word is 1: 2^-32.
const WORD_ONE: F = F::new(943_718_400);

/// Token of the portable variant; always available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Isa for Portable {
    const LANES: usize = 1;
    type V = F;
    type Wide = F;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: F) -> F {
        x
    }

    #[inline(always)]
    fn load(self, src: &[F]) -> F {
        src[0]
    }

    #[inline(always)]
    fn store(self, v: F, dst: &mut [F]) {
        dst[0] = v;
    }

    #[inline(always)]
    fn add(self, a: F, b: F) -> F {
        a + b
    }

    #[inline(always)]
    fn sub(self, a: F, b: F) -> F {
        a - b
    }

    #[inline(always)]
    fn mul(self, a: F, b: F) -> F {
        a * b
    }

    #[inline(always)]
    fn wide_zero(self) -> F {
        F::ZERO
    }

    #[inline(always)]
    fn wide_mul_add(self, acc: F, a: F, b: F) -> F {
        acc + a * b
    }

    #[inline(always)]
    fn wide_reduce(self, acc: F) -> F {
        acc
    }

    #[inline(always)]
    fn unzip(self, a: F, b: F) -> (F, F) {
        (a, b)
    }

    #[inline(always)]
    fn zip(self, even: F, odd: F) -> (F, F) {
        (even, odd)
    }

    #[inline(always)]
    fn sum(self, v: F) -> F {
        v
    }

    #[inline(always)]
    fn wide_fold(self, acc: F) -> F {
        acc
    }

    // Poseidon2.

    #[inline(always)]
    fn add_constant(self, a: F, c: NegativeForm) -> F {
        a + c.value
    }

    #[inline(always)]
    fn pow7<const N: usize>(self, x: [F; N]) -> [F; N] {
        x.map(|x| {
            let x2 = x * x;
            let x3 = x2 * x;
            x2 * x2 * x3
        })
    }

    #[inline(always)]
    fn div_2exp<const N: u32>(self, x: F) -> F {
        // word shift of 2^-N - 1: the word 1 is the element 2^-32
        const { assert!(N >= 1 && N <= 27) };
        (x + WORD_ONE).div_2exp_u64(u64::from(N)) - WORD_ONE
    }

    #[inline(always)]
    fn prefetch(self, _: &[F], _: usize) {}

    // ---- multiplication by a factor that many vectors share (number-theoretic transform) ----

    type Factor = F;

    #[inline(always)]
    fn factor(self, x: F) -> F {
        x
    }

    #[inline(always)]
    fn mul_factor(self, a: F, x: F) -> F {
        a * x
    }

    #[inline(always)]
    fn sub_mul_factor(self, a: F, b: F, x: F) -> F {
        (a - b) * x
    }

    type Quad = [F; 5];

    #[inline(always)]
    fn quad(self, factors: [F; 5]) -> [F; 5] {
        factors
    }

    #[inline(always)]
    fn butterfly4(self, [x, y, z, t]: [F; 4], [w, iw, w2, _, _]: [F; 5]) -> [F; 4] {
        let (s, r) = (x + z, y + t);
        let (u, v) = ((x - z) * w, (y - t) * iw);
        [s + r, (s - r) * w2, u + v, (u - v) * w2]
    }

    // Poseidon2, internal rounds.

    #[inline(always)]
    fn mul_small<const M: u32>(self, x: F) -> F {
        x * F::from_u32(M)
    }

    #[inline(always)]
    fn sub_signed(self, a: F, b: F) -> F {
        a - b
    }

    #[inline(always)]
    fn canonical(self, x: F) -> F {
        x
    }
}
