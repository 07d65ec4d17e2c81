//! The permutation of one state in two AVX2 vectors: words 0..8 and 8..16.
//!
//! The 4 x 4 blocks of the external layer are the 128-bit halves of a vector. The S-box of an
//! internal round is scalar, beside the sum of the other words.
#![allow(unsafe_code)]

use core::arch::x86_64::*;
use std::sync::LazyLock;

use p3_baby_bear::{
    BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    BABYBEAR_POSEIDON2_RC_16_INTERNAL,
};
use p3_field::{Field, PrimeCharacteristicRing};

use super::super::isa::Isa;
use super::super::poseidon2::WIDTH;
use super::avx2::Avx2;
use crate::field::F;

/// The constants in the order of the definition.
struct Single {
    initial: [[F; WIDTH]; 4],
    internal: [F; 13],
    terminal: [[F; WIDTH]; 4],
    diagonal: [F; WIDTH],
}

static SINGLE: LazyLock<Single> = LazyLock::new(|| {
    let over = |k: u64| F::TWO.exp_u64(k).inverse();
    let small = F::from_u32;
    Single {
        initial: BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
        internal: BABYBEAR_POSEIDON2_RC_16_INTERNAL,
        terminal: BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL,
        diagonal: [
            -small(2),
            small(1),
            small(2),
            over(1),
            small(3),
            small(4),
            -over(1),
            -small(3),
            -small(4),
            over(8),
            over(2),
            over(3),
            over(27),
            -over(8),
            -over(4),
            -over(27),
        ],
    }
});

/// Permutes the state.
pub(crate) fn permute(isa: Avx2, state: &mut [F; WIDTH]) {
    // SAFETY: the token shows that the processor has AVX2.
    unsafe { run(isa, &SINGLE, state) }
}

/// Runs intrinsics of the feature that the token proves.
macro_rules! intrinsics {
    ($body:expr) => {
        // SAFETY: only reached through `permute`, which has a token of AVX2; no intrinsic in this
        // block touches memory.
        unsafe { $body }
    };
}

#[target_feature(enable = "avx2")]
fn run(isa: Avx2, constants: &Single, state: &mut [F; WIDTH]) {
    let mut s = load(isa, state);
    let diagonal = load(isa, &constants.diagonal);
    external_linear(isa, &mut s);
    for rc in &constants.initial {
        external_round(isa, &mut s, rc);
    }
    for &rc in &constants.internal {
        internal_round(isa, &mut s, rc, diagonal);
    }
    for rc in &constants.terminal {
        external_round(isa, &mut s, rc);
    }
    isa.store(s[0], &mut state[..8]);
    isa.store(s[1], &mut state[8..]);
}

type State = [__m256i; 2];

#[inline(always)]
fn load(isa: Avx2, words: &[F; WIDTH]) -> State {
    [isa.load(&words[..8]), isa.load(&words[8..])]
}

#[inline(always)]
fn external_round(isa: Avx2, s: &mut State, rc: &[F; WIDTH]) {
    let rc = load(isa, rc);
    *s = isa.pow7([isa.add(s[0], rc[0]), isa.add(s[1], rc[1])]);
    external_linear(isa, s);
}

/// `x_(i + 1)` in the place of `x_i`, in every four words.
#[inline(always)]
fn next(x: __m256i) -> __m256i {
    intrinsics!(_mm256_shuffle_epi32::<0b00_11_10_01>(x))
}

/// `x_(i + 2)` in the place of `x_i`, in every four words.
#[inline(always)]
fn after_next(x: __m256i) -> __m256i {
    intrinsics!(_mm256_shuffle_epi32::<0b01_00_11_10>(x))
}

/// The two halves exchanged.
#[inline(always)]
fn halves(x: __m256i) -> __m256i {
    intrinsics!(_mm256_permute2x128_si256::<1>(x, x))
}

/// M4 = circ(2, 3, 1, 1): `y_i = (x_0 + .. + x_3) + x_i + 2 x_(i + 1)`.
#[inline(always)]
fn m4(isa: Avx2, x: __m256i) -> __m256i {
    let x1 = next(x);
    let pair = isa.add(x, x1);
    let all = isa.add(pair, after_next(pair));
    isa.add(isa.add(all, pair), x1)
}

#[inline(always)]
fn external_linear(isa: Avx2, s: &mut State) {
    let y = [m4(isa, s[0]), m4(isa, s[1])];
    let both = isa.add(y[0], y[1]);
    let all = isa.add(both, halves(both));
    *s = [isa.add(y[0], all), isa.add(y[1], all)];
}

#[inline(always)]
fn internal_round(isa: Avx2, s: &mut State, rc: F, diagonal: State) {
    let first = word_zero(s[0]) + rc;
    let square = first * first;
    let first = isa.splat((square * first) * (square * square));
    let zero = intrinsics!(_mm256_setzero_si256());
    let rest = isa.add(with_word_zero(s[0], zero), s[1]);
    let rest = isa.add(rest, halves(rest));
    let rest = isa.add(rest, after_next(rest));
    let rest = isa.add(rest, next(rest));
    let sum = isa.add(rest, first);
    *s = [
        isa.add(isa.mul(with_word_zero(s[0], first), diagonal[0]), sum),
        isa.add(isa.mul(s[1], diagonal[1]), sum),
    ];
}

#[inline(always)]
fn word_zero(x: __m256i) -> F {
    let word = intrinsics!(_mm256_cvtsi256_si32(x));
    // SAFETY: `F` is `#[repr(transparent)]` over a word, and the words of a state are below p.
    unsafe { core::mem::transmute::<i32, F>(word) }
}

/// `x` with word 0 of `y`.
#[inline(always)]
fn with_word_zero(x: __m256i, y: __m256i) -> __m256i {
    intrinsics!(_mm256_blend_epi32::<1>(x, y))
}
