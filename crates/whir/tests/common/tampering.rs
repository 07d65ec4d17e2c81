//! Ways to change a proof file: its structure, its statement, its elements one by one.

use fieldspar_whir::driver::Proof;
use fieldspar_whir::field::{Digest, Extension, F};
use fieldspar_whir::input::Encoding;
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params, RateSchedule};
use fieldspar_whir::proof::ProofFile;
use p3_field::PrimeCharacteristicRing;
use p3_merkle_tree::PrunedMerklePaths;
use p3_multilinear_util::poly::Poly;
use p3_sumcheck::OpeningBatch;
use p3_symmetric::MerkleCap;
use p3_whir::{QueryOpenings, SharedProofOpening};

#[derive(Clone, Copy, Debug)]
pub enum Edit {
    /// Adds one.
    Add,
    /// Exchanges it with the next of its kind.
    Swap,
}

/// Kinds of elements, with what is done to each.
pub const ELEMENTS: [(&str, Edit); 6] = [
    ("extension element", Edit::Add),
    ("extension element", Edit::Swap),
    ("base element", Edit::Add),
    ("base element", Edit::Swap),
    ("digest", Edit::Add),
    ("digest", Edit::Swap),
];

fn extension<EF: Extension>(p: &mut Proof<EF>) -> Vec<&mut EF> {
    let w = &mut p.whir;
    let mut all: Vec<&mut EF> = w.initial_ood_answers.iter_mut().collect();
    all.extend(
        w.initial_sumcheck
            .polynomial_evaluations
            .iter_mut()
            .flatten(),
    );
    for round in &mut w.rounds {
        all.extend(&mut round.ood_answers);
        if let QueryOpenings::Extension(o) = &mut round.openings {
            all.extend(o.rows.iter_mut().flatten());
        }
        all.extend(round.sumcheck.polynomial_evaluations.iter_mut().flatten());
    }
    if let QueryOpenings::Extension(o) = &mut w.final_openings {
        all.extend(o.rows.iter_mut().flatten());
    }
    if let Some(s) = &mut w.final_sumcheck {
        all.extend(s.polynomial_evaluations.iter_mut().flatten());
    }
    all
}

fn base<EF: Extension>(p: &mut Proof<EF>) -> Vec<&mut F> {
    let w = &mut p.whir;
    let mut all: Vec<&mut F> = w.initial_sumcheck.pow_witnesses.iter_mut().collect();
    for round in &mut w.rounds {
        all.push(&mut round.pow_witness);
        if let QueryOpenings::Base(o) = &mut round.openings {
            all.extend(o.rows.iter_mut().flatten());
        }
        all.extend(&mut round.sumcheck.pow_witnesses);
    }
    all.push(&mut w.final_pow_witness);
    all
}

type Paths = PrunedMerklePaths<F, 8>;

fn paths<EF>(openings: &mut QueryOpenings<F, EF, Paths>) -> &mut Vec<Digest> {
    match openings {
        QueryOpenings::Base(o) => &mut o.proof.sibling_hashes,
        QueryOpenings::Extension(o) => &mut o.proof.sibling_hashes,
    }
}

fn digests<EF: Extension>(p: &mut Proof<EF>) -> Vec<&mut Digest> {
    let w = &mut p.whir;
    let rounds = w.rounds.iter_mut().map(|r| &mut r.openings);
    rounds
        .chain([&mut w.final_openings])
        .flat_map(paths)
        .collect()
}

pub fn element_count<EF: Extension>(file: &ProofFile<EF>, kind: &str) -> usize {
    let mut proof = file.proof.clone();
    match kind {
        "extension element" => extension(&mut proof).len(),
        "base element" => base(&mut proof).len(),
        _ => digests(&mut proof).len(),
    }
}

/// Changes element `i`; false if that leaves the proof as it was.
pub fn element_edit<EF: Extension>(
    file: &mut ProofFile<EF>,
    kind: &str,
    edit: Edit,
    i: usize,
) -> bool {
    fn change<T: PartialEq>(all: &mut [&mut T], edit: Edit, i: usize, add: fn(&mut T)) -> bool {
        match (edit, &mut all[i..]) {
            (Edit::Add, [a, ..]) => add(a),
            (Edit::Swap, [a, b, ..]) if a != b => core::mem::swap(*a, *b),
            _ => return false,
        }
        true
    }
    let proof = &mut file.proof;
    match kind {
        "extension element" => change(&mut extension(proof), edit, i, |x| *x += EF::ONE),
        "base element" => change(&mut base(proof), edit, i, |x| *x += F::ONE),
        _ => change(&mut digests(proof), edit, i, |x| x[i_of(x)] += F::ONE),
    }
}

