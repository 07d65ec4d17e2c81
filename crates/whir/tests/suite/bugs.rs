//! Public bugs of provers and verifiers like this one, each with the input that shows it.
//!
//! Where a bug is tested elsewhere, this table says where. `src` is crates/whir/src, `suite` this
//! folder; names in backquotes are tests.
//!
//! | bug | where |
//! |---|---|
//! | Plonky3#556 proofs vary between runs | here; suite/repeats |
//! | Plonky3#2008 suffix order folds over the wrong variable | here |
//! | Plonky3#2193 residual narrower than a pack | here; suite/degenerate |
//! | Plonky3#1803 partial last fold, #1741 per-round folds | src/params/tests/refusals (refusals); here (a proof) |
//! | Plonky3#1119, #1766, #1768 heights that no commitment has | here |
//! | Plonky3#1616, #1679, #1690, #1734, #1836, #394, SP1#2629 malformed shapes | src/proof/tests (files); suite/tamper (straight to the verifier) |
//! | Plonky3#1757 element moved over a row's border | src/proof/tests; suite/tamper |
//! | Plonky3#1598, #2031, leanVM#158 biased or merged queries | here |
//! | Plonky3#1921, #1794 repeated index with two rows, sibling lists | here; suite/tamper |
//! | Plonky3#667, #969, RUSTSEC-2026-0125, RUSTSEC-2026-0012 one SIMD path differs | tests/conformance.rs on every variant; src/cpu |
//! | Plonky3#2199 grinding hashes the transcript again | here |
//! | whir-p3#407, Plonky3#1793, #1772 nothing is opened | here |
//! | whir-p3#366 two-adicity | src/params/tests/refusals |
//! | leanMultisig 5cf504a5 fewer threads than lanes | here |
//! | Plonky3#1850, #1851, #1852, #1853, #1747 soundness configuration | src/params/tests/refusals |
//! | Plonky3#2106, #1658, #1605 witness where no work is asked for | here; suite/tamper |
//! | Plonky3#1673 work done before the answers are bound | suite/faults |
//! | Plonky3#627 (GHSA-vrmm-4mm5-38vm), #398, jolt#981, whir-p3#202, RUSTSEC-2026-0004 a value not bound before the next challenge | suite/faults |
//! | GHSA-f69f-5fx9-w9r9 length of the final polynomial | suite/tamper |
//! | Frozen Heart, Least Authority 2024 B statement or parameters not bound | src/proof/tests; suite/tamper |
//! | Plonky3#1769 absorbs that do not bind their length, RUSTSEC-2024-0391 ambiguous encodings | here; src/proof/tests |
//! | Plonky3#1762, #1849, #1760, #1791 point on the domain | here; suite/degenerate |
//! | SP1 CVE-2026-40323 shape of the commitment is not that of the opening | here |
//! | Plonky3#1765, #1773 element plus p | src/proof/tests, src/input/tests; suite/tamper |
//! | PaddingFreeSponge collisions of unequal lengths | here |
//! | bincode#286, RUSTSEC-2025-0141, ere#423 length bombs | src/proof/tests |
//! | zip bombs | src/input/tests |
//! | tar RUSTSEC-2026-0067 symbolic links | src/proof/file/tests |
//! | Plonky3#2119 private helpers | none: this crate uses p3's public interface only |
//! | Plonky3#876, #1074, #1208, #1955 speed | the benches |

use fieldspar_device::variants_to_test;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::driver::Proof;
use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::params::{Folds, Params};
use fieldspar_whir::pcs::{P3Whir, WhirPcs, challenger};
use fieldspar_whir::statement::{prove, random_point, verify};
use p3_challenger::{CanObserve, CanSample};
use p3_field::{PrimeCharacteristicRing, TwoAdicField};
use p3_matrix::dense::RowMajorMatrix;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver, Table};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, TableShape, TableSpec};
use p3_whir::QueryOpenings;
use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};

use crate::common::files::{elements, evaluate, input};
use crate::common::lying::Lying;
use crate::common::naive::Naive;
use crate::common::{Made, agree, check, make, on_threads, p3, params, point, several, single};

type Suffix = SuffixProver<F, EF5>;
type Prefix = PrefixProver<F, EF5>;

fn engine() -> CpuEngine {
    CpuEngine::new(*variants_to_test().unwrap().last().unwrap()).unwrap()
}

fn column(values: Vec<F>) -> [Table<F>; 1] {
    [Table::new(RowMajorMatrix::new_row(values))]
}

