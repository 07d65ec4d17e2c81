//! What bounds a prover: permutations per second, and bytes per second.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use fieldspar_whir::engine::{Engine, GrindTask};
use fieldspar_whir::error::ParamsError;
use fieldspar_whir::field::{EF4, F};
use fieldspar_whir::params::Params;
use fieldspar_whir::plan::MemoryShape;
use p3_field::PrimeField32;
use rayon::prelude::*;
use serde::Serialize;

use super::child::engine;

/// Field elements that one permutation absorbs, and digest bytes.
const RATE: u64 = 8;
const DIGEST: u64 = 32;

/// What one proof takes, from its parameters alone, and the speeds that follow.
///
/// Grinding is left out on both sides: it is luck.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Work {
    /// Permutations in leaves and nodes of all trees.
    pub(crate) permutations: u64,
    /// Bytes that pass through memory if nothing stays in cache and nothing is done twice.
    pub(crate) bytes_moved: u64,
    pub(crate) permutations_per_s: f64,
    pub(crate) bytes_per_s: f64,
}

impl Work {
    /// The work for `params` and 2^n elements.
    ///
    /// - Each codeword: message read, codeword written, read once for the leaves; digests written,
    ///   read once for the level above.
    /// - Sumcheck: the polynomial read twice (evaluations, first fold); then two extension tables,
    ///   polynomial and weights, each read once a round and written at half the size.
    pub(crate) fn of(params: &Params, n: usize) -> Result<Self, ParamsError> {
        let shape = MemoryShape::new(params, n)?;
        let ext = 4 * shape.degree as u64;
        let (mut permutations, mut bytes_moved) = (0, 0);
        for (i, &(vars, rate, row)) in shape.codewords.iter().enumerate() {
            let element = if i == 0 { 4 } else { ext };
            let (message, code) = (element << vars, element << (vars + rate));
            let leaves = 1_u64 << (vars + rate - row);
            let nodes = leaves - (1 << params.cap_height.min(vars + rate - row));
            permutations += leaves * ((element / 4) << row).div_ceil(RATE) + nodes;
            bytes_moved += message + 2 * code + 2 * DIGEST * (leaves + nodes);
        }
        let vars = shape.num_variables;
        let first = params.folding_schedule(n)?.first().copied().unwrap_or(0);
        let tables = |vars: usize| (2 * ext) << vars;
        bytes_moved += 2 * (4 << vars) + tables(vars - first);
        for left in 1..=vars - first {
            bytes_moved += tables(left) + tables(left - 1);
        }
        Ok(Self {
            permutations,
            bytes_moved,
            ..Self::default()
        })
    }

    /// The speeds of a proof that took this long.
    pub(super) fn measure(&mut self, ms: f64) {
        self.permutations_per_s = self.permutations as f64 / ms * 1e3;
        self.bytes_per_s = self.bytes_moved as f64 / ms * 1e3;
    }
}

/// What the machine can do, measured in this process with all threads.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Roof {
    pub(crate) device: String,
    pub(crate) threads: usize,
    /// Of the permutation kernel alone: a proof-of-work search, which touches no memory.
    pub(crate) permutations_per_s: f64,
    /// Bytes read and written by copying buffers larger than the caches.
    pub(crate) bytes_per_s: f64,
}

impl Roof {
    pub(super) fn measure(device: &str, threads: usize, bytes_per_s: f64) -> Result<Self, String> {
        Ok(Self {
            device: device.to_owned(),
            threads,
            permutations_per_s: permutations_per_s(device)?,
            bytes_per_s,
        })
    }
}

fn permutations_per_s(device: &str) -> Result<f64, String> {
    let engine = engine(device)?;
    let mut salt = 0;
    let mut search = || {
        salt += 16;
        let task = GrindTask {
            state: std::array::from_fn(|i| F::new(salt + i as u32)),
            slot: 0,
            bits: 18,
        };
        // The smallest witness: every one below it was tried.
        let witness = Engine::<EF4>::grind(&engine, &task).map_err(|e| e.to_string())?;
        Ok::<_, String>(f64::from(witness.as_canonical_u32()) + 1.0)
    };
    // Wakes the threads.
    search()?;
    let mut best: f64 = 0.0;
    for _ in 0..5 {
        let begin = Instant::now();
        let mut tried = 0.0;
        while begin.elapsed() < Duration::from_millis(80) {
            tried += search()?;
        }
        best = best.max(tried / begin.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// Copy bandwidth of all threads together, read and write counted.
pub(super) fn copy_bandwidth() -> f64 {
    const WORDS: usize = 16 << 20;
    const CHUNK: usize = 1 << 16;
    let source = vec![1_u64; WORDS];
    let mut target = vec![0_u64; WORDS];
    let mut best: f64 = 0.0;
    for _ in 0..6 {
        let begin = Instant::now();
        target
            .par_chunks_mut(CHUNK)
            .zip(source.par_chunks(CHUNK))
            .for_each(|(to, from)| to.copy_from_slice(from));
        black_box(&mut target);
        best = best.max((16 * WORDS) as f64 / begin.elapsed().as_secs_f64());
    }
    best
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::grid::{Point, Setting};
    use super::*;

    #[test]
    fn permutations_of_a_small_tree() {
        let point = Point {
            n: 6,
            fold: 3,
            rate: 1,
        };
        let mut params = Setting::published().params(point);
        params.security_level = 30;
        let shape = MemoryShape::new(&params, 6).unwrap();
        // 2^7 elements in 16 rows of 8, then 2^3 variables in rows of 8 elements of degree 4.
        let (vars, rate, row) = shape.codewords[0];
        assert_eq!((vars, rate, row), (6, 1, 3));
        let expected: u64 = shape
            .codewords
            .iter()
            .enumerate()
            .map(|(i, &(vars, rate, row))| {
                let leaves = 1_u64 << (vars + rate - row);
                leaves * if i == 0 { 1 } else { (4 << row) / 8 } + leaves - 1
            })
            .sum();
        let mut work = Work::of(&params, 6).unwrap();
        assert_eq!(work.permutations, expected);
        work.measure(2.0);
        assert!((work.permutations_per_s - 500.0 * expected as f64).abs() < 1e-6);
    }

    #[test]
    fn roofs_are_positive() {
        let roof = Roof::measure("cpu:portable", 1, copy_bandwidth()).unwrap();
        assert!(roof.permutations_per_s > 1e4 && roof.bytes_per_s > 1e6);
    }
}