/// Some limb of a digest, another for another digest.
fn i_of(digest: &Digest) -> usize {
    use p3_field::PrimeField32;
    digest[0].as_canonical_u32() as usize % 8
}

/// Calls `try_it` with every structural change of `file`; `other` is a proof of another statement
/// under the same parameters.
pub fn structures<EF: Extension>(
    file: &ProofFile<EF>,
    other: &ProofFile<EF>,
    mut try_it: impl FnMut(&'static str, &str, &ProofFile<EF>),
) {
    let mut with = |kind, what: &str, change: &dyn Fn(&mut ProofFile<EF>)| {
        let mut changed = file.clone();
        change(&mut changed);
        // a position drawn twice has equal rows: exchanging them changes nothing
        let bytes = |f: &ProofFile<EF>| postcard::to_allocvec(&f.proof).unwrap();
        if changed.statement != file.statement || bytes(&changed) != bytes(file) {
            try_it(kind, what, &changed);
        }
    };
    statement(file, other, &mut with);
    parameters(file, &mut with);
    proof(file, other, &mut with);
}

type With<'a, EF> = dyn FnMut(&'static str, &str, &dyn Fn(&mut ProofFile<EF>)) + 'a;

fn statement<EF: Extension>(file: &ProofFile<EF>, other: &ProofFile<EF>, with: &mut With<'_, EF>) {
    const KIND: &str = "another statement";
    let roots = file.statement.commitment.roots().to_vec();
    for limb in 0..8 * roots.len() {
        let mut roots = roots.clone();
        roots[limb / 8][limb % 8] += F::ONE;
        let cap = MerkleCap::new(roots);
        with(KIND, "limb of the commitment", &|f| {
            f.statement.commitment = cap.clone()
        });
    }
    let caps = [
        vec![roots[1], roots[0]],
        vec![roots[0]],
        [roots.clone(), roots.clone()].concat(),
    ];
    for cap in caps {
        let cap = MerkleCap::new(cap);
        with(KIND, "cap", &|f| f.statement.commitment = cap.clone());
    }
    for i in 0..file.statement.n {
        with(KIND, "coordinate", &|f| f.statement.point[i] += EF::ONE);
        let next = (i + 1) % file.statement.n;
        with(KIND, "coordinates exchanged", &|f| {
            f.statement.point.swap(i, next)
        });
    }
    with(KIND, "point longer", &|f| f.statement.point.push(EF::ZERO));
    with(KIND, "point shorter", &|f| {
        f.statement.point.pop();
    });
    with(KIND, "value + 1", &|f| f.statement.value += EF::ONE);
    with(KIND, "value - 1", &|f| f.statement.value -= EF::ONE);
    with(KIND, "length + 1", &|f| f.statement.true_len += 1);
    with(KIND, "length - 1", &|f| f.statement.true_len -= 1);
    with(KIND, "npy", &|f| f.statement.encoding = Encoding::Npy);
    with(KIND, "bytes", &|f| f.statement.encoding = Encoding::Bytes);
    with(KIND, "n + 1", &|f| f.statement.n += 1);
    with(KIND, "n - 1", &|f| f.statement.n -= 1);
    with(KIND, "the other commitment", &|f| {
        f.statement.commitment = other.statement.commitment.clone();
    });
    with(KIND, "the other point", &|f| {
        f.statement.point.clone_from(&other.statement.point)
    });
    with(KIND, "the other value", &|f| {
        f.statement.value = other.statement.value
    });
    with(KIND, "the other length", &|f| {
        f.statement.true_len = other.statement.true_len
    });
    with(KIND, "the other statement", &|f| {
        f.statement = other.statement.clone()
    });
}

