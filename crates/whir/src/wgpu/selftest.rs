//! Whether an adapter computes what Plonky3 computes.
//!
//! Every driver compiles the kernels anew: [`quick`] is for the first use of an adapter with a driver,
//! [`selftest`] for who asks.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::wgpu::Arithmetic;
use sha2::{Digest, Sha256};

use super::engine::WgpuEngine;
use super::texts::{Module, modules};
use super::words::words;
use crate::cpu::poseidon2::WIDTH;
use crate::cuda::selftest::{codeword, permutation, permutations, proof_of_work, same_proof};
use crate::field::F;
use crate::selftest::SelfTestFailure;

const THREADS: usize = 256;

/// Sha256 of the texts of the kernels, in hex: a result of [`quick`] holds for these.
#[must_use]
pub fn kernels_id(arithmetic: Arithmetic) -> String {
    let mut hash = Sha256::new();
    for module in modules() {
        hash.update(module.text(arithmetic));
    }
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// A batch of permutations, a transform of 2^10 points and a Merkle root against Plonky3's.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first operation that differs or fails.
pub fn quick(engine: &WgpuEngine) -> Result<(), SelfTestFailure> {
    permutations(&permutation(), |states| permuted(engine, states, 1))?;
    codeword(engine)
}

/// [`quick`], a proof of work, and a small proof that p3-whir's verifier reads and that is the CPU's
/// byte for byte.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first operation that differs or fails.
pub fn selftest(engine: &WgpuEngine) -> Result<(), SelfTestFailure> {
    quick(engine)?;
    proof_of_work(engine, &permutation())?;
    same_proof(engine)
}

/// The states, each permuted `times` times.
pub(super) fn permuted(engine: &WgpuEngine, states: &[F], times: u32) -> Result<Vec<u32>, Error> {
    const OP: &str = "whir permute";
    let core = engine.core();
    let kernel = core.kernel(Module::Merkle { pieces: 1 }, "permute_states")?;
    let data = core.gpu.upload(OP, words(states))?;
    let count = states.len() / WIDTH;
    let mut batch = core.gpu.batch(OP);
    let bindings = [core.constants.all(), data.all()];
    let groups = count.div_ceil(THREADS) as u64;
    batch.dispatch(&kernel, &bindings, &[count as u32, times], groups)?;
    let read = batch.read(&data, 0..data.bytes())?;
    batch.run()?.get::<u32>(read)
}
