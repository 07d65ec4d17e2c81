//! A challenger whose proof of work is the smallest valid witness.
//!
//! p3's own search is `find_map_any`: under rayon its witness, and with it the whole proof, changes
//! from run to run. Here the same packed search returns the smallest witness, so proofs can be
//! compared byte for byte. Everything else goes straight to the wrapped `DuplexChallenger`.
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use p3_challenger::{
    CanObserve, CanSample, CanSampleBits, CanSampleUniformBits, FieldChallenger,
    GrindingChallenger, ResamplingError,
};
use p3_field::{PackedValue, PrimeCharacteristicRing, PrimeField32};
use p3_symmetric::Permutation;
use rayon::prelude::*;

use crate::types::{Commitment, Duplex, F, PF, Perm, RATE, WIDTH};

/// Batches a thread searches between two looks at whether a smaller witness exists. Large enough
/// that starting a window costs nothing beside it, small enough that little work lies past a hit.
const BATCHES_PER_THREAD: usize = 128;
/// Fewest batches worth handing to another thread.
const MIN_SPLIT: usize = 8;

#[derive(Clone)]
pub struct SmallestFirst {
    inner: Duplex,
    grind_ns: Arc<AtomicU64>,
}

impl SmallestFirst {
    /// `grind_ns` receives the wall time of every `grind` of this challenger and its clones.
    pub fn new(permutation: Perm, grind_ns: Arc<AtomicU64>) -> Self {
        Self {
            inner: Duplex::new(permutation),
            grind_ns,
        }
    }
}

impl CanObserve<F> for SmallestFirst {
    #[inline]
    fn observe(&mut self, value: F) {
        self.inner.observe(value);
    }
}

impl CanObserve<Commitment> for SmallestFirst {
    fn observe(&mut self, value: Commitment) {
        self.inner.observe(value);
    }
}

impl CanSample<F> for SmallestFirst {
    #[inline]
    fn sample(&mut self) -> F {
        self.inner.sample()
    }
}

impl CanSampleBits<usize> for SmallestFirst {
    fn sample_bits(&mut self, bits: usize) -> usize {
        self.inner.sample_bits(bits)
    }
}

impl CanSampleUniformBits<F> for SmallestFirst {
    fn sample_uniform_bits<const RESAMPLE: bool>(
        &mut self,
        bits: usize,
    ) -> Result<usize, ResamplingError> {
        self.inner.sample_uniform_bits::<RESAMPLE>(bits)
    }
}

impl FieldChallenger<F> for SmallestFirst {}

impl GrindingChallenger for SmallestFirst {
    type Witness = F;

    fn grind(&mut self, bits: usize) -> F {
        let start = Instant::now();
        // p3's own conditions: the target must stay below the field order.
        assert!(bits < 64 && (1u64 << bits) < u64::from(F::ORDER_U32));
        let witness = if bits == 0 {
            F::ZERO
        } else {
            let witness =
                smallest_witness(&self.inner, bits).expect("failed to find proof-of-work witness");
            assert!(self.inner.check_witness(bits, witness));
            witness
        };
        self.grind_ns
            .fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        witness
    }

    fn check_witness(&mut self, bits: usize, witness: F) -> bool {
        self.inner.check_witness(bits, witness)
    }
}

/// The smallest `w` such that absorbing it makes the low `bits` of the next sample zero.
///
/// p3's search (p3-challenger 0.8.0, duplex_challenger's `grind`): one permutation of packed states
/// tries `PF::WIDTH` consecutive candidates. Batches are taken window by window in ascending order;
/// inside a window `find_map_first` keeps the leftmost hit, so no later window is ever searched.
fn smallest_witness(sponge: &Duplex, bits: usize) -> Option<F> {
    let lanes = PF::WIDTH;
    let order = F::ORDER_U32 as usize;
    let mask = (1u32 << bits) - 1;
    let slot = sponge.input_buffer.len();
    // The absorb adds its length (buffered inputs and the witness) to the first capacity element.
    let tagged = sponge.sponge_state[RATE] + F::from_usize(slot + 1);
    let base: [PF; WIDTH] = core::array::from_fn(|i| match i {
        _ if i < slot => sponge.input_buffer[i].into(),
        _ if i < RATE => PF::ZERO,
        RATE => tagged.into(),
        _ => sponge.sponge_state[i].into(),
    });

    let try_batch = |batch: usize| {
        let candidates = PF::from_fn(|lane| {
            // Past the end of the field the last element is repeated: it was tried before.
            F::from_u32((batch * lanes + lane).min(order - 1) as u32)
        });
        let mut state = base;
        state[slot] = candidates;
        sponge.permutation.permute_mut(&mut state);
        state[RATE - 1]
            .as_slice()
            .iter()
            .zip(candidates.as_slice())
            .find(|(sample, _)| sample.as_canonical_u32() & mask == 0)
            .map(|(_, &witness)| witness)
    };

    let batches = order.div_ceil(lanes);
    // An easy target is met within a few batches; a full window would mostly lie behind the hit.
    let expected = (1usize << bits).div_ceil(lanes);
    let window = (rayon::current_num_threads() * BATCHES_PER_THREAD).min(expected);
    (0..batches).step_by(window).find_map(|start| {
        (start..batches.min(start + window))
            .into_par_iter()
            .with_min_len(MIN_SPLIT)
            .find_map_first(try_batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use p3_baby_bear::default_babybear_poseidon2_16;

    /// Against a scalar search through p3's own `check_witness`, for every fill of the rate.
    #[test]
    fn grind_finds_the_smallest_witness_and_leaves_p3s_state() {
        for bits in [1, 5, 9, 12] {
            for buffered in 0..RATE {
                let mut reference = Duplex::new(default_babybear_poseidon2_16());
                let mut ours = SmallestFirst::new(default_babybear_poseidon2_16(), Arc::default());
                for i in 0..buffered + 3 * RATE {
                    reference.observe(F::from_usize(i * 7 + bits));
                    ours.observe(F::from_usize(i * 7 + bits));
                }
                let expected = (0..F::ORDER_U32)
                    .map(F::from_u32)
                    .find(|&w| reference.clone().check_witness(bits, w))
                    .unwrap();
                assert_eq!(ours.grind(bits), expected);
                assert!(reference.check_witness(bits, expected));
                let (a, b): (F, F) = (ours.sample(), reference.sample());
                assert_eq!(a, b);
            }
        }
    }
}
