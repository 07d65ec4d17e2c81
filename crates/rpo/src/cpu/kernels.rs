//! What is compiled once per instruction set.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::mds::mds;
use super::portable::Portable;
use super::rounds::{Batch, canonical};
use super::sbox::{inverse, sbox};
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
                0 => Batch::<I, 4, 0, 0>::permute(isa, states),
                1 => Batch::<I, 4, 4, 1>::permute(isa, states),
                2 => Batch::<I, 3, 6, 2>::permute(isa, states),
                _ => Batch::<I, 2, 6, 3>::permute(isa, states),
            }
        }
        let mut rest = blocks.into_remainder();
        while !rest.is_empty() {
            // A vector takes as long for one state as for all.
            let n = rest.len().min(I::LANES);
            let (some, others) = rest.split_at_mut(n);
            if n <= I::LANES / 2 {
                some.iter_mut().for_each(|s| permute_one(isa, s));
            } else {
                Batch::<I, 4, 0, 0>::permute(isa, some);
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

/// The elements of one state in the lanes of a few vectors.
#[inline(always)]
fn permute_one<I: Isa>(isa: I, state: &mut State) {
    for [first, second] in &ROUND_CONSTANTS {
        mds(Portable, state, first);
        match I::LANES {
            1 => in_words::<6>(state, sbox::<Portable, 6, 0>),
            4 => in_vectors::<I, 3>(isa, state, sbox::<I, 3, 0>),
            _ => in_vectors::<I, 2>(isa, state, sbox::<I, 2, 0>),
        }
        mds(Portable, state, second);
        match I::LANES {
            1 => in_words::<6>(state, inverse::<Portable, 6, 0>),
            4 => in_vectors::<I, 3>(isa, state, inverse::<I, 3, 0>),
            _ => in_vectors::<I, 2>(isa, state, inverse::<I, 2, 0>),
        }
    }
    *state = state.map(canonical);
}

#[inline(always)]
fn in_words<const G: usize>(
    state: &mut State,
    f: impl Fn(Portable, [u64; G], [u64; 0]) -> ([u64; G], [u64; 0]),
) {
    for group in state.chunks_exact_mut(G) {
        let mut words = [0; G];
        words.copy_from_slice(group);
        group.copy_from_slice(&f(Portable, words, []).0);
    }
}

#[inline(always)]
fn in_vectors<I: Isa, const G: usize>(
    isa: I,
    state: &mut State,
    f: impl Fn(I, [I::V; G], [u64; 0]) -> ([I::V; G], [u64; 0]),
) {
    let mut v = [isa.splat(0); G];
    for (v, group) in v.iter_mut().zip(state.chunks(I::LANES)) {
        let mut words = [0; MAX_LANES];
        words[..group.len()].copy_from_slice(group);
        *v = isa.load(&words);
    }
    let (v, _) = f(isa, v, []);
    for (v, group) in v.iter().zip(state.chunks_mut(I::LANES)) {
        let mut words = [0; MAX_LANES];
        isa.store(*v, &mut words);
        group.copy_from_slice(&words[..group.len()]);
    }
}

const _: () = assert!(WIDTH.is_multiple_of(6));
