//! What a proof will cost, before any work: queries, proof of work, bytes, hashes, memory.
#![forbid(unsafe_code)]

use serde::Serialize;

use crate::error::ParamsError;
use crate::field::{EF4, EF5, Extension};
use crate::input::Encoding;
use crate::params::{Assumption, ExtensionDegree, Params};
use crate::proof::{OpeningShape, ProofShape, preamble};

/// Bytes of a digest.
const DIGEST_BYTES: f64 = 32.0;
/// Base elements that one permutation absorbs.
const RATE: f64 = 8.0;

/// One intermediate round, or the final one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RoundPlan {
    /// Positions opened in the codeword committed before.
    pub num_queries: usize,
    /// Proof-of-work bits before the queries.
    pub pow_bits: usize,
    /// Proof-of-work bits in each sumcheck round that follows.
    pub folding_pow_bits: usize,
    /// Out-of-domain samples.
    pub ood_samples: usize,
    /// log2 of the inverse rate of the code that this round commits (the last one, for the final
    /// round).
    pub log_inv_rate: usize,
    /// Variables left.
    pub num_variables: usize,
    /// log2 of the size of the domain that is queried, before folding.
    pub log_domain_size: usize,
}

/// The cost of one proof.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Plan {
    /// Number of variables committed.
    pub n: usize,
    /// Degree of the extension.
    pub extension: usize,
    /// Security level.
    pub security_level: usize,
    /// Distance bound.
    pub assumption: Assumption,
    /// Folds, the first included.
    pub folds: Vec<usize>,
    /// log2 of the inverse rate of the first code.
    pub rate: usize,
    /// Proof-of-work budget.
    pub pow_bits: usize,
    /// Out-of-domain samples of the commitment.
    pub commitment_ood_samples: usize,
    /// Proof-of-work bits in each round of the first sumcheck.
    pub starting_folding_pow_bits: usize,
    /// Intermediate rounds.
    pub rounds: Vec<RoundPlan>,
    /// The final round.
    pub final_round: RoundPlan,
    /// Queries of each round, the final one last.
    pub queries: Vec<usize>,
    /// Proof-of-work bits before the queries of each round, the final one last.
    pub pow_bits_per_round: Vec<usize>,
    /// Proof-of-work bits in each sumcheck round: the first sumcheck, the rounds, the final one.
    pub folding_pow_bits_per_round: Vec<usize>,
    /// Bytes of the whole proof file; the number of sibling digests is an expectation.
    pub proof_bytes_estimate: u64,
    /// Bytes of p3-whir's proof in it.
    pub pcs_proof_bytes_estimate: u64,
    /// Permutations that all proof-of-work searches take on average.
    pub expected_grinding_hashes: u64,
    /// Permutations that the verifier computes, transcript included, about.
    pub verifier_hashes_estimate: u64,
    /// Bytes of memory at the peak: [`peak_memory_bytes`] of the usual shape.
    pub peak_memory_bytes: u64,
    /// True: refused parameters give an error instead of a plan.
    pub accepted: bool,
    /// None, since accepted.
    pub reason: Option<String>,
    /// One line where the assumption is conjectural.
    pub notice: Option<&'static str>,
}

/// Plans the proof of one polynomial of `n` variables at one point.
///
/// # Errors
/// As [`Params::config`].
pub fn plan(params: &Params, n: usize) -> Result<Plan, ParamsError> {
    match params.degree {
        ExtensionDegree::Four => plan_over::<EF4>(params, n),
        ExtensionDegree::Five => plan_over::<EF5>(params, n),
    }
}