fn parameters<EF: Extension>(file: &ProofFile<EF>, with: &mut With<'_, EF>) {
    let p = &file.statement.params;
    let mut sets = Vec::new();
    for up in [false, true] {
        let step = |x: usize| if up { x + 1 } else { x - 1 };
        sets.push((
            "level",
            Params {
                security_level: step(p.security_level),
                ..p.clone()
            },
        ));
        sets.push((
            "work",
            Params {
                pow_bits: step(p.pow_bits),
                ..p.clone()
            },
        ));
        sets.push((
            "rate",
            Params {
                log_inv_rate: step(p.log_inv_rate),
                ..p.clone()
            },
        ));
        sets.push((
            "cap",
            Params {
                cap_height: step(p.cap_height),
                ..p.clone()
            },
        ));
        let folds = Folds::Constant(step(p.folds.first()));
        sets.push(("fold", Params { folds, ..p.clone() }));
    }
    // the same folds and rates under another name, and other ones
    for folds in [vec![2, 2], vec![2, 3], vec![2, 1], vec![3, 2]] {
        let folds = Folds::PerRound(folds);
        sets.push(("fold list", Params { folds, ..p.clone() }));
    }
    for rates in [
        RateSchedule::Article,
        RateSchedule::PerRound(vec![1]),
        RateSchedule::PerRound(vec![2]),
    ] {
        sets.push(("rates", Params { rates, ..p.clone() }));
    }
    for assumption in [Assumption::UniqueDecoding, Assumption::Capacity] {
        sets.push((
            "bound",
            Params {
                assumption,
                ..p.clone()
            },
        ));
    }
    let degree = match p.degree {
        ExtensionDegree::Four => ExtensionDegree::Five,
        ExtensionDegree::Five => ExtensionDegree::Four,
    };
    sets.push((
        "degree",
        Params {
            degree,
            ..p.clone()
        },
    ));
    for (what, params) in sets {
        with("another parameter", what, &|f| {
            f.statement.params = params.clone()
        });
    }
}

fn proof<EF: Extension>(file: &ProofFile<EF>, other: &ProofFile<EF>, with: &mut With<'_, EF>) {
    const KIND: &str = "another shape";
    with(KIND, "the other proof", &|f| f.proof = other.proof.clone());
    let w = &other.proof.whir;
    with(KIND, "the other's round", &|f| {
        f.proof.whir.rounds.clone_from(&w.rounds)
    });
    with(KIND, "the other's end", &|f| {
        f.proof.whir.final_openings = w.final_openings.clone();
        f.proof.whir.final_poly.clone_from(&w.final_poly);
    });
    with(KIND, "round missing", &|f| drop(f.proof.whir.rounds.pop()));
    with(KIND, "round twice", &|f| {
        let round = f.proof.whir.rounds[0].clone();
        f.proof.whir.rounds.push(round);
    });
    with(KIND, "no commitment", &|f| {
        f.proof.whir.rounds[0].commitment = None
    });
    with(KIND, "another commitment", &|f| {
        f.proof.whir.rounds[0].commitment = Some(f.statement.commitment.clone());
    });
    with(KIND, "no final polynomial", &|f| {
        f.proof.whir.final_poly = None
    });
    let values = file
        .proof
        .whir
        .final_poly
        .as_ref()
        .map(|p| p.as_slice().to_vec());
    let values = values.unwrap();
    for i in 0..values.len() {
        let mut values = values.clone();
        values[i] += EF::ONE;
        let poly = Poly::new(values);
        with(KIND, "final value", &|f| {
            f.proof.whir.final_poly = Some(poly.clone())
        });
    }
    for values in [
        values[..values.len() / 2].to_vec(),
        [values.clone(), EF::zero_vec(values.len())].concat(),
        vec![values[0]],
    ] {
        let poly = Poly::new(values);
        with(KIND, "final length", &|f| {
            f.proof.whir.final_poly = Some(poly.clone())
        });
    }
    with(KIND, "no final sumcheck", &|f| {
        f.proof.whir.final_sumcheck = None
    });
    with(KIND, "final sumcheck of the first", &|f| {
        f.proof.whir.final_sumcheck = Some(f.proof.whir.initial_sumcheck.clone());
    });
    with(KIND, "sumchecks exchanged", &|f| {
        let w = &mut f.proof.whir;
        core::mem::swap(&mut w.initial_sumcheck, &mut w.rounds[0].sumcheck);
    });
    with(KIND, "initial answers one more", &|f| {
        f.proof.whir.initial_ood_answers.push(EF::ONE)
    });
    with(KIND, "round answers one more", &|f| {
        f.proof.whir.rounds[0].ood_answers.push(EF::ONE)
    });
    with(KIND, "initial answers one less", &|f| {
        f.proof.whir.initial_ood_answers.pop();
    });
    with(KIND, "round answers one less", &|f| {
        f.proof.whir.rounds[0].ood_answers.pop();
    });
    with(KIND, "first sumcheck one less", &|f| {
        f.proof.whir.initial_sumcheck.polynomial_evaluations.pop();
    });
    with(KIND, "first sumcheck one more", &|f| {
        f.proof
            .whir
            .initial_sumcheck
            .polynomial_evaluations
            .push([EF::ZERO; 2]);
    });
    with(KIND, "witness too many", &|f| {
        f.proof.whir.initial_sumcheck.pow_witnesses.push(F::ZERO)
    });
    with(KIND, "no evaluations", &|f| f.proof.evals.clear());
    with(KIND, "evaluations twice", &|f| {
        f.proof.evals.push(f.proof.evals[0].clone())
    });
    let value = file.statement.value;
    for (current, next) in [
        (vec![value + EF::ONE], vec![]),
        (vec![], vec![value]),
        (vec![value, value], vec![]),
        (vec![value], vec![value]),
    ] {
        let batch = OpeningBatch::new(current, next);
        with(KIND, "evaluations", &|f| {
            f.proof.evals = vec![batch.clone()]
        });
    }
    with(KIND, "evaluation and statement + 1", &|f| {
        f.statement.value += EF::ONE;
        f.proof.evals = vec![OpeningBatch::new(vec![f.statement.value], vec![])];
    });
    openings(file, with);
}

