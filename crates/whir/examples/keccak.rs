//! Proves Keccak-f permutations with p3-multi-stark over this crate's PCS.
//!
//! `cargo run --release -p fieldspar-whir --example keccak -- --log-permutations 10`
#![forbid(unsafe_code)]

#[macro_use]
#[path = "stark/run.rs"]
mod run;
mod stark;

use fieldspar_whir::field::{EF4, EF5};
use fieldspar_whir::params::ExtensionDegree;
use p3_keccak_air::KeccakAir;

prover!(four, EF4, KeccakAir);
prover!(five, EF5, KeccakAir);

fn main() -> Result<(), run::Fault> {
    let flags = run::Flags::read(10)?;
    println!("2^{} Keccak-f permutations", flags.log_permutations);
    let air = KeccakAir {};
    let trace = air.generate_random_trace_rows(1 << flags.log_permutations, 0);
    match flags.params.degree {
        ExtensionDegree::Four => four::run(&flags, &air, trace),
        ExtensionDegree::Five => five::run(&flags, &air, trace),
    }
}
