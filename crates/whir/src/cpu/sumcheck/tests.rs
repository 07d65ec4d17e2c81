//! Every function of the tables, weights, partial evaluations and rounds against plain sums over
//! Plonky3's field types, on every variant and with several thread counts.

use p3_multilinear_util::point::Point;
use p3_multilinear_util::poly::Poly;
use p3_sumcheck::constraints::statement::{EqStatement, NextStatement, SelectStatement};
use p3_sumcheck::strategy::VariableOrder::{self, Prefix, Suffix};

use super::*;
use crate::cpu::eval::eval_table;
use crate::cpu::isa::tests::{edge_elements, variants};
use crate::cpu::partial::{fold_base, partial_eval};
use crate::cpu::weights::{HiWeight, WeightKind, accumulate, accumulate_select};
use crate::field::{EF4, EF5};

const ORDERS: [VariableOrder; 2] = [Prefix, Suffix];

/// Runs the checks with 1, 2 and 7 threads.
fn with_threads(check: impl Fn(Variant) + Sync) {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| variants().into_iter().for_each(&check));
    }
}

fn base(count: usize, seed: usize) -> Vec<F> {
    let mut all = edge_elements(count + seed);
    // edges first in one table, last in another
    all.rotate_left(seed);
    all.truncate(count);
    all
}

fn elements<EF: Extension>(count: usize, seed: usize) -> Vec<EF> {
    base(count * EF::D, seed)
        .chunks_exact(EF::D)
        .map(|c| EF::from_basis_coefficients_slice(c).unwrap())
        .collect()
}

fn bits(value: usize, count: usize) -> Vec<bool> {
    (0..count).rev().map(|i| value >> i & 1 == 1).collect()
}

fn eq<EF: Extension>(point: &[EF], y: usize) -> EF {
    point
        .iter()
        .zip(bits(y, point.len()))
        .map(|(&z, b)| if b { z } else { EF::ONE - z })
        .product()
}

/// The weight at every index, by its definition.
fn dense<EF: Extension>(weight: &HiWeight<EF>, count: usize) -> Vec<EF> {
    let (l, t) = (weight.leading.len(), weight.trailing.len());
    (0..1_usize << count)
        .map(|x| {
            let b = bits(x, count);
            if b[..l] != weight.leading || b[count - t..] != weight.trailing {
                return EF::ZERO;
            }
            let y = b[l..count - t]
                .iter()
                .fold(0, |y, &b| 2 * y + usize::from(b));
            match weight.kind {
                WeightKind::Eq => eq(&weight.point, y),
                WeightKind::Shift if y == 0 => EF::ZERO,
                WeightKind::Shift => eq(&weight.point, y - 1),
                WeightKind::Delta(at) => EF::from_bool(y == at),
            }
        })
        .collect()
}

/// Weights of all kinds over `count` bits, with and without outer bits.
fn weights<EF: Extension>(count: usize) -> Vec<HiWeight<EF>> {
    let mut all = Vec::new();
    for (l, t) in [(0, 0), (1, 0), (0, 1), (2, 1), (0, 2), (3, 0)] {
        let Some(m) = count.checked_sub(l + t) else {
            continue;
        };
        let kinds = [
            WeightKind::Eq,
            WeightKind::Shift,
            WeightKind::Delta((1 << m) - 1),
            WeightKind::Delta(0),
        ];
        for (i, kind) in kinds.into_iter().enumerate() {
            all.push(HiWeight {
                leading: bits(5 + i, l),
                point: elements(m, 11 + l + 2 * t),
                trailing: bits(2 + i, t),
                kind,
            });
        }
    }
    all
}

fn matrix_index(order: VariableOrder, n: usize, k: usize, hi: usize, lo: usize) -> usize {
    match order {
        Suffix => (hi << k) + lo,
        Prefix => (lo << (n - k)) + hi,
    }
}

