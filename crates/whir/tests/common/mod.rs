//! Shared by the integration tests: p3's own prover as the rival, and a naive engine.
#![allow(dead_code, clippy::unwrap_used, missing_docs, unreachable_pub)]

pub mod naive;

use fieldspar_whir::field::{Challenger, Commitment, Extension, F};
use fieldspar_whir::pcs::{P3Whir, challenger, mmcs};
use p3_commit::MultilinearPcs;
use p3_dft::Radix2DFTSmallBatch;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use p3_whir::parameters::{ProtocolParameters, WhirConfig};

/// A commitment and the postcard bytes of a proof.
pub type Made = (Commitment, Vec<u8>);

pub fn p3<EF: Extension, L: Layout<F, EF>>(
    n: usize,
    params: &ProtocolParameters,
    cap: usize,
) -> Option<P3Whir<EF, L>> {
    let config = WhirConfig::<EF, F, Challenger>::new(n, params.clone()).ok()?;
    Some(P3Whir::new(
        config,
        Radix2DFTSmallBatch::default(),
        mmcs(cap),
    ))
}

/// Commits and opens with any PCS of the same types; points are absorbed before `open_at`.
pub fn make<EF, P, L>(
    pcs: &P,
    tables: &[Table<F>],
    fold: usize,
    protocol: &OpeningProtocol,
    points: Option<&[Point<EF>]>,
) -> Result<(Made, P::Proof), String>
where
    EF: Extension,
    L: Layout<F, EF>,
    P: PrescribedPointPcs<
            EF,
            Challenger,
            Val = F,
            Commitment = Commitment,
            Witness = p3_sumcheck::layout::Witness<F>,
            OpeningProtocol = OpeningProtocol,
        >,
    P::Proof: serde::Serialize,
    P::ProverError: core::fmt::Display,
{
    let mut ch = challenger();
    let witness = L::new_witness(tables.to_vec(), fold);
    let (commitment, data) = pcs.commit(witness, &mut ch).map_err(|e| e.to_string())?;
    let proof = match points {
        Some(points) => {
            absorb(points, &mut ch);
            pcs.open_at(data, protocol, points, &mut ch)
        }
        None => pcs.open(data, protocol.clone(), &mut ch),
    }
    .map_err(|e| e.to_string())?;
    let bytes = postcard::to_allocvec(&proof).unwrap();
    Ok(((commitment, bytes), proof))
}

pub fn absorb<EF: Extension>(points: &[Point<EF>], ch: &mut Challenger) {
    use p3_challenger::FieldChallenger;
    for point in points {
        for &coordinate in point.as_slice() {
            ch.observe_algebra_element(coordinate);
        }
    }
}

/// Verifies with p3's unmodified verifier.
pub fn check<EF: Extension, L: Layout<F, EF>>(
    p3: &P3Whir<EF, L>,
    commitment: &Commitment,
    proof: &fieldspar_whir::driver::Proof<EF>,
    protocol: &OpeningProtocol,
    points: Option<&[Point<EF>]>,
) -> Result<(), String> {
    let mut ch = challenger();
    match points {
        Some(points) => {
            p3.observe_commitment(commitment, &mut ch);
            absorb(points, &mut ch);
            p3.verify_at(commitment, proof, protocol, points, &mut ch)
                .map(|_| ())
        }
        None => p3.verify(commitment, proof, &mut ch, protocol.clone()),
    }
    .map_err(|e| e.to_string())
}

/// One table of one column, opened once.
pub fn single(n: usize, fold: usize) -> OpeningProtocol {
    let schedule = vec![OpeningBatch::new(vec![0], Vec::new())]
        .into_iter()
        .collect();
    OpeningProtocol::new(vec![TableSpec::new(TableShape::new(n, 1), schedule)])
        .pad_to_min_num_variables(fold)
}
