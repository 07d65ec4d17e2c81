//! The Poseidon2 permutation of width 16 over BabyBear, one state per lane.
//!
//! Same function as Plonky3's `default_babybear_poseidon2_16` (Grain constants, 4 + 13 + 4 rounds,
//! S-box x^7, M4 = circ(2, 3, 1, 1)); see Grassi, Khovratovich, Schofnegger, "Poseidon2".
//!
//! Two things make it fast. The S-boxes of four elements advance step by step together, because a
//! single one is a chain of dependent multiplications much longer than the processor's window. And
//! the entries ±2^-n of the internal diagonal act on shifted residues x + k, for the k that makes
//! the shift reproduce itself: then the product needs four operations and is canonical, see
//! [`Isa::div_2exp`].
#![forbid(unsafe_code)]

use std::sync::LazyLock;

use p3_baby_bear::{
    BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    BABYBEAR_POSEIDON2_RC_16_INTERNAL,
};
use p3_field::{Field, PrimeCharacteristicRing};

use super::isa::{Isa, NegativeForm};
use crate::field::F;

/// Elements of a state.
pub(crate) const WIDTH: usize = 16;

/// Round constants, in the form that the kernels add.
pub(crate) struct Constants {
    initial: [[NegativeForm; WIDTH]; 4],
    internal: [NegativeForm; 13],
    terminal: [[NegativeForm; WIDTH]; 4],
    /// What is added to each element before the internal rounds.
    shift: [F; WIDTH],
    /// What is added after them: the negatives.
    unshift: [F; WIDTH],
}

static CONSTANTS: LazyLock<Constants> = LazyLock::new(Constants::new);

/// The constants; fetch them once per kernel, outside the loops.
#[inline]
pub(crate) fn constants() -> &'static Constants {
    &CONSTANTS
}

/// `(element, n)` for the diagonal entries 2^-n.
const POSITIVE: [(usize, u32); 5] = [(3, 1), (9, 8), (10, 2), (11, 3), (12, 27)];
/// `(element, n)` for the diagonal entries -2^-n.
const NEGATIVE: [(usize, u32); 4] = [(6, 1), (13, 8), (14, 4), (15, 27)];

impl Constants {
    fn new() -> Self {
        // Shifts are residues of the stored words, that is of the Montgomery forms: the word 1
        // stands for the element 2^-32.
        let word_one = F::ONE.div_2exp_u64(32);
        let mut shift = [F::ZERO; WIDTH];
        for (i, _) in POSITIVE {
            shift[i] = -word_one;
        }
        for (i, n) in NEGATIVE {
            let two_n = F::TWO.exp_u64(u64::from(n));
            shift[i] = word_one * (two_n - F::ONE) * (two_n + F::ONE).inverse();
        }
        // Element 1 has the entry 1, so it keeps any shift; it takes the one that leaves the sum
        // of all elements right.
        shift[1] = -shift.iter().copied().sum::<F>();
        let external = |rc: [[F; WIDTH]; 4]| rc.map(|row| row.map(NegativeForm::new));
        Self {
            initial: external(BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL),
            internal: BABYBEAR_POSEIDON2_RC_16_INTERNAL.map(NegativeForm::new),
            terminal: external(BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL),
            shift,
            unshift: shift.map(|x| -x),
        }
    }
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
    for s in state.iter_mut() {
        for rc in &constants.initial {
            external_round(isa, s, rc);
        }
    }
    internal_rounds(isa, constants, state);
    for s in state.iter_mut() {
        for rc in &constants.terminal {
            external_round(isa, s, rc);
        }
    }
}

#[inline(always)]
fn external_round<I: Isa>(isa: I, s: &mut [I::V; WIDTH], rc: &[NegativeForm; WIDTH]) {
    for j in 0..4 {
        let x = [
            isa.add_constant(s[4 * j], rc[4 * j]),
            isa.add_constant(s[4 * j + 1], rc[4 * j + 1]),
            isa.add_constant(s[4 * j + 2], rc[4 * j + 2]),
            isa.add_constant(s[4 * j + 3], rc[4 * j + 3]),
        ];
        [s[4 * j], s[4 * j + 1], s[4 * j + 2], s[4 * j + 3]] = mat4(isa, isa.pow7(x));
    }
    mix_columns(isa, s);
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
    shift(isa, &constants.shift, state);
    for &rc in &constants.internal {
        let mut x = [state[0][0]; G];
        for g in 0..G {
            x[g] = isa.add_constant(state[g][0], rc);
        }
        let x = isa.pow7(x);
        for g in 0..G {
            internal_linear(isa, &mut state[g], x[g]);
        }
    }
    shift(isa, &constants.unshift, state);
}

#[inline(always)]
fn shift<I: Isa, const G: usize>(isa: I, by: &[F; WIDTH], state: &mut [[I::V; WIDTH]; G]) {
    for i in 1..WIDTH {
        if by[i] != F::ZERO {
            let k = isa.splat(by[i]);
            for s in state.iter_mut() {
                s[i] = isa.add(s[i], k);
            }
        }
    }
}

#[inline(always)]
fn double<I: Isa>(isa: I, x: I::V) -> I::V {
    isa.add(x, x)
}

/// 1 + diag(-2, 1, 2, 1/2, 3, 4, -1/2, -3, -4, 2^-8, 1/4, 1/8, 2^-27, -2^-8, -1/16, -2^-27), where
/// element 0 is `x`.
#[inline(always)]
fn internal_linear<I: Isa>(isa: I, s: &mut [I::V; WIDTH], x: I::V) {
    let tail = isa.add(
        isa.add(
            isa.add(isa.add(s[1], s[2]), isa.add(s[3], s[4])),
            isa.add(isa.add(s[5], s[6]), isa.add(s[7], s[8])),
        ),
        isa.add(
            isa.add(isa.add(s[9], s[10]), isa.add(s[11], s[12])),
            isa.add(isa.add(s[13], s[14]), s[15]),
        ),
    );
    let twice = double(isa, s[2]);
    let three_4 = isa.add(double(isa, s[4]), s[4]);
    let four_5 = double(isa, double(isa, s[5]));
    let three_7 = isa.add(double(isa, s[7]), s[7]);
    let four_8 = double(isa, double(isa, s[8]));
    let half_3 = isa.div_2exp::<1>(s[3]);
    let half_6 = isa.div_2exp::<1>(s[6]);
    let d9 = isa.div_2exp::<8>(s[9]);
    let d10 = isa.div_2exp::<2>(s[10]);
    let d11 = isa.div_2exp::<3>(s[11]);
    let d12 = isa.div_2exp::<27>(s[12]);
    let d13 = isa.div_2exp::<8>(s[13]);
    let d14 = isa.div_2exp::<4>(s[14]);
    let d15 = isa.div_2exp::<27>(s[15]);
    let sum = isa.add(tail, x);
    s[0] = isa.sub(tail, x);
    s[1] = isa.add(s[1], sum);
    s[2] = isa.add(twice, sum);
    s[3] = isa.add(half_3, sum);
    s[4] = isa.add(three_4, sum);
    s[5] = isa.add(four_5, sum);
    s[6] = isa.sub(sum, half_6);
    s[7] = isa.sub(sum, three_7);
    s[8] = isa.sub(sum, four_8);
    s[9] = isa.add(d9, sum);
    s[10] = isa.add(d10, sum);
    s[11] = isa.add(d11, sum);
    s[12] = isa.add(d12, sum);
    s[13] = isa.sub(sum, d13);
    s[14] = isa.sub(sum, d14);
    s[15] = isa.sub(sum, d15);
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
