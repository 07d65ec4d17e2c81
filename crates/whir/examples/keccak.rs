//! Proves Keccak-f permutations with p3-multi-stark over this crate's PCS.
//!
//! `cargo run --release -p fieldspar-whir --example keccak -- --log-permutations 10`
#![forbid(unsafe_code)]

#[path = "stark/run.rs"]
mod run;
mod stark;

use p3_keccak_air::KeccakAir;

fn main() -> Result<(), run::Fault> {
    let flags = run::Flags::read(10)?;
    println!("2^{} Keccak-f permutations", flags.log_permutations);
    let air = KeccakAir {};
    let trace = air.generate_random_trace_rows(1 << flags.log_permutations, 0);
    run::run(&flags, &air, trace)
}