/// One table of one column, opened at one given point.
fn open_one<L: Layout<F, EF5>>(
    values: Vec<F>,
    params: &ProtocolParameters,
    at: &Point<EF5>,
) -> (P3Whir<EF5, L>, Made, Proof<EF5>) {
    let (n, fold) = (at.num_variables(), params.folding_factor.at_round(0));
    let config = WhirConfig::new(n, params.clone()).unwrap();
    let pcs = WhirPcs::<EF5, L, _>::new(config, 0, engine());
    let points = [at.clone()];
    let table = column(values);
    let (made, proof) =
        make::<EF5, _, L>(&pcs, &table, fold, &single(n, fold), Some(&points)).unwrap();
    let verifier = p3::<EF5, L>(n, params, 0).unwrap();
    check(&verifier, &made.0, &proof, &single(n, fold), Some(&points)).unwrap();
    (verifier, made, proof)
}

#[test]
fn plonky3_556_proofs_do_not_change_from_run_to_run() {
    let params = params(90, 3, SecurityAssumption::JohnsonBound);
    let run = |threads| {
        on_threads(threads, || {
            open_one::<Suffix>(elements(1 << 10), &params, &point(10, 3))
                .1
                .1
        })
    };
    let first = run(1);
    for threads in [1, 2, 3, 7, 7, 2] {
        assert!(run(threads) == first, "{threads} threads");
    }
}

#[test]
fn plonky3_2008_each_order_folds_over_its_own_variable() {
    for n in 5..10 {
        for fold in 1..=4 {
            let params = params(60, fold, SecurityAssumption::JohnsonBound);
            let at = point::<EF5>(n, n as u64);
            let value = evaluate(&elements(1 << n), at.as_slice());
            let suffix = open_one::<Suffix>(elements(1 << n), &params, &at).2;
            let prefix = open_one::<Prefix>(elements(1 << n), &params, &at).2;
            for proof in [suffix, prefix] {
                assert!(proof.evals[0].current() == [value], "n {n} fold {fold}");
            }
        }
    }
}

fn narrow<EF: Extension, L: Layout<F, EF>>()
where
    CpuEngine: fieldspar_whir::engine::Engine<EF>,
{
    for variant in variants_to_test().unwrap() {
        for residual in 0..4 {
            for fold in 1..6 {
                let n = fold + residual;
                let params = params(50, fold, SecurityAssumption::JohnsonBound);
                let engine = CpuEngine::new(variant).unwrap();
                let (table, protocol) = (column(elements(1 << n)), single(n, fold));
                agree::<EF, L, _>(engine, &table, &protocol, &params, 0, None);
            }
        }
    }
}

#[test]
fn plonky3_2193_prefix_residual_narrower_than_a_pack() {
    narrow::<EF4, PrefixProver<F, EF4>>();
    narrow::<EF5, PrefixProver<F, EF5>>();
}

#[test]
fn plonky3_1803_a_partial_last_fold_is_proven() {
    let params = params(60, 8, SecurityAssumption::JohnsonBound);
    let config = WhirConfig::<EF5, F, fieldspar_whir::field::Challenger>::new(15, params.clone());
    assert_eq!(config.unwrap().folding_schedule(), [8, 7]);
    let table = column(elements(1 << 15));
    agree::<EF5, Suffix, _>(engine(), &table, &single(15, 8), &params, 0, None);
    let params = ProtocolParameters {
        folding_factor: FoldingFactor::PerRound(vec![3, 1, 5]),
        ..params
    };
    let table = column(elements(1 << 13));
    agree::<EF5, Prefix, _>(engine(), &table, &single(13, 3), &params, 0, None);
}

#[test]
fn plonky3_1119_1766_heights_that_the_commitment_does_not_have() {
    let good = params(60, 2, SecurityAssumption::JohnsonBound);
    let at = point(8, 5);
    let (_, made, proof) = open_one::<Suffix>(elements(1 << 8), &good, &at);
    let verdict = |n, cap, params: &ProtocolParameters| {
        let verifier = p3::<EF5, Suffix>(n, params, cap).unwrap();
        let fold = params.folding_factor.at_round(0);
        let points = [point(n, 5)];
        check(&verifier, &made.0, &proof, &single(n, fold), Some(&points))
    };
    verdict(8, 0, &good).unwrap();
    for n in [7, 9] {
        verdict(n, 0, &good).unwrap_err();
    }
    for cap in [1, 2] {
        verdict(8, cap, &good).unwrap_err();
    }
    let rate = ProtocolParameters {
        starting_log_inv_rate: 2,
        ..good.clone()
    };
    verdict(8, 0, &rate).unwrap_err();
    for fold in [1, 3] {
        let fold = FoldingFactor::Constant(fold);
        let folding_factor = fold;
        verdict(
            8,
            0,
            &ProtocolParameters {
                folding_factor,
                ..good.clone()
            },
        )
        .unwrap_err();
    }
}

