//! Requests and answers: one JSON object a line.
use serde::{Deserialize, Serialize};

use p3_whir::parameters::{FoldingFactor, ProtocolParameters, SecurityAssumption};

#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    Info,
    Prepare(Statement),
    Run,
    Proof { path: String },
    MaxLevel(Statement),
    Permutation,
    Quit,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Folds {
    Constant(usize),
    PerRound(Vec<usize>),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Assumption {
    Unique,
    Johnson,
    Capacity,
}

/// What to prove. `max_level` reads the parameters only, so the data fields may be left out there.
#[derive(Deserialize)]
pub struct Statement {
    pub n: usize,
    pub folds: Folds,
    pub rate: usize,
    /// Empty: p3's standard schedule.
    #[serde(default)]
    pub round_log_inv_rates: Vec<usize>,
    pub assumption: Assumption,
    pub security_level: usize,
    pub pow_bits: usize,
    pub extension: usize,
    #[serde(default)]
    pub cap_height: usize,
    #[serde(default)]
    pub preamble: Vec<u32>,
    #[serde(default)]
    pub point: Vec<Vec<u32>>,
    #[serde(default)]
    pub input: String,
}

impl Statement {
    /// 0 for an empty schedule, which `WhirConfig` then refuses in its own words.
    pub fn first_fold(&self) -> usize {
        match &self.folds {
            Folds::Constant(k) => *k,
            Folds::PerRound(ks) => ks.first().copied().unwrap_or(0),
        }
    }

    /// Variables of the committed polynomial: p3 pads a smaller one with zeros to the first fold.
    pub fn committed_variables(&self) -> usize {
        self.n.max(self.first_fold())
    }

    pub fn parameters(&self, security_level: usize) -> ProtocolParameters {
        ProtocolParameters {
            starting_log_inv_rate: self.rate,
            round_log_inv_rates: self.round_log_inv_rates.clone(),
            folding_factor: match &self.folds {
                Folds::Constant(k) => FoldingFactor::Constant(*k),
                Folds::PerRound(ks) => FoldingFactor::PerRound(ks.clone()),
            },
            soundness_type: match self.assumption {
                Assumption::Unique => SecurityAssumption::UniqueDecoding,
                Assumption::Johnson => SecurityAssumption::JohnsonBound,
                Assumption::Capacity => SecurityAssumption::CapacityBound,
            },
            security_level,
            pow_bits: self.pow_bits,
        }
    }
}

/// One proof, made and checked.
#[derive(Serialize)]
pub struct Run {
    pub ok: bool,
    pub witness_ms: f64,
    pub commit_ms: f64,
    pub open_ms: f64,
    /// commit + open, grinding included.
    pub prove_ms: f64,
    pub grind_ms: f64,
    pub verify_ms: f64,
    pub verified: bool,
    /// Why the verifier refused, where it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_error: Option<String>,
    pub proof_bytes: usize,
    pub proof_sha256: String,
    pub commitment: String,
    pub value: Vec<u32>,
    pub peak_memory_bytes: u64,
}

#[derive(Serialize)]
pub struct MaxLevel {
    pub ok: bool,
    /// Highest accepted level not above the one asked for; null where none is.
    pub max_level: Option<usize>,
    /// p3's words at the level asked for; null where it is accepted.
    pub refusal: Option<String>,
}
