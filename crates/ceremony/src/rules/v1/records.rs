//! The records of the public engine, field by field and byte by byte.
//!
//! Integers are little-endian; bytes that no field covers are zero.
#![forbid(unsafe_code)]

use super::kind::{Kind, Scheme};
use crate::Digest;

/// The longest payload of a contribution, in bytes.
pub const MAX_PAYLOAD: usize = 384;

/// Room for a share's bytes in its record.
pub const MAX_SHARE: usize = 320;

/// Writes fields one after another.
struct Writer<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, field: &[u8]) -> &mut Self {
        self.bytes[self.at..self.at + field.len()].copy_from_slice(field);
        self.at += field.len();
        self
    }
    fn u64(&mut self, x: u64) -> &mut Self {
        self.put(&x.to_le_bytes())
    }
    fn u32(&mut self, x: u32) -> &mut Self {
        self.put(&x.to_le_bytes())
    }
}

fn record<const N: usize>(write: impl FnOnce(&mut Writer<'_>)) -> [u8; N] {
    let mut bytes = [0; N];
    write(&mut Writer {
        bytes: &mut bytes,
        at: 0,
    });
    bytes
}

/// A ceremony's status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Status {
    /// The slot is free.
    #[default]
    Free,
    /// Waiting for contributions.
    InProgress,
    /// All rounds are done.
    Finalized,
    /// Cancelled, or past its deadline.
    Failed,
}

impl Status {
    /// The number in records.
    #[must_use]
    pub const fn number(self) -> u32 {
        self as u32
    }
}

/// A stored ceremony, 128 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CeremonyRecord {
    /// Its id.
    pub id: u64,
    /// The last moment that is not too late.
    pub deadline: u64,
    /// Bit `i`: participant `i` has contributed to the current round.
    pub bitmap: u64,
    /// Its kind's number.
    pub kind: u32,
    /// The current round, from 0.
    pub round: u32,
    /// Contributions that end a round.
    pub threshold: u32,
    /// Participants.
    pub total: u32,
    /// Its status.
    pub status: Status,
    /// Stored contributions of the current round, as last counted.
    pub count: u32,
    /// Stored as given.
    pub subject: [u8; 32],
    /// Stored as given.
    pub seed: [u8; 32],
}

impl CeremonyRecord {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        Kind(self.kind)
    }

    fn write(&self, w: &mut Writer<'_>) {
        // The second field, the time of the start, is never written by the original.
        w.u64(self.id).u64(0).u64(self.deadline).u64(self.bitmap);
        w.u32(self.kind).u32(self.round);
        w.u32(self.threshold).u32(self.total);
        w.u32(self.status.number()).u32(self.count);
        w.put(&self.subject).put(&self.seed);
    }

    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 128] {
        record(|w| self.write(w))
    }

    /// What is hashed for the root.
    pub(crate) fn leaf(&self, slot: u32) -> [u8; 124] {
        record(|w| {
            self.write(w);
            w.u32(slot);
        })
    }
}

/// A stored key share, 368 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareRecord {
    /// Its id, from 1.
    pub id: u64,
    /// The ceremony.
    pub ceremony_id: u64,
    /// 0 FROST, 1 CGGMP21, 2 all others, as it was when the slot was taken.
    pub scheme: Scheme,
    /// The participant.
    pub holder: u32,
    /// Bytes of `data` that count.
    pub len: u32,
    /// The share; behind `len`, what an earlier and longer one left there.
    pub data: [u8; MAX_SHARE],
}

impl ShareRecord {
    fn write(&self, w: &mut Writer<'_>) {
        // The third field, the holder's address, is never written by the original.
        w.u64(self.id).u64(self.ceremony_id).u64(0);
        w.u32(self.scheme).u32(self.holder).u32(self.len);
    }

    /// What is hashed for the root, but for the slot that follows.
    pub(crate) fn leaf(&self) -> ([u8; 36], &[u8]) {
        (record(|w| self.write(w)), &self.data[..self.len as usize])
    }

    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 368] {
        record(|w| {
            self.write(w);
            w.u32(1).put(&self.data);
        })
    }
}

/// A stored contribution, 432 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContributionRecord<'a> {
    /// Its id, from 1.
    pub id: u64,
    /// The ceremony.
    pub ceremony_id: u64,
    /// Stored as given, never checked.
    pub holder_addr: u64,
    /// The round it counts for.
    pub round: u32,
    /// The participant.
    pub holder: u32,
    /// At most [`MAX_PAYLOAD`] bytes.
    pub payload: &'a [u8],
}

impl ContributionRecord<'_> {
    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 432] {
        record(|w| {
            w.u64(self.id).u64(self.ceremony_id).u64(self.holder_addr);
            w.u32(self.round).u32(self.holder);
            // No payload is longer than 384 bytes.
            w.u32(self.payload.len() as u32).u32(1).put(self.payload);
        })
    }
}

/// Totals and roots after a round, 160 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The epoch.
    pub epoch: u64,
    /// The last round's timestamp.
    pub now: u64,
    /// Ceremonies in progress.
    pub active: u32,
    /// Ceremonies finalized.
    pub finalized: u32,
    /// Ceremonies failed: cancelled or timed out.
    pub failed: u32,
    /// Shares stored.
    pub shares: u32,
    /// Of the ceremonies; zeros if there are none.
    pub ceremony_root: Digest,
    /// Of the key shares; zeros if there are none.
    pub key_share_root: Digest,
    /// Of the contributions; zeros if there are none.
    pub contribution_root: Digest,
    /// Of everything.
    pub state_root: Digest,
}

