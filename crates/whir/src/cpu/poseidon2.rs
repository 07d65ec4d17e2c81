//! The Poseidon2 permutation of width 16 over BabyBear, one state per lane.
//!
//! Same function as Plonky3's `default_babybear_poseidon2_16` (Grain constants, 4 + 13 + 4 rounds,
//! S-box x^7, M4 = circ(2, 3, 1, 1)); see Grassi, Khovratovich, Schofnegger, "Poseidon2".
//!
//! What makes it fast:
//!
//! - The S-boxes of four elements advance step by step together, because a single one is a chain of
//!   dependent multiplications much longer than the processor's window.
//! - The S-box of an internal round runs beside the linear layer of the round before.
//! - Elements whose entries on the internal diagonal are opposite are held as one pair, see
//!   [`Coordinates`].
//! - The entries 2^-n act on shifted residues x + k: then the product needs four operations and is
//!   canonical, see [`Isa::div_2exp`]. Other shifts bring the constants of the internal rounds, and
//!   the first constants after them undo what is left.
#![forbid(unsafe_code)]

use std::sync::LazyLock;

use p3_baby_bear::{
    BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    BABYBEAR_POSEIDON2_RC_16_INTERNAL,
};
use p3_field::{Field, PrimeCharacteristicRing};

use super::isa::{Isa, NegativeForm};
use super::portable::Portable;
use crate::field::F;

/// Rounds with one S-box.
const INTERNAL_ROUNDS: usize = 13;
/// Elements of a state.
pub(crate) const WIDTH: usize = 16;

/// Round constants, in the form that the kernels add.
pub(crate) struct Constants {
    initial: [[NegativeForm; WIDTH]; 4],
    /// What the first internal round adds to element 0.
    internal: NegativeForm,
    /// What is added to the other coordinates, which brings the constants of the later internal
    /// rounds.
    shift: [F; SHIFTED],
    /// What is added after the internal rounds is undone here.
    terminal: [[NegativeForm; WIDTH]; 4],
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(Constants::new);

/// The constants; fetch them once per kernel, outside the loops.
#[inline]
pub(crate) fn constants() -> &'static Constants {
    &CONSTANTS
}

impl Constants {
    fn new() -> Self {
        let shift = internal_shift();
        // The rounds are affine in the coordinates, so where the S-boxes give zero they show what
        // becomes of the shifts.
        let mut c = Coordinates::of(Portable, &[F::ZERO; WIDTH]).shifted(Portable, &shift);
        for _ in 1..INTERNAL_ROUNDS {
            c = c.products(Portable).plus(Portable, c.sum(Portable));
        }
        let sum = c.sum(Portable);
        let after = c.last_products(Portable).state(Portable, sum, sum);
        let mut terminal = BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL;
        for (c, k) in terminal[0].iter_mut().zip(after) {
            *c -= k;
        }
        let external = |rc: [[F; WIDTH]; 4]| rc.map(|row| row.map(NegativeForm::new));
        Self {
            initial: external(BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL),
            internal: NegativeForm::new(BABYBEAR_POSEIDON2_RC_16_INTERNAL[0]),
            shift,
            terminal: external(terminal),
        }
    }
}

/// Coordinates that are shifted: as many as there are constants to bring.
const SHIFTED: usize = INTERNAL_ROUNDS - 1;

