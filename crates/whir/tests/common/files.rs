//! Proof files, ours and by p3's own prover.

use fieldspar_device::CpuVariant;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{Extension, F};
use fieldspar_whir::input::{Encoding, Input};
use fieldspar_whir::params::Params;
use fieldspar_whir::pcs::{P3Whir, challenger, mmcs};
use fieldspar_whir::proof::{ProofFile, Statement, preamble};
use fieldspar_whir::statement::{opening_protocol, prove, verify};
use p3_challenger::CanObserve;
use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_field::PrimeCharacteristicRing;
use p3_matrix::dense::RowMajorMatrix;
use p3_multilinear_util::point::Point;
use p3_sumcheck::PrescribedPointPcs;
use p3_sumcheck::layout::{Layout, SuffixProver, Table};

pub fn input(elements: Vec<F>) -> Input {
    Input {
        true_len: elements.len() as u64,
        elements,
        encoding: Encoding::U32,
    }
}

/// `2^n` elements without a pattern.
pub fn elements(len: usize) -> Vec<F> {
    (0..len as u64)
        .map(|i| F::from_u64((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11))
        .collect()
}

/// The same statement proven by p3's own prover; `point` is that of the padded polynomial.
pub fn rival<EF: Extension>(params: &Params, input: Input, point: &[EF]) -> ProofFile<EF> {
    type L<EF> = SuffixProver<F, EF>;
    let (true_len, encoding) = (input.true_len, input.encoding);
    let (values, n) = input.padded(params.folds.first()).unwrap();
    let config = params.config::<EF>(n).unwrap();
    let dft = Radix2DFTSmallBatch::default();
    let pcs = P3Whir::<EF, L<EF>>::new(config, dft, mmcs(params.cap_height));
    let mut ch = challenger();
    ch.observe_slice(&preamble(params, n, true_len, encoding).unwrap());
    let table = Table::new(RowMajorMatrix::new_row(values));
    let witness = L::<EF>::new_witness(vec![table], params.folds.first());
    let (commitment, data) = pcs.commit(witness, &mut ch).unwrap();
    let points = [Point::new(point.to_vec())];
    super::absorb(&points, &mut ch);
    let proof = pcs
        .open_at(data, &opening_protocol(n), &points, &mut ch)
        .unwrap();
    ProofFile {
        statement: Statement {
            params: params.clone(),
            n,
            true_len,
            encoding,
            commitment,
            point: point.to_vec(),
            value: proof.evals[0].current()[0],
        },
        proof,
    }
}

/// Proves a statement, verifies it, finds p3's own bytes, and gives the file.
pub fn agree<EF: Extension>(
    variant: CpuVariant,
    params: &Params,
    elements: &[F],
    point: &[EF],
) -> ProofFile<EF>
where
    CpuEngine: Engine<EF>,
{
    let engine = CpuEngine::new(variant).unwrap();
    let given = |n| {
        assert_eq!(n, point.len());
        point.to_vec()
    };
    let file = prove(&engine, params, input(elements.to_vec()), given)
        .unwrap()
        .file;
    verify(&file).unwrap();
    let rival = rival(params, input(elements.to_vec()), &file.statement.point);
    verify(&rival).unwrap();
    assert!(file.statement == rival.statement, "statement");
    let bytes = file.encode().unwrap();
    assert!(bytes == rival.encode().unwrap(), "bytes of the file");
    assert!(ProofFile::<EF>::decode(&bytes).unwrap().statement == file.statement);
    file
}

/// The polynomial at a point, coordinate 0 the most significant bit of the index.
pub fn evaluate<EF: Extension>(elements: &[F], point: &[EF]) -> EF {
    let mut values: Vec<EF> = (0..1 << point.len())
        .map(|i| elements.get(i).map_or(EF::ZERO, |&x| EF::from(x)))
        .collect();
    for &z in point {
        let (low, high) = values.split_at(values.len() / 2);
        values = low
            .iter()
            .zip(high)
            .map(|(&a, &b)| a + z * (b - a))
            .collect();
    }
    values[0]
}