impl State {
    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 160] {
        record(|w| {
            w.u64(self.epoch).u64(self.now);
            w.u32(self.active).u32(self.finalized);
            w.u32(self.failed).u32(self.shares);
            w.put(&self.ceremony_root).put(&self.key_share_root);
            w.put(&self.contribution_root).put(&self.state_root);
        })
    }

    /// What the state root is the digest of.
    pub(crate) fn root_preimage(&self, parent: &Digest) -> [u8; 160] {
        record(|w| {
            w.put(parent).put(&self.ceremony_root);
            w.put(&self.key_share_root).put(&self.contribution_root);
            w.u64(self.epoch).u64(self.now);
            w.u32(self.active).u32(self.finalized);
            w.u32(self.failed).u32(self.shares);
        })
    }
}

/// What a round does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Mode(pub u32);

impl Mode {
    /// Apply, sweep, close.
    pub const NORMAL: Self = Self(0);

    /// Whether operations are applied and ceremonies swept; modes above 7 only make roots.
    #[must_use]
    pub const fn applies(self) -> bool {
        self.0 <= 7
    }
}

/// A round's description, 96 bytes as a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundDescriptor {
    /// Bound nowhere.
    pub chain_id: u64,
    /// Bound nowhere.
    pub round: u64,
    /// The time of this round.
    pub timestamp: u64,
    /// The caller's epoch.
    pub epoch: u64,
    /// What is done.
    pub mode: Mode,
    /// Whether the state's epoch becomes `epoch + 1`.
    pub closing: bool,
    /// Hashed into the state root as given.
    pub parent: Digest,
}

impl RoundDescriptor {
    /// The record, with the numbers of operations that it holds.
    #[must_use]
    pub fn to_bytes(&self, ceremony_ops: u32, contribution_ops: u32) -> [u8; 96] {
        record(|w| {
            w.u64(self.chain_id).u64(self.round);
            w.u64(self.timestamp).u64(self.epoch);
            w.u32(self.mode.0).u32(ceremony_ops).u32(contribution_ops);
            w.u32(u32::from(self.closing)).put(&[0; 16]);
            w.put(&self.parent);
        })
    }
}

/// What a [`CeremonyOp`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation(pub u32);

impl Operation {
    /// Begin, or begin again.
    pub const BEGIN: Self = Self(0);
    /// Cancel.
    pub const CANCEL: Self = Self(1);
}

/// Begin or cancel, 96 bytes as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CeremonyOp {
    /// The ceremony; every value is legal.
    pub id: u64,
    /// The last moment that is not too late.
    pub deadline: u64,
    /// What is asked for.
    pub op: Operation,
    /// The kind's number.
    pub kind: u32,
    /// Contributions that end a round.
    pub threshold: u32,
    /// Participants.
    pub total: u32,
    /// Stored as given.
    pub subject: [u8; 32],
    /// Stored as given.
    pub seed: [u8; 32],
}

impl CeremonyOp {
    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 96] {
        record(|w| {
            w.u64(self.id).u64(self.deadline);
            w.u32(self.op.0).u32(self.kind);
            w.u32(self.threshold).u32(self.total);
            w.put(&self.subject).put(&self.seed);
        })
    }
}

/// The bytes of a payload in an operation: as many as fit of as many as are claimed.
pub type Payload = [u8; MAX_PAYLOAD];

/// A contribution, 416 bytes as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContributionOp {
    /// The ceremony.
    pub ceremony_id: u64,
    /// Stored and hashed, never checked.
    pub holder_addr: u64,
    /// Must be the ceremony's round.
    pub round: u32,
    /// The participant.
    pub holder: u32,
    /// The claimed length; above [`MAX_PAYLOAD`] the contribution is dropped.
    pub payload_len: u32,
    /// The payload, zeros behind it.
    pub payload: Payload,
}

impl ContributionOp {
    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 416] {
        record(|w| {
            w.u64(self.ceremony_id).u64(self.holder_addr);
            w.u32(self.round).u32(self.holder);
            w.u32(self.payload_len).u32(0).put(&self.payload);
        })
    }
}

/// What a round did, 176 bytes as a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RoundResult {
    /// Begins accepted and cancels that took effect.
    pub ceremonies_applied: u32,
    /// Contributions stored.
    pub contributions_applied: u32,
    /// Ceremonies finalized by this sweep.
    pub finalized: u32,
    /// Ceremonies timed out by this sweep.
    pub failed: u32,
    /// Ceremonies whose round went up in this sweep, those finalized included.
    pub advanced: u32,
    /// Totals and roots after the round.
    pub state: State,
}

impl RoundResult {
    /// The record.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 176] {
        let state = &self.state;
        record(|w| {
            w.u32(1);
            w.u32(self.ceremonies_applied)
                .u32(self.contributions_applied);
            w.u32(self.finalized).u32(self.failed);
            w.u32(state.active).u32(state.shares).u32(self.advanced);
            w.u64(state.epoch).u64(state.now);
            w.put(&state.ceremony_root).put(&state.key_share_root);
            w.put(&state.contribution_root).put(&state.state_root);
        })
    }
}
