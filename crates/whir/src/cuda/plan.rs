//! How much device memory a proof takes, before any work.
#![forbid(unsafe_code)]

use fieldspar_device::{BufferId, MemoryPlan};

use super::eval::Split;
use super::tree::Tree;
use crate::error::ParamsError;
use crate::field::{EF4, EF5};
use crate::params::{ExtensionDegree, Params};
use crate::proof::{OpeningShape, ProofShape};

/// Bytes that an engine keeps for small results and tables, at most.
const ENGINE: u64 = 128 << 10;
/// A transform of up to this many points, as log2, is one pass and needs no second buffer.
const ONE_PASS: usize = 8;
/// Bytes of one word.
const WORD: u64 = 4;
/// Threads of a block that leaves partial sums, and powers in a table of them.
const THREADS: usize = 256;

/// The device memory of one proof of `n` variables at one point by a
/// [`CudaEngine`](super::CudaEngine), phase by phase. Codewords, trees and tables are counted to the
/// byte, scratch memory from above.
///
/// - A codeword and its tree live until the round after has folded: two of each at once. While it is
///   encoded there is a second buffer of its size.
/// - The polynomial goes once the first fold is bound. From then on there are tables, folded
///   polynomial and weights, of `8 * degree` bytes an entry; a round of the sumcheck makes the next
///   ones beside them, half as large.
///
/// # Errors
/// As [`Params::config`].
pub fn memory_plan(params: &Params, n: usize) -> Result<MemoryPlan, ParamsError> {
    Ok(of_shape(&shape(params, n)?, false))
}

/// The shape of the proof.
pub(crate) fn shape(params: &Params, n: usize) -> Result<ProofShape, ParamsError> {
    match params.degree {
        ExtensionDegree::Four => ProofShape::of::<EF4>(params, n),
        ExtensionDegree::Five => ProofShape::of::<EF5>(params, n),
    }
}

/// `count << log` words, in bytes.
const fn words(count: u64, log: usize) -> u64 {
    match 1_u64.checked_shl(log as u32) {
        Some(power) => WORD.saturating_mul(count).saturating_mul(power),
        None => u64::MAX,
    }
}

/// What one commitment holds.
struct Code {
    words: BufferId,
    spare: Option<BufferId>,
    tree: BufferId,
}

impl Code {
    fn new(plan: &mut MemoryPlan, i: usize, opening: &OpeningShape, degree: u64) -> Self {
        let element = if opening.base { 1 } else { degree };
        let height = opening.log_leaves;
        let bytes = words(element * opening.width as u64, height);
        let tree = Tree::words(height, height - opening.levels) as u64;
        Self {
            words: plan.buffer(format!("codeword {i}"), bytes),
            spare: (height > ONE_PASS)
                .then(|| plan.buffer(format!("codeword {i} between passes"), bytes)),
            tree: plan.buffer(format!("tree {i}"), WORD * tree),
        }
    }

    fn encoding(&self, together: bool) -> impl Iterator<Item = BufferId> {
        let tree = together.then_some(self.tree);
        [self.words].into_iter().chain(self.spare).chain(tree)
    }

    const fn committed(&self) -> [BufferId; 2] {
        [self.words, self.tree]
    }
}

/// Scratch memory of evaluations of the polynomial, 2^`bits` values behind a fold of `fold`
/// variables: partial sums and their results.
fn evaluation(degree: u64, bits: usize, fold: usize) -> u64 {
    let width = 1_usize << fold;
    let split = Split::new(bits, width, 1);
    let partial = split.tiles * split.splits * width.min(THREADS);
    WORD * degree * (partial + width) as u64
}

/// Scratch memory of a round that adds its claims over 2^`bits` values: partial sums of an evaluation,
/// opened rows, or the powers that weigh them.
fn claims(degree: u64, bits: usize, opening: &OpeningShape) -> u64 {
    let split = Split::new(bits, 1, 1);
    let partial = degree * (split.tiles * split.splits) as u64;
    let powers = opening.rows as u64 * (degree + 1 + THREADS as u64);
    gathered(opening, degree).max(WORD * partial.max(powers))
}

