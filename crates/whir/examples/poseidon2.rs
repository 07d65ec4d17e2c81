//! Proves Poseidon2 permutations, one a row, with p3-multi-stark over this crate's PCS.
//!
//! `cargo run --release -p fieldspar-whir --example poseidon2 -- --log-permutations 16`
#![forbid(unsafe_code)]

#[macro_use]
#[path = "stark/run.rs"]
mod run;
mod stark;

use fieldspar_whir::field::{EF4, EF5, F};
use fieldspar_whir::params::ExtensionDegree;
use p3_baby_bear::{
    BABYBEAR_POSEIDON2_HALF_FULL_ROUNDS, BABYBEAR_POSEIDON2_PARTIAL_ROUNDS_16,
    BABYBEAR_S_BOX_DEGREE, GenericPoseidon2LinearLayersBabyBear,
};
use p3_poseidon2_air::{Poseidon2Air, RoundConstants};
use rand::SeedableRng;
use rand::rngs::SmallRng;

type Air = Poseidon2Air<
    F,
    GenericPoseidon2LinearLayersBabyBear,
    16,
    BABYBEAR_S_BOX_DEGREE,
    1,
    BABYBEAR_POSEIDON2_HALF_FULL_ROUNDS,
    BABYBEAR_POSEIDON2_PARTIAL_ROUNDS_16,
>;

prover!(four, EF4, Air);
prover!(five, EF5, Air);

fn main() -> Result<(), run::Fault> {
    let flags = run::Flags::read(16)?;
    println!("2^{} Poseidon2 permutations", flags.log_permutations);
    let air: Air = Poseidon2Air::new(RoundConstants::from_rng(&mut SmallRng::seed_from_u64(1)));
    let trace = air.generate_random_trace_rows(1 << flags.log_permutations, 0);
    match flags.params.degree {
        ExtensionDegree::Four => four::run(&flags, &air, trace),
        ExtensionDegree::Five => five::run(&flags, &air, trace),
    }
}
