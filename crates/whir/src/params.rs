//! What a user chooses: security level, assumption, folds, rates, proof-of-work budget.
//!
//! [`Params::config`] turns a choice into p3-whir's own configuration, or says which figure is
//! missing and what to change. p3-whir trusts its caller in places (shifts, two-adicity of the
//! later rounds, per-round query counts), so everything is checked here before it is called.
#![forbid(unsafe_code)]

mod config;
mod encoding;
mod schedule;

pub(crate) use encoding::{decode_params, encode_params};

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Largest number of variables: a base polynomial of 2^32 elements, 16 GiB.
pub const MAX_NUM_VARIABLES: usize = 32;
/// Two-adicity of BabyBear: the largest subgroup of order a power of two has 2^27 elements.
pub const TWO_ADICITY: usize = 27;
/// Largest PoW budget: a witness is one base element, and the transcript takes up to 30 bits.
pub const MAX_POW_BITS: usize = 30;
/// Largest security level that can be written; p3-whir refuses much less.
pub const MAX_SECURITY_LEVEL: usize = 256;
/// Largest number of entries in a list of folds or rates.
pub(crate) const MAX_ROUNDS: usize = MAX_NUM_VARIABLES;

/// The one line to print wherever [`Assumption::Capacity`] is in use.
pub const CONJECTURE: &str = "the capacity bound is conjectural: its security level is not proven, and parts of the underlying conjecture have been disproven";

/// Which distance bound the number of queries rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assumption {
    /// Unique decoding: proven.
    UniqueDecoding,
    /// The Johnson bound: proven.
    Johnson,
    /// The capacity bound: conjectural, for comparison with published figures.
    Capacity,
}

impl Assumption {
    /// Whether security under this bound is a conjecture; print [`CONJECTURE`] if so.
    #[must_use]
    pub const fn is_conjectured(self) -> bool {
        matches!(self, Self::Capacity)
    }

    /// [`CONJECTURE`] where it applies.
    #[must_use]
    pub const fn notice(self) -> Option<&'static str> {
        if self.is_conjectured() {
            Some(CONJECTURE)
        } else {
            None
        }
    }

    /// The name used in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UniqueDecoding => "unique-decoding",
            Self::Johnson => "johnson",
            Self::Capacity => "capacity",
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Assumption {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        [Self::UniqueDecoding, Self::Johnson, Self::Capacity]
            .into_iter()
            .find(|a| a.name() == s)
            .ok_or_else(|| format!("{s:?} is not one of unique-decoding, johnson, capacity"))
    }
}

/// How many variables each round folds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Folds {
    /// The same in every round; the last fold may be smaller.
    Constant(usize),
    /// One entry per fold, the first included; exactly as many as are used.
    ///
    /// The transcript names the variant: `Constant(4)` and `PerRound([4, 4])` give different
    /// proofs of one polynomial.
    PerRound(Vec<usize>),
}

impl Folds {
    /// The fold before the first round.
    #[must_use]
    pub fn first(&self) -> usize {
        match self {
            Self::Constant(k) => *k,
            Self::PerRound(v) => v.first().copied().unwrap_or(0),
        }
    }
}

impl fmt::Display for Folds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(k) => write!(f, "{k}"),
            Self::PerRound(v) => f.write_str(&join(v)),
        }
    }
}

