#![allow(clippy::unwrap_used)]

use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption, WhirConfig};

use super::*;
use crate::error::ParamsError;
use crate::field::{Challenger, EF4, EF5, F};

mod refusals;

fn article(fold: usize, rate: usize, level: usize) -> Params {
    Params {
        security_level: level,
        assumption: Assumption::Capacity,
        folds: Folds::Constant(fold),
        log_inv_rate: rate,
        rates: RateSchedule::Article,
        degree: ExtensionDegree::Four,
        ..Params::default()
    }
}

/// p3-whir's own verdict, with no check of ours in the way.
fn p3<EF: crate::field::Extension>(n: usize, p: &Params, rates: Vec<usize>) -> bool {
    let parameters = ProtocolParameters {
        starting_log_inv_rate: p.log_inv_rate,
        round_log_inv_rates: rates,
        folding_factor: match &p.folds {
            Folds::Constant(k) => FoldingFactor::Constant(*k),
            Folds::PerRound(v) => FoldingFactor::PerRound(v.clone()),
        },
        soundness_type: match p.assumption {
            Assumption::UniqueDecoding => SecurityAssumption::UniqueDecoding,
            Assumption::Johnson => SecurityAssumption::JohnsonBound,
            Assumption::Capacity => SecurityAssumption::CapacityBound,
        },
        security_level: p.security_level,
        pow_bits: p.pow_bits,
    };
    WhirConfig::<EF, F, Challenger>::new_with_initial_claims(n, parameters, 1).is_ok()
}

/// The highest levels measured with p3-whir itself.
#[test]
fn highest_levels_of_degree_four_and_capacity() {
    for (n, fold, rate, level) in [
        (22, 1, 6, 83),
        (22, 6, 5, 85),
        (24, 4, 1, 91),
        (26, 4, 1, 89),
        (27, 4, 1, 86),
    ] {
        assert_eq!(
            article(fold, rate, 90).max_security_level(n),
            Some(level),
            "{n}/{fold}/{rate}"
        );
        assert!(article(fold, rate, level).check(n).is_ok());
        let error = article(fold, rate, level + 1).check(n).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&format!("{level} bits is the highest")),
            "{text}"
        );
    }
    let standard = Params {
        rates: RateSchedule::Standard,
        ..article(4, 1, 90)
    };
    assert_eq!(standard.max_security_level(24), Some(88));
}

/// n + 2 rate bits are lost to the three initial claims.
#[test]
fn initial_claims_bound_of_degree_four_and_capacity() {
    for (n, rate, level) in [(20, 1, 95), (20, 3, 91)] {
        assert!(article(4, rate, level).check(n).is_ok());
        assert!(matches!(
            article(4, rate, level + 1).check(n).unwrap_err(),
            ParamsError::InitialClaims { claims: 3, .. }
        ));
    }
}

#[test]
fn degree_five_and_johnson_reach_one_hundred_bits() {
    for n in [20, 22, 24] {
        for fold in [1, 2, 3, 4, 6] {
            for rate in [1, 2, 3, 5, 6] {
                let params = Params {
                    folds: Folds::Constant(fold),
                    log_inv_rate: rate,
                    rates: RateSchedule::Article,
                    ..Params::default()
                };
                match params.check(n) {
                    Ok(()) => {}
                    Err(ParamsError::TwoAdicity { .. }) => assert!(n + rate - fold > 27),
                    Err(other) => panic!("{n}/{fold}/{rate}: {other}"),
                }
            }
        }
    }
    let thirty = Params {
        folds: Folds::Constant(4),
        ..Params::default()
    };
    assert!(thirty.check(30).is_ok());
}

