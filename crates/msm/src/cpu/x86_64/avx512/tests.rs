use super::Avx512;
use crate::cpu::lanes::{Lanes, tests};

/// Runs a suite where the processor has the instructions, and says so where it has not.
fn with(suite: fn(Avx512)) {
    match Avx512::detect() {
        Some(lanes) => suite(lanes),
        None => eprintln!("skipped: no AVX-512 IFMA"),
    }
}

#[test]
fn field() {
    with(tests::field_suite);
}

#[test]
fn additions_377() {
    with(tests::additions_377);
}

#[test]
fn additions_381() {
    with(tests::additions_381);
}

#[test]
fn additions_254() {
    with(tests::additions_254);
}
