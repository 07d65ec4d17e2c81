//! What is compiled once per instruction set.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel};
use super::mds::mds;
use super::portable::Portable;
use super::rounds::{Batch, canonical};
use crate::State;
use crate::reference::constants::ROUND_CONSTANTS;

/// Permutes every state. Any representatives in, canonical ones out.
pub(super) struct PermuteMany<'a>(pub(super) &'a mut [State]);

impl Kernel for PermuteMany<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let block = I::LANES + I::BESIDE;
        let mut blocks = self.0.chunks_exact_mut(block);
        for states in &mut blocks {
            match I::BESIDE {
                // The groups that were measured to be the fastest.
                0 => Batch::<I, 6, 0, 0, 1>::permute(isa, states),
                2 => Batch::<I, 3, 6, 2, 1>::permute(isa, states),
                _ => Batch::<I, 3, 9, 3, 1>::permute(isa, states),
            }
        }
        let mut rest = blocks.into_remainder();
        while !rest.is_empty() {
            // A vector takes as long for one state as for all; each alone is sooner done for a few.
            let n = rest.len().min(I::LANES);
            let (some, others) = rest.split_at_mut(n);
            if 4 * n <= 3 * I::LANES {
                for state in some {
                    permute_one(isa, state);
                }
            } else {
                Batch::<I, 4, 0, 0, 2>::permute(isa, some);
            }
            rest = others;
        }
    }
}

/// Permutes one state as soon as possible.
pub(super) struct PermuteOne<'a>(pub(super) &'a mut State);

impl Kernel for PermuteOne<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        permute_one(isa, self.0);
    }
}

#[inline(always)]
fn permute_one<I: Isa>(isa: I, state: &mut State) {
    for [first, second] in &ROUND_CONSTANTS {
        mds(Portable, state, first);
        isa.power_one::<false>(state);
        mds(Portable, state, second);
        isa.power_one::<true>(state);
    }
    *state = state.map(canonical);
}