/// `together`: what encoding needs lives until the tree is made.
pub(crate) fn of_shape(shape: &ProofShape, together: bool) -> MemoryPlan {
    let n = shape.num_variables;
    let degree = shape.degree as u64;
    let openings: Vec<&OpeningShape> = shape.openings().collect();
    let mut plan = MemoryPlan::new(format!("whir prove on the GPU, n = {n},"));

    let mut heights: Vec<usize> = openings.iter().map(|o| o.log_leaves).collect();
    heights.sort_unstable();
    heights.dedup();
    let roots = heights
        .iter()
        .map(|&h| words(1, h.div_ceil(2)) + words(1, h / 2))
        .fold(ENGINE, u64::saturating_add);
    let engine = plan.buffer("engine", roots);
    let polynomial = plan.buffer("polynomial", words(1, n));
    let codes: Vec<Code> = (0..)
        .zip(&openings)
        .map(|(i, opening)| Code::new(&mut plan, i, opening, degree))
        .collect();
    let (Some(first), Some(opening)) = (codes.first(), openings.first()) else {
        return plan;
    };

    let held = |more: &mut dyn Iterator<Item = BufferId>| {
        let mut all = vec![engine];
        all.extend(more);
        all
    };
    let fold = opening.width.ilog2() as usize;
    let mut bits = n.saturating_sub(fold);
    plan.phase(
        "encode 0",
        &held(&mut first.encoding(together).chain([polynomial])),
    );
    let commit = held(&mut first.committed().into_iter().chain([polynomial]));
    plan.phase("merkle 0", &commit);
    let small = plan.buffer("scratch 0", evaluation(degree, bits, fold));
    let challenges = plan.buffer("weights of the fold", words(degree, fold));
    plan.phase("evaluate 0", &[&commit[..], &[small]].concat());
    let mut tables = plan.buffer("tables 0", words(2 * degree, bits));
    plan.phase("fold", &[&commit[..], &[challenges, tables]].concat());

    for (i, pair) in codes.windows(2).enumerate() {
        let [old, new] = pair else { continue };
        let round = i + 1;
        let old_and_tables = old.committed().into_iter().chain([tables]);
        plan.phase(
            format!("encode {round}"),
            &held(&mut old_and_tables.clone().chain(new.encoding(together))),
        );
        let all = held(&mut old_and_tables.chain(new.committed()));
        plan.phase(format!("merkle {round}"), &all);
        let small = plan.buffer(
            format!("scratch {round}"),
            claims(degree, bits, openings[i]),
        );
        plan.phase(format!("weights {round}"), &[&all[..], &[small]].concat());
        let half = plan.buffer(
            format!("tables {round}, half as large"),
            words(2 * degree, bits.saturating_sub(1)),
        );
        plan.phase(format!("sumcheck {round}"), &[&all[..], &[half]].concat());
        bits = bits.saturating_sub(openings[round].width.ilog2() as usize);
        tables = plan.buffer(format!("tables {round}"), words(2 * degree, bits));
    }
    if let (Some(last), Some(rows)) = (codes.last(), openings.last()) {
        let small = plan.buffer(
            "scratch of the last opening",
            gathered(rows, degree).max(words(degree, bits)),
        );
        plan.phase(
            "final",
            &held(&mut last.committed().into_iter().chain([tables, small])),
        );
    }
    plan
}

/// Bytes of opened rows with their paths, and of the lists that say where they lie.
const fn gathered(opening: &OpeningShape, degree: u64) -> u64 {
    let element = if opening.base { 1 } else { degree };
    let rows = opening.rows as u64;
    let digests = rows * opening.levels as u64;
    WORD * rows * (1 + element * opening.width as u64) + (8 * WORD + 8) * digests
}

#[cfg(test)]
mod tests;
