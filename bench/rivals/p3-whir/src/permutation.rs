//! Speed of p3's packed Poseidon2, the floor under every prover that hashes with it.
use std::hint::black_box;
use std::time::Instant;

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_field::{PackedValue, PrimeCharacteristicRing};
use p3_symmetric::Permutation;

use crate::types::{F, PF, WIDTH};

/// Independent packed states, few enough to stay in the first-level cache.
const STATES: usize = 16;
const PASSES: usize = 2_000;
const REPEATS: usize = 9;

/// Nanoseconds per permutation of one (unpacked) state on one thread: the median of several repeats.
pub fn ns_per_state() -> f64 {
    let perm = default_babybear_poseidon2_16();
    let mut states: [[PF; WIDTH]; STATES] = core::array::from_fn(|s| {
        core::array::from_fn(|i| PF::from_fn(|lane| F::from_usize((s * WIDTH + i) * 64 + lane)))
    });
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..PASSES {
                for state in &mut states {
                    perm.permute_mut(state);
                }
                black_box(&mut states);
            }
            start.elapsed().as_nanos() as f64 / (PASSES * STATES * PF::WIDTH) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[REPEATS / 2]
}
