//! Every operation of two engines on the same input, result by result: which one differs is then
//! in the message.

use fieldspar_whir::engine::{CodeShape, Engine, GrindTask, HiKind, HiWeight, OpenedRows};
use fieldspar_whir::field::{Extension, F};
use p3_field::PrimeCharacteristicRing;
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// A polynomial whose values include the edges of the field.
pub fn polynomial(n: usize, seed: u64) -> Vec<F> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let edges = [F::ZERO, F::ONE, -F::ONE, F::from_u32(1 << 31 >> 1)];
    (0..1_usize << n)
        .map(|_| match rng.random_range(0..8_u32) {
            0 => edges[rng.random_range(0..4_usize)],
            _ => rng.random(),
        })
        .collect()
}

fn element<EF: Extension>(rng: &mut SmallRng) -> EF {
    EF::from_basis_coefficients_fn(|_| rng.random())
}

fn rows<EF: Extension>(rows: &OpenedRows<EF>) -> Vec<Vec<EF>> {
    match rows {
        OpenedRows::Base(rows) => rows
            .iter()
            .map(|r| r.iter().map(|&x| EF::from(x)).collect())
            .collect(),
        OpenedRows::Extension(rows) => rows.clone(),
    }
}

/// Commits, evaluates, folds and opens a polynomial of `n` variables on both.
pub fn same<EF: Extension, A: Engine<EF>, B: Engine<EF>>(
    a: &A,
    b: &B,
    order: VariableOrder,
    n: usize,
    fold: usize,
    log_inv_rate: usize,
) {
    let what = format!(
        "D {} {order:?} n {n} fold {fold} rate {log_inv_rate}",
        EF::D
    );
    let mut rng = SmallRng::seed_from_u64((n * 100 + fold * 10 + log_inv_rate) as u64);
    let f = polynomial(n, 7 + n as u64);
    let (fa, fb) = (a.load(f.clone()).unwrap(), b.load(f).unwrap());
    let shape = CodeShape {
        order,
        fold,
        log_inv_rate,
        cap_height: n % 3,
    };
    let (cap_a, code_a) = a.commit(&fa, shape).unwrap();
    let (cap_b, code_b) = b.commit(&fb, shape).unwrap();
    let height = 1_usize << (n - fold + log_inv_rate);
    let mut indices: Vec<usize> = (0..9).map(|_| rng.random_range(0..height)).collect();
    indices.extend([0, height - 1, indices[0]]);
    let (oa, ob) = (
        a.open(&code_a, &indices).unwrap(),
        b.open(&code_b, &indices).unwrap(),
    );
    assert!(rows(&oa.rows) == rows(&ob.rows), "rows: {what}");
    assert!(oa.siblings == ob.siblings, "siblings: {what}");
    assert!(cap_a == cap_b, "commitment: {what}");

    let hi = n - fold;
    let mut weights = vec![weight(&mut rng, hi, 0, 0, HiKind::Eq)];
    for (leading, trailing) in [(0, 0), (hi / 2, 0), (0, hi / 2), (hi, 0)] {
        let middle = hi - leading - trailing;
        let last = HiKind::Delta((1 << middle) - 1);
        for kind in [HiKind::Eq, HiKind::Shift, last] {
            weights.push(weight(&mut rng, hi, leading, trailing, kind));
        }
    }
    for w in &weights {
        let pa = a.partial_evaluations(&fa, order, fold, w).unwrap();
        let pb = b.partial_evaluations(&fb, order, fold, w).unwrap();
        assert!(pa == pb, "partial evaluations of {:?}: {what}", w.kind);
    }

    let lo: Vec<EF> = (0..1 << fold).map(|_| element(&mut rng)).collect();
    let terms: Vec<(EF, HiWeight<EF>)> = weights
        .into_iter()
        .map(|w| (element(&mut rng), w))
        .collect();
    for terms in [&terms[..1], &terms[..], &terms[2..5]] {
        let mut sa = a.begin(&fa, order, fold, &lo, terms).unwrap();
        let mut sb = b.begin(&fb, order, fold, &lo, terms).unwrap();
        assert!(
            a.values(&sa).unwrap() == b.values(&sb).unwrap(),
            "first fold: {what}"
        );
        if hi == 0 {
            continue;
        }
        let (ma, mb) = (a.message(&mut sa).unwrap(), b.message(&mut sb).unwrap());
        assert!(ma == mb, "first message, {} terms: {what}", terms.len());
        rounds(a, b, &mut sa, &mut sb, hi, order, &mut rng, &what);
    }
}