/// The number of rows depends on the parameters alone, repeats are kept, and a repeated index has
/// one row.
#[test]
fn plonky3_2031_1921_repeated_queries() {
    let params = ProtocolParameters {
        starting_log_inv_rate: 2,
        ..params(24, 2, SecurityAssumption::CapacityBound)
    };
    let mut repeats = 0;
    for seed in 0..20 {
        let at = point(5, seed);
        let (verifier, made, proof) = open_one::<Suffix>(elements(32), &params, &at);
        let queries = verifier.final_round_config().num_queries;
        assert!(queries < 32, "{queries}: every position would be opened");
        let QueryOpenings::Base(openings) = &proof.whir.final_openings else {
            panic!("the first codeword is one of base elements")
        };
        assert_eq!(openings.rows.len(), queries);
        let again = (1..queries).find(|&i| openings.rows[..i].contains(&openings.rows[i]));
        let Some(again) = again else { continue };
        repeats += 1;
        let mut changed = proof.clone();
        if let QueryOpenings::Base(openings) = &mut changed.whir.final_openings {
            openings.rows[again][0] += F::ONE;
        }
        let points = [at];
        check(&verifier, &made.0, &changed, &single(5, 2), Some(&points)).unwrap_err();
    }
    assert!(repeats > 3, "{repeats}");
}

/// What is ground is a state of fixed size, however long the transcript before it.
#[test]
fn plonky3_2199_grinding_does_not_hash_the_transcript() {
    let params = params(60, 2, SecurityAssumption::JohnsonBound);
    let config = WhirConfig::new(6, params).unwrap();
    let engine = Lying::new(Naive::default(), usize::MAX, false);
    let pcs = WhirPcs::<EF5, Suffix, _>::new(config, 0, engine);
    let table = column(elements(64));
    make::<EF5, _, Suffix>(&pcs, &table, 2, &single(6, 2), None).unwrap();
    let tasks = pcs.engine().tasks();
    assert!(!tasks.is_empty());
    assert!(
        tasks
            .iter()
            .all(|t| t.slot < 8 && t.bits > 0 && t.bits <= 10)
    );
}

#[test]
fn whir_p3_407_1793_an_opening_of_nothing() {
    let params = params(60, 2, SecurityAssumption::JohnsonBound);
    let nothing = || {
        let schedule = Vec::new().into_iter().collect();
        OpeningProtocol::new(vec![TableSpec::new(TableShape::new(8, 1), schedule)])
    };
    // a proof of low degree alone: p3's own bytes
    let table = column(elements(1 << 8));
    agree::<EF5, Suffix, _>(engine(), &table, &nothing(), &params, 0, None);
    agree::<EF5, Prefix, _>(engine(), &table, &nothing(), &params, 0, Some(&[]));
    // no table at all: an error
    let config = WhirConfig::new(8, params).unwrap();
    let pcs = WhirPcs::<EF5, Suffix, _>::new(config, 0, engine());
    let none = OpeningProtocol::new(Vec::new());
    assert!(make::<EF5, _, Suffix>(&pcs, &table, 2, &none, None).is_err());
    // too few and too many points
    for points in [vec![], vec![point(8, 1), point(8, 2)], vec![point(7, 1)]] {
        let made = make::<EF5, _, Suffix>(&pcs, &table, 2, &single(8, 2), Some(&points));
        assert!(made.is_err());
    }
}

#[test]
fn lean_multisig_5cf504a5_fewer_threads_than_lanes() {
    let params = params(60, 2, SecurityAssumption::JohnsonBound);
    for variant in variants_to_test().unwrap() {
        for threads in 1..=5 {
            for n in 2..8 {
                on_threads(threads, || {
                    let engine = CpuEngine::new(variant).unwrap();
                    let (table, protocol) = (column(elements(1 << n)), single(n, 2));
                    agree::<EF5, Suffix, _>(engine, &table, &protocol, &params, 0, None);
                });
            }
        }
    }
}

/// A step without work takes the witness 0 and no other.
#[test]
fn plonky3_2106_1658_no_witness_where_no_work_is_asked_for() {
    let params = ProtocolParameters {
        pow_bits: 0,
        ..params(40, 2, SecurityAssumption::JohnsonBound)
    };
    let (n, at) = (9, point(9, 2));
    let (verifier, made, proof) = open_one::<Suffix>(elements(1 << n), &params, &at);
    let points = [at];
    let refused = |change: &dyn Fn(&mut Proof<EF5>)| {
        let mut proof = proof.clone();
        change(&mut proof);
        check(&verifier, &made.0, &proof, &single(n, 2), Some(&points)).unwrap_err();
    };
    assert_eq!(proof.whir.final_pow_witness, F::ZERO);
    refused(&|p| p.whir.final_pow_witness = F::ONE);
    refused(&|p| p.whir.rounds[0].pow_witness = F::ONE);
    for witness in [F::ZERO, F::ONE] {
        refused(&|p| p.whir.initial_sumcheck.pow_witnesses.push(witness));
        refused(&|p| p.whir.rounds[0].sumcheck.pow_witnesses.push(witness));
    }
}

