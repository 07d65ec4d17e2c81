//! From an input to a proof file, and from a proof file to a verdict.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use p3_challenger::{CanObserve, FieldChallenger};
use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, SuffixProver, observe_commitment};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use sha2::{Digest as _, Sha256};

use crate::driver::{Error, Opening};
use crate::engine::Engine;
use crate::error::{InputError, ParamsError};
use crate::field::{Challenger, Extension, F};
use crate::input::{Encoding, Input};
use crate::params::Params;
use crate::pcs::{P3Whir, challenger, mmcs};
use crate::proof::{ProofFile, Statement, preamble};

/// Why a statement was not proven.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The parameters are refused.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// The input is refused.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The point does not fit the polynomial.
    #[error("the point has {found} coordinates, the polynomial {expected} variables")]
    Point {
        /// Variables of the polynomial, before padding to the first fold.
        expected: usize,
        /// Coordinates given.
        found: usize,
    },
    /// The prover or its device failed.
    #[error(transparent)]
    Prover(#[from] Error),
}

/// Why a proof does not hold.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The parameters are refused.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// p3-whir's verifier says no.
    #[error("p3-whir's verifier refuses the proof: {0}")]
    Invalid(#[from] p3_whir::VerifierError),
    /// The point does not fit the polynomial.
    #[error("the point has {found} coordinates, the polynomial {expected} variables")]
    Point {
        /// Variables of the committed polynomial.
        expected: usize,
        /// Coordinates given.
        found: usize,
    },
    /// The proof holds for another value than the file's.
    #[error("the proof is about another value than the one stated")]
    Value,
}

/// A proof and how long its two halves took.
#[derive(Clone)]
pub struct Proved<EF: Extension> {
    /// Statement and proof.
    pub file: ProofFile<EF>,
    /// Encoding and hashing the polynomial.
    pub commit: Duration,
    /// Everything after it, grinding included.
    pub open: Duration,
}

/// `num_variables` coordinates that depend on `seed` alone.
///
/// Coefficient j is the first value below p among the 31-bit words of SHA-256 over the domain, the
/// seed and a counter.
#[must_use]
pub fn random_point<EF: Extension>(seed: u64, num_variables: usize) -> Vec<EF> {
    use p3_field::PrimeField32;
    let mut counter = 0_u64;
    let mut words = Vec::new();
    let mut next = move || loop {
        if words.is_empty() {
            let mut hash = Sha256::new();
            hash.update(b"fieldspar whir point");
            hash.update(seed.to_le_bytes());
            hash.update(counter.to_le_bytes());
            counter += 1;
            words.extend(hash.finalize().chunks_exact(4).rev().map(|word| {
                word.iter().rev().fold(0, |a, &b| a << 8 | u32::from(b)) & 0x7fff_ffff
            }));
        }
        match words.pop() {
            Some(word) if word < F::ORDER_U32 => return F::new(word),
            _ => {}
        }
    };
    (0..num_variables)
        .map(|_| EF::from_basis_coefficients_fn(|_| next()))
        .collect()
}

/// One table of one column of `n` variables, opened at one point.
#[must_use]
pub fn opening_protocol(n: usize) -> OpeningProtocol {
    let schedule = core::iter::once(OpeningBatch::new(vec![0], Vec::new())).collect();
    OpeningProtocol::new(vec![TableSpec::new(TableShape::new(n, 1), schedule)])
}

fn absorb_point<EF: Extension>(point: &[EF], challenger: &mut Challenger) {
    for &coordinate in point {
        challenger.observe_algebra_element(coordinate);
    }
}

/// Commits to the input, zero-padded to a power of two, and opens it at a point.
///
/// `point` gives one coordinate per variable of the input; it is called with their number.
/// Coordinate 0 is the most significant index bit. An input smaller than the first fold is padded
/// to it, and its point gets leading zeros.
///
/// # Errors
///
/// Parameters that p3-whir refuses, a point of another length, and the device's errors.
pub fn prove<EF: Extension, E: Engine<EF>>(
    engine: &E,
    params: &Params,
    input: Input,
    point: impl FnOnce(usize) -> Vec<EF>,
) -> Result<Proved<EF>, ProveError> {
    let (true_len, encoding) = (input.true_len, input.encoding);
    let own_variables = input.elements.len().max(1).next_power_of_two().ilog2() as usize;
    let committed = params.config::<EF>(own_variables)?.num_variables();
    let (evaluations, _) = input.padded(committed)?;
    let origin = Origin {
        own_variables,
        true_len,
        encoding,
    };
    prove_loaded(engine, params, origin, || engine.load(evaluations), point)
}

