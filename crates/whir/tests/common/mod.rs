//! Shared by the integration tests: p3's own prover as the rival, and a naive engine.
#![allow(dead_code, clippy::unwrap_used, missing_docs, unreachable_pub)]

pub mod files;
pub mod lying;
pub mod naive;
pub mod operations;
pub mod sets;
pub mod tampering;

use fieldspar_whir::driver::Proof;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{Challenger, Commitment, Extension, F};
use fieldspar_whir::pcs::{P3Whir, WhirPcs, challenger, mmcs};
use p3_dft::Radix2DFTSmallBatch;
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, PrescribedPointPcs, TableShape, TableSpec};
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};
use rand::SeedableRng;
use rand::rngs::SmallRng;

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

/// Verifies with a PCS's own verifier; `verify_at` must give back the values in the proof.
pub fn check<EF, P>(
    pcs: &P,
    commitment: &Commitment,
    proof: &Proof<EF>,
    protocol: &OpeningProtocol,
    points: Option<&[Point<EF>]>,
) -> Result<(), String>
where
    EF: Extension,
    P: PrescribedPointPcs<
            EF,
            Challenger,
            Val = F,
            Commitment = Commitment,
            Proof = Proof<EF>,
            OpeningProtocol = OpeningProtocol,
        >,
    P::Error: core::fmt::Display,
{
    let mut ch = challenger();
    match points {
        Some(points) => {
            pcs.observe_commitment(commitment, &mut ch);
            absorb(points, &mut ch);
            let values = pcs
                .verify_at(commitment, proof, protocol, points, &mut ch)
                .map_err(|e| e.to_string())?;
            let same = proof.evals.len() == values.len()
                && values
                    .iter()
                    .zip(&proof.evals)
                    .all(|(a, b)| (a.current(), a.next()) == (b.current(), b.next()));
            if same {
                Ok(())
            } else {
                Err("other values".into())
            }
        }
        None => pcs
            .verify(commitment, proof, &mut ch, protocol.clone())
            .map_err(|e| e.to_string()),
    }
}

/// How often a soak test runs: the environment's count for this part, else a small one.
pub fn count(part: &str, small: u64) -> u64 {
    let name = format!("FIELDSPAR_SOAK_{part}");
    std::env::var(name).map_or(small, |count| count.parse().unwrap())
}

/// Runs `work` on a pool of so many threads.
pub fn on_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
        .install(work)
}

/// One table of one column, opened once.
pub fn single(n: usize, fold: usize) -> OpeningProtocol {
    let schedule = vec![OpeningBatch::new(vec![0], Vec::new())]
        .into_iter()
        .collect();
    OpeningProtocol::new(vec![TableSpec::new(TableShape::new(n, 1), schedule)])
        .pad_to_min_num_variables(fold)
}

pub fn params(level: usize, fold: usize, assumption: SecurityAssumption) -> ProtocolParameters {
    ProtocolParameters {
        security_level: level,
        pow_bits: 10,
        folding_factor: FoldingFactor::Constant(fold),
        soundness_type: assumption,
        starting_log_inv_rate: 1,
        round_log_inv_rates: vec![],
    }
}

pub fn point<EF: Extension>(n: usize, seed: u64) -> Point<EF> {
    let z = EF::from_basis_coefficients_fn(|i| F::from_u64(seed * 77 + i as u64 * 13 + 5));
    Point::new((0..n).map(|i| z.exp_u64(123_457 + i as u64)).collect())
}

/// Our proof has p3's bytes and convinces p3's verifier, and p3's convinces ours.
pub fn agree<EF: Extension, L: Layout<F, EF>, E: Engine<EF>>(
    engine: E,
    tables: &[Table<F>],
    protocol: &OpeningProtocol,
    params: &ProtocolParameters,
    cap: usize,
    points: Option<&[Point<EF>]>,
) {
    let fold = params.folding_factor.at_round(0);
    let n = L::new_witness(tables.to_vec(), fold).num_variables();
    let rival = p3::<EF, L>(n, params, cap).unwrap();
    let config = WhirConfig::new(n, params.clone()).unwrap();
    let ours = WhirPcs::<EF, L, E>::new(config, cap, engine);
    let (theirs, their_proof) = make::<EF, _, L>(&rival, tables, fold, protocol, points).unwrap();
    let (made, proof) = make::<EF, _, L>(&ours, tables, fold, protocol, points).unwrap();
    assert!(made.0 == theirs.0, "commitment");
    check(&rival, &made.0, &proof, protocol, points).unwrap();
    check(&ours, &theirs.0, &their_proof, protocol, points).unwrap();
    let differs = made.1.iter().zip(&theirs.1).position(|(a, b)| a != b);
    assert_eq!(differs, None, "first differing byte of {}", theirs.1.len());
    assert_eq!(made.1.len(), theirs.1.len(), "proof length");
}

/// One and several tables, current and next views, drawn and given points, caps.
pub fn all_kinds<EF: Extension, L: Layout<F, EF>, E: Engine<EF>>(
    engine: impl Fn() -> E,
    fold: usize,
    level: usize,
) {
    let mut rng = SmallRng::seed_from_u64(3);
    let assumption = SecurityAssumption::JohnsonBound;
    let n = 8;
    let tables = vec![Table::<F>::rand(&mut rng, 1, n)];
    agree::<EF, L, E>(
        engine(),
        &tables,
        &single(n, fold),
        &params(level, fold, assumption),
        0,
        None,
    );
    agree::<EF, L, E>(
        engine(),
        &tables,
        &single(n, fold),
        &params(level, fold, assumption),
        2,
        Some(&[point(n, 1)]),
    );
    let (tables, protocol) = several(fold);
    let points: Vec<Point<EF>> = [5, 5, 7, 4].iter().map(|&m| point(m, m as u64)).collect();
    let params = params(level, fold, assumption);
    agree::<EF, L, E>(engine(), &tables, &protocol, &params, 0, Some(&points));
    agree::<EF, L, E>(engine(), &tables, &protocol, &params, 1, None);
}

/// Three tables of different widths and heights; four batches, current and next views.
pub fn several(fold: usize) -> (Vec<Table<F>>, OpeningProtocol) {
    let mut rng = SmallRng::seed_from_u64(4);
    let tables = vec![
        Table::<F>::rand(&mut rng, 3, 5),
        Table::<F>::rand(&mut rng, 1, 7),
        Table::<F>::rand(&mut rng, 2, 4),
    ];
    let protocol = OpeningProtocol::new(vec![
        TableSpec::new(
            TableShape::new(5, 3),
            vec![
                OpeningBatch::new(vec![0, 2], vec![1]),
                OpeningBatch::new(vec![], vec![2]),
            ]
            .into_iter()
            .collect(),
        ),
        TableSpec::new(
            TableShape::new(7, 1),
            vec![OpeningBatch::new(vec![0], vec![0])]
                .into_iter()
                .collect(),
        ),
        TableSpec::new(
            TableShape::new(4, 2),
            vec![OpeningBatch::new(vec![0, 1], vec![])]
                .into_iter()
                .collect(),
        ),
    ])
    .pad_to_min_num_variables(fold);
    (tables, protocol)
}