/// The rate of the code committed in each round, as log2 of the inverse rate.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "RateRepr", into = "RateRepr")]
pub enum RateSchedule {
    /// p3-whir's: r += fold - 1 each round.
    Standard,
    /// That of the published Metal benchmarks: r += fold - min(fold, 3) after the first fold,
    /// then r += fold - 1.
    Article,
    /// One entry per committed round.
    PerRound(Vec<usize>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RateName {
    Standard,
    Article,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RateRepr {
    Named(RateName),
    PerRound(Vec<usize>),
}

impl From<RateRepr> for RateSchedule {
    fn from(repr: RateRepr) -> Self {
        match repr {
            RateRepr::Named(RateName::Standard) => Self::Standard,
            RateRepr::Named(RateName::Article) => Self::Article,
            RateRepr::PerRound(v) => Self::PerRound(v),
        }
    }
}

impl From<RateSchedule> for RateRepr {
    fn from(schedule: RateSchedule) -> Self {
        match schedule {
            RateSchedule::Standard => Self::Named(RateName::Standard),
            RateSchedule::Article => Self::Named(RateName::Article),
            RateSchedule::PerRound(v) => Self::PerRound(v),
        }
    }
}

impl fmt::Display for RateSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Standard => f.write_str("standard"),
            Self::Article => f.write_str("article"),
            Self::PerRound(v) => f.write_str(&join(v)),
        }
    }
}

fn join(v: &[usize]) -> String {
    v.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// Degree of the extension that challenges come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "usize", into = "usize")]
pub enum ExtensionDegree {
    /// About 2^123.6 elements.
    Four,
    /// About 2^154.5 elements.
    Five,
}

impl ExtensionDegree {
    /// 4 or 5.
    #[must_use]
    pub const fn get(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Five => 5,
        }
    }
}

impl From<ExtensionDegree> for usize {
    fn from(degree: ExtensionDegree) -> Self {
        degree.get()
    }
}

impl TryFrom<usize> for ExtensionDegree {
    type Error = String;

    fn try_from(degree: usize) -> Result<Self, Self::Error> {
        match degree {
            4 => Ok(Self::Four),
            5 => Ok(Self::Five),
            _ => Err(format!("extension degree {degree} is not 4 or 5")),
        }
    }
}

/// The base field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BaseField {
    /// p = 15 * 2^27 + 1.
    #[default]
    BabyBear,
}

/// The hash of leaves, nodes and transcript.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HashId {
    /// `default_babybear_poseidon2_16`.
    #[default]
    Poseidon2W16,
}

/// Children per node of the Merkle tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Arity {
    /// Two.
    #[default]
    Binary,
}

/// The parameters of a proof, apart from the size of the polynomial.
///
/// The default is proven, not conjectured: degree 5, Johnson bound, 100 bits, fold 4, rate 1/2,
/// 16 bits of proof of work.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Params {
    /// Bits of security that every error term must reach.
    pub security_level: usize,
    /// The distance bound.
    pub assumption: Assumption,
    /// Variables folded per round.
    pub folds: Folds,
    /// log2 of the inverse rate of the first code: 1 is rate 1/2.
    #[serde(rename = "rate")]
    pub log_inv_rate: usize,
    /// Rates of the later rounds.
    #[serde(rename = "rate_schedule")]
    pub rates: RateSchedule,
    /// Most bits of proof of work that one step may need.
    pub pow_bits: usize,
    /// Degree of the extension field.
    #[serde(rename = "extension")]
    pub degree: ExtensionDegree,
    /// The commitment is the layer of 2^cap_height digests below the root.
    pub cap_height: usize,
    /// Base field.
    pub field: BaseField,
    /// Hash.
    pub hash: HashId,
    /// Tree arity.
    pub arity: Arity,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            security_level: 100,
            assumption: Assumption::Johnson,
            folds: Folds::Constant(4),
            log_inv_rate: 1,
            rates: RateSchedule::Standard,
            pow_bits: 16,
            degree: ExtensionDegree::Five,
            cap_height: 0,
            field: BaseField::BabyBear,
            hash: HashId::Poseidon2W16,
            arity: Arity::Binary,
        }
    }
}

impl Params {
    /// Number of variables committed for a polynomial of `n` variables: at least the first fold.
    ///
    /// A smaller polynomial is zero-padded, and its point gets leading zeros.
    #[must_use]
    pub fn padded_num_variables(&self, n: usize) -> usize {
        n.max(self.folds.first())
    }
}

#[cfg(test)]
mod tests;
