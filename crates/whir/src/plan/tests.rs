#![allow(clippy::unwrap_used)]

use super::*;
use crate::params::{Folds, RateSchedule};
use crate::testing::{input, prove};

#[test]
fn bytes_are_within_a_few_percent_of_real_proofs() {
    for (n, fold, rate, level) in [
        (4, 4, 1, 60),
        (8, 1, 2, 40),
        (10, 2, 1, 60),
        (12, 4, 1, 100),
        (13, 3, 3, 80),
    ] {
        for degree in [ExtensionDegree::Four, ExtensionDegree::Five] {
            for cap_height in [0, 2] {
                let params = Params {
                    security_level: level,
                    folds: Folds::Constant(fold),
                    log_inv_rate: rate,
                    rates: RateSchedule::Article,
                    pow_bits: 10,
                    degree,
                    cap_height,
                    ..Params::default()
                };
                let Ok(plan) = plan(&params, n) else { continue };
                let have = match degree {
                    ExtensionDegree::Four => prove::<EF4>(&params, input(n), 1).encode(),
                    ExtensionDegree::Five => prove::<EF5>(&params, input(n), 1).encode(),
                }
                .unwrap()
                .len() as f64;
                let want = plan.proof_bytes_estimate as f64;
                assert!(
                    (have / want - 1.0).abs() < 0.04,
                    "{n}/{fold}/{rate}: {have} for {want}"
                );
            }
        }
    }
}

/// p3-whir's published sizes, KB of the PCS proof at level 90, degree 4, capacity, article rates.
#[test]
fn bytes_of_large_proofs() {
    for (n, fold, rate, kb) in [
        (20, 4, 1, 65.0),
        (20, 1, 1, 267.0),
        (20, 2, 3, 58.1),
        (22, 4, 1, 75.2),
        (24, 4, 1, 87.9),
    ] {
        let params = Params {
            security_level: 90,
            assumption: Assumption::Capacity,
            folds: Folds::Constant(fold),
            log_inv_rate: rate,
            rates: RateSchedule::Article,
            degree: ExtensionDegree::Four,
            ..Params::default()
        };
        let plan = plan(&params, n).unwrap();
        let ratio = plan.pcs_proof_bytes_estimate as f64 / (1000.0 * kb);
        assert!((ratio - 1.0).abs() < 0.05, "{n}/{fold}/{rate}: {ratio}");
        assert!(plan.notice.is_some());
    }
}

#[test]
fn plan_is_the_configuration() {
    let params = Params {
        security_level: 90,
        assumption: Assumption::Capacity,
        rates: RateSchedule::Article,
        degree: ExtensionDegree::Four,
        ..Params::default()
    };
    let plan = plan(&params, 20).unwrap();
    assert_eq!(plan.queries, [80, 39, 16, 10]);
    assert_eq!(plan.pow_bits_per_round, [16, 15, 12, 11]);
    assert_eq!(plan.folding_pow_bits_per_round, [0, 0, 0, 3, 0]);
    assert_eq!(
        plan.expected_grinding_hashes,
        (1 << 16) + (1 << 15) + (1 << 12) + (1 << 11) + 4 * (1 << 3)
    );
    let json = serde_json::to_value(&plan).unwrap();
    for name in [
        "n",
        "folds",
        "rate",
        "assumption",
        "extension",
        "security_level",
        "pow_bits",
        "queries",
        "pow_bits_per_round",
        "proof_bytes_estimate",
        "peak_memory_bytes",
        "accepted",
        "reason",
    ] {
        assert!(json.get(name).is_some(), "{name}");
    }
    assert_eq!(json["accepted"], true);
}

#[test]
fn memory_grows_with_size_and_never_overflows() {
    let params = Params::default();
    let mut before = 0;
    for n in 4..=30 {
        let bytes = plan(&params, n).unwrap().peak_memory_bytes;
        assert!(bytes > before && bytes > 4 << n);
        before = bytes;
    }
    let huge = MemoryShape {
        num_variables: usize::MAX / 4,
        degree: 5,
        codewords: vec![(70, 70, 1), (63, 3, 0)],
        log_weights: 64,
    };
    assert_eq!(peak_memory_bytes(&huge), u64::MAX);
}

#[test]
fn siblings_of_one_and_of_all_positions() {
    let one = OpeningShape {
        rows: 1,
        width: 1,
        base: true,
        log_leaves: 9,
        levels: 7,
        saturated: false,
    };
    assert!((expected_siblings(&one) - 7.0).abs() < 1e-9);
    let all = OpeningShape {
        rows: 512,
        saturated: true,
        ..one
    };
    assert!(expected_siblings(&all).abs() < 1e-9);
}
