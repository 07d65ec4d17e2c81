//! Every variant against Plonky3's permutation, with values at the carry edges.

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_field::PrimeField32;
use p3_symmetric::Permutation;

use super::*;
use crate::cpu::isa::Kernel;
use crate::cpu::isa::tests::{edge_elements, variants};

struct Permute<'a, const G: usize>(&'a [[F; WIDTH]]);

impl<const G: usize> Kernel for Permute<'_, G> {
    type Output = Vec<[F; WIDTH]>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let mut out = Vec::new();
        let mut word = vec![F::ZERO; I::LANES];
        for chunk in self.0.chunks_exact(G * I::LANES) {
            let mut state: [[I::V; WIDTH]; G] = core::array::from_fn(|g| {
                core::array::from_fn(|i| {
                    for (l, w) in word.iter_mut().enumerate() {
                        *w = chunk[g * I::LANES + l][i];
                    }
                    isa.load(&word)
                })
            });
            permute(isa, constants(), &mut state);
            for group in state {
                let mut rows = vec![[F::ZERO; WIDTH]; I::LANES];
                for (i, v) in group.into_iter().enumerate() {
                    isa.store(v, &mut word);
                    for (row, &w) in rows.iter_mut().zip(&word) {
                        row[i] = w;
                    }
                }
                out.extend(rows);
            }
        }
        out
    }
}

fn states(count: usize) -> Vec<[F; WIDTH]> {
    let elements = edge_elements(count * WIDTH);
    let mut out: Vec<[F; WIDTH]> = elements
        .chunks_exact(WIDTH)
        .map(|c| c.try_into().unwrap())
        .collect();
    // states whose Montgomery words are all at one edge
    let word = |w: u32| F::from_u32(w).div_2exp_u64(32);
    for (state, w) in out
        .iter_mut()
        .skip(1)
        .zip([0, 1, 2, F::ORDER_U32 - 1, F::ORDER_U32 - 2])
    {
        *state = [word(w); WIDTH];
    }
    out
}

#[test]
fn equals_plonky3_on_every_variant() {
    let p3 = default_babybear_poseidon2_16();
    let input = states(512);
    let expected: Vec<_> = input.iter().map(|s| p3.permute(*s)).collect();
    for variant in variants() {
        assert_eq!(variant.run(Permute::<1>(&input)), expected, "{variant:?}");
        assert_eq!(variant.run(Permute::<2>(&input)), expected, "{variant:?}");
    }
}