/// Our verdict is p3-whir's, wherever p3-whir has one.
#[test]
fn accepted_exactly_where_p3_accepts() {
    let mut counts = [0_usize; 2];
    for n in [4, 5, 7, 12, 15, 20, 24] {
        for fold in 1..=6 {
            for rate in 1..=6 {
                for level in [60, 90, 100, 128] {
                    for assumption in [
                        Assumption::UniqueDecoding,
                        Assumption::Johnson,
                        Assumption::Capacity,
                    ] {
                        for rates in [RateSchedule::Standard, RateSchedule::Article] {
                            let four = Params {
                                assumption,
                                rates,
                                ..article(fold, rate, level)
                            };
                            let five = Params {
                                degree: ExtensionDegree::Five,
                                ..four.clone()
                            };
                            let Ok(list) = four.round_log_inv_rates(n) else {
                                panic!("schedule refused")
                            };
                            let list = if four.rates == RateSchedule::Standard {
                                vec![]
                            } else {
                                list
                            };
                            if let Err(ParamsError::TwoAdicity { .. }) = four.check(n) {
                                continue;
                            }
                            let padded = four.padded_num_variables(n);
                            let ours = four.check(n).is_ok();
                            assert_eq!(
                                ours,
                                p3::<EF4>(padded, &four, list.clone()),
                                "{n} {four:?}"
                            );
                            assert_eq!(
                                five.check(n).is_ok(),
                                p3::<EF5>(padded, &five, list),
                                "{n} {five:?}"
                            );
                            counts[usize::from(ours)] += 1;
                        }
                    }
                }
            }
        }
    }
    assert!(counts[0] > 500 && counts[1] > 500, "{counts:?}");
}

#[test]
fn schedules_are_those_of_the_configuration() {
    for n in [3, 6, 9, 14, 20, 22] {
        for fold in 1..=8 {
            for rates in [RateSchedule::Standard, RateSchedule::Article] {
                let params = Params {
                    folds: Folds::Constant(fold),
                    rates,
                    security_level: 60,
                    ..Params::default()
                };
                let config = params.config::<EF5>(n).unwrap();
                assert_eq!(
                    params.folding_schedule(n).unwrap(),
                    config.folding_schedule()
                );
                let rates: Vec<_> = config
                    .round_parameters()
                    .iter()
                    .map(|r| r.log_inv_rate)
                    .collect();
                assert_eq!(params.round_log_inv_rates(n).unwrap(), rates);
                assert_eq!(config.num_variables(), params.padded_num_variables(n));
                let mut domain = n.max(fold) + 1;
                let mut before = 1;
                for (i, (&rate, &fold)) in rates.iter().zip(config.folding_schedule()).enumerate() {
                    let reduction = match params.rates {
                        RateSchedule::Article if i == 0 => fold.min(3),
                        _ => 1,
                    };
                    assert_eq!(rate, before + fold - reduction);
                    assert_eq!(config.rs_reduction_factor(i), reduction);
                    assert_eq!(config.round_parameters()[i].domain_size, 1 << domain);
                    domain -= reduction;
                    before = rate;
                }
            }
        }
    }
    // Published: n = 24, fold 4, article: 1, 2, 5, 8, 11.
    assert_eq!(
        article(4, 1, 90).round_log_inv_rates(24).unwrap(),
        [2, 5, 8, 11]
    );
}

#[test]
fn published_queries_at_level_ninety() {
    let config = article(4, 1, 90).config::<EF4>(20).unwrap();
    let queries: Vec<_> = config
        .round_parameters()
        .iter()
        .map(|r| r.num_queries)
        .collect();
    assert_eq!(
        (queries, config.terminal().num_queries),
        (vec![80, 39, 16], 10)
    );
}

#[test]
fn polynomials_smaller_than_the_fold_are_padded() {
    for n in 0..=4 {
        let config = Params::default().config::<EF5>(n).unwrap();
        assert_eq!(config.num_variables(), 4);
    }
}

#[test]
fn names_and_json() {
    let json = serde_json::to_value(Params::default()).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "security_level": 100, "assumption": "johnson", "folds": 4, "rate": 1,
            "rate_schedule": "standard", "pow_bits": 16, "extension": 5, "cap_height": 0,
            "field": "baby-bear", "hash": "poseidon2-w16", "arity": "binary",
        })
    );
    let some: Params =
        serde_json::from_str(r#"{"folds": [4, 3], "rate_schedule": [2], "extension": 4}"#).unwrap();
    assert_eq!(some.folds, Folds::PerRound(vec![4, 3]));
    assert_eq!(some.rates, RateSchedule::PerRound(vec![2]));
    assert!(serde_json::from_str::<Params>(r#"{"extension": 6}"#).is_err());
    assert!(serde_json::from_str::<Params>(r#"{"folding": 6}"#).is_err());
    for assumption in [
        Assumption::UniqueDecoding,
        Assumption::Johnson,
        Assumption::Capacity,
    ] {
        assert_eq!(assumption.name().parse(), Ok(assumption));
        assert_eq!(assumption.notice().is_some(), assumption.is_conjectured());
    }
    assert!(!CONJECTURE.contains('\n'));
}
