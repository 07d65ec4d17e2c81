//! Batch-affine addition, eight pairs at a time.
//!
//! On the way forward every lane multiplies up the denominators of its pairs; the eight products are
//! inverted together; on the way back each pair gets its own inverse: 5M + 1S a pair and one
//! inversion a batch (Montgomery's trick). A batch is small enough that its operands and what the
//! way back needs stay in the second-level cache. Scattered operands are fetched ahead: those of the
//! next batch during both ways of this one, so that memory is read at an even rate.
#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop)]

use super::{
    LANES, Lanes,
    field::{Element, Field},
    record::{Octet, Record},
    special::Special,
};
use crate::{field::Modulus, kernel::Pair};

/// Additions that share an inversion.
pub(crate) const BATCH: usize = 2048;
/// Groups between the request for a cache line from memory and its use, where there was no batch
/// before to ask in.
const AHEAD: usize = 8;
/// Groups between the request for a line that is in the second-level cache and its use.
const SOON: usize = 2;

/// What the way back needs of a group.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Step<const L: usize> {
    /// The left x.
    x: [[u64; LANES]; L],
    /// The denominators.
    denominator: [[u64; LANES]; L],
    /// The products of the denominators of all groups before.
    before: [[u64; LANES]; L],
}

/// Memory of the pass, kept from call to call.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<const L: usize> {
    steps: Vec<Step<L>>,
    special: Vec<Special>,
}

impl<const L: usize> Scratch<L> {
    /// For calls of up to `pairs` additions, in batches of at most `batch`.
    pub(crate) fn new(pairs: usize, batch: usize) -> Self {
        let zero = [[0; LANES]; L];
        let step = Step {
            x: zero,
            denominator: zero,
            before: zero,
        };
        Self {
            steps: vec![step; pairs.min(batch).div_ceil(LANES).max(1)],
            special: Vec::new(),
        }
    }
}

/// Tables and the pairs of one batch.
#[derive(Clone, Copy)]
struct Batch<'a, P> {
    left: &'a [P],
    right: &'a [P],
    now: &'a [Pair],
    /// The batch after this one, for fetching ahead.
    next: &'a [Pair],
}

/// The operands and the places of a group.
struct Group {
    one: Octet,
    two: Octet,
    out: [u32; LANES],
}

impl<P: Record> Batch<'_, P> {
    fn groups(&self) -> usize {
        self.now.len().div_ceil(LANES)
    }

    /// Group `k`; the last one is filled up with its last pair, which is then computed twice.
    #[inline(always)]
    fn group<const SIGNED: bool>(&self, k: usize) -> Group {
        let pairs = &self.now[LANES * k..];
        let last = pairs.len().min(LANES) - 1;
        let (mut a, mut b, mut out) = ([0; LANES], [0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let pair = pairs[lane.min(last)];
            (a[lane], b[lane], out[lane]) = (pair.a, pair.b, pair.out);
        }
        Group {
            one: Octet::new::<SIGNED>(a),
            two: Octet::new::<SIGNED>(b),
            out,
        }
    }

    /// Asks for the operands of some pairs.
    #[inline(always)]
    fn fetch<A: Lanes, const SOON: bool>(&self, lanes: A, pairs: &[Pair]) {
        for pair in pairs {
            for (table, index) in [(self.left, pair.a), (self.right, pair.b)] {
                if let Some(record) = table.get((index & !crate::kernel::NEGATE) as usize) {
                    lanes.prefetch::<SOON>(record.words());
                }
            }
        }
    }

    /// Asks for pairs `from..to` of a list that may end before.
    #[inline(always)]
    fn fetch_range<A: Lanes>(&self, lanes: A, list: &[Pair], from: usize, to: usize) {
        let to = to.min(list.len());
        if from < to {
            self.fetch::<A, false>(lanes, &list[from..to]);
        }
    }

    /// Asks for the operands of group `k` of this batch, if there is one, which come next.
    #[inline(always)]
    fn fetch_soon<A: Lanes>(&self, lanes: A, k: usize) {
        let from = LANES * k;
        let to = (from + LANES).min(self.now.len());
        if from < to {
            self.fetch::<A, true>(lanes, &self.now[from..to]);
        }
    }
}

impl<A: Lanes, M: Modulus<W>, const W: usize, const L: usize> Field<A, M, W, L> {
    /// `out[pair.out] = ± left[pair.a] ± right[pair.b]` for every pair. With `SCATTERED` the indices
    /// may carry signs and the operands are fetched ahead.
    ///
    /// Operands are points of the curve or infinity; anything else gives some result.
    #[inline(always)]
    pub(crate) fn add_pairs<P: Record, const SCATTERED: bool>(
        self,
        left: &[P],
        right: &[P],
        pairs: &[Pair],
        out: &mut [P],
        scratch: &mut Scratch<L>,
    ) {
        if pairs.is_empty() {
            return;
        }
        // Batches of equal size: a small one would pay for an inversion too.
        let batches = pairs.len().div_ceil(LANES * scratch.steps.len());
        let size = pairs.len().div_ceil(batches).next_multiple_of(LANES);
        let mut start = 0;
        while start < pairs.len() {
            let end = pairs.len().min(start + size);
            let batch = Batch {
                left,
                right,
                now: &pairs[start..end],
                next: &pairs[end..pairs.len().min(end + size)],
            };
            scratch.special.clear();
            let product = self.forward::<P, SCATTERED>(batch, scratch, start == 0);
            let inverse = self.invert(&product);
            self.backward::<P, SCATTERED>(batch, scratch, inverse, out);
            start = end;
        }
    }

