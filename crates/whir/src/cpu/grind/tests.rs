//! Against a scalar search with Plonky3's permutation.

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_symmetric::Permutation;

use super::*;
use crate::cpu::isa::tests::{edge_elements, variants};

fn scalar(state: [F; WIDTH], slot: usize, bits: usize) -> F {
    let p3 = default_babybear_poseidon2_16();
    (0..F::ORDER_U32)
        .map(F::from_u32)
        .find(|&w| {
            let mut state = state;
            state[slot] = w;
            p3.permute_mut(&mut state);
            state[SAMPLED].as_canonical_u32().trailing_zeros() as usize >= bits
        })
        .unwrap()
}

#[test]
fn finds_the_smallest_witness_for_any_number_of_threads() {
    let elements = edge_elements(13 * WIDTH);
    for bits in 0..=12 {
        let mut state: [F; WIDTH] = elements[bits * WIDTH..][..WIDTH].try_into().unwrap();
        let slot = bits % 8;
        state[slot + 1..8].fill(F::ZERO);
        let expected = scalar(state, slot, bits);
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            for variant in variants() {
                let found = pool.install(|| grind(variant, state, slot, bits));
                assert_eq!(
                    found,
                    Some(expected),
                    "{variant:?} {bits} bits {threads} threads"
                );
            }
        }
    }
}

#[test]
fn a_window_ends_where_it_says() {
    let first = [F::ONE; WIDTH];
    for variant in variants() {
        let all = Window {
            first: &first,
            slot: 3,
            mask: 0,
            start: 5,
            end: 6,
        };
        assert_eq!(variant.run(all), Some(5));
        let empty = Window {
            first: &first,
            slot: 3,
            mask: 0,
            start: 6,
            end: 6,
        };
        assert_eq!(variant.run(empty), None);
    }
}
