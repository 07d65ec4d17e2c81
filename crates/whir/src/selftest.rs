//! Whether the kernels of one CPU variant compute, on this very machine, what Plonky3 computes.
//!
//! Seconds at most: one permutation, one encoding, one Merkle root, one proof of work, and one
//! small proof that p3-whir's verifier reads. That of a GPU is [`crate::cuda::selftest`].
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;
use p3_commit::Mmcs as _;
use p3_dft::{Radix2DFTSmallBatch, TwoAdicSubgroupDft};
use p3_field::{PrimeCharacteristicRing, PrimeField32};
use p3_matrix::Matrix;
use p3_matrix::dense::RowMajorMatrix;
use p3_symmetric::Permutation;

use crate::cpu::CpuEngine;
use crate::cpu::grind::grind;
use crate::cpu::isa::{Isa, Kernel, Variant};
use crate::cpu::merkle::Tree;
use crate::cpu::ntt::{MessageOrder, encode};
use crate::cpu::poseidon2::{WIDTH, constants, permute};
use crate::engine::Engine;
use crate::field::{Commitment, EF5, F, Perm};
use crate::input::{Encoding, Input};
use crate::params::Params;
use crate::pcs::mmcs;
use crate::proof::ProofFile;
use crate::statement::{prove, random_point, verify};

/// What is compared, in this order.
pub const OPERATIONS: [&str; 5] = [
    "permutation",
    "encoding",
    "merkle root",
    "proof of work",
    "proof",
];

/// The first operation that differs from Plonky3's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operation} differs from Plonky3: {reason}")]
#[non_exhaustive]
pub struct SelfTestFailure {
    /// One of [`OPERATIONS`], or `device` where it cannot run.
    pub operation: &'static str,
    /// What was found.
    pub reason: String,
}

/// Rows and columns of the matrix that is encoded and hashed, 2^10 elements.
const ROWS: usize = 64;
const COLUMNS: usize = 16;
/// Tried one after the other by the reference, so few.
pub(crate) const POW_BITS: usize = 8;
/// The word of the state that the witness takes.
pub(crate) const SLOT: usize = 3;
/// Variables of the polynomial that is proven.
const VARIABLES: usize = 10;

/// Compares every kernel of `variant` with Plonky3.
///
/// # Errors
///
/// [`SelfTestFailure`] with the first operation that differs, or with `device` where the processor
/// lacks the variant's instructions.
pub fn selftest(variant: CpuVariant) -> Result<(), SelfTestFailure> {
    let Some(kernels) = Variant::new(variant) else {
        return Err(failure(
            "device",
            format!("this processor has no {variant} instructions"),
        ));
    };
    let perm: Perm = p3_baby_bear::default_babybear_poseidon2_16();
    permutation(kernels, &perm)?;
    let codeword = encoding(kernels)?;
    merkle_root(kernels, codeword)?;
    proof_of_work(kernels, &perm)?;
    let engine = CpuEngine::new(variant).map_err(|e| failure(OPERATIONS[4], e.to_string()))?;
    whole_proof(&engine).map(drop)
}

pub(crate) const fn failure(operation: &'static str, reason: String) -> SelfTestFailure {
    SelfTestFailure { operation, reason }
}

pub(crate) fn elements(seed: u32, count: usize) -> Vec<F> {
    let mut x = seed;
    (0..count)
        .map(|_| {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            F::new(x % F::ORDER_U32)
        })
        .collect()
}

/// One permutation in every lane.
struct Permute(Vec<F>);

impl Kernel for Permute {
    type Output = Vec<[F; WIDTH]>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let mut word = vec![F::ZERO; I::LANES];
        let mut state = [[isa.splat(F::ZERO); WIDTH]];
        for (i, v) in state[0].iter_mut().enumerate() {
            for (lane, w) in word.iter_mut().enumerate() {
                *w = self.0[lane * WIDTH + i];
            }
            *v = isa.load(&word);
        }
        permute(isa, constants(), &mut state);
        let mut out = vec![[F::ZERO; WIDTH]; I::LANES];
        for (i, v) in state[0].into_iter().enumerate() {
            isa.store(v, &mut word);
            for (row, &w) in out.iter_mut().zip(&word) {
                row[i] = w;
            }
        }
        out
    }
}

fn permutation(kernels: Variant, perm: &Perm) -> Result<(), SelfTestFailure> {
    let input = elements(1, WIDTH * kernels.lanes());
    let found = kernels.run(Permute(input.clone()));
    for (lane, (found, given)) in found.iter().zip(input.chunks_exact(WIDTH)).enumerate() {
        let expected = perm.permute(core::array::from_fn(|i| given[i]));
        if *found != expected {
            return Err(failure(OPERATIONS[0], format!("lane {lane} differs")));
        }
    }
    Ok(())
}