    /// Multiplies up the denominators.
    #[inline(always)]
    fn forward<P: Record, const SCATTERED: bool>(
        self,
        batch: Batch<'_, P>,
        scratch: &mut Scratch<L>,
        first: bool,
    ) -> Element<A, L> {
        let a = self.lanes;
        let mut product = self.splat_words(&Self::ONE);
        for k in 0..batch.groups() {
            let group = batch.group::<SCATTERED>(k);
            if SCATTERED {
                batch.fetch_soon(a, k + SOON);
                batch.fetch_range(a, batch.next, LANES * k, LANES * k + LANES / 2);
                if first {
                    let from = LANES * (k + AHEAD);
                    batch.fetch_range(a, batch.now, from, from + LANES);
                }
            }
            let x1 = self.load_x(batch.left, &group.one);
            let x2 = self.load_x(batch.right, &group.two);
            let mut denominator = self.sub(&x2, &x1);
            if self.suspicious(&x1, &x2, &denominator) {
                let special = self.examine(
                    k,
                    (batch.left, &group.one),
                    (batch.right, &group.two),
                    &mut denominator,
                );
                if let Some(special) = special {
                    scratch.special.push(special);
                }
            }
            let step = &mut scratch.steps[k];
            for j in 0..L {
                a.store(x1[j], &mut step.x[j]);
                a.store(denominator[j], &mut step.denominator[j]);
                a.store(product[j], &mut step.before[j]);
            }
            product = self.mul(&product, &denominator);
        }
        product
    }

    /// Takes the slopes and the sums, from the inverse of all denominators.
    #[inline(always)]
    fn backward<P: Record, const SCATTERED: bool>(
        self,
        batch: Batch<'_, P>,
        scratch: &mut Scratch<L>,
        mut inverse: Element<A, L>,
        out: &mut [P],
    ) {
        let a = self.lanes;
        let zero = [a.splat(0); L];
        for k in (0..batch.groups()).rev() {
            let group = batch.group::<SCATTERED>(k);
            if SCATTERED {
                let half = LANES * k + LANES / 2;
                batch.fetch_range(a, batch.next, half, half + LANES / 2);
                if k >= SOON {
                    batch.fetch_soon(a, k - SOON);
                }
            }
            let step = &scratch.steps[k];
            let (mut x1, mut denominator, mut before) = (zero, zero, zero);
            for j in 0..L {
                x1[j] = a.load(&step.x[j]);
                denominator[j] = a.load(&step.denominator[j]);
                before[j] = a.load(&step.before[j]);
            }
            let own = self.mul(&inverse, &before);
            inverse = self.mul(&inverse, &denominator);

            let y1 = self.load_y(batch.left, &group.one);
            let y2 = self.load_y(batch.right, &group.two);
            // y2 - y1 + 4 p, in [0, 8 p] with signs
            let mut numerator = if SCATTERED {
                self.add_signed(&y2, group.two.minus, &y1, !group.one.minus)
            } else {
                self.sub(&y2, &y1)
            };
            // x2 - x1 + 2 p
            let mut difference = denominator;
            let special = scratch.special.pop_if(|special| special.group == k);
            if let Some(special) = special {
                let tangent = self.tangent_numerator(&x1);
                numerator = self.select(special.equal, &tangent, &numerator);
                difference = self.select(special.equal, &self.sub(&zero, &zero), &difference);
            }

            let slope = self.mul(&numerator, &own);
            // slope^2 - x1 - x2 + 5 p, at least p
            let mut x = self.square_columns(&slope);
            for j in 0..L {
                let sum = a.add(a.add(x1[j], x1[j]), difference[j]);
                x[j] = a.sub(a.add(x[j], a.splat(Self::SEVEN[j])), sum);
            }
            let mut x = self.fold(x);
            // slope (x1 - x) - y1 + 3 p, at least p
            let mut y = self.mul_columns(&slope, &self.sub(&x1, &x));
            for j in 0..L {
                y[j] = a.add(y[j], a.splat(Self::THREE[j]));
                y[j] = if SCATTERED {
                    a.add_signed(!group.one.minus, y[j], y1[j])
                } else {
                    a.sub(y[j], y1[j])
                };
            }
            let mut y = self.fold(y);
            if let Some(special) = special {
                self.settle(
                    special,
                    (batch.left, &group.one),
                    (batch.right, &group.two),
                    &mut x,
                    &mut y,
                );
            }
            self.store(&x, &y, out, &group.out);
        }
    }
}
