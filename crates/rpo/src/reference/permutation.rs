//! RPO, section 2 of eprint 2022/1577.
#![forbid(unsafe_code)]

use super::constants::ROUND_CONSTANTS;
use super::field::{add, canonical, mul, pow};
use crate::{State, WIDTH};

/// The exponent of the S-box.
pub const ALPHA: u64 = 7;
/// The exponent of its inverse: `7 * INVERSE_ALPHA = 1` modulo `p - 1`.
pub const INVERSE_ALPHA: u64 = 10_540_996_611_094_048_183;
/// First row of the circulant MDS matrix; row `i` is this row turned right `i` times.
pub const MDS_ROW: [u64; WIDTH] = [7, 23, 8, 26, 13, 10, 9, 7, 6, 22, 21, 8];

/// The permutation. Takes any representatives, gives canonical ones.
pub fn permute(state: &mut State) {
    *state = state.map(canonical);
    for constants in ROUND_CONSTANTS {
        half_round(state, &constants[0], ALPHA);
        half_round(state, &constants[1], INVERSE_ALPHA);
    }
}

fn half_round(state: &mut State, constants: &State, exponent: u64) {
    let old = *state;
    for (i, new) in state.iter_mut().enumerate() {
        let mut sum = constants[i];
        for (j, &x) in old.iter().enumerate() {
            sum = add(sum, mul(MDS_ROW[(WIDTH + j - i) % WIDTH], x));
        }
        *new = pow(sum, exponent);
    }
}
