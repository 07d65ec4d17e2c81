//! What is refused, with the public bugs that each refusal answers.
#![allow(clippy::unwrap_used)]

use p3_field::Field;
use p3_whir::parameters::SecurityAssumption;

use super::*;

/// Plonky3#1850: rate 1 gave zero queries and a proof of nothing.
#[test]
fn plonky3_1850_rate_one_means_zero_queries() {
    let start = Params {
        log_inv_rate: 0,
        ..Params::default()
    };
    let error = start.check(20).unwrap_err();
    assert!(
        matches!(
            error,
            ParamsError::OutOfRange {
                name: "rate",
                have: 0,
                ..
            }
        ),
        "{error}"
    );
    let rounds = Params::default().folding_schedule(20).unwrap().len() - 1;
    for i in 0..rounds {
        let mut rates = vec![2; rounds];
        rates[i] = 0;
        let params = Params {
            rates: RateSchedule::PerRound(rates),
            ..Params::default()
        };
        assert!(matches!(
            params.check(20).unwrap_err(),
            ParamsError::OutOfRange {
                name: "per-round rate",
                have: 0,
                ..
            }
        ));
    }
}

/// Plonky3#1793, #1853: a budget that covers the level buys no query.
#[test]
fn plonky3_1853_zero_queries_are_refused() {
    for level in [1, 10, 16] {
        let params = Params {
            security_level: level,
            ..Params::default()
        };
        assert!(matches!(
            params.check(12).unwrap_err(),
            ParamsError::ZeroQueries { .. }
        ));
    }
    assert!(
        Params {
            security_level: 17,
            ..Params::default()
        }
        .check(12)
        .is_ok()
    );
}

/// Plonky3#1851: fractional gaps are rounded up.
#[test]
fn plonky3_1851_pow_bits_are_rounded_up() {
    for level in 60..=110 {
        let params = Params {
            security_level: level,
            ..Params::default()
        };
        let config = params.config::<EF5>(20).unwrap();
        let bound = SecurityAssumption::JohnsonBound;
        let mut rate = 1;
        for round in config.round_parameters() {
            let algebraic = bound.queries_error(rate, round.num_queries);
            assert!(algebraic + round.pow_bits as f64 >= level as f64);
            let fold =
                bound.folding_pow_bits(level, EF5::bits(), round.num_variables, round.log_inv_rate);
            assert!(round.folding_pow_bits as f64 >= fold);
            rate = round.log_inv_rate;
        }
    }
}

/// Plonky3#1852: BabyBear, degree 4, 128 bits, 16 bits of work.
#[test]
fn plonky3_1852_pow_over_the_budget_is_refused_with_the_figure() {
    let params = Params {
        security_level: 128,
        degree: ExtensionDegree::Four,
        assumption: Assumption::UniqueDecoding,
        ..Params::default()
    };
    let error = params.check(20).unwrap_err();
    let ParamsError::PowBits {
        phase,
        need,
        have: 16,
        max_level: Some(level),
    } = &error
    else {
        panic!("{error}")
    };
    assert!(*need > 16 && !phase.is_empty());
    assert!(
        error
            .to_string()
            .contains(&format!("needs {need} PoW bits, the budget is 16"))
    );
    assert!(
        Params {
            security_level: *level,
            ..params.clone()
        }
        .check(20)
        .is_ok()
    );
    assert!(
        Params {
            security_level: level + 1,
            ..params
        }
        .check(20)
        .is_err()
    );
    // The published benchmark's settings, which ground 22 bits in silence.
    let error = article(4, 1, 100).check(24).unwrap_err();
    assert!(
        matches!(
            error,
            ParamsError::PowBits {
                need: 22,
                have: 16,
                ..
            }
        ),
        "{error}"
    );
    assert!(matches!(
        article(8, 1, 100).check(24).unwrap_err(),
        ParamsError::PowBits { need: 28, .. }
    ));
}

/// The step named is one that needs these bits: with that budget p3 gets past it.
#[test]
fn the_named_step_needs_the_named_bits() {
    let mut named = std::collections::BTreeSet::new();
    for n in [10, 16, 20, 24] {
        for fold in 1..=8 {
            for level in (80..=128).step_by(4) {
                for assumption in [Assumption::UniqueDecoding, Assumption::Capacity] {
                    let params = Params {
                        assumption,
                        pow_bits: 10,
                        ..article(fold, 1, level)
                    };
                    if let Err(ParamsError::PowBits { phase, need, .. }) = params.check(n) {
                        assert_ne!(phase, "a step");
                        named.insert(phase);
                        if need <= MAX_POW_BITS {
                            let raised = Params {
                                pow_bits: need,
                                ..params
                            }
                            .check(n);
                            assert!(
                                !matches!(&raised, Err(ParamsError::PowBits { need: n, .. }) if *n > need),
                                "{raised:?}"
                            );
                        }
                    }
                }
            }
        }
    }
    assert!(named.len() > 2, "{named:?}");
}

