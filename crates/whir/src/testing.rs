//! A small proof by p3-whir's own prover, for the tests of files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_challenger::CanObserve;
use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_field::{BasedVectorSpace, PrimeField32};
use p3_matrix::dense::RowMajorMatrix;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, SuffixProver, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use p3_whir::pcs::prover::WhirProver;

use crate::field::{Challenger, Extension, F, LeafHash, Mmcs, NodeHash};
use crate::input::{Encoding, Input};
use crate::params::Params;
use crate::proof::{ProofFile, Statement, preamble};

type Dft = Radix2DFTSmallBatch<F>;
type Pcs<EF> = WhirProver<EF, F, Dft, Mmcs, Challenger, SuffixProver<F, EF>>;

fn pcs<EF: Extension>(params: &Params, n: usize) -> Pcs<EF> {
    let config = params.config::<EF>(n).unwrap();
    let perm = default_babybear_poseidon2_16();
    let mmcs = Mmcs::new(
        LeafHash::new(perm.clone()),
        NodeHash::new(perm),
        params.cap_height,
    );
    let dft = Dft::new(1 << config.max_fft_size());
    Pcs::new(config, dft, mmcs)
}

fn protocol(n: usize) -> OpeningProtocol {
    let schedule = std::iter::once(OpeningBatch::new(vec![0], Vec::new())).collect();
    OpeningProtocol::new(vec![TableSpec::new(TableShape::new(n, 1), schedule)])
}

fn transcript<EF: Extension>(s: &Statement<EF>) -> Challenger {
    let mut challenger = Challenger::new(default_babybear_poseidon2_16());
    challenger.observe_slice(&preamble(&s.params, s.n, s.true_len, s.encoding).unwrap());
    challenger
}

fn absorb_point<EF: Extension>(challenger: &mut Challenger, point: &[EF]) {
    for x in point {
        challenger.observe_slice(<EF as BasedVectorSpace<F>>::as_basis_coefficients_slice(x));
    }
}

/// Elements that depend on `seed`, without a generator.
pub(crate) fn elements(seed: u32, len: usize) -> Vec<F> {
    let mut x = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    (0..len)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            F::new(x % F::ORDER_U32)
        })
        .collect()
}

/// Proves an input by p3-whir's own prover.
pub(crate) fn prove<EF: Extension>(params: &Params, input: Input, seed: u32) -> ProofFile<EF> {
    let (true_len, encoding) = (input.true_len, input.encoding);
    let (poly, n) = input.padded(params.padded_num_variables(0)).unwrap();
    let coordinates = elements(seed, n * EF::D);
    let point: Vec<EF> = coordinates
        .chunks(EF::D)
        .map(|c| <EF as BasedVectorSpace<F>>::from_basis_coefficients_slice(c).unwrap())
        .collect();
    let pcs = pcs::<EF>(params, n);
    let mut statement = Statement {
        params: params.clone(),
        n,
        true_len,
        encoding,
        commitment: vec![[F::new(0); 8]].into(),
        point: point.clone(),
        value: EF::ZERO,
    };
    let mut challenger = transcript(&statement);
    let witness = SuffixProver::<F, EF>::new_witness(
        vec![Table::new(RowMajorMatrix::new_row(poly))],
        params.folds.first(),
    );
    let (commitment, data) =
        MultilinearPcs::<EF, Challenger>::commit(&pcs, witness, &mut challenger).unwrap();
    absorb_point(&mut challenger, &point);
    let proof = PrescribedPointPcs::<EF, Challenger>::open_at(
        &pcs,
        data,
        &protocol(n),
        &[Point::new(point)],
        &mut challenger,
    )
    .unwrap();
    statement.commitment = commitment;
    statement.value = proof.evals[0].current()[0];
    ProofFile { statement, proof }
}

/// Verifies by p3-whir's own verifier.
pub(crate) fn verify<EF: Extension>(file: &ProofFile<EF>) -> bool {
    let s = &file.statement;
    let pcs = pcs::<EF>(&s.params, s.n);
    let mut challenger = transcript(s);
    MultilinearPcs::<EF, Challenger>::observe_commitment(&pcs, &s.commitment, &mut challenger);
    absorb_point(&mut challenger, &s.point);
    PrescribedPointPcs::<EF, Challenger>::verify_at(
        &pcs,
        &s.commitment,
        &file.proof,
        &protocol(s.n),
        &[Point::new(s.point.clone())],
        &mut challenger,
    )
    .is_ok_and(|values| values[0].current() == [s.value])
}

/// A small input of `2^n` words.
pub(crate) fn input(n: usize) -> Input {
    Input {
        elements: elements(7, 1 << n),
        true_len: 1 << n,
        encoding: Encoding::U32,
    }
}
