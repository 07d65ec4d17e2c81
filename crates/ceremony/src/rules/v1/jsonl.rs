//! Streams of operations as text: one JSON object a line, one line a round.
//!
//! The fields are described in docs/ceremony-ops.md of the repository. Numbers are unsigned 64-bit
//! integers, bytes are lower-case hex in memory order.
#![forbid(unsafe_code)]

use serde::{Deserialize, Deserializer, Serialize, de};

use super::{
    CeremonyOp, ContributionOp, Drops, MAX_PAYLOAD, Mode, Operation, Report, RoundDescriptor,
};
use crate::hex;

/// A line that is no round.
#[derive(Debug, thiserror::Error)]
#[error("no round of operations: {0}")]
pub struct LineError(#[from] serde_json::Error);

/// One round of operations.
#[derive(Clone, Debug)]
pub struct Round {
    /// Time, epoch, parent.
    pub descriptor: RoundDescriptor,
    /// Begins and cancels.
    pub ceremony_ops: Vec<CeremonyOp>,
    /// Contributions.
    pub contributions: Vec<ContributionOp>,
    /// What the stream's author says comes out.
    pub expect: Option<Outcome>,
}

/// What came out of a round, by the names of the stream's `expect`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// Begins accepted and cancels that took effect.
    pub ceremonies_applied: u32,
    /// Contributions stored.
    pub contributions_applied: u32,
    /// Ceremonies whose round went up.
    pub advanced: u32,
    /// Ceremonies finalized by the sweep.
    pub finalized: u32,
    /// Ceremonies timed out by the sweep.
    pub failed: u32,
    /// Ceremonies in progress.
    pub active: u32,
    /// Key shares stored.
    pub shares: u32,
    /// 32 bytes in hex.
    pub ceremony_root: String,
    /// 32 bytes in hex.
    pub key_share_root: String,
    /// 32 bytes in hex.
    pub contribution_root: String,
    /// 32 bytes in hex.
    pub state_root: String,
    /// The state's epoch.
    pub epoch: u64,
}

impl From<&super::RoundResult> for Outcome {
    fn from(result: &super::RoundResult) -> Self {
        let state = &result.state;
        Self {
            ceremonies_applied: result.ceremonies_applied,
            contributions_applied: result.contributions_applied,
            advanced: result.advanced,
            finalized: result.finalized,
            failed: result.failed,
            active: state.active,
            shares: state.shares,
            ceremony_root: hex::encode(&state.ceremony_root),
            key_share_root: hex::encode(&state.key_share_root),
            contribution_root: hex::encode(&state.contribution_root),
            state_root: hex::encode(&state.state_root),
            epoch: state.epoch,
        }
    }
}

/// An outcome and what was dropped on the way.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Counters and roots.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// By reason.
    pub drops: Drops,
}

impl From<&Report> for Line {
    fn from(report: &Report) -> Self {
        Self {
            outcome: (&report.result).into(),
            drops: report.drops,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRound {
    timestamp: u64,
    epoch: u64,
    closing: bool,
    #[serde(deserialize_with = "bytes32")]
    parent: [u8; 32],
    ceremony_ops: Vec<RawCeremonyOp>,
    contributions: Vec<RawContribution>,
    expect: Option<Outcome>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCeremonyOp {
    op: u32,
    id: u64,
    kind: u32,
    threshold: u32,
    total: u32,
    deadline: u64,
    #[serde(deserialize_with = "bytes32")]
    subject: [u8; 32],
    #[serde(deserialize_with = "bytes32")]
    seed: [u8; 32],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawContribution {
    ceremony_id: u64,
    holder_addr: u64,
    round: u32,
    holder_index: u32,
    payload_len: u32,
    payload: String,
}

fn bytes32<'de, D: Deserializer<'de>>(source: D) -> Result<[u8; 32], D::Error> {
    let text = String::deserialize(source)?;
    hex::array(&text).map_err(de::Error::custom)
}

impl RawContribution {
    fn read(self) -> Result<ContributionOp, serde_json::Error> {
        let need = (self.payload_len as usize).min(MAX_PAYLOAD);
        if self.payload.len() != 2 * need {
            return Err(de::Error::custom(format_args!(
                "a payload of {} hex digits where payload_len {} needs {}",
                self.payload.len(),
                self.payload_len,
                2 * need
            )));
        }
        let mut payload = [0; MAX_PAYLOAD];
        hex::decode(&self.payload, &mut payload[..need]).map_err(de::Error::custom)?;
        Ok(ContributionOp {
            ceremony_id: self.ceremony_id,
            holder_addr: self.holder_addr,
            round: self.round,
            holder: self.holder_index,
            payload_len: self.payload_len,
            payload,
        })
    }
}

/// Reads one line.
///
/// # Errors
///
/// The line is no JSON object with exactly the fields of a round, a number is out of its range, or a
/// byte string has another length than it should.
pub fn parse(line: &str) -> Result<Round, LineError> {
    let raw: RawRound = serde_json::from_str(line)?;
    let ceremony_ops = raw
        .ceremony_ops
        .into_iter()
        .map(|op| CeremonyOp {
            id: op.id,
            deadline: op.deadline,
            op: Operation(op.op),
            kind: op.kind,
            threshold: op.threshold,
            total: op.total,
            subject: op.subject,
            seed: op.seed,
        })
        .collect();
    let contributions = raw
        .contributions
        .into_iter()
        .map(RawContribution::read)
        .collect::<Result<_, _>>()?;
    Ok(Round {
        descriptor: RoundDescriptor {
            timestamp: raw.timestamp,
            epoch: raw.epoch,
            closing: raw.closing,
            parent: raw.parent,
            mode: Mode::NORMAL,
            ..RoundDescriptor::default()
        },
        ceremony_ops,
        contributions,
        expect: raw.expect,
    })
}