/// Plonky3#1747: `1u32 << 32` wrapped, and every witness passed.
#[test]
fn plonky3_1747_pow_bits_from_31_are_refused() {
    for pow_bits in [31, 32, 33, 63, 64, 255, 1 << 32, usize::MAX] {
        let params = Params {
            pow_bits,
            ..Params::default()
        };
        assert!(matches!(
            params.check(20).unwrap_err(),
            ParamsError::OutOfRange {
                name: "pow_bits",
                max: 30,
                ..
            }
        ));
    }
    let config = Params {
        pow_bits: 30,
        security_level: 128,
        ..Params::default()
    }
    .config::<EF5>(20)
    .unwrap();
    assert!(config.max_pow_bits() <= 30);
}

/// Plonky3#1803: fold 8 on 15 variables underflowed.
#[test]
fn plonky3_1803_partial_last_fold() {
    let params = Params {
        folds: Folds::Constant(8),
        ..Params::default()
    };
    assert_eq!(params.folding_schedule(15).unwrap(), [8, 7]);
    assert!(params.check(15).is_ok());
}

/// Plonky3#1741: per-round folds that fold too little or too much.
#[test]
fn plonky3_1741_per_round_folds_are_checked() {
    let with = |v: &[usize]| Params {
        folds: Folds::PerRound(v.to_vec()),
        ..Params::default()
    };
    assert!(with(&[4, 4]).check(12).is_ok());
    for bad in [&[4][..], &[4, 1], &[4, 4, 4], &[4, 9], &[4, 4, 1]] {
        let error = with(bad).check(12).unwrap_err();
        assert!(
            matches!(error, ParamsError::Folds { .. }),
            "{bad:?}: {error}"
        );
    }
    for bad in [&[][..], &[0, 4], &[4, 0], &[usize::MAX], &[4, usize::MAX]] {
        assert!(matches!(
            with(bad).check(12).unwrap_err(),
            ParamsError::OutOfRange { .. }
        ));
    }
    let rates = |v: &[usize]| Params {
        rates: RateSchedule::PerRound(v.to_vec()),
        ..with(&[4, 4, 4])
    };
    assert!(rates(&[4, 7]).check(16).is_ok());
    for bad in [&[][..], &[4], &[4, 7, 9]] {
        assert!(matches!(
            rates(bad).check(16).unwrap_err(),
            ParamsError::RateCount { .. }
        ));
    }
    assert!(matches!(
        rates(&[6, 7]).check(16).unwrap_err(),
        ParamsError::RateGrowsDomain {
            round: 0,
            have: 6,
            max: 5
        }
    ));
}

/// tcoratger/whir-p3#366, #407: domains beyond the two-adicity, in the first and in later rounds.
#[test]
fn whir_p3_366_two_adicity() {
    let params = Params {
        folds: Folds::Constant(1),
        ..Params::default()
    };
    assert!(params.check(27).is_ok());
    let error = params.check(28).unwrap_err();
    assert_eq!(
        error,
        ParamsError::TwoAdicity {
            phase: "commitment".to_owned(),
            need: 28,
            have: 27
        }
    );
    // p3-whir checks the first domain only.
    let late = Params {
        folds: Folds::PerRound(vec![20, 2, 2]),
        log_inv_rate: 10,
        rates: RateSchedule::PerRound(vec![30, 31]),
        ..Params::default()
    };
    assert!(matches!(
        late.check(30).unwrap_err(),
        ParamsError::TwoAdicity { phase, need: 38, .. } if phase == "round 0"
    ));
}

/// reliability: sizes that overflow, and every other odd figure, in debug and release.
#[test]
fn odd_figures_are_refused_without_a_panic() {
    let odd = [
        0,
        1,
        2,
        5,
        26,
        27,
        28,
        31,
        32,
        33,
        40,
        63,
        64,
        65,
        255,
        256,
        1 << 32,
        usize::MAX,
    ];
    let base = Params::default();
    for &x in &odd {
        for n in [0, 1, 4, 6, 20, 27, 32, 33, 63, 64, usize::MAX] {
            let sets = [
                Params {
                    security_level: x,
                    ..base.clone()
                },
                Params {
                    pow_bits: x,
                    ..base.clone()
                },
                Params {
                    log_inv_rate: x,
                    ..base.clone()
                },
                Params {
                    cap_height: x,
                    ..base.clone()
                },
                Params {
                    folds: Folds::Constant(x),
                    ..base.clone()
                },
                Params {
                    folds: Folds::PerRound(vec![x]),
                    ..base.clone()
                },
                Params {
                    folds: Folds::PerRound(vec![4, x]),
                    ..base.clone()
                },
                Params {
                    rates: RateSchedule::PerRound(vec![x; 4]),
                    ..base.clone()
                },
                Params {
                    rates: RateSchedule::PerRound(vec![2; x.min(100)]),
                    ..base.clone()
                },
                Params {
                    log_inv_rate: x,
                    folds: Folds::Constant(32),
                    ..base.clone()
                },
            ];
            for params in sets {
                for rates in [params.rates.clone(), RateSchedule::Article] {
                    let params = Params {
                        rates,
                        ..params.clone()
                    };
                    let checked = params.check(n);
                    let planned = crate::plan::plan(&params, n);
                    assert_eq!(checked.as_ref().err(), planned.as_ref().err());
                    if let Err(error) = checked {
                        assert!(!error.to_string().is_empty());
                    }
                }
            }
        }
    }
}

#[test]
fn degree_must_be_that_of_the_field() {
    assert!(matches!(
        Params::default().config::<EF4>(20),
        Err(ParamsError::DegreeMismatch { want: 5, have: 4 })
    ));
}
