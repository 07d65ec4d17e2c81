//! The permutation on a batch: `LANES` states in vectors, `K` states in general registers.
#![forbid(unsafe_code)]

use super::isa::{Isa, MAX_LANES};
use super::mds::mds;
use super::portable::Portable;
use crate::reference::constants::ROUND_CONSTANTS;
use crate::{MODULUS, State, WIDTH};

/// `G` elements of all the states go through an S-box together; `S` is `G * K`, and
/// `J` as in the S-box.
pub(super) struct Batch<I: Isa, const G: usize, const S: usize, const K: usize, const J: usize> {
    isa: I,
    v: [I::V; WIDTH],
    s: [State; K],
}

impl<I: Isa, const G: usize, const S: usize, const K: usize, const J: usize> Batch<I, G, S, K, J> {
    /// Permutes `LANES + K` states, or fewer if `K` is 0.
    #[inline(always)]
    pub(super) fn permute(isa: I, states: &mut [State]) {
        const {
            assert!(S == G * K && WIDTH.is_multiple_of(G));
        }
        let mut words = [[0; MAX_LANES]; WIDTH];
        let lanes = states.len().min(I::LANES);
        let (vectors, beside) = states.split_at_mut(lanes);
        for (lane, state) in vectors.iter().enumerate() {
            for (word, &x) in words.iter_mut().zip(state) {
                word[lane] = x;
            }
        }
        let mut batch = Self {
            isa,
            v: [isa.splat(0); WIDTH],
            s: [[0; WIDTH]; K],
        };
        for (v, words) in batch.v.iter_mut().zip(&words) {
            *v = isa.load(words);
        }
        batch.s.copy_from_slice(beside);
        batch.rounds();
        for (v, words) in batch.v.iter().zip(&mut words) {
            isa.store(*v, words);
        }
        for (lane, state) in vectors.iter_mut().enumerate() {
            for (word, x) in words.iter().zip(state) {
                *x = canonical(word[lane]);
            }
        }
        for (out, state) in beside.iter_mut().zip(batch.s) {
            *out = state.map(canonical);
        }
    }

    #[inline(always)]
    fn rounds(&mut self) {
        for [first, second] in &ROUND_CONSTANTS {
            self.mds(first);
            self.powers::<false>();
            self.mds(second);
            self.powers::<true>();
        }
    }

    #[inline(always)]
    fn mds(&mut self, constants: &State) {
        mds(self.isa, &mut self.v, constants);
        for state in &mut self.s {
            mds(Portable, state, constants);
        }
    }

    #[inline(always)]
    fn powers<const INVERSE: bool>(&mut self) {
        for start in (0..WIDTH).step_by(G) {
            let (mut v, mut s) = ([self.v[0]; G], [0; S]);
            v.copy_from_slice(&self.v[start..start + G]);
            for (k, state) in self.s.iter().enumerate() {
                s[k * G..][..G].copy_from_slice(&state[start..start + G]);
            }
            let (v, s) = self.isa.power::<INVERSE, G, S, J>(v, s);
            self.v[start..start + G].copy_from_slice(&v);
            for (k, state) in self.s.iter_mut().enumerate() {
                state[start..start + G].copy_from_slice(&s[k * G..][..G]);
            }
        }
    }
}

/// The canonical one of the at most two representatives that a word can be.
#[inline(always)]
pub(super) const fn canonical(x: u64) -> u64 {
    if x >= MODULUS { x - MODULUS } else { x }
}
