//! RPO of miden-crypto and of p3-rescue, one timed run to a line.
//!
//! A request is `{"who": "miden" | "p3", "op": ..., "count": n, "seed": s}`; the answer
//! `{"ns": <time per permutation>, "check": "<fold of the result>"}`, or `{"error": "<why>"}`. Inputs are
//! made from the seed before the time begins, as `fieldspar rpo bench` makes its own. `{"op": "info"}`
//! answers with versions and flags. Work in parallel runs on rayon's pool (`RAYON_NUM_THREADS`).
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use miden_crypto::hash::rpo::Rpo256;
use miden_crypto::{Felt, Word};
use p3_field::PrimeField64;
use p3_goldilocks::Goldilocks;
use p3_rescue::RpoGoldilocks;
use p3_symmetric::{Permutation, PseudoCompressionFunction, TruncatedPermutation};
use rayon::prelude::*;
use serde_json::{Value, json};

const MODULUS: u64 = 0xFFFF_FFFF_0000_0001;
const TASK: usize = 360;

/// SplitMix64, reduced.
fn elements(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) % MODULUS
        })
        .collect()
}

fn fold(words: impl IntoIterator<Item = u64>) -> String {
    let sum = words.into_iter().fold(0_u64, |h, x| {
        (h.rotate_left(5) ^ x).wrapping_mul(0x0000_0100_0000_01B3)
    });
    format!("{sum:016x}")
}

/// What a rival is: an element, and the two calls.
trait Side: Sync {
    type E: Copy + Send + Sync;
    fn element(x: u64) -> Self::E;
    fn word(x: Self::E) -> u64;
    fn permute(&self, state: &mut [Self::E; 12]);
    fn merge(&self, pair: &[[Self::E; 4]; 2]) -> [Self::E; 4];
}

struct Miden;

impl Side for Miden {
    type E = Felt;
    fn element(x: u64) -> Felt {
        Felt::new_unchecked(x)
    }
    fn word(x: Felt) -> u64 {
        x.as_canonical_u64()
    }
    fn permute(&self, state: &mut [Felt; 12]) {
        Rpo256::apply_permutation(state);
    }
    fn merge(&self, pair: &[[Felt; 4]; 2]) -> [Felt; 4] {
        Rpo256::merge(&[Word::new(pair[0]), Word::new(pair[1])]).into()
    }
}

struct P3 {
    permutation: RpoGoldilocks,
    compression: TruncatedPermutation<RpoGoldilocks, 2, 4, 12>,
}

impl Side for P3 {
    type E = Goldilocks;
    fn element(x: u64) -> Goldilocks {
        Goldilocks::new(x)
    }
    fn word(x: Goldilocks) -> u64 {
        x.as_canonical_u64()
    }
    fn permute(&self, state: &mut [Goldilocks; 12]) {
        self.permutation.permute_mut(state);
    }
    fn merge(&self, pair: &[[Goldilocks; 4]; 2]) -> [Goldilocks; 4] {
        self.compression.compress(*pair)
    }
}

fn ns(start: Instant, permutations: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / permutations as f64
}

fn run<S: Side>(side: &S, op: &str, count: usize, seed: u64) -> Result<Value, String> {
    let words = elements(seed, count * 12);
    let mut states: Vec<[S::E; 12]> = words
        .as_chunks::<12>()
        .0
        .iter()
        .map(|s| s.map(S::element))
        .collect();
    let (ns, result) = match op {
        "permute_many" => {
            let start = Instant::now();
            states
                .par_chunks_mut(TASK)
                .for_each(|states| states.iter_mut().for_each(|s| side.permute(s)));
            (ns(start, count), states.into_flattened())
        }
        "permute_one" => {
            let mut state = black_box(states[0]);
            let start = Instant::now();
            for _ in 0..count {
                side.permute(&mut state);
            }
            (ns(start, count), state.to_vec())
        }
        "merge" => {
            let mut node = black_box([[states[0][0]; 4], [states[0][1]; 4]]);
            let start = Instant::now();
            for _ in 0..count {
                node[0] = side.merge(&node);
            }
            (ns(start, count), node[0].to_vec())
        }
        "merkle" => {
            if !count.is_power_of_two() {
                return Err("a tree has a power of two of leaves".into());
            }
            let leaves = elements(seed, count * 4);
            let mut level: Vec<[S::E; 4]> = leaves
                .as_chunks::<4>()
                .0
                .iter()
                .map(|d| d.map(S::element))
                .collect();
            let start = Instant::now();
            let mut levels = Vec::new();
            while level.len() > 1 {
                let parents = level
                    .as_chunks::<2>()
                    .0
                    .par_iter()
                    .with_min_len(64)
                    .map(|pair| side.merge(pair))
                    .collect();
                levels.push(std::mem::replace(&mut level, parents));
            }
            (ns(start, count - 1), level[0].to_vec())
        }
        _ => return Err(format!("no operation `{op}`")),
    };
    Ok(json!({"ns": ns, "check": fold(result.into_iter().map(S::word))}))
}

fn answer(line: &str, p3: &P3) -> Result<Value, String> {
    let request: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let text = |name: &str| request[name].as_str().unwrap_or_default();
    if text("op") == "info" {
        return Ok(json!({
            "miden": "miden-crypto 0.28.1", "p3": "p3-rescue 0.8.0",
            "rustc": env!("RIVAL_RUSTC"), "target_features": env!("RIVAL_TARGET_FEATURES"),
            "threads": rayon::current_num_threads(),
        }));
    }
    let count = request["count"].as_u64().unwrap_or(0) as usize;
    let seed = request["seed"].as_u64().unwrap_or(0);
    if count == 0 {
        return Err("count is missing or 0".into());
    }
    match text("who") {
        "miden" => run(&Miden, text("op"), count, seed),
        "p3" => run(p3, text("op"), count, seed),
        who => Err(format!("nobody is called `{who}`")),
    }
}

fn main() -> std::io::Result<()> {
    let permutation = RpoGoldilocks::from_standard_constants();
    let p3 = P3 {
        compression: TruncatedPermutation::new(permutation.clone()),
        permutation,
    };
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        // On a worker thread: called from outside the pool, every parallel call wakes a sleeping one.
        let result = rayon::scope(|_| answer(&line, &p3));
        let answer = result.unwrap_or_else(|error| json!({"error": error}));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