/// The shifts of the first coordinates such that element 0 leaves every internal round but the
/// last with the next round's constant added.
fn internal_shift() -> [F; SHIFTED] {
    let response = |shift: [F; SHIFTED]| -> [F; SHIFTED] {
        let mut c = Coordinates::of(Portable, &[F::ZERO; WIDTH]).shifted(Portable, &shift);
        core::array::from_fn(|_| {
            let sum = c.sum(Portable);
            c = c.products(Portable).plus(Portable, sum);
            sum
        })
    };
    // affine in the shifts: columns of the linear part, then the right-hand side
    let rest = response([F::ZERO; SHIFTED]);
    let mut rows = [[F::ZERO; SHIFTED + 1]; SHIFTED];
    for c in 0..SHIFTED {
        let mut unit = [F::ZERO; SHIFTED];
        unit[c] = F::ONE;
        let column = response(unit);
        for r in 0..SHIFTED {
            rows[r][c] = column[r] - rest[r];
        }
    }
    for r in 0..SHIFTED {
        rows[r][SHIFTED] = BABYBEAR_POSEIDON2_RC_16_INTERNAL[r + 1] - rest[r];
    }
    // The matrix is a product of a triangular one, a Vandermonde one whose nodes are the distinct
    // diagonal entries of the shifted coordinates, and a change of basis.
    for c in 0..SHIFTED {
        let pivot = (c..SHIFTED).find(|&r| rows[r][c] != F::ZERO).unwrap_or(c);
        rows.swap(c, pivot);
        let inverse = rows[c][c].inverse();
        rows[c] = rows[c].map(|x| x * inverse);
        let from = rows[c];
        for (r, row) in rows.iter_mut().enumerate() {
            let factor = row[c];
            if r != c {
                for (x, y) in row.iter_mut().zip(from) {
                    *x -= factor * y;
                }
            }
        }
    }
    rows.map(|row| row[SHIFTED])
}

/// The permutation of `G * LANES` states: lane `l` of `state[g]` is one state.
///
/// Outputs that the caller does not use cost nothing after inlining.
#[inline(always)]
pub(crate) fn permute<I: Isa, const G: usize>(
    isa: I,
    constants: &Constants,
    state: &mut [[I::V; WIDTH]; G],
) {
    for s in state.iter_mut() {
        external_linear(isa, s);
    }
    permute_mixed(isa, constants, state);
}

/// The permutation but for its first linear layer, which the caller has applied.
#[inline(always)]
pub(crate) fn permute_mixed<I: Isa, const G: usize>(
    isa: I,
    constants: &Constants,
    state: &mut [[I::V; WIDTH]; G],
) {
    for rc in &constants.initial {
        for s in state.iter_mut() {
            external_round(isa, s, rc);
        }
    }
    internal_rounds(isa, constants, state);
    for rc in &constants.terminal {
        for s in state.iter_mut() {
            external_round(isa, s, rc);
        }
    }
}

#[inline(always)]
fn external_round<I: Isa>(isa: I, s: &mut [I::V; WIDTH], rc: &[NegativeForm; WIDTH]) {
    // all S-boxes before the linear layer: with a quarter of it after each four of them, the
    // processor's window holds too few independent multiplications
    for j in 0..4 {
        let x = [
            isa.add_constant(s[4 * j], rc[4 * j]),
            isa.add_constant(s[4 * j + 1], rc[4 * j + 1]),
            isa.add_constant(s[4 * j + 2], rc[4 * j + 2]),
            isa.add_constant(s[4 * j + 3], rc[4 * j + 3]),
        ];
        [s[4 * j], s[4 * j + 1], s[4 * j + 2], s[4 * j + 3]] = isa.pow7_swapped(x);
    }
    external_linear(isa, s);
}

/// The linear layer of the external rounds.
#[inline(always)]
pub(crate) fn external_linear<I: Isa>(isa: I, s: &mut [I::V; WIDTH]) {
    for j in 0..4 {
        let x = [s[4 * j], s[4 * j + 1], s[4 * j + 2], s[4 * j + 3]];
        [s[4 * j], s[4 * j + 1], s[4 * j + 2], s[4 * j + 3]] = mat4(isa, x);
    }
    mix_columns(isa, s);
}

/// circ(2, 3, 1, 1).
#[inline(always)]
fn mat4<I: Isa>(isa: I, x: [I::V; 4]) -> [I::V; 4] {
    let x01 = isa.add(x[0], x[1]);
    let x23 = isa.add(x[2], x[3]);
    let all = isa.add(x01, x23);
    let all_1 = isa.add(all, x[1]);
    let all_3 = isa.add(all, x[3]);
    [
        isa.add(all_1, x01),
        isa.add(all_1, isa.add(x[2], x[2])),
        isa.add(all_3, x23),
        isa.add(all_3, isa.add(x[0], x[0])),
    ]
}