/// Gives the codeword.
fn encoding(kernels: Variant) -> Result<Vec<F>, SelfTestFailure> {
    let message = elements(2, ROWS * COLUMNS);
    let found = encode(kernels, &message, COLUMNS, MessageOrder::RowMajor, 1);
    same_codeword(message, COLUMNS, &found)?;
    Ok(found)
}

/// Whether `found` is the codeword of rate 1/2 of a message with rows of `columns` elements.
pub(crate) fn same_codeword(
    message: Vec<F>,
    columns: usize,
    found: &[F],
) -> Result<(), SelfTestFailure> {
    let mut padded = message;
    padded.resize(2 * padded.len(), F::ZERO);
    let expected = Radix2DFTSmallBatch::default()
        .dft_batch(RowMajorMatrix::new(padded, columns))
        .to_row_major_matrix()
        .values;
    match found.iter().zip(&expected).position(|(a, b)| a != b) {
        Some(index) => Err(failure(
            OPERATIONS[1],
            format!("element {index} of the codeword differs"),
        )),
        None if found.len() != expected.len() => {
            Err(failure(OPERATIONS[1], "another length".to_owned()))
        }
        None => Ok(()),
    }
}

fn merkle_root(kernels: Variant, codeword: Vec<F>) -> Result<(), SelfTestFailure> {
    let found = Tree::build(kernels, &[&codeword], COLUMNS, 0).cap();
    same_root(codeword, COLUMNS, &found)
}

/// Whether `found` is the root over the rows of `columns` elements of a codeword.
pub(crate) fn same_root(
    codeword: Vec<F>,
    columns: usize,
    found: &Commitment,
) -> Result<(), SelfTestFailure> {
    let (expected, _) = mmcs(0).commit(vec![RowMajorMatrix::new(codeword, columns)]);
    match *found == expected {
        true => Ok(()),
        false => Err(failure(OPERATIONS[2], "another root".to_owned())),
    }
}

fn proof_of_work(kernels: Variant, perm: &Perm) -> Result<(), SelfTestFailure> {
    let state = pow_state();
    same_witness(perm, state, grind(kernels, state, SLOT, POW_BITS))
}

/// The state that the search for a witness starts from.
pub(crate) fn pow_state() -> [F; WIDTH] {
    let mut state = [F::ZERO; WIDTH];
    for (word, x) in state.iter_mut().zip(elements(3, WIDTH)) {
        *word = x;
    }
    state
}

/// Whether `found` is the smallest witness.
pub(crate) fn same_witness(
    perm: &Perm,
    state: [F; WIDTH],
    found: Option<F>,
) -> Result<(), SelfTestFailure> {
    /// The word whose low bits the transcript samples.
    const SAMPLED: usize = 7;
    let expected = (0..F::ORDER_U32).map(F::new).find(|&witness| {
        let mut state = state;
        state[SLOT] = witness;
        perm.permute_mut(&mut state);
        state[SAMPLED].as_canonical_u32().trailing_zeros() as usize >= POW_BITS
    });
    match found == expected {
        true => Ok(()),
        false => Err(failure(
            OPERATIONS[3],
            format!("witness {found:?}, expected {expected:?}"),
        )),
    }
}

/// One proof, verified.
pub(crate) fn whole_proof<E: Engine<EF5>>(engine: &E) -> Result<ProofFile<EF5>, SelfTestFailure> {
    let wrong = |reason: String| failure(OPERATIONS[4], reason);
    let params = Params::default();
    let input = Input {
        elements: elements(4, 1 << VARIABLES),
        true_len: 1 << VARIABLES,
        encoding: Encoding::U32,
    };
    let proved = prove::<EF5, _>(engine, &params, input, |n| random_point(0, n))
        .map_err(|e| wrong(e.to_string()))?;
    verify(&proved.file).map_err(|e| wrong(e.to_string()))?;
    Ok(proved.file)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_that_is_here_passes() {
        for variant in fieldspar_device::variants_to_test().unwrap() {
            assert_eq!(selftest(variant), Ok(()), "{variant}");
        }
    }

    #[test]
    fn a_variant_that_is_not_here_is_named() {
        for variant in CpuVariant::ALL {
            if !variant.is_available() {
                assert_eq!(selftest(variant).unwrap_err().operation, "device");
            }
        }
    }
}