fn plan_over<EF: Extension>(params: &Params, n: usize) -> Result<Plan, ParamsError> {
    let config = params.config::<EF>(n)?;
    let n = config.num_variables();
    let shape = ProofShape::from_config(&config, params.cap_height);
    let round = |r: &p3_whir::parameters::RoundConfig| RoundPlan {
        num_queries: r.num_queries,
        pow_bits: r.pow_bits,
        folding_pow_bits: r.folding_pow_bits,
        ood_samples: r.ood_samples,
        log_inv_rate: r.log_inv_rate,
        num_variables: r.num_variables,
        log_domain_size: r.domain_size.ilog2() as usize,
    };
    let rounds: Vec<_> = config.round_parameters().iter().map(round).collect();
    let final_round = round(&config.final_round_config());
    let folds = config.folding_schedule().to_vec();
    let all = || rounds.iter().chain([&final_round]);

    let pow = |bits: usize| if bits == 0 { 0 } else { 1_u64 << bits.min(62) };
    let mut grinding = pow(config.starting_folding_pow_bits()) * folds[0] as u64;
    for (i, r) in all().enumerate() {
        let sumcheck = folds.get(i + 1).copied().unwrap_or(shape.final_variables);
        grinding += pow(r.pow_bits) + pow(r.folding_pow_bits) * sumcheck as u64;
    }

    let pcs = pcs_bytes(&shape);
    // Only the length of the preamble counts, and it does not depend on length and encoding.
    let preamble_elements = preamble(params, n, 1, Encoding::U32)?.len() as u64;
    let header = prefix_bytes(params)
        + 4
        + 32 * shape.cap as u64
        + 4
        + 4 * (shape.degree * (n + 1)) as u64
        + 8;
    let verifier = shape
        .openings()
        .map(|o| verifier_hashes(o, shape.degree))
        .sum::<f64>()
        + (pcs_transcript_elements(&shape) + preamble_elements as f64) / RATE;

    Ok(Plan {
        n,
        extension: shape.degree,
        security_level: params.security_level,
        assumption: params.assumption,
        rate: params.log_inv_rate,
        pow_bits: params.pow_bits,
        commitment_ood_samples: config.commitment_ood_samples(),
        starting_folding_pow_bits: config.starting_folding_pow_bits(),
        queries: all().map(|r| r.num_queries).collect(),
        pow_bits_per_round: all().map(|r| r.pow_bits).collect(),
        folding_pow_bits_per_round: std::iter::once(config.starting_folding_pow_bits())
            .chain(all().map(|r| r.folding_pow_bits))
            .collect(),
        proof_bytes_estimate: header + pcs.round() as u64,
        pcs_proof_bytes_estimate: pcs.round() as u64,
        expected_grinding_hashes: grinding,
        verifier_hashes_estimate: verifier.round() as u64,
        peak_memory_bytes: peak_memory_bytes(&MemoryShape::new(params, n)?),
        accepted: true,
        reason: None,
        notice: params.assumption.notice(),
        folds,
        rounds,
        final_round,
    })
}

/// Bytes of the header before the commitment.
fn prefix_bytes(params: &Params) -> u64 {
    use crate::params::{Folds, RateSchedule};
    let folds = match &params.folds {
        Folds::Constant(_) => 1,
        Folds::PerRound(v) => v.len(),
    };
    let rates = match &params.rates {
        RateSchedule::PerRound(v) => v.len(),
        RateSchedule::Standard | RateSchedule::Article => 0,
    };
    // Magic and versions, ten bytes of scalars, two tagged lists, encoding, length, n.
    16 + 10 + 2 + folds as u64 + 2 + rates as u64 + 1 + 8 + 1
}

/// Expected number of sibling digests of a pruned multiproof: on each level, nodes on a path
/// whose sibling is on none, for independent uniform draws.
#[must_use]
pub fn expected_siblings(opening: &OpeningShape) -> f64 {
    if opening.saturated {
        return 0.0;
    }
    let draws = opening.rows as f64;
    (0..opening.levels)
        .map(|level| {
            let nodes = ((opening.log_leaves - level) as f64).exp2();
            nodes * ((1.0 - 1.0 / nodes).powf(draws) - (1.0 - 2.0 / nodes).powf(draws))
        })
        .sum()
}

/// Bytes of a shortest-form varint.
fn varint(x: f64) -> f64 {
    let bits = 64 - (x.max(0.0) as u64).max(1).leading_zeros();
    f64::from(bits.div_ceil(7))
}

fn list(count: usize, words: usize) -> f64 {
    varint(count as f64) + (4 * count * words) as f64
}

fn opening_bytes(o: &OpeningShape, degree: usize) -> f64 {
    let words = if o.base { 1 } else { degree };
    let siblings = expected_siblings(o);
    1.0 + varint(o.rows as f64)
        + o.rows as f64 * list(o.width, words)
        + varint(siblings)
        + DIGEST_BYTES * siblings
}

fn pcs_bytes(shape: &ProofShape) -> f64 {
    let d = shape.degree;
    let sumcheck = |rounds, witnesses| list(rounds, 2 * d) + list(witnesses, 1);
    let rounds: f64 = shape
        .rounds
        .iter()
        .map(|r| {
            1.0 + list(r.cap, 8)
                + list(r.ood, d)
                + 4.0
                + opening_bytes(&r.openings, d)
                + sumcheck(r.sumcheck, r.witnesses)
        })
        .sum();
    list(shape.ood, d)
        + sumcheck(shape.initial_sumcheck.0, shape.initial_sumcheck.1)
        + varint(shape.rounds.len() as f64)
        + rounds
        + 1.0
        + list(1 << shape.final_variables, d)
        + 4.0
        + opening_bytes(&shape.final_openings, d)
        + 1.0
        + if shape.final_variables > 0 {
            sumcheck(shape.final_variables, shape.final_witnesses)
        } else {
            0.0
        }
        + 1.0
        + list(1, d)
        + list(0, d)
}