/// What the statement says of the input that a polynomial came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Variables of the input itself, before it was padded to the first fold.
    pub own_variables: usize,
    /// Elements of the input.
    pub true_len: u64,
    /// How it was encoded.
    pub encoding: Encoding,
}

/// [`prove`] for a polynomial that comes to the engine in another way: from page-locked memory, or
/// already in the device's own. `load` gives all the values that are committed to, padding included,
/// and its time counts as part of the commitment.
///
/// # Errors
///
/// As [`prove`].
pub fn prove_loaded<EF: Extension, E: Engine<EF>>(
    engine: &E,
    params: &Params,
    origin: Origin,
    load: impl FnOnce() -> Result<E::Polynomial, Error>,
    point: impl FnOnce(usize) -> Vec<EF>,
) -> Result<Proved<EF>, ProveError> {
    let Origin {
        own_variables,
        true_len,
        encoding,
    } = origin;
    let config = params.config::<EF>(own_variables)?;
    let n = config.num_variables();
    let given = point(own_variables);
    if given.len() != own_variables {
        return Err(ProveError::Point {
            expected: own_variables,
            found: given.len(),
        });
    }
    let mut point = EF::zero_vec(n - own_variables);
    point.extend(given);

    let protocol = opening_protocol(n);
    let opening = Opening {
        engine,
        config: &config,
        strategy: SuffixProver::<F, EF>::strategy(),
        cap_height: params.cap_height,
        protocol: &protocol,
    };
    let mut challenger = challenger();
    challenger.observe_slice(&preamble(params, n, true_len, encoding)?);

    let start = Instant::now();
    let polynomial = load()?;
    let (commitment, codeword) = engine
        .commit(&polynomial, opening.first_code())
        .map_err(ProveError::Prover)?;
    let commit = start.elapsed();

    let start = Instant::now();
    observe_commitment::<F, _, _>(&mut challenger, commitment.clone());
    absorb_point(&point, &mut challenger);
    let points = [Point::new(point)];
    let proof = opening.prove(polynomial, codeword, Some(&points), &mut challenger)?;
    let open = start.elapsed();

    let [point] = points;
    let value = proof
        .evals
        .first()
        .and_then(|batch| batch.current().first().copied())
        .ok_or(Error::mismatch("open", 0))?;
    let statement = Statement {
        params: params.clone(),
        n,
        true_len,
        encoding,
        commitment,
        point: point.as_slice().to_vec(),
        value,
    };
    Ok(Proved {
        file: ProofFile { statement, proof },
        commit,
        open,
    })
}

/// Verifies a proof file with p3-whir's own verifier.
///
/// # Errors
///
/// The verifier's reason, or a value that differs from the statement's.
pub fn verify<EF: Extension>(file: &ProofFile<EF>) -> Result<(), VerifyError> {
    let Statement {
        params,
        n,
        true_len,
        encoding,
        commitment,
        point,
        value,
    } = &file.statement;
    let config = params.config::<EF>(*n)?;
    // p3-whir trusts the caller with both, and panics where they differ
    let expected = config.num_variables();
    for found in [*n, point.len()] {
        if found != expected {
            return Err(VerifyError::Point { expected, found });
        }
    }
    let verifier = P3Whir::<EF, SuffixProver<F, EF>>::new(
        config,
        Radix2DFTSmallBatch::default(),
        mmcs(params.cap_height),
    );
    let mut challenger = challenger();
    challenger.observe_slice(&preamble(params, *n, *true_len, *encoding)?);
    verifier.observe_commitment(commitment, &mut challenger);
    absorb_point(point, &mut challenger);
    let opened = verifier.verify_at(
        commitment,
        &file.proof,
        &opening_protocol(*n),
        &[Point::new(point.clone())],
        &mut challenger,
    )?;
    let found = opened.first().and_then(|batch| batch.current().first());
    match found == Some(value) {
        true => Ok(()),
        false => Err(VerifyError::Value),
    }
}
