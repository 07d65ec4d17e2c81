//! Whether a GPU computes what Plonky3 computes.
//!
//! A driver may compile the kernels anew, and chips have faults: [`quick`] is for the first use of a
//! GPU with a driver, [`selftest`] for who asks.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;
use fieldspar_device::cuda::Arg;
use p3_sumcheck::strategy::VariableOrder;
use p3_symmetric::Permutation;

use super::engine::CudaEngine;
use super::kernels::{selftest_module, sources};
use super::words::{base, words};
use crate::cpu::CpuEngine;
use crate::cpu::poseidon2::WIDTH;
use crate::engine::{CodeShape, Engine, GrindTask, OpenedRows};
use crate::field::{EF5, F, Perm};
use crate::selftest::{
    OPERATIONS, POW_BITS, SLOT, SelfTestFailure, elements, failure, pow_state, same_codeword,
    same_root, same_witness, whole_proof,
};

/// States of the batch of permutations: one block, and a part of another.
const STATES: usize = 300;
/// log2 of the height of the codeword, and of its row: transforms of two passes.
const LOG_HEIGHT: usize = 10;
const LOG_WIDTH: usize = 4;

/// Sha256 of the sources of the kernels, in hex: a result of [`quick`] holds for these.
#[must_use]
pub fn kernels_id() -> Option<String> {
    let sources = sources()?;
    Some(sources.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// A batch of permutations, a transform of 2^10 points and a Merkle root against Plonky3's; a few
/// milliseconds.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first operation that differs or fails.
pub fn quick(engine: &CudaEngine) -> Result<(), SelfTestFailure> {
    permutations(&permutation(), |states| permuted(engine, states))?;
    codeword(engine)
}

/// [`quick`], a proof of work, and a small proof that p3-whir's verifier reads and that is the CPU's
/// byte for byte.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first operation that differs or fails.
pub fn selftest(engine: &CudaEngine) -> Result<(), SelfTestFailure> {
    quick(engine)?;
    proof_of_work(engine, &permutation())?;
    same_proof(engine)
}

/// A small proof that p3-whir's verifier reads and that is the CPU's byte for byte.
pub(crate) fn same_proof<E: Engine<EF5>>(engine: &E) -> Result<(), SelfTestFailure> {
    let wrong = |reason: String| failure(OPERATIONS[4], reason);
    let found = whole_proof(engine)?;
    let cpu = CpuEngine::new(CpuVariant::best()).map_err(|e| wrong(e.to_string()))?;
    let expected = whole_proof(&cpu)?;
    let bytes =
        |file: &crate::proof::ProofFile<EF5>| file.encode().map_err(|e| wrong(e.to_string()));
    match bytes(&found)? == bytes(&expected)? {
        true => Ok(()),
        false => Err(wrong(
            "it holds, and is not the CPU's byte for byte".to_owned(),
        )),
    }
}

pub(crate) fn permutation() -> Perm {
    p3_baby_bear::default_babybear_poseidon2_16()
}

/// An error with its cause, as the failure of an operation.
pub(crate) fn failed(operation: usize) -> impl Fn(&dyn std::error::Error) -> SelfTestFailure {
    move |error| {
        let mut reason = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            reason = format!("{reason}: {error}");
            cause = error.source();
        }
        failure(OPERATIONS[operation], reason)
    }
}

/// Whether `permuted` permutes a batch of states.
pub(crate) fn permutations(
    perm: &Perm,
    permuted: impl FnOnce(&[F]) -> Result<Vec<u32>, fieldspar_device::Error>,
) -> Result<(), SelfTestFailure> {
    let given = elements(1, WIDTH * STATES);
    let found = permuted(&given).map_err(|e| failed(0)(&e))?;
    let states = given.chunks_exact(WIDTH).zip(found.chunks_exact(WIDTH));
    for (i, (given, found)) in states.enumerate() {
        let expected = perm.permute(core::array::from_fn(|k| given[k]));
        let found: Vec<F> = found.iter().copied().map(base).collect();
        if found != expected {
            return Err(failure(OPERATIONS[0], format!("state {i} differs")));
        }
    }
    Ok(())
}

fn permuted(engine: &CudaEngine, states: &[F]) -> Result<Vec<u32>, fieldspar_device::Error> {
    const THREADS: u32 = 256;
    let stream = engine.cuda().stream()?;
    let kernel = selftest_module(engine.cuda())?.function("selftest_permutations")?;
    let data = stream.upload(words(states))?;
    let count = (states.len() / WIDTH) as u32;
    let args = [Arg::Ptr(data.as_ptr()), Arg::U32(count)];
    let grid = (count.div_ceil(THREADS), 1, 1);
    stream.launch(&kernel, grid, (THREADS, 1, 1), 0, &args)?;
    stream.download(&data, 0..states.len())
}

pub(crate) fn codeword<E: Engine<EF5>>(engine: &E) -> Result<(), SelfTestFailure> {
    let columns = 1 << LOG_WIDTH;
    let message = elements(2, columns << (LOG_HEIGHT - 1));
    let shape = CodeShape {
        order: VariableOrder::Suffix,
        fold: LOG_WIDTH,
        log_inv_rate: 1,
        cap_height: 0,
    };
    let wrong = failed(1);
    let polynomial = engine.load(message.clone()).map_err(|e| wrong(&e))?;
    let (root, code) = engine.commit(&polynomial, shape).map_err(|e| wrong(&e))?;
    let all: Vec<usize> = (0..1 << LOG_HEIGHT).collect();
    let opened = engine.open(&code, &all).map_err(|e| wrong(&e))?;
    let OpenedRows::Base(rows) = opened.rows else {
        return Err(failure(OPERATIONS[1], "rows of another field".to_owned()));
    };
    let found = rows.concat();
    same_codeword(message, columns, &found)?;
    same_root(found, columns, &root)
}

pub(crate) fn proof_of_work<E: Engine<EF5>>(
    engine: &E,
    perm: &Perm,
) -> Result<(), SelfTestFailure> {
    let task = GrindTask {
        state: pow_state(),
        slot: SLOT,
        bits: POW_BITS,
    };
    let found = engine.grind(&task).map_err(|e| failed(3)(&e))?;
    same_witness(perm, task.state, Some(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operations that every engine has must hold on one that is right.
    #[test]
    fn the_cpu_passes_what_the_gpu_must() {
        let cpu = CpuEngine::new(CpuVariant::Portable);
        let found = cpu
            .map_err(|e| failure("device", e.to_string()))
            .and_then(|cpu| {
                codeword(&cpu)?;
                proof_of_work(&cpu, &permutation())
            });
        assert_eq!(found, Ok(()));
    }

    #[test]
    fn a_failure_names_operation_and_cause() {
        let error = fieldspar_device::Error::KernelFailed {
            op: "launch",
            device: "cuda:0".to_owned(),
            source: "an illegal address".into(),
        };
        let failure = failed(1)(&error);
        assert_eq!(failure.operation, "encoding");
        assert_eq!(
            failure.reason,
            "launch failed on cuda:0: an illegal address"
        );
    }
}
