//! The driver over a naive engine: p3-whir's own bytes, its verifier's consent, and errors instead
//! of panics when the device fails at any call.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::naive::Naive;
use common::{all_kinds, make, params, single};
use fieldspar_whir::field::{EF4, EF5, F};
use fieldspar_whir::pcs::WhirPcs;
use p3_sumcheck::layout::{PrefixProver, SuffixProver, Table};
use p3_whir::parameters::{SecurityAssumption, WhirConfig};
use rand::SeedableRng;
use rand::rngs::SmallRng;

#[test]
fn degree_4_suffix() {
    all_kinds::<EF4, SuffixProver<F, EF4>, _>(Naive::default, 3, 70);
    all_kinds::<EF4, SuffixProver<F, EF4>, _>(Naive::default, 1, 70);
}

#[test]
fn degree_4_prefix() {
    all_kinds::<EF4, PrefixProver<F, EF4>, _>(Naive::default, 2, 70);
    all_kinds::<EF4, PrefixProver<F, EF4>, _>(Naive::default, 4, 70);
}

#[test]
fn degree_5_suffix() {
    all_kinds::<EF5, SuffixProver<F, EF5>, _>(Naive::default, 4, 90);
}

#[test]
fn degree_5_prefix() {
    all_kinds::<EF5, PrefixProver<F, EF5>, _>(Naive::default, 3, 90);
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