/// circ(2, 1, 1, 1) over the four quarters of the state.
#[inline(always)]
fn mix_columns<I: Isa>(isa: I, s: &mut [I::V; WIDTH]) {
    for k in 0..4 {
        let sum = isa.add(isa.add(s[k], s[k + 4]), isa.add(s[k + 8], s[k + 12]));
        for j in 0..4 {
            s[4 * j + k] = isa.add(s[4 * j + k], sum);
        }
    }
}

#[inline(always)]
fn internal_rounds<I: Isa, const G: usize>(
    isa: I,
    constants: &Constants,
    state: &mut [[I::V; WIDTH]; G],
) {
    for s in state.iter_mut() {
        let rest = Coordinates::of(isa, s).shifted(isa, &constants.shift);
        let mut tail = rest.sum(isa);
        let mut products = rest.products(isa);
        let [mut x] = isa.pow7([isa.add_constant(s[0], constants.internal)]);
        for _ in 2..INTERNAL_ROUNDS {
            let (first, sum) = (isa.sub_signed(tail, x), isa.add(tail, x));
            // independent of each other, side by side: the S-box, and the rest of the round before
            [x] = isa.pow7([first]);
            let rest = products.plus(isa, sum);
            tail = rest.sum(isa);
            products = rest.products(isa);
        }
        let (first, sum) = (isa.sub_signed(tail, x), isa.add(tail, x));
        [x] = isa.pow7([first]);
        let rest = products.plus(isa, sum);
        tail = rest.sum(isa);
        let first = isa.canonical(isa.sub_signed(tail, x));
        *s = rest.last_products(isa).state(isa, first, isa.add(tail, x));
    }
}

#[inline(always)]
fn triple<I: Isa>(isa: I, x: I::V) -> I::V {
    isa.add(isa.add(x, x), x)
}

/// Elements 1 to 15 of the state between internal rounds, whose linear layer is
/// 1 + diag(-2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, -2^-8, -1/16, -2^-27).
///
/// Elements a and b with entries d and -d are held as u = (a + b) / 2 and w = d (a - b) / 2. With
/// s the sum of the state, a round takes u to w + s and w to d^2 u: one product and one sum, where
/// a and b would take two of each.
#[derive(Clone, Copy)]
struct Coordinates<V> {
    /// (u, w) of the entries ±1/2, ±2^-8, ±3, ±4, ±2^-27.
    pairs: [(V, V); 5],
    /// The elements with the entries 1, 2, 1/4, 1/8, -1/16.
    single: [V; 5],
}

/// The elements of the pairs.
const PAIRS: [(usize, usize); 5] = [(3, 6), (9, 13), (4, 7), (5, 8), (12, 15)];
/// The other elements but 0.
const SINGLE: [usize; 5] = [1, 2, 10, 11, 14];

impl<V: Copy> Coordinates<V> {
    #[inline(always)]
    fn of<I: Isa<V = V>>(isa: I, s: &[V; WIDTH]) -> Self {
        let zero = isa.splat(F::ZERO);
        let mut pairs = [(zero, zero); 5];
        for i in 0..5 {
            let (a, b) = PAIRS[i];
            let u = isa.div_2exp::<1>(isa.add(s[a], s[b]));
            pairs[i] = (u, isa.sub(s[a], u));
        }
        let mut out = Self {
            pairs,
            single: [s[1], s[2], s[10], s[11], s[14]],
        };
        out.pairs = [
            (pairs[0].0, isa.div_2exp::<1>(pairs[0].1)),
            (pairs[1].0, isa.div_2exp::<8>(pairs[1].1)),
            (pairs[2].0, triple(isa, pairs[2].1)),
            (pairs[3].0, isa.mul_small::<4>(pairs[3].1)),
            (pairs[4].0, isa.div_2exp::<27>(pairs[4].1)),
        ];
        out
    }

