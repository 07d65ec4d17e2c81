//! Devices that fail and devices that lie, at every call of an opening of several tables: an error,
//! or a proof that p3-whir's verifier refuses; never a panic, never a false proof.

use std::collections::BTreeMap;

use crate::common::lying::Lying;
use crate::common::naive::Naive;
use crate::common::{Made, check, make, p3, params, point, several};
use fieldspar_whir::driver::Proof;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, Extension, F};
use fieldspar_whir::pcs::WhirPcs;
use p3_multilinear_util::point::Point;
use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver};
use p3_whir::parameters::{SecurityAssumption, WhirConfig};

/// Leaves one intermediate round.
const FOLD: usize = 1;
const LEVEL: usize = 40;

fn points<EF: Extension>() -> Vec<Point<EF>> {
    let arities = [5, 5, 7, 4];
    arities.iter().map(|&m| point(m, m as u64)).collect()
}

/// Opens the three tables on this engine and gives it back.
fn open<EF: Extension, L: Layout<F, EF>, E: Engine<EF>, R>(
    engine: E,
    given: bool,
    look: impl FnOnce(&E) -> R,
) -> (Result<(Made, Proof<EF>), String>, R) {
    let (tables, protocol) = several(FOLD);
    let n = L::new_witness(tables.clone(), FOLD).num_variables();
    let params = params(LEVEL, FOLD, SecurityAssumption::JohnsonBound);
    let config = WhirConfig::new(n, params).unwrap();
    let pcs = WhirPcs::<EF, L, E>::new(config, 0, engine);
    let points = points::<EF>();
    let points = given.then_some(&points[..]);
    let made = make::<EF, _, L>(&pcs, &tables, FOLD, &protocol, points);
    let seen = look(pcs.engine());
    (made, seen)
}

fn fails<EF: Extension, L: Layout<F, EF>>() {
    for given in [false, true] {
        let (made, calls) = open::<EF, L, _, _>(Naive::default(), given, Naive::calls);
        made.unwrap();
        assert!(calls > 30, "{calls}");
        for k in 0..calls {
            let (made, seen) = open::<EF, L, _, _>(Naive::failing_at(k), given, Naive::calls);
            let Err(error) = made else {
                panic!("call {k} failed, and a proof came of it")
            };
            assert!(error.contains("injected"), "call {k}: {error}");
            // the failed device is asked nothing more
            assert_eq!(seen, k + 1);
        }
    }
}

#[test]
fn a_device_that_fails_at_any_call_of_several_tables() {
    fails::<EF4, SuffixProver<F, EF4>>();
    fails::<EF5, PrefixProver<F, EF5>>();
}

/// Every wrong answer, alone, with everything after it derived from it.
fn lies<EF: Extension, L: Layout<F, EF>>(tried: &mut BTreeMap<&'static str, usize>) {
    let (tables, protocol) = several(FOLD);
    let n = L::new_witness(tables, FOLD).num_variables();
    let params = params(LEVEL, FOLD, SecurityAssumption::JohnsonBound);
    let rival = p3::<EF, L>(n, &params, 0).unwrap();
    for given in [false, true] {
        let points = points::<EF>();
        let points = given.then_some(&points[..]);
        let honest = Lying::new(Naive::default(), usize::MAX, false);
        let (made, calls) = open::<EF, L, _, _>(honest, given, Lying::calls);
        let (honest, proof) = made.unwrap();
        check(&rival, &honest.0, &proof, &protocol, points).unwrap();
        for (k, name) in calls.iter().enumerate() {
            for rows in [false, true] {
                let liar = Lying::new(Naive::default(), k, rows);
                let (made, lied) = open::<EF, L, _, _>(liar, given, Lying::lied);
                if !lied {
                    assert_eq!(*name, "load");
                    continue;
                }
                *tried.entry(name).or_default() += 1;
                let Ok((made, proof)) = made else { continue };
                let verdict = check(&rival, &made.0, &proof, &protocol, points);
                // the last fold of all is read by nobody
                let last = *name == "fold" && k + 1 == calls.len() && made.1 == honest.1;
                assert!(
                    verdict.is_err() || last,
                    "lie at call {k}, {name}: accepted"
                );
            }
        }
    }
}

/// Plonky3 GHSA-vrmm-4mm5-38vm, #398, #627 and their kind: a value that is not bound before the next
/// challenge lets a prover adapt the rest to it.
#[test]
fn plonky3_627_398_a_prover_that_lies_once_and_adapts_is_refused() {
    let mut tried = BTreeMap::new();
    lies::<EF4, SuffixProver<F, EF4>>(&mut tried);
    lies::<EF4, PrefixProver<F, EF4>>(&mut tried);
    lies::<EF5, SuffixProver<F, EF5>>(&mut tried);
    lies::<EF5, PrefixProver<F, EF5>>(&mut tried);
    // commitment, claims, out-of-domain answers, messages, final polynomial, rows, witnesses
    assert!(tried.len() >= 11, "{tried:?}");
    println!("refused: {tried:?}");
}

/// #1673 (review): work that is done before the out-of-domain answers are bound binds nothing.
#[test]
fn plonky3_1673_proof_of_work_depends_on_the_answers_before_it() {
    type L = SuffixProver<F, EF5>;
    let honest = Lying::new(Naive::default(), usize::MAX, false);
    let (_, (calls, tasks)) =
        open::<EF5, L, _, _>(honest, true, |e: &Lying<Naive>| (e.calls(), e.tasks()));
    let grinds = |upto: usize| calls[..upto].iter().filter(|c| **c == "grind").count();
    let mut looked = 0;
    for (k, name) in calls.iter().enumerate() {
        if !matches!(*name, "evaluate" | "values" | "commit_folded" | "message") {
            continue;
        }
        let next = grinds(k);
        let Some(task) = tasks.get(next) else {
            continue;
        };
        let liar = Lying::new(Naive::default(), k, false);
        let (_, lied) = open::<EF5, L, _, _>(liar, true, Lying::tasks);
        assert!(lied[next].state != task.state, "{name} at call {k}");
        looked += 1;
    }
    assert!(looked > 3, "{looked}: {calls:?}");
}