fn rows_of<T: Clone>(
    o: &SharedProofOpening<T, Paths>,
    mut each: impl FnMut(&str, SharedProofOpening<T, Paths>),
) {
    let mut with = |what, change: &dyn Fn(&mut Vec<Vec<T>>)| {
        let mut changed = o.clone();
        change(&mut changed.rows);
        each(what, changed);
    };
    for i in 1..o.rows.len() {
        with("rows exchanged", &|rows| rows.swap(i - 1, i));
        with("row twice", &|rows| rows[i] = rows[i - 1].clone());
        // Plonky3#1757: an element moved over the border of two rows
        with("element moved to the next row", &|rows| {
            if let Some(x) = rows[i - 1].pop() {
                rows[i].insert(0, x);
            }
        });
    }
    with("row missing", &|rows| drop(rows.pop()));
    with("row too many", &|rows| rows.push(rows[0].clone()));
    with("no rows", &Vec::clear);
    with("row empty", &|rows| rows[0].clear());
}

fn openings<EF: Extension>(file: &ProofFile<EF>, with: &mut With<'_, EF>) {
    const KIND: &str = "rows and paths";
    let w = &file.proof.whir;
    if let QueryOpenings::Base(o) = &w.rounds[0].openings {
        rows_of(o, |what, o| {
            with(KIND, what, &|f| {
                f.proof.whir.rounds[0].openings = QueryOpenings::Base(o.clone());
            });
        });
    }
    if let QueryOpenings::Extension(o) = &w.final_openings {
        rows_of(o, |what, o| {
            with(KIND, what, &|f| {
                f.proof.whir.final_openings = QueryOpenings::Extension(o.clone())
            });
        });
    }
    with(KIND, "openings exchanged", &|f| {
        let w = &mut f.proof.whir;
        core::mem::swap(&mut w.rounds[0].openings, &mut w.final_openings);
    });
    let both = |f: &mut ProofFile<EF>, last: bool, change: &dyn Fn(&mut Vec<Digest>)| {
        let w = &mut f.proof.whir;
        change(paths(if last {
            &mut w.final_openings
        } else {
            &mut w.rounds[0].openings
        }));
    };
    for last in [false, true] {
        with(KIND, "sibling missing", &|f| {
            both(f, last, &|s| {
                s.pop();
            })
        });
        with(KIND, "first sibling missing", &|f| {
            both(f, last, &|s| {
                let _ = s.remove(0);
            })
        });
        with(KIND, "sibling too many", &|f| {
            both(f, last, &|s| s.push(s[0]))
        });
        with(KIND, "no siblings", &|f| both(f, last, &Vec::clear));
        with(KIND, "siblings reversed", &|f| {
            both(f, last, &|s| s.reverse())
        });
    }
}
