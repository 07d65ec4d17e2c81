//! The long tests, in one binary: the prover's generics take longer to compile than these take to
//! run, so they are compiled once.
//!
//! Counts are small here and large in `cargo xtask soak`.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../../examples/stark/mod.rs"]
mod stark;

#[macro_use]
mod statement;

mod bugs;
mod degenerate;
mod faults;
mod large;
mod machine;
mod multi_stark;
mod params_soak;
mod repeats;
mod tamper;
