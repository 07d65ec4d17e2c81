//! Random parameter sets that p3 accepts, from a seed.

use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{Challenger, EF4, EF5, Extension, F};
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params, RateSchedule};
use p3_sumcheck::layout::{Layout, PrefixProver, SuffixProver, Table, plan_stacked_layout};
use p3_sumcheck::{OpeningBatch, OpeningProtocol, TableShape, TableSpec};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use super::{agree, point};

/// One opening and how it is proven.
#[derive(Debug)]
pub struct Set {
    pub params: Params,
    pub n: usize,
    /// (arity before padding, columns) of each table.
    shapes: Vec<(usize, usize)>,
    /// Current and next columns of each batch of each table.
    batches: Vec<Vec<(Vec<usize>, Vec<usize>)>>,
    pub prefix: bool,
    given_points: bool,
    seed: u64,
}

fn pick<T: Clone>(rng: &mut SmallRng, of: &[T]) -> T {
    of[rng.random_range(0..of.len())].clone()
}

fn columns(rng: &mut SmallRng, width: usize, odds: u32) -> Vec<usize> {
    (0..width).filter(|_| rng.random_ratio(odds, 4)).collect()
}

/// A set that p3 accepts, found by trying.
pub fn set(seed: u64) -> Set {
    let mut rng = SmallRng::seed_from_u64(0xf1e1_d5fa ^ (seed << 20));
    for _ in 0..100_000 {
        if let Some(set) = attempt(seed, &mut rng) {
            return set;
        }
    }
    panic!("no set for seed {seed}");
}

fn attempt(seed: u64, rng: &mut SmallRng) -> Option<Set> {
    let fold = pick(rng, &[1, 1, 2, 2, 3, 3, 4, 4, 5, 6, 8]);
    // Small ones are the most: a set of 16 variables takes as long as a hundred of 8.
    let most = pick(rng, &[4, 5, 6, 7, 8, 8, 9, 9, 10, 10, 11, 12, 13, 14, 16]);
    let tables = pick(rng, &[1, 1, 2, 3, 4]);
    let shapes: Vec<(usize, usize)> = (0..tables)
        .map(|_| {
            let arity = rng.random_range(0..=most);
            let width = pick(rng, &[1, 1, 1, 2, 3, 4, 5]);
            (arity, width)
        })
        .collect();
    let batches: Vec<Vec<_>> = shapes
        .iter()
        .map(|&(_, width)| {
            let points = rng.random_range(1..=4);
            (0..points)
                .map(|_| {
                    let current = columns(rng, width, 3);
                    let next = columns(rng, width, 1);
                    match current.len() + next.len() {
                        0 => (vec![rng.random_range(0..width)], next),
                        _ => (current, next),
                    }
                })
                .collect()
        })
        .collect();
    let padded: Vec<TableShape> = shapes
        .iter()
        .map(|&(arity, width)| TableShape::new(arity.max(fold), width))
        .collect();
    let (n, _) = plan_stacked_layout(&padded);
    if !(4..=16).contains(&n) || n + 2 < most {
        return None;
    }
    let log_inv_rate = pick(rng, &[1, 1, 2, 3, 4]);
    let folds = if rng.random_ratio(1, 2) {
        Folds::Constant(fold)
    } else {
        let mut folds = vec![fold];
        while n > 6 + folds.iter().sum::<usize>() {
            folds.push(rng.random_range(1..=5));
        }
        Folds::PerRound(folds)
    };
    let rates = match rng.random_range(0..4) {
        0 | 1 => RateSchedule::Standard,
        2 => RateSchedule::Article,
        _ => {
            let rounds = rng.random_range(0..6);
            let mut rate = log_inv_rate;
            RateSchedule::PerRound(
                (0..rounds)
                    .map(|_| {
                        rate += rng.random_range(0..3);
                        rate
                    })
                    .collect(),
            )
        }
    };
    let degree = pick(rng, &[ExtensionDegree::Four, ExtensionDegree::Five]);
    let mut params = Params {
        assumption: pick(
            rng,
            &[
                Assumption::UniqueDecoding,
                Assumption::Johnson,
                Assumption::Capacity,
            ],
        ),
        folds,
        log_inv_rate,
        rates,
        pow_bits: rng.random_range(0..=11),
        degree,
        cap_height: rng.random_range(0..=3),
        ..Params::default()
    };
    let claims = batches
        .iter()
        .flatten()
        .map(|(current, next)| current.len() + next.len())
        .sum();
    let highest = params.max_security_level(n)?;
    params.security_level = highest.saturating_sub(rng.random_range(0..=20)).max(1);
    let accepted = match degree {
        ExtensionDegree::Four => params.config_with::<EF4, Challenger>(n, claims).is_ok(),
        ExtensionDegree::Five => params.config_with::<EF5, Challenger>(n, claims).is_ok(),
    };
    accepted.then(|| Set {
        params,
        n,
        shapes,
        batches,
        prefix: rng.random_ratio(1, 2),
        given_points: rng.random_ratio(1, 2),
        seed,
    })
}

/// Proves the set with p3-whir and with the engine, whichever field and order it names.
pub fn agree_on<E: Engine<EF4> + Engine<EF5>>(set: &Set, engine: E) {
    match (set.params.degree, set.prefix) {
        (ExtensionDegree::Four, true) => prove::<EF4, PrefixProver<F, EF4>, E>(set, engine),
        (ExtensionDegree::Four, false) => prove::<EF4, SuffixProver<F, EF4>, E>(set, engine),
        (ExtensionDegree::Five, true) => prove::<EF5, PrefixProver<F, EF5>, E>(set, engine),
        (ExtensionDegree::Five, false) => prove::<EF5, SuffixProver<F, EF5>, E>(set, engine),
    }
}

fn prove<EF: Extension, L: Layout<F, EF>, E: Engine<EF>>(set: &Set, engine: E) {
    let mut rng = SmallRng::seed_from_u64(set.seed);
    let fold = set.params.folds.first();
    let tables: Vec<_> = set
        .shapes
        .iter()
        .map(|&(arity, width)| Table::<F>::rand(&mut rng, width, arity))
        .collect();
    let specs = set.shapes.iter().zip(&set.batches);
    let protocol = OpeningProtocol::new(
        specs
            .map(|(&(arity, width), batches)| {
                let schedule = batches
                    .iter()
                    .map(|(current, next)| OpeningBatch::new(current.clone(), next.clone()))
                    .collect();
                TableSpec::new(TableShape::new(arity, width), schedule)
            })
            .collect(),
    )
    .pad_to_min_num_variables(fold);
    let points: Vec<_> = protocol
        .iter_openings()
        .enumerate()
        .map(|(k, (table, _))| point(set.shapes[table].0.max(fold), set.seed + k as u64))
        .collect();
    agree::<EF, L, E>(
        engine,
        &tables,
        &protocol,
        &set.params.protocol_parameters(set.n).unwrap(),
        set.params.cap_height,
        set.given_points.then_some(&points),
    );
}