#[test]
fn plonky3_1769_an_absorb_binds_its_length() {
    let sample = |values: &[u32]| -> F {
        let mut ch = challenger();
        values.iter().for_each(|&x| ch.observe(F::new(x)));
        ch.sample()
    };
    let samples = [
        sample(&[5, 7]),
        sample(&[5, 7, 0]),
        sample(&[5, 7, 0, 0]),
        sample(&[5, 7, 0, 0, 0, 0, 0, 0]),
        sample(&[]),
        sample(&[0]),
    ];
    let distinct: std::collections::HashSet<F> = samples.into_iter().collect();
    assert_eq!(distinct.len(), samples.len());
}

#[test]
fn plonky3_1762_a_point_on_the_evaluation_domain() {
    let params = params(60, 3, SecurityAssumption::JohnsonBound);
    let n = 8;
    let g = EF5::from(F::two_adic_generator(n - 3 + 1));
    for i in [0, 1, 2, 5, 16, 31] {
        let at = Point::expand_from_univariate(g.exp_u64(i), n);
        let table = column(elements(1 << n));
        for points in [None, Some(std::slice::from_ref(&at))] {
            agree::<EF5, Suffix, _>(engine(), &table, &single(n, 3), &params, 0, points);
            agree::<EF5, Prefix, _>(engine(), &table, &single(n, 3), &params, 0, points);
        }
    }
}

#[test]
fn sp1_cve_2026_40323_the_opened_shapes_are_the_committed_ones() {
    type L = Suffix;
    let params = params(60, 2, SecurityAssumption::JohnsonBound);
    let (tables, protocol) = several(2);
    let n = L::new_witness(tables.clone(), 2).num_variables();
    let config = WhirConfig::new(n, params.clone()).unwrap();
    let pcs = WhirPcs::<EF5, L, _>::new(config, 0, engine());
    let points: Vec<Point<EF5>> = [5, 5, 7, 4].iter().map(|&m| point(m, m as u64)).collect();
    let (made, proof) = make::<EF5, _, L>(&pcs, &tables, 2, &protocol, Some(&points)).unwrap();
    check(&pcs, &made.0, &proof, &protocol, Some(&points)).unwrap();
    // the same batches, of tables of other shapes that stack to the same size
    let schedules: Vec<Vec<_>> = (0..3)
        .map(|t| {
            let all = protocol.iter_openings();
            all.filter(|(table, _)| *table == t)
                .map(|(_, b)| b.clone())
                .collect()
        })
        .collect();
    for shapes in [
        [(5, 3), (7, 1), (5, 2)],
        [(7, 3), (5, 1), (4, 2)],
        [(4, 3), (7, 1), (5, 2)],
    ] {
        let specs = shapes
            .iter()
            .zip(&schedules)
            .map(|(&(arity, width), batches)| {
                let schedule = batches.to_vec();
                TableSpec::new(TableShape::new(arity, width), schedule)
            });
        let other = OpeningProtocol::new(specs.collect());
        let points: Vec<Point<EF5>> = other
            .iter_openings()
            .map(|(t, _)| point(shapes[t].0, shapes[t].0 as u64))
            .collect();
        check(&pcs, &made.0, &proof, &other, Some(&points)).unwrap_err();
    }
    // other columns of the same tables
    let batch = OpeningBatch::new(vec![1, 2], vec![0]);
    let mut specs = Vec::new();
    for (t, shape) in protocol.table_shapes().into_iter().enumerate() {
        let mut batches = schedules[t].clone();
        if t == 0 {
            batches[0] = batch.clone();
        }
        specs.push(TableSpec::new(shape, batches.into_iter().collect()));
    }
    check(
        &pcs,
        &made.0,
        &proof,
        &OpeningProtocol::new(specs),
        Some(&points),
    )
    .unwrap_err();
}

/// Inputs that differ in trailing zeros only have one commitment; the proof tells them apart.
#[test]
fn padding_free_sponge_inputs_of_unequal_length() {
    let params = Params {
        security_level: 40,
        folds: Folds::Constant(2),
        ..Params::default()
    };
    let short = elements(9);
    let long = [&short[..], &[F::ZERO; 2]].concat();
    let proven = [short, long].map(|values| {
        let point = |n| random_point::<EF5>(1, n);
        prove(&engine(), &params, input(values), point)
            .unwrap()
            .file
    });
    let [a, b] = &proven;
    assert!(a.statement.commitment == b.statement.commitment);
    assert!(a.statement.value == b.statement.value && a.statement.true_len != b.statement.true_len);
    for (x, y) in [(a, b), (b, a)] {
        let mut crossed = x.clone();
        verify(&crossed).unwrap();
        crossed.statement.true_len = y.statement.true_len;
        verify(&crossed).unwrap_err();
    }
}
