//! The driver over a naive engine: p3-whir's own bytes, its verifier's consent, and errors instead
//! of panics when the device fails at any call.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::naive::Naive;
use common::{check, make, p3, single};
use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::pcs::WhirPcs;
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, TableShape, TableSpec};
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};
use rand::SeedableRng;
use rand::rngs::SmallRng;

fn params(level: usize, fold: usize, assumption: SecurityAssumption) -> ProtocolParameters {
    ProtocolParameters {
        security_level: level,
        pow_bits: 10,
        folding_factor: FoldingFactor::Constant(fold),
        soundness_type: assumption,
        starting_log_inv_rate: 1,
        round_log_inv_rates: vec![],
    }
}

fn point<EF: Extension>(n: usize, seed: u64) -> Point<EF> {
    let z = EF::from_basis_coefficients_fn(|i| F::from_u64(seed * 77 + i as u64 * 13 + 5));
    Point::new((0..n).map(|i| z.exp_u64(123_457 + i as u64)).collect())
}

fn agree<EF: Extension, L: Layout<F, EF>>(
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
    let ours = WhirPcs::<EF, L, Naive>::new(config, cap, Naive::default());
    let (theirs, _) = make::<EF, _, L>(&rival, tables, fold, protocol, points).unwrap();
    let (made, proof) = make::<EF, _, L>(&ours, tables, fold, protocol, points).unwrap();
    assert!(made.0 == theirs.0, "commitment");
    check(&rival, &made.0, &proof, protocol, points).unwrap();
    let differs = made.1.iter().zip(&theirs.1).position(|(a, b)| a != b);
    assert_eq!(differs, None, "first differing byte of {}", theirs.1.len());
    assert_eq!(made.1.len(), theirs.1.len(), "proof length");
}

fn all_kinds<EF: Extension, L: Layout<F, EF>>(fold: usize, level: usize) {
    let mut rng = SmallRng::seed_from_u64(3);
    let assumption = SecurityAssumption::JohnsonBound;
    let n = 8;
    let tables = vec![Table::<F>::rand(&mut rng, 1, n)];
    agree::<EF, L>(
        &tables,
        &single(n, fold),
        &params(level, fold, assumption),
        0,
        None,
    );
    agree::<EF, L>(
        &tables,
        &single(n, fold),
        &params(level, fold, assumption),
        2,
        Some(&[point(n, 1)]),
    );
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
    let points: Vec<Point<EF>> = [5, 5, 7, 4].iter().map(|&m| point(m, m as u64)).collect();
    let params = params(level, fold, assumption);
    agree::<EF, L>(&tables, &protocol, &params, 0, Some(&points));
    agree::<EF, L>(&tables, &protocol, &params, 1, None);
}

#[test]
fn degree_4_suffix() {
    all_kinds::<EF4, SuffixProver<F, EF4>>(3, 70);
    all_kinds::<EF4, SuffixProver<F, EF4>>(1, 70);
}

#[test]
fn degree_4_prefix() {
    all_kinds::<EF4, PrefixProver<F, EF4>>(2, 70);
    all_kinds::<EF4, PrefixProver<F, EF4>>(4, 70);
}

#[test]
fn degree_5_suffix() {
    all_kinds::<EF5, SuffixProver<F, EF5>>(4, 90);
}

#[test]
fn degree_5_prefix() {
    all_kinds::<EF5, PrefixProver<F, EF5>>(3, 90);
}

#[test]
fn a_device_that_fails_at_any_call_gives_an_error_and_no_panic() {
    type L = SuffixProver<F, EF5>;
    let (n, fold) = (6, 2);
    let mut rng = SmallRng::seed_from_u64(5);
    let tables = [Table::<F>::rand(&mut rng, 1, n)];
    let params = params(80, fold, SecurityAssumption::JohnsonBound);
    let run = |engine| {
        let config = WhirConfig::new(n, params.clone()).unwrap();
        let pcs = WhirPcs::<EF5, L, Naive>::new(config, 0, engine);
        let made = make::<EF5, _, L>(&pcs, &tables, fold, &single(n, fold), None);
        (made.map(|_| ()), pcs.engine().calls())
    };
    let (made, calls) = run(Naive::default());
    made.unwrap();
    for k in 0..calls {
        let (made, _) = run(Naive::failing_at(k));
        assert!(made.unwrap_err().contains("injected"), "call {k}");
    }
}
