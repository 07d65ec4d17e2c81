//! One state in vectors and general registers together.
#![forbid(unsafe_code)]

use crate::cpu::isa::{Isa, MAX_LANES};
use crate::cpu::sbox::power;
use crate::{State, WIDTH};

/// An S-box on one state, its first elements in the lanes of `G` vectors and its last `S` in general
/// registers, whose latencies hide in each other.
#[inline(always)]
pub(super) fn in_vectors<I: Isa, const G: usize, const S: usize, const INVERSE: bool>(
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