    #[inline(always)]
    fn shifted<I: Isa<V = V>>(mut self, isa: I, by: &[F; SHIFTED]) -> Self {
        for i in 0..4 {
            self.pairs[i].0 = isa.add(self.pairs[i].0, isa.splat(by[i]));
            self.pairs[i].1 = isa.add(self.pairs[i].1, isa.splat(by[i + 4]));
            self.single[i] = isa.add(self.single[i], isa.splat(by[i + 8]));
        }
        self
    }

    /// The sum of the elements 1 to 15.
    #[inline(always)]
    fn sum<I: Isa<V = V>>(&self, isa: I) -> V {
        let [p0, p1, p2, p3, p4] = self.pairs;
        isa.sum_and_double(self.single, [p0.0, p1.0, p2.0, p3.0, p4.0])
    }

    /// What a round makes of the coordinates, less the sum of the state: (w, d^2 u) of the pairs,
    /// d times the single elements.
    #[inline(always)]
    fn products<I: Isa<V = V>>(self, isa: I) -> Self {
        let [p0, p1, p2, p3, p4] = self.pairs;
        Self {
            pairs: [
                (p0.1, isa.div_2exp::<2>(p0.0)),
                (p1.1, isa.div_2exp::<16>(p1.0)),
                (p2.1, isa.mul_small::<9>(p2.0)),
                (p3.1, isa.mul_small::<16>(p3.0)),
                (p4.1, isa.div_2exp::<27>(isa.div_2exp::<27>(p4.0))),
            ],
            single: single_products(isa, self.single),
        }
    }

    /// [`Self::products`] of the last round, with half the difference of a pair, d u, for d^2 u.
    #[inline(always)]
    fn last_products<I: Isa<V = V>>(self, isa: I) -> Self {
        let [p0, p1, p2, p3, p4] = self.pairs;
        Self {
            pairs: [
                (p0.1, isa.div_2exp::<1>(p0.0)),
                (p1.1, isa.div_2exp::<8>(p1.0)),
                (p2.1, triple(isa, p2.0)),
                (p3.1, isa.mul_small::<4>(p3.0)),
                (p4.1, isa.div_2exp::<27>(p4.0)),
            ],
            single: single_products(isa, self.single),
        }
    }

    /// Products become coordinates: the sum of the state is added.
    #[inline(always)]
    fn plus<I: Isa<V = V>>(self, isa: I, sum: V) -> Self {
        let mut pairs = self.pairs;
        for pair in &mut pairs {
            pair.0 = isa.add(pair.0, sum);
        }
        let [a, b, c, d, e] = self.single;
        Self {
            pairs,
            single: [
                isa.add(a, sum),
                isa.add(b, sum),
                isa.add(c, sum),
                isa.add(d, sum),
                isa.sub(sum, e),
            ],
        }
    }

    /// [`Self::last_products`] become the state, with `first` for element 0.
    #[inline(always)]
    fn state<I: Isa<V = V>>(self, isa: I, first: V, sum: V) -> [V; WIDTH] {
        let rest = self.plus(isa, sum);
        let mut s = [first; WIDTH];
        for i in 0..5 {
            let (u, v) = rest.pairs[i];
            s[PAIRS[i].0] = isa.add(u, v);
            s[PAIRS[i].1] = isa.sub(u, v);
            s[SINGLE[i]] = rest.single[i];
        }
        s
    }
}

/// The last one, whose entry is -1/16, less its sign.
#[inline(always)]
fn single_products<I: Isa>(isa: I, [a, b, c, d, e]: [I::V; 5]) -> [I::V; 5] {
    [
        a,
        isa.add(b, b),
        isa.div_2exp::<2>(c),
        isa.div_2exp::<3>(d),
        isa.div_2exp::<4>(e),
    ]
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
