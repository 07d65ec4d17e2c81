#![allow(clippy::unwrap_used)]

use super::*;
use crate::params::{Assumption, Folds, RateSchedule};

fn params(fold: usize, rate: usize, degree: ExtensionDegree) -> Params {
    Params {
        security_level: 80,
        assumption: Assumption::Capacity,
        folds: Folds::Constant(fold),
        log_inv_rate: rate,
        rates: RateSchedule::Article,
        degree,
        ..Params::default()
    }
}

fn bytes(plan: &MemoryPlan, phase: &str) -> u64 {
    plan.phases()
        .iter()
        .find(|p| p.name == phase)
        .unwrap()
        .bytes
}

/// Every phase without scratch memory, summed from the schedule.
#[test]
fn phases_are_what_lives_at_once() {
    for degree in [ExtensionDegree::Four, ExtensionDegree::Five] {
        let d = degree.get() as u64;
        for (n, fold, rate) in [(10, 4, 1), (16, 1, 3), (20, 4, 1), (22, 6, 5), (24, 3, 1)] {
            let params = params(fold, rate, degree);
            let plan = memory_plan(&params, n).unwrap();
            let folds = params.folding_schedule(n).unwrap();
            let mut rates = vec![rate];
            rates.extend(params.round_log_inv_rates(n).unwrap());
            // Per codeword: words, a second buffer, tree; and the tables after its fold.
            let (mut vars, mut rows) = (n, Vec::new());
            for (i, (&fold, &rate)) in folds.iter().zip(&rates).enumerate() {
                let code = (4 * if i == 0 { 1 } else { d }) << (vars + rate);
                let height = vars + rate - fold;
                let spare = if height > 8 { code } else { 0 };
                let tree = 32 * ((2_u64 << height) - 1);
                vars -= fold;
                rows.push((code, spare, tree, (8 * d) << vars));
            }
            let name = format!("{n}/{fold}/{rate}");
            let mut heights: Vec<usize> = Vec::new();
            let mut left = n;
            for (&fold, &rate) in folds.iter().zip(&rates) {
                heights.push(left + rate - fold);
                left -= fold;
            }
            heights.sort_unstable();
            heights.dedup();
            let roots = heights
                .iter()
                .map(|&h| 4_u64 * ((1 << h.div_ceil(2)) + (1 << (h / 2))));
            let fixed = (128 << 10) + roots.sum::<u64>();
            let polynomial = 4_u64 << n;
            let (code, spare, tree, _) = rows[0];
            assert_eq!(
                bytes(&plan, "encode 0"),
                fixed + polynomial + code + spare,
                "{name}"
            );
            assert_eq!(
                bytes(&plan, "merkle 0"),
                fixed + polynomial + code + tree,
                "{name}"
            );
            let weights = (4 * d) << fold;
            assert_eq!(
                bytes(&plan, "fold"),
                fixed + polynomial + code + tree + weights + rows[0].3,
                "{name}"
            );
            for i in 1..rows.len() {
                let (old, _, old_tree, tables) = rows[i - 1];
                let (code, spare, tree, _) = rows[i];
                let before = fixed + old + old_tree + tables;
                let encode = bytes(&plan, &format!("encode {i}"));
                assert_eq!(encode, before + code + spare, "{name}");
                let merkle = bytes(&plan, &format!("merkle {i}"));
                assert_eq!(merkle, before + code + tree, "{name}");
                let sumcheck = bytes(&plan, &format!("sumcheck {i}"));
                assert_eq!(sumcheck, merkle + tables / 2, "{name}");
            }
            let most = plan.phases().iter().map(|p| p.bytes).max();
            assert_eq!(Some(plan.peak_bytes()), most);
        }
    }
}

#[test]
fn a_polynomial_of_64_mib() {
    let plan = memory_plan(&params(4, 1, ExtensionDegree::Four), 24).unwrap();
    let mib = |phase| bytes(&plan, phase) >> 20;
    // 64 of the polynomial, twice 128 of the codeword; the tree has 128 too.
    assert_eq!(mib("encode 0"), 320);
    assert_eq!(mib("merkle 0"), 320);
    // 32 of tables.
    assert_eq!(mib("fold"), 352);
    // 2^20 elements of degree 4 at rate 1/4, twice.
    assert_eq!(mib("encode 1"), 128 + 128 + 32 + 2 * 64);
    assert_eq!(plan.peak_phase().unwrap().name, "encode 1");
    assert!(plan.check(1 << 30).is_ok());
    let error = plan.check(256 << 20).unwrap_err();
    assert!(
        error.what.contains("n = 24") && error.what.contains("encode 1"),
        "{error}"
    );
    assert_eq!((error.need, error.have), (plan.peak_bytes(), 256 << 20));
}

#[test]
fn refused_parameters_have_no_plan() {
    let params = Params {
        security_level: 200,
        ..params(4, 1, ExtensionDegree::Four)
    };
    assert!(memory_plan(&params, 20).is_err());
}
