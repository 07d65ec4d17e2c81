//! The tests of the crate in one binary.
#![allow(clippy::unwrap_used)]

mod bugs;
mod conformance;
mod constants;
mod merkle;
mod plonky3;
mod sponges;

use fieldspar_device::variants_to_test;
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::{Digest, MODULUS, State};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn element(&mut self) -> u64 {
        self.word() % MODULUS
    }

    fn elements(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.element()).collect()
    }

    fn state(&mut self) -> State {
        core::array::from_fn(|_| self.element())
    }

    fn digests(&mut self, count: usize) -> Vec<Digest> {
        (0..count)
            .map(|_| Digest::new(core::array::from_fn(|_| self.element())).unwrap())
            .collect()
    }
}

/// The engines of all variants that are here; those that have to be are.
fn engines() -> Vec<CpuEngine> {
    variants_to_test().unwrap();
    CpuEngine::all()
}
