//! A point as it lies in memory: 64-bit words, no gaps.
//!
//! Eight records are loaded as rows of eight words and transposed. For coordinates of six words a
//! row of eight from the front holds x and one that ends with the record holds y; for four words one
//! row holds both. Packed words cost a few shifts against limbs of 52 bits, and a quarter less
//! traffic, which is what a table larger than the caches is bound by.
#![forbid(unsafe_code)]
// As in `field`.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]

use super::{
    LANES, Lanes,
    field::{Element, Field},
};
use crate::{
    field::{Modulus, adc, sbb},
    kernel::NEGATE,
};

/// An affine point in a vector kernel's form: x then y, each at most `2 p` and in Montgomery form
/// with the radix of its limbs. All words zero is infinity, and only that.
pub(crate) trait Record: Copy + Send + Sync + 'static {
    /// Infinity.
    const ZERO: Self;
    /// The words of x, then those of y.
    fn words(&self) -> &[u64];
    /// The words of x, then those of y.
    fn words_mut(&mut self) -> &mut [u64];
}

/// Coordinates of six words: BLS12-377 and BLS12-381.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(32))]
pub(crate) struct Record12([u64; 12]);

/// Coordinates of four words: BN254. A cache line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Record8([u64; 8]);

impl Record for Record12 {
    const ZERO: Self = Self([0; 12]);
    #[inline(always)]
    fn words(&self) -> &[u64] {
        &self.0
    }
    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

impl Record for Record8 {
    const ZERO: Self = Self([0; 8]);
    #[inline(always)]
    fn words(&self) -> &[u64] {
        &self.0
    }
    #[inline(always)]
    fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }
}

/// The inverse element: `y` becomes `2 p - y`.
#[inline(always)]
pub(crate) fn negate<M: Modulus<W>, P: Record, const W: usize>(point: &P) -> P {
    let mut negative = *point;
    let words = &mut negative.words_mut()[W..2 * W];
    // Zero stays as it is: infinity, or a point of order 2.
    if words.iter().all(|&word| word == 0) {
        return negative;
    }
    let (mut carry, mut borrow) = (0, 0);
    for i in 0..W {
        let twice;
        (twice, carry) = adc(M::P[i], M::P[i], carry);
        (words[i], borrow) = sbb(twice, words[i], borrow);
    }
    negative
}

/// Which record each lane takes, and the lanes to negate.
#[derive(Clone, Copy)]
pub(crate) struct Octet {
    /// Indices without signs.
    pub(crate) at: [u32; LANES],
    /// Lanes that carried a [`NEGATE`].
    pub(crate) minus: u8,
}

impl Octet {
    /// Takes the signs off. Without `SIGNED` there are none.
    #[inline(always)]
    pub(crate) fn new<const SIGNED: bool>(indices: [u32; LANES]) -> Self {
        let mut octet = Self {
            at: indices,
            minus: 0,
        };
        if SIGNED {
            for lane in 0..LANES {
                octet.at[lane] = indices[lane] & !NEGATE;
                octet.minus |= ((indices[lane] >> 31) as u8) << lane;
            }
        }
        octet
    }
}

impl<A: Lanes, M: Modulus<W>, const W: usize, const L: usize> Field<A, M, W, L> {
    #[inline(always)]
    fn rows<P: Record>(self, table: &[P], octet: &Octet, first: usize) -> [A::V; 8] {
        let mut rows = [self.lanes.splat(0); 8];
        for lane in 0..LANES {
            rows[lane] = self
                .lanes
                .load(&table[octet.at[lane] as usize].words()[first..]);
        }
        self.lanes.transpose(rows)
    }

    /// The x of eight records.
    #[inline(always)]
    pub(crate) fn load_x<P: Record>(self, table: &[P], octet: &Octet) -> Element<A, L> {
        let columns = self.rows(table, octet, 0);
        self.unpack(&columns, 0)
    }

    /// The y of eight records, without their signs.
    #[inline(always)]
    pub(crate) fn load_y<P: Record>(self, table: &[P], octet: &Octet) -> Element<A, L> {
        let columns = self.rows(table, octet, 2 * W - LANES);
        self.unpack(&columns, LANES - W)
    }

    /// Eight records; a place that occurs twice keeps the later lane.
    #[inline(always)]
    pub(crate) fn store<P: Record>(
        self,
        x: &Element<A, L>,
        y: &Element<A, L>,
        table: &mut [P],
        places: &[u32; LANES],
    ) {
        let a = self.lanes;
        let (x, y) = (self.pack(x), self.pack(y));
        let mut columns = x;
        for k in W..LANES {
            columns[k] = y[k - W];
        }
        let rows = a.transpose(columns);
        for lane in 0..LANES {
            a.store(rows[lane], table[places[lane] as usize].words_mut());
        }
        if 2 * W > LANES {
            const ROWS: [(usize, usize); 4] = [(0, 2), (4, 6), (1, 3), (5, 7)];
            let mut rest = [a.splat(0); 4];
            for k in 0..4 {
                rest[k] = y[LANES - W + k];
            }
            let pairs = a.four_columns_to_rows(rest);
            for k in 0..4 {
                let (low, high) = ROWS[k];
                a.store_half::<false>(
                    pairs[k],
                    &mut table[places[low] as usize].words_mut()[LANES..],
                );
                a.store_half::<true>(
                    pairs[k],
                    &mut table[places[high] as usize].words_mut()[LANES..],
                );
            }
        }
    }
}
