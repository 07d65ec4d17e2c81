//! Between the canonical form of 64-bit limbs and a vector kernel's records.
//!
//! Both are Montgomery forms, with the radices `2^(64 W)` and `2^(52 L)`: a product with a constant
//! takes one to the other.
#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop)]

use super::{
    LANES, Lanes,
    field::{BITS, Element, Field},
    record::Record,
};
use crate::{
    curve::{Affine, Curve},
    field::{Fp, Modulus, limbs},
};

impl<A: Lanes, M: Modulus<W>, const W: usize, const L: usize> Field<A, M, W, L> {
    /// One: `R mod p`.
    pub(crate) const ONE: [u64; W] = limbs::power_of_two(BITS * L, &M::P);
    /// From radix `2^(64 W)` to `R`: `R^2 / 2^(64 W)`.
    const ENTER: [u64; W] = limbs::power_of_two(2 * BITS * L - 64 * W, &M::P);
    /// From radix `R` to `2^(64 W)`.
    const LEAVE: [u64; W] = limbs::power_of_two(64 * W, &M::P);
    /// The words `a R` of an element `a` are, in the other form, those of `a s` with
    /// `s = R / 2^(64 W)`; the inverse of that is `a^-1 / s`, and with `s^2` in the other form the
    /// words of it are `a^-1 R`.
    const SHIFT_SQUARED: [u64; W] = limbs::power_of_two(2 * BITS * L - 64 * W, &M::P);

    /// The inverses of eight elements below `2 p`, from one inversion. No lane may be zero.
    #[inline(always)]
    pub(crate) fn invert(self, v: &Element<A, L>) -> Element<A, L> {
        let a = self.lanes;
        let words = self.pack(v);
        let mut columns = [[0u64; LANES]; 8];
        for k in 0..W {
            a.store(words[k], &mut columns[k]);
        }
        invert_columns::<M, W>(&mut columns, &Self::SHIFT_SQUARED);
        let mut words = [a.splat(0); 8];
        for k in 0..W {
            words[k] = a.load(&columns[k]);
        }
        self.unpack(&words, 0)
    }

    /// Points into records.
    #[inline(always)]
    pub(crate) fn load_points<P: Record>(self, from: &[Affine<M, W>], to: &mut [P])
    where
        M: Curve<W>,
    {
        let enter = self.splat_words(&Self::ENTER);
        for (from, to) in from.chunks(LANES).zip(to.chunks_mut(LANES)) {
            let (mut xs, mut ys) = ([[0u64; LANES]; 8], [[0u64; LANES]; 8]);
            for (lane, point) in from.iter().enumerate() {
                for k in 0..W {
                    xs[k][lane] = point.x.montgomery()[k];
                    ys[k][lane] = point.y.montgomery()[k];
                }
            }
            // Zero stays zero, so infinity does.
            let x = self.mul(&self.load_columns(&xs), &enter);
            let y = self.mul(&self.load_columns(&ys), &enter);
            let mut records = [P::ZERO; LANES];
            self.store(&x, &y, &mut records, &[0, 1, 2, 3, 4, 5, 6, 7]);
            let n = to.len();
            to.copy_from_slice(&records[..n]);
        }
    }

    /// Records into points.
    #[inline(always)]
    pub(crate) fn store_points<P: Record>(self, from: &[P], to: &mut [Affine<M, W>])
    where
        M: Curve<W>,
    {
        let leave = self.splat_words(&Self::LEAVE);
        for (from, to) in from.chunks(LANES).zip(to.chunks_mut(LANES)) {
            let (mut xs, mut ys) = ([[0u64; LANES]; 8], [[0u64; LANES]; 8]);
            for (lane, record) in from.iter().enumerate() {
                for k in 0..W {
                    xs[k][lane] = record.words()[k];
                    ys[k][lane] = record.words()[W + k];
                }
            }
            let x = self.mul(&self.load_columns(&xs), &leave);
            let y = self.mul(&self.load_columns(&ys), &leave);
            self.store_columns(&x, &mut xs);
            self.store_columns(&y, &mut ys);
            for (lane, point) in to.iter_mut().enumerate() {
                point.x = canonical(&xs, lane);
                point.y = canonical(&ys, lane);
            }
        }
    }

    #[inline(always)]
    fn load_columns(self, columns: &[[u64; LANES]; 8]) -> Element<A, L> {
        let mut words = [self.lanes.splat(0); 8];
        for k in 0..W {
            words[k] = self.lanes.load(&columns[k]);
        }
        self.unpack(&words, 0)
    }

    #[inline(always)]
    fn store_columns(self, v: &Element<A, L>, columns: &mut [[u64; LANES]; 8]) {
        let words = self.pack(v);
        for k in 0..W {
            self.lanes.store(words[k], &mut columns[k]);
        }
    }
}

/// A lane below `2 p`, reduced.
fn canonical<M: Modulus<W>, const W: usize>(columns: &[[u64; LANES]; 8], lane: usize) -> Fp<M, W> {
    let mut words = [0; W];
    for k in 0..W {
        words[k] = columns[k][lane];
    }
    Fp::from_montgomery_unchecked(limbs::reduce_once(&words, &M::P))
}

/// Montgomery's trick over the lanes; `fix` multiplies each inverse.
#[inline(never)]
fn invert_columns<M: Modulus<W>, const W: usize>(columns: &mut [[u64; LANES]; 8], fix: &[u64; W]) {
    let mut before = [Fp::<M, W>::ONE; LANES];
    let mut product = Fp::ONE;
    for lane in 0..LANES {
        before[lane] = product;
        product = product.mul(&canonical(columns, lane));
    }
    // No lane is zero, so neither is the product.
    let mut inverse = product
        .invert()
        .unwrap_or(Fp::ZERO)
        .mul(&Fp::from_montgomery_unchecked(*fix));
    for lane in (0..LANES).rev() {
        let value = canonical(columns, lane);
        let own = inverse.mul(&before[lane]);
        inverse = inverse.mul(&value);
        for k in 0..W {
            columns[k][lane] = own.montgomery()[k];
        }
    }
}
