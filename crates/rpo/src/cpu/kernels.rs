//! What is compiled once per instruction set.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::mds::mds;
use super::portable::Portable;
use super::rounds::{Batch, canonical};
use super::sbox::power;
use crate::reference::constants::ROUND_CONSTANTS;
use crate::{State, WIDTH};

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

/// An S-box on one state, its first elements in the lanes of `G` vectors and its last `S` in general
/// registers, whose latencies hide in each other.
#[inline(always)]
pub(crate) fn in_vectors<I: Isa, const G: usize, const S: usize, const INVERSE: bool>(
    isa: I,
    state: &mut State,
) {
    const {
        assert!(G * I::LANES + S == WIDTH);
    }
    let (lanes, rest) = state.split_at_mut(G * I::LANES);
    let (mut v, mut s) = ([isa.splat(0); G], [0; S]);
    for (v, group) in v.iter_mut().zip(lanes.chunks(I::LANES)) {
        let mut words = [0; MAX_LANES];
        words[..I::LANES].copy_from_slice(group);
        *v = isa.load(&words);
    }
    s.copy_from_slice(rest);
    let (v, s) = power::<I, INVERSE, G, S, G>(isa, v, s);
    for (v, group) in v.iter().zip(lanes.chunks_mut(I::LANES)) {
        let mut words = [0; MAX_LANES];
        isa.store(*v, &mut words);
        group.copy_from_slice(&words[..I::LANES]);
    }
    rest.copy_from_slice(&s);
}