fn partial_evaluations<EF: Extension>() {
    for n in 0..=12 {
        let f = base(1 << n, 3);
        for k in (0..=n).filter(|k| n < 9 || [0, 1, 2, 3, 4, 5, 7, 9, 12].contains(k)) {
            let scalars: Vec<EF> = elements(1 << k, 8);
            for order in ORDERS {
                let at = |hi, lo| f[matrix_index(order, n, k, hi, lo)];
                let folded: Vec<EF> = (0..1 << (n - k))
                    .map(|hi| (0..1 << k).map(|lo| scalars[lo] * at(hi, lo)).sum())
                    .collect();
                let cases: Vec<_> = weights(n - k)
                    .into_iter()
                    .map(|weight: HiWeight<EF>| {
                        let h = dense(&weight, n - k);
                        let expected: Vec<EF> = (0..1 << k)
                            .map(|lo| h.iter().enumerate().map(|(hi, &h)| h * at(hi, lo)).sum())
                            .collect();
                        (weight, expected)
                    })
                    .collect();
                with_threads(|v| {
                    let out = fold_base(v, &f, order, k, &scalars).to_vec();
                    assert!(out == folded, "fold {v:?} {order:?} {n} {k}");
                    for (weight, expected) in &cases {
                        let out = partial_eval(v, &f, order, k, weight);
                        assert!(out == *expected, "{v:?} {order:?} {n} {k} {weight:?}");
                    }
                });
            }
        }
    }
}

#[test]
fn partial_evaluations_equal_their_sums() {
    partial_evaluations::<EF4>();
    partial_evaluations::<EF5>();
}

fn accumulated_weights<EF: Extension>() {
    for n in 0..=12 {
        let start: Vec<EF> = elements(1 << n, 2);
        let all: Vec<HiWeight<EF>> = weights(n);
        let scales: Vec<EF> = elements(all.len(), 7);
        let mut terms: Vec<(EF, &HiWeight<EF>)> = scales.into_iter().zip(&all).collect();
        // several terms of one support
        let again: Vec<_> = terms
            .iter()
            .take(2)
            .map(|&(c, h)| (c + EF::ONE, h))
            .collect();
        terms.extend(again);
        let mut expected = start.clone();
        for &(c, weight) in &terms {
            for (e, h) in expected.iter_mut().zip(dense(weight, n)) {
                *e += c * h;
            }
        }
        with_threads(|v| {
            let mut w = ExtTable::from_evaluations(&start);
            accumulate(v, &mut w, &terms);
            assert!(w.to_vec() == expected, "{v:?} {n}");
        });
    }
}

#[test]
fn accumulated_weights_equal_their_definition() {
    accumulated_weights::<EF4>();
    accumulated_weights::<EF5>();
}

fn statements<EF: Extension + p3_field::ExtensionField<F>>() {
    for n in 0..=12_usize {
        let count = 3;
        let gamma: EF = elements(1, 9)[0];
        let powers: Vec<EF> = gamma.powers().take(count).collect();
        let points: Vec<EF> = elements(n * count, 5);
        let point = |i: usize| Point::new(points[i * n..(i + 1) * n].to_vec());
        let mut claim = EF::ZERO;

        let mut eq = EqStatement::initialize(n);
        let mut next = NextStatement::initialize(n);
        for i in 0..count {
            eq.add_evaluated_constraint(point(i), EF::ONE);
            next.add_evaluated_constraint(Point::new(vec![]), point(i), EF::ONE, Prefix);
        }
        let mut eq_table = Poly::new(EF::zero_vec(1 << n));
        eq.combine_hypercube::<F, false>(&mut eq_table, &mut claim, gamma, 0);
        let mut next_table = Poly::new(EF::zero_vec(1 << n));
        next.combine(&mut next_table, &mut claim, gamma, 0);

        let vars = base(77, n);
        let mut select_table = Poly::new(EF::zero_vec(1 << n));
        SelectStatement::<F, EF>::new(n, vars.clone(), vec![EF::ONE; vars.len()]).combine(
            &mut select_table,
            &mut claim,
            gamma,
            1,
        );
        let select_terms: Vec<_> = gamma.powers().skip(1).zip(vars).collect();

        let weight = |i, kind| HiWeight {
            leading: vec![],
            point: points[i * n..(i + 1) * n].to_vec(),
            trailing: vec![],
            kind,
        };
        let eqs: Vec<_> = (0..count).map(|i| weight(i, WeightKind::Eq)).collect();
        let shifts: Vec<_> = (0..count).map(|i| weight(i, WeightKind::Shift)).collect();
        // the successor of the last row is itself
        let last = weight(0, WeightKind::Delta((1 << n) - 1));
        let at_last: EF = powers
            .iter()
            .enumerate()
            .map(|(i, &c)| c * point(i).iter().copied().product::<EF>())
            .sum();
        with_threads(|v| {
            let mut w = ExtTable::zeros(1 << n);
            let terms: Vec<_> = powers.iter().copied().zip(&eqs).collect();
            accumulate(v, &mut w, &terms);
            assert!(w.to_vec() == eq_table.as_slice(), "eq {v:?} {n}");

            let mut w = ExtTable::zeros(1 << n);
            let mut terms: Vec<_> = powers.iter().copied().zip(&shifts).collect();
            terms.push((at_last, &last));
            accumulate(v, &mut w, &terms);
            assert!(w.to_vec() == next_table.as_slice(), "next {v:?} {n}");

            let mut w = ExtTable::zeros(1 << n);
            accumulate_select(v, &mut w, &select_terms);
            assert!(w.to_vec() == select_table.as_slice(), "select {v:?} {n}");
        });
    }
}

