//! Every variant against the reference and against p3-rescue.

use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::reference::{self, field};
use fieldspar_rpo::{MODULUS, State};
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_rescue::RpoGoldilocks;
use p3_symmetric::Permutation;

use super::{Random, engines};

/// Where sums, differences and products wrap once and twice, and words that are not canonical.
const EDGES: [u64; 20] = [
    0,
    1,
    2,
    7,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    // Its square is 2^96 = -1: the high word of the product has low digit 0.
    1 << 48,
    (1 << 63) - 1,
    1 << 63,
    (1 << 63) + (1 << 31),
    MODULUS - (1 << 32),
    MODULUS - (1 << 31),
    MODULUS - 2,
    MODULUS - 1,
    MODULUS,
    MODULUS + 1,
    u64::MAX - (1 << 31),
    u64::MAX - 1,
    u64::MAX,
];

fn by_plonky3(permutation: &RpoGoldilocks, state: &State) -> State {
    let mut state = state.map(Goldilocks::new);
    permutation.permute_mut(&mut state);
    state.map(|x| x.as_canonical_u64())
}

/// Random states, states of edges, and both mixed.
fn states(count: usize, seed: u64) -> Vec<State> {
    let mut random = Random(seed);
    (0..count)
        .map(|i| {
            core::array::from_fn(|_| {
                let word = random.word();
                match (i % 4, word % 3) {
                    (0, _) | (1, 0) => EDGES[(word >> 8) as usize % EDGES.len()],
                    (2, 0) => EDGES[(word >> 8) as usize % EDGES.len()].wrapping_sub(word >> 61),
                    _ => word,
                }
            })
        })
        .collect()
}

/// Permutes `count` states on every variant, as a batch and one by one.
fn compare(count: usize) {
    let permutation = RpoGoldilocks::from_standard_constants();
    const PIECE: usize = 5000;
    for start in (0..count).step_by(PIECE) {
        let input = states(PIECE.min(count - start), start as u64);
        let want: Vec<State> = input.iter().map(|s| by_plonky3(&permutation, s)).collect();
        for engine in engines() {
            let mut many = input.clone();
            engine.permute_many(&mut many).unwrap();
            let wrong = many.iter().zip(&want).position(|(a, b)| a != b);
            assert_eq!(wrong, None, "{} from {start}", engine.variant());
            for (state, want) in input.iter().zip(&want).take(PIECE / 10) {
                let mut one = *state;
                engine.permute_one(&mut one);
                assert_eq!(one, *want, "{} {state:?}", engine.variant());
            }
        }
    }
}

/// `cargo xtask soak rpo` sets the count to a million.
#[test]
fn soak_rpo_every_variant_permutes_as_p3_rescue() {
    let count = std::env::var("FIELDSPAR_SOAK_RPO").ok();
    compare(count.and_then(|c| c.parse().ok()).unwrap_or(10_000));
}

#[test]
fn the_reference_permutes_as_p3_rescue() {
    let permutation = RpoGoldilocks::from_standard_constants();
    for state in states(100, 1) {
        let mut own = state;
        reference::permute(&mut own);
        assert_eq!(own, by_plonky3(&permutation, &state));
    }
}

#[test]
fn every_edge_in_every_place() {
    let permutation = RpoGoldilocks::from_standard_constants();
    let mut input = Vec::new();
    for &edge in &EDGES {
        for other in [0, 1, MODULUS - 1, u64::MAX] {
            for place in 0..12 {
                let mut state = [other; 12];
                state[place] = edge;
                input.push(state);
            }
        }
    }
    let want: Vec<State> = input.iter().map(|s| by_plonky3(&permutation, s)).collect();
    for engine in engines() {
        let mut many = input.clone();
        engine.permute_many(&mut many).unwrap();
        assert_eq!(many, want, "{}", engine.variant());
    }
}

/// States whose elements before the S-boxes are the edges: the matrix undone.
#[test]
fn edges_reach_the_sboxes() {
    // Solves MDS x = edges - constants by Gauss over the reference field.
    let solve = |target: &State| -> State {
        let mut rows: Vec<Vec<u64>> = (0..12)
            .map(|i| {
                (0..12)
                    .map(|j| reference::MDS_ROW[(12 + j - i) % 12])
                    .chain([target[i]])
                    .collect()
            })
            .collect();
        for i in 0..12 {
            let pivot = (i..12).find(|&r| rows[r][i] != 0).unwrap();
            rows.swap(i, pivot);
            let inverse = field::pow(rows[i][i], MODULUS - 2);
            rows[i] = rows[i].iter().map(|&x| field::mul(x, inverse)).collect();
            for r in 0..12 {
                let factor = field::mul(MODULUS - 1, rows[r][i]);
                if r != i && factor != 0 {
                    let row = rows[i].clone();
                    for (x, y) in rows[r].iter_mut().zip(row) {
                        *x = field::add(*x, field::mul(factor, y));
                    }
                }
            }
        }
        core::array::from_fn(|i| rows[i][12])
    };
    let first = reference::constants::ROUND_CONSTANTS[0][0];
    let permutation = RpoGoldilocks::from_standard_constants();
    let input: Vec<State> = (0..EDGES.len())
        .map(|k| {
            let target = core::array::from_fn(|i| {
                let edge = field::canonical(EDGES[(k + i) % EDGES.len()]);
                field::add(edge, field::mul(MODULUS - 1, first[i]))
            });
            solve(&target)
        })
        .collect();
    let want: Vec<State> = input.iter().map(|s| by_plonky3(&permutation, s)).collect();
    for engine in engines() {
        let mut many = input.clone();
        engine.permute_many(&mut many).unwrap();
        assert_eq!(many, want, "{}", engine.variant());
    }
}

#[test]
fn every_length_of_a_batch() {
    let mut random = Random(2);
    let input: Vec<State> = (0..41).map(|_| random.state()).collect();
    let permutation = RpoGoldilocks::from_standard_constants();
    let want: Vec<State> = input.iter().map(|s| by_plonky3(&permutation, s)).collect();
    for engine in engines() {
        for n in 0..=input.len() {
            let mut many = input[..n].to_vec();
            engine.permute_many(&mut many).unwrap();
            assert_eq!(many, want[..n], "{} {n}", engine.variant());
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let input = states(3000, 3);
    let mut want = input.clone();
    engines()[0].permute_batch(&mut want);
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            for engine in engines() {
                let mut many = input.clone();
                engine.permute_many(&mut many).unwrap();
                assert!(many == want, "{} {threads}", engine.variant());
            }
        });
    }
}
