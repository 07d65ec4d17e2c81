//! Additions that are no chord: infinity as an operand, equal and opposite points.
//!
//! The pass takes every pair for a chord; a sieve of five instructions on the low limbs of x and of
//! the difference lets through what may be none (a random pair in `2^49`), and only then the exact
//! tests run. A group of eight with such lanes gets its denominators replaced on the way forward and
//! its sums on the way back; its other lanes are not touched.
#![forbid(unsafe_code)]

use super::{
    Lanes,
    field::{Element, Field},
    record::{Octet, Record},
};
use crate::field::Modulus;

/// The lanes of a group that are no chords.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Special {
    /// The group's number in its batch.
    pub(crate) group: usize,
    /// The left operand is infinity.
    left_zero: u8,
    /// The right operand is infinity.
    right_zero: u8,
    /// The operands are finite and equal: the tangent is taken.
    pub(crate) equal: u8,
    /// The operands are finite and opposite.
    opposite: u8,
}

impl<A: Lanes, M: Modulus<W>, const W: usize, const L: usize> Field<A, M, W, L> {
    /// Whether some lane may be special: an x of zero, or equal x. `difference` is `x2 - x1 + 2 p`.
    #[inline(always)]
    pub(crate) fn suspicious(
        self,
        x1: &Element<A, L>,
        x2: &Element<A, L>,
        difference: &Element<A, L>,
    ) -> bool {
        let zero = self.lanes.splat(0);
        self.maybe_zeros::<4>(difference)
            | self.lanes.equal(x1[0], zero)
            | self.lanes.equal(x2[0], zero)
            != 0
    }

    /// Finds the special lanes and gives them denominators: `2 y` for a tangent, 1 for a sum that is
    /// known. `None` if every lane is a chord after all.
    #[inline(always)]
    pub(crate) fn examine<P: Record>(
        self,
        group: usize,
        (left, one): (&[P], &Octet),
        (right, two): (&[P], &Octet),
        difference: &mut Element<A, L>,
    ) -> Option<Special> {
        let (x1, y1) = (self.load_x(left, one), self.load_y(left, one));
        let (x2, y2) = (self.load_x(right, two), self.load_y(right, two));
        let left_zero = self.all_zero(&x1) & self.all_zero(&y1);
        let right_zero = self.all_zero(&x2) & self.all_zero(&y2);
        let same_x = self.zeros::<4>(difference) & !(left_zero | right_zero);
        let sum = self.add_signed(&y1, one.minus, &y2, two.minus);
        // A point of order 2 is its own inverse.
        let opposite = same_x & self.zeros::<8>(&sum);
        let special = Special {
            group,
            left_zero,
            right_zero,
            equal: same_x & !opposite,
            opposite,
        };
        if left_zero | right_zero | same_x == 0 {
            return None;
        }
        let twice = self.add_signed(&y1, one.minus, &y1, one.minus);
        *difference = self.select(special.equal, &twice, difference);
        let known = left_zero | right_zero | opposite;
        *difference = self.select(known, &self.splat_words(&Self::ONE), difference);
        Some(special)
    }

    /// `3 x^2`, the numerator of a tangent's slope: at most `3.6 p`.
    #[inline(always)]
    pub(crate) fn tangent_numerator(self, x: &Element<A, L>) -> Element<A, L> {
        let square = self.square(x);
        let mut triple = square;
        for (triple, &limb) in triple.iter_mut().zip(&square) {
            *triple = self.lanes.add(self.lanes.add(limb, limb), limb);
        }
        self.carry(&mut triple);
        triple
    }

    /// Puts the known sums into their lanes.
    #[inline(always)]
    pub(crate) fn settle<P: Record>(
        self,
        special: Special,
        (left, one): (&[P], &Octet),
        (right, two): (&[P], &Octet),
        x: &mut Element<A, L>,
        y: &mut Element<A, L>,
    ) {
        let Special {
            left_zero,
            right_zero,
            opposite,
            ..
        } = special;
        let y1 = self.with_sign(&self.load_y(left, one), one.minus);
        let y2 = self.with_sign(&self.load_y(right, two), two.minus);
        *x = self.select(right_zero, &self.load_x(left, one), x);
        *y = self.select(right_zero, &y1, y);
        *x = self.select(left_zero, &self.load_x(right, two), x);
        *y = self.select(left_zero, &y2, y);
        let zero = self.splat(&[0; L]);
        let vanished = opposite | left_zero & right_zero;
        *x = self.select(vanished, &zero, x);
        *y = self.select(vanished, &zero, y);
    }

    /// `2 p - y` in the lanes of `minus`, `y` in the others.
    #[inline(always)]
    fn with_sign(self, y: &Element<A, L>, minus: u8) -> Element<A, L> {
        let zero = self.splat(&[0; L]);
        self.select(minus, &self.sub(&zero, y), y)
    }
}
