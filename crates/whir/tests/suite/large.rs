//! Every engine operation at sizes where the kernels work in blocks: all CPU variants give the
//! portable one's answers, in both orders.

use fieldspar_device::{CpuVariant, variants_to_test};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::engine::{CodeShape, Engine, HiKind, HiWeight};
use fieldspar_whir::field::{EF5, F};
use fieldspar_whir::statement::random_point;
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;

/// What each step gave, by name.
type Log = Vec<(String, Vec<EF5>)>;

fn play<E: Engine<EF5>>(engine: &E, order: VariableOrder, n: usize, fold: usize) -> Log {
    let values: Vec<F> = (0..1_u64 << n)
        .map(|i| F::from_u64((i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11))
        .collect();
    let mut log = Log::new();
    let shape = |fold, log_inv_rate| CodeShape {
        order,
        fold,
        log_inv_rate,
        cap_height: 0,
    };
    let root = |cap: &fieldspar_whir::field::Commitment| -> Vec<EF5> {
        cap.roots()
            .iter()
            .flatten()
            .map(|&x| EF5::from(x))
            .collect()
    };
    let f = engine.load(values).unwrap();
    let (cap, _) = engine.commit(&f, shape(fold, 1)).unwrap();
    log.push(("commit".into(), root(&cap)));
    let mut weights = Vec::new();
    for selector in [0, 3, 6] {
        for kind in [HiKind::Eq, HiKind::Shift, HiKind::Delta(5)] {
            let bits = vec![true; selector];
            let (leading, trailing) = match order {
                VariableOrder::Suffix => (bits, vec![]),
                VariableOrder::Prefix => (vec![], bits),
            };
            let point = random_point::<EF5>(selector as u64, n - fold - selector);
            let weight = HiWeight {
                leading,
                point,
                trailing,
                kind,
            };
            let partial = engine
                .partial_evaluations(&f, order, fold, &weight)
                .unwrap();
            log.push((
                format!("partial_evaluations {weight:?}")
                    .chars()
                    .take(60)
                    .collect(),
                partial,
            ));
            weights.push((EF5::from_u64(weights.len() as u64 + 2), weight));
        }
    }
    let lo = random_point::<EF5>(77, 1 << fold);
    let mut state = engine.begin(&f, order, fold, &lo, &weights).unwrap();
    log.push(("begin: values".into(), engine.values(&state).unwrap()));
    log.push((
        "begin: message".into(),
        engine.message(&mut state).unwrap().to_vec(),
    ));
    let (cap, _) = engine.commit_folded(&state, shape(fold, 4)).unwrap();
    log.push(("commit_folded".into(), root(&cap)));
    let eq: Vec<_> = (0..2)
        .map(|i| {
            (
                EF5::from_u64(9 + i),
                Point::new(random_point::<EF5>(i, n - fold)),
            )
        })
        .collect();
    log.push((
        "evaluate".into(),
        vec![engine.evaluate(&state, &eq[0].1).unwrap()],
    ));
    let select: Vec<_> = (1..90_u64)
        .map(|i| (EF5::from_u64(i), F::from_u64(i * i + 3)))
        .collect();
    engine.accumulate(&mut state, &eq, &select).unwrap();
    log.push((
        "accumulate: message".into(),
        engine.message(&mut state).unwrap().to_vec(),
    ));
    for (i, r) in random_point::<EF5>(5, fold).into_iter().enumerate() {
        engine.fold(&mut state, r, i + 1 < fold).unwrap();
        log.push((format!("fold {i}: values"), engine.values(&state).unwrap()));
        log.push((
            format!("fold {i}: message"),
            engine.message(&mut state).unwrap().to_vec(),
        ));
    }
    log
}

fn cpu(variant: CpuVariant) -> CpuEngine {
    CpuEngine::new(variant).unwrap()
}

#[test]
fn variants_agree_on_every_operation() {
    let mut wrong = Vec::new();
    for (n, fold) in [(15, 6), (17, 1), (18, 4), (19, 2)] {
        for order in [VariableOrder::Suffix, VariableOrder::Prefix] {
            let expected = play(&cpu(CpuVariant::Portable), order, n, fold);
            for variant in variants_to_test().unwrap() {
                for ((name, a), (_, b)) in play(&cpu(variant), order, n, fold).iter().zip(&expected)
                {
                    if a != b {
                        let at = a.iter().zip(b).position(|(a, b)| a != b);
                        wrong.push(format!(
                            "n {n} fold {fold} {order:?} {variant:?}: {name} at {at:?} of {}",
                            b.len()
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