#[test]
fn accumulated_statements_equal_those_of_plonky3() {
    statements::<EF4>();
    statements::<EF5>();
}

fn evaluations<EF: Extension>() {
    for n in 0..=12 {
        let point: Vec<EF> = elements(n, 6);
        let p3_point = Point::new(point.clone());
        let (f, t): (Vec<F>, Vec<EF>) = (base(1 << n, 1), elements(1 << n, 4));
        let of_base = Poly::new(f.clone()).eval_base(&p3_point);
        let of_ext = Poly::new(t.clone()).eval_ext::<F>(&p3_point);
        let table = ExtTable::from_evaluations(&t);
        with_threads(|v| {
            let eq = HiWeight {
                leading: Vec::new(),
                point: point.clone(),
                trailing: Vec::new(),
                kind: WeightKind::Eq,
            };
            assert_eq!(partial_eval(v, &f, Suffix, 0, &eq)[0], of_base, "{v:?} {n}");
            assert_eq!(eval_table(v, &table, &point), of_ext, "{v:?} {n}");
        });
    }
}

#[test]
fn evaluations_equal_those_of_plonky3() {
    evaluations::<EF4>();
    evaluations::<EF5>();
}

fn pairs<T: Copy>(t: &[T], order: VariableOrder) -> Vec<(T, T)> {
    let half = t.len() / 2;
    (0..half)
        .map(|i| match order {
            Prefix => (t[i], t[i + half]),
            Suffix => (t[2 * i], t[2 * i + 1]),
        })
        .collect()
}

fn plain_message<EF: Extension>(f: &[EF], w: &[EF], order: VariableOrder) -> [EF; 2] {
    let mut sums = [EF::ZERO; 2];
    for ((f0, f1), (w0, w1)) in pairs(f, order).into_iter().zip(pairs(w, order)) {
        sums[0] += f0 * w0;
        sums[1] += (f1 - f0) * (w1 - w0);
    }
    sums
}

fn plain_fold<EF: Extension>(t: &[EF], order: VariableOrder, r: EF) -> Vec<EF> {
    let bind = |(v0, v1): (EF, EF)| v0 + r * (v1 - v0);
    pairs(t, order).into_iter().map(bind).collect()
}

fn rounds<EF: Extension>() {
    for (n, order) in (1..=12).flat_map(|n| ORDERS.map(|order| (n, order))) {
        let (f, w): (Vec<EF>, Vec<EF>) = (elements(1 << n, 1), elements(1 << n, 6));
        let r: EF = elements(1, 9)[0];
        let (f2, w2) = (plain_fold(&f, order, r), plain_fold(&w, order, r));
        with_threads(|v| {
            let (mut tf, mut tw) = (
                ExtTable::from_evaluations(&f),
                ExtTable::from_evaluations(&w),
            );
            let message = round_message(v, &tf, &tw, order);
            assert_eq!(message, plain_message(&f, &w, order), "{v:?} {order:?} {n}");
            fold(v, &mut tf, &mut tw, order, r);
            assert!(
                tf.to_vec() == f2 && tw.to_vec() == w2,
                "{v:?} {order:?} {n}"
            );
            // all rounds to the end, fused
            let (mut f2, mut w2) = (f2.clone(), w2.clone());
            while f2.len() >= 4 {
                f2 = plain_fold(&f2, order, r);
                w2 = plain_fold(&w2, order, r);
                let message = fold_and_message(v, &mut tf, &mut tw, order, r);
                assert_eq!(
                    message,
                    plain_message(&f2, &w2, order),
                    "{v:?} {order:?} {n}"
                );
                assert!(
                    tf.to_vec() == f2 && tw.to_vec() == w2,
                    "{v:?} {order:?} {n}"
                );
            }
        });
    }
}

#[test]
fn rounds_equal_the_plain_sumcheck() {
    rounds::<EF4>();
    rounds::<EF5>();
}