/// Elements that the transcript absorbs or squeezes, about: everything but rows and siblings.
fn pcs_transcript_elements(shape: &ProofShape) -> f64 {
    let rows: f64 = shape
        .openings()
        .map(|o| opening_bytes(o, shape.degree))
        .sum();
    let queries: usize = shape.openings().map(|o| o.rows).sum();
    (pcs_bytes(shape) - rows) / 4.0 + queries as f64
}

/// Permutations to check one multiproof: distinct leaves, and distinct nodes above them.
fn verifier_hashes(o: &OpeningShape, degree: usize) -> f64 {
    let elements = if o.base { o.width } else { o.width * degree };
    let distinct = |nodes: f64| {
        if o.saturated {
            nodes
        } else {
            nodes * (1.0 - (1.0 - 1.0 / nodes).powf(o.rows as f64))
        }
    };
    let level = |l: usize| distinct(((o.log_leaves - l) as f64).exp2());
    level(0) * (elements as f64 / RATE).ceil() + (1..=o.levels).map(level).sum::<f64>()
}

/// The sizes that decide how much memory a prover holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryShape {
    /// Number of variables committed.
    pub num_variables: usize,
    /// Degree of the extension.
    pub degree: usize,
    /// For each committed codeword: variables of the polynomial, log2 of the inverse rate, and
    /// log2 of the elements in a row.
    pub codewords: Vec<(usize, usize, usize)>,
    /// log2 of the extension elements in the first table of weights. A prover that holds no
    /// table before the first fold sets `num_variables` less that fold.
    pub log_weights: usize,
}

impl MemoryShape {
    /// The shape of a proof whose first table of weights covers the whole hypercube.
    ///
    /// # Errors
    /// As [`Params::folding_schedule`].
    pub fn new(params: &Params, n: usize) -> Result<Self, ParamsError> {
        let folds = params.folding_schedule(n)?;
        let rates = params.round_log_inv_rates(n)?;
        let n = params.padded_num_variables(n);
        let mut vars = n;
        let mut codewords = vec![(n, params.log_inv_rate, folds[0])];
        for (i, &rate) in rates.iter().enumerate() {
            vars -= folds[i];
            codewords.push((vars, rate, folds[i + 1]));
        }
        Ok(Self {
            num_variables: n,
            degree: params.degree.get(),
            codewords,
            log_weights: n,
        })
    }
}

/// Peak memory of a prover in bytes: the most that lives at once.
///
/// - Base polynomial: 4 bytes an element, held throughout.
/// - A codeword: 4 bytes a base element (`4 * degree` for those after the first), and its tree:
///   64 bytes a leaf, leaves and inner digests together.
/// - Tables of the sumcheck: polynomial and weights, `4 * degree` bytes an element each.
///
/// Steps: committing (polynomial, first codeword and tree); the first sumcheck (these, the
/// weights and the first half-size table); and each round, which holds its tables, the codeword
/// that it opens and the one that it commits. Saturates instead of overflowing.
#[must_use]
pub fn peak_memory_bytes(shape: &MemoryShape) -> u64 {
    let pow = |log: usize| 1_u64.checked_shl(log.min(64) as u32).unwrap_or(u64::MAX);
    let ext = 4 * shape.degree as u64;
    let codeword = |i: usize| {
        shape.codewords.get(i).map_or(0, |&(vars, rate, row)| {
            let element = if i == 0 { 4 } else { ext };
            let tree = pow((vars + rate).saturating_sub(row)).saturating_mul(64);
            pow(vars + rate)
                .saturating_mul(element)
                .saturating_add(tree)
        })
    };
    let base = pow(shape.num_variables).saturating_mul(4);
    let first = base.saturating_add(codeword(0)).saturating_add(
        pow(shape.log_weights)
            .saturating_add(pow(shape.num_variables.saturating_sub(1)))
            .saturating_mul(ext),
    );
    (1..shape.codewords.len())
        .map(|i| {
            let tables = pow(shape.codewords[i].0).saturating_mul(2 * ext);
            base.saturating_add(codeword(i - 1))
                .saturating_add(codeword(i))
                .saturating_add(tables)
        })
        .fold(first, u64::max)
}

#[cfg(test)]
mod tests;