#[allow(clippy::too_many_arguments)]
fn rounds<EF: Extension, A: Engine<EF>, B: Engine<EF>>(
    a: &A,
    b: &B,
    sa: &mut A::Sumcheck,
    sb: &mut B::Sumcheck,
    mut variables: usize,
    order: VariableOrder,
    rng: &mut SmallRng,
    what: &str,
) {
    let mut more = false;
    while variables > 0 {
        if !more {
            let shape = CodeShape {
                order,
                fold: variables.min(2),
                log_inv_rate: 2,
                cap_height: 0,
            };
            let (ca, code_a) = a.commit_folded(sa, shape).unwrap();
            let (cb, code_b) = b.commit_folded(sb, shape).unwrap();
            let height = 1_usize << (variables - shape.fold + 2);
            let at = [rng.random_range(0..height), height / 2, height - 1];
            let (oa, ob) = (a.open(&code_a, &at).unwrap(), b.open(&code_b, &at).unwrap());
            assert!(rows(&oa.rows) == rows(&ob.rows), "folded rows: {what}");
            assert!(ca == cb, "folded commitment at {variables}: {what}");
            let point = Point::new((0..variables).map(|_| element(rng)).collect());
            let (va, vb) = (a.evaluate(sa, &point), b.evaluate(sb, &point));
            assert!(va.unwrap() == vb.unwrap(), "evaluation: {what}");
            let eq: Vec<(EF, Point<EF>)> = (0..variables % 3)
                .map(|_| (element(rng), point.clone()))
                .collect();
            let select: Vec<(EF, F)> = (0..[0, 1, 2, 37][variables % 4])
                .map(|_| (element(rng), rng.random()))
                .collect();
            a.accumulate(sa, &eq, &select).unwrap();
            b.accumulate(sb, &eq, &select).unwrap();
        }
        let (ma, mb) = (a.message(sa).unwrap(), b.message(sb).unwrap());
        assert!(ma == mb, "message at {variables} (fused {more}): {what}");
        let r = element(rng);
        more = !variables.is_multiple_of(3) && variables > 1;
        a.fold(sa, r, more).unwrap();
        b.fold(sb, r, more).unwrap();
        variables -= 1;
        assert!(
            a.values(sa).unwrap() == b.values(sb).unwrap(),
            "fold to {variables} (fused {more}): {what}"
        );
    }
}

fn weight<EF: Extension>(
    rng: &mut SmallRng,
    hi: usize,
    leading: usize,
    trailing: usize,
    kind: HiKind,
) -> HiWeight<EF> {
    let mut bits = |n: usize| (0..n).map(|_| rng.random()).collect::<Vec<bool>>();
    let (leading, trailing) = (bits(leading), bits(trailing));
    let point = (0..hi - leading.len() - trailing.len())
        .map(|_| element(rng))
        .collect();
    HiWeight {
        leading,
        point,
        trailing,
        kind,
    }
}

/// The smallest witness of some proofs of work.
pub fn same_witness<EF: Extension, A: Engine<EF>, B: Engine<EF>>(a: &A, b: &B) {
    let mut rng = SmallRng::seed_from_u64(11);
    for bits in [0, 1, 4, 9, 14] {
        for slot in [0, 3, 7] {
            let task = GrindTask {
                state: core::array::from_fn(|_| rng.random()),
                slot,
                bits,
            };
            let (wa, wb) = (a.grind(&task).unwrap(), b.grind(&task).unwrap());
            assert_eq!(wa, wb, "witness of {bits} bits in word {slot}");
        }
    }
}
