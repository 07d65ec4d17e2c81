//! The definition of correct for [`rules::v1`](crate::rules::v1): the public engine's algorithm as
//! it stands, over its arenas, with its recounts, in plain Rust, hashing with the `sha3` crate.
//!
//! It shares only the types of operations and results with the fast engine. Benchmarks measure
//! against it.
#![forbid(unsafe_code)]

use sha3::{Digest as _, Keccak256};

use crate::Digest;
use crate::rules::v1::{
    Capacities, CeremonyOp, ContributionOp, MAX_PAYLOAD, MAX_SHARE, Operation, RoundDescriptor,
    RoundResult, State,
};

const FREE: u32 = 0;
const IN_PROGRESS: u32 = 1;
const FINALIZED: u32 = 2;
const FAILED: u32 = 3;

/// 128 bytes, as in the original.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Ceremony {
    id: u64,
    started_at: u64,
    deadline: u64,
    bitmap: u64,
    kind: u32,
    round: u32,
    threshold: u32,
    total: u32,
    status: u32,
    count: u32,
    subject: [u8; 32],
    seed: [u8; 32],
}

/// 432 bytes, as in the original.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Contribution {
    id: u64,
    ceremony_id: u64,
    holder_addr: u64,
    round: u32,
    holder: u32,
    payload_len: u32,
    status: u32,
    payload: [u8; MAX_PAYLOAD],
}

/// 368 bytes, as in the original.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Share {
    id: u64,
    ceremony_id: u64,
    holder_addr: u64,
    scheme: u32,
    holder: u32,
    data_len: u32,
    occupied: u32,
    data: [u8; MAX_SHARE],
}

const NO_CONTRIBUTION: Contribution = Contribution {
    id: 0,
    ceremony_id: 0,
    holder_addr: 0,
    round: 0,
    holder: 0,
    payload_len: 0,
    status: FREE,
    payload: [0; MAX_PAYLOAD],
};

const NO_SHARE: Share = Share {
    id: 0,
    ceremony_id: 0,
    holder_addr: 0,
    scheme: 0,
    holder: 0,
    data_len: 0,
    occupied: 0,
    data: [0; MAX_SHARE],
};

/// The plain engine.
#[derive(Clone)]
pub struct Engine {
    state: State,
    ceremonies: Vec<Ceremony>,
    contributions: Vec<Contribution>,
    shares: Vec<Share>,
    next_contribution: u64,
    next_share: u64,
}

impl core::fmt::Debug for Engine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Engine")
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

fn rounds(kind: u32) -> u32 {
    match kind {
        0 => 3,
        1 => 2,
        2 => 3,
        3 => 5,
        4 => 2,
        5 => 2,
        _ => 1,
    }
}

fn scheme(kind: u32) -> u32 {
    match kind {
        0 | 1 => 0,
        2 | 3 => 1,
        _ => 2,
    }
}

fn keccak(parts: &[&[u8]]) -> Digest {
    let mut hasher = Keccak256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

impl Engine {
    /// An empty state with all its arenas.
    #[must_use]
    pub fn new(capacities: Capacities) -> Self {
        Self {
            state: State::default(),
            ceremonies: vec![Ceremony::default(); capacities.ceremonies as usize],
            contributions: vec![NO_CONTRIBUTION; capacities.contributions as usize],
            shares: vec![NO_SHARE; capacities.shares as usize],
            next_contribution: 1,
            next_share: 1,
        }
    }

    /// Empties the state and keeps its memory.
    pub fn clear(&mut self) {
        self.state = State::default();
        self.ceremonies.fill(Ceremony::default());
        self.contributions.fill(NO_CONTRIBUTION);
        self.shares.fill(NO_SHARE);
        self.next_contribution = 1;
        self.next_share = 1;
    }

    /// Plays one round.
    pub fn round(
        &mut self,
        round: &RoundDescriptor,
        ceremony_ops: &[CeremonyOp],
        contribution_ops: &[ContributionOp],
    ) -> RoundResult {
        let mut result = RoundResult::default();
        if round.mode.0 <= 7 {
            result.ceremonies_applied = self.apply_ceremonies(ceremony_ops);
            result.contributions_applied = self.apply_contributions(contribution_ops);
            self.sweep(round.timestamp, &mut result);
        }
        self.close(round);
        result.state = self.state;
        result
    }

    fn locate_ceremony(&mut self, id: u64, insert: bool) -> Option<usize> {
        let mask = self.ceremonies.len() - 1;
        let hash = (0xcbf29ce484222325_u64 ^ id).wrapping_mul(0x100000001b3);
        let mut slot = hash as u32 as usize & mask;
        for _ in 0..=mask {
            let ceremony = &mut self.ceremonies[slot];
            if ceremony.status == FREE {
                if !insert {
                    return None;
                }
                *ceremony = Ceremony {
                    id,
                    status: IN_PROGRESS,
                    ..Ceremony::default()
                };
                return Some(slot);
            }
            if ceremony.id == id {
                return Some(slot);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn locate_contribution(&mut self, key: (u64, u32, u32), insert: bool) -> Option<usize> {
        let (id, round, holder) = key;
        let mask = self.contributions.len() - 1;
        let spread = 0x9E3779B97F4A7C15_u64
            .wrapping_add(id << 6)
            .wrapping_add(id >> 2);
        let hash = id ^ (u64::from(round) << 32 | u64::from(holder)) ^ spread;
        let mut slot = hash as u32 as usize & mask;
        for _ in 0..=mask {
            let c = &mut self.contributions[slot];
            if c.status == FREE {
                if !insert {
                    return None;
                }
                *c = NO_CONTRIBUTION;
                (c.ceremony_id, c.round, c.holder) = key;
                c.status = 1;
                return Some(slot);
            }
            if (c.ceremony_id, c.round, c.holder) == key {
                return Some(slot);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn locate_share(&self, id: u64, holder: u32) -> Option<usize> {
        let mask = self.shares.len() - 1;
        let hash = id
            ^ u64::from(holder)
                .wrapping_add(0x9E3779B97F4A7C15)
                .wrapping_add(id << 6)
                .wrapping_add(id >> 2);
        let mut slot = hash as u32 as usize & mask;
        for _ in 0..=mask {
            let share = &self.shares[slot];
            if share.occupied == 0 || (share.ceremony_id, share.holder) == (id, holder) {
                return Some(slot);
            }
            slot = (slot + 1) & mask;
        }
        None
    }

    fn count(&self, id: u64, round: u32) -> u32 {
        let mut count = 0;
        for c in &self.contributions {
            if c.status == 1 && c.ceremony_id == id && c.round == round {
                count += 1;
            }
        }
        count
    }

    fn apply_ceremonies(&mut self, ops: &[CeremonyOp]) -> u32 {
        let mut applied = 0;
        for op in ops {
            if op.op == Operation::BEGIN {
                if op.threshold == 0 || op.threshold > op.total || op.total > 64 {
                    continue;
                }
                let Some(slot) = self.locate_ceremony(op.id, true) else {
                    continue;
                };
                let ceremony = &mut self.ceremonies[slot];
                ceremony.kind = op.kind;
                ceremony.threshold = op.threshold;
                ceremony.total = op.total;
                ceremony.deadline = op.deadline;
                ceremony.round = 0;
                ceremony.count = 0;
                ceremony.bitmap = 0;
                ceremony.status = IN_PROGRESS;
                ceremony.subject = op.subject;
                ceremony.seed = op.seed;
                applied += 1;
            } else if op.op == Operation::CANCEL {
                let Some(slot) = self.locate_ceremony(op.id, false) else {
                    continue;
                };
                let ceremony = &mut self.ceremonies[slot];
                if ceremony.status != IN_PROGRESS {
                    continue;
                }
                ceremony.status = FAILED;
                applied += 1;
            }
        }
        applied
    }

    fn apply_contributions(&mut self, ops: &[ContributionOp]) -> u32 {
        let mut applied = 0;
        for op in ops {
            if op.payload_len > 384 {
                continue;
            }
            let Some(slot) = self.locate_ceremony(op.ceremony_id, false) else {
                continue;
            };
            let ceremony = self.ceremonies[slot];
            if ceremony.status != IN_PROGRESS
                || op.round != ceremony.round
                || op.holder >= ceremony.total
            {
                continue;
            }
            let key = (op.ceremony_id, op.round, op.holder);
            if self.locate_contribution(key, false).is_some() {
                continue;
            }
            let Some(place) = self.locate_contribution(key, true) else {
                continue;
            };
            let c = &mut self.contributions[place];
            c.id = self.next_contribution;
            self.next_contribution += 1;
            c.holder_addr = op.holder_addr;
            c.payload_len = op.payload_len;
            let len = op.payload_len as usize;
            c.payload[..len].copy_from_slice(&op.payload[..len]);
            let bit = 1 << op.holder;
            if ceremony.bitmap & bit == 0 {
                self.ceremonies[slot].bitmap |= bit;
                self.ceremonies[slot].count = self.count(op.ceremony_id, op.round);
            }
            applied += 1;
        }
        applied
    }

    fn sweep(&mut self, now: u64, result: &mut RoundResult) {
        for slot in 0..self.ceremonies.len() {
            let ceremony = self.ceremonies[slot];
            if ceremony.status != IN_PROGRESS {
                continue;
            }
            let count = self.count(ceremony.id, ceremony.round);
            let ceremony = &mut self.ceremonies[slot];
            ceremony.count = count;
            if count >= ceremony.threshold {
                ceremony.round += 1;
                result.advanced += 1;
                if ceremony.round >= rounds(ceremony.kind) {
                    ceremony.status = FINALIZED;
                    result.finalized += 1;
                    if matches!(ceremony.kind, 0 | 2 | 4) {
                        let ceremony = *ceremony;
                        self.emit_shares(&ceremony);
                    }
                } else {
                    ceremony.bitmap = 0;
                    ceremony.count = 0;
                }
            } else if now > ceremony.deadline {
                ceremony.status = FAILED;
                result.failed += 1;
            }
        }
    }

    fn emit_shares(&mut self, ceremony: &Ceremony) {
        let scheme = scheme(ceremony.kind);
        let len = if scheme == 2 { 256 } else { 65 };
        for holder in 0..ceremony.total {
            if ceremony.bitmap & (1 << holder) == 0 {
                continue;
            }
            let mut preimage = Vec::new();
            preimage.extend_from_slice(&ceremony.seed);
            preimage.extend_from_slice(&ceremony.id.to_le_bytes());
            preimage.extend_from_slice(&holder.to_le_bytes());
            preimage.extend_from_slice(b"MPCVM-SHARE-V1");
            for round in 0..rounds(ceremony.kind) {
                if let Some(place) = self.locate_contribution((ceremony.id, round, holder), false) {
                    let c = &self.contributions[place];
                    preimage.extend_from_slice(&c.payload[..c.payload_len as usize]);
                }
            }
            let Some(place) = self.locate_share(ceremony.id, holder) else {
                continue;
            };
            let share = &mut self.shares[place];
            if share.occupied == 0 {
                share.id = self.next_share;
                self.next_share += 1;
                share.ceremony_id = ceremony.id;
                share.holder = holder;
                share.scheme = scheme;
                share.occupied = 1;
            }
            share.data_len = len as u32;
            let mut digest = keccak(&[&preimage]);
            let mut written = 0;
            while written < len {
                let take = (len - written).min(32);
                share.data[written..written + take].copy_from_slice(&digest[..take]);
                written += take;
                if written < len {
                    digest = keccak(&[&digest, &[(written / 32) as u8]]);
                }
            }
        }
    }

    fn close(&mut self, round: &RoundDescriptor) {
        self.ceremony_root();
        self.share_root();
        self.contribution_root();
        let state = &mut self.state;
        state.now = round.timestamp;
        if round.closing {
            state.epoch = round.epoch.wrapping_add(1);
        }
        state.state_root = keccak(&[
            &round.parent,
            &state.ceremony_root,
            &state.key_share_root,
            &state.contribution_root,
            &state.epoch.to_le_bytes(),
            &state.now.to_le_bytes(),
            &state.active.to_le_bytes(),
            &state.finalized.to_le_bytes(),
            &state.failed.to_le_bytes(),
            &state.shares.to_le_bytes(),
        ]);
    }

    fn ceremony_root(&mut self) {
        let (mut active, mut finalized, mut failed) = (0, 0, 0);
        let mut acc = [0; 32];
        for (slot, c) in self.ceremonies.iter().enumerate() {
            match c.status {
                IN_PROGRESS => active += 1,
                FINALIZED => finalized += 1,
                FAILED => failed += 1,
                _ => continue,
            }
            let leaf = keccak(&[
                &c.id.to_le_bytes(),
                &c.started_at.to_le_bytes(),
                &c.deadline.to_le_bytes(),
                &c.bitmap.to_le_bytes(),
                &c.kind.to_le_bytes(),
                &c.round.to_le_bytes(),
                &c.threshold.to_le_bytes(),
                &c.total.to_le_bytes(),
                &c.status.to_le_bytes(),
                &c.count.to_le_bytes(),
                &c.subject,
                &c.seed,
                &(slot as u32).to_le_bytes(),
            ]);
            acc = keccak(&[&acc, &leaf]);
        }
        self.state.ceremony_root = acc;
        self.state.active = active;
        self.state.finalized = finalized;
        self.state.failed = failed;
    }

    fn share_root(&mut self) {
        let mut acc = [0; 32];
        let mut count = 0;
        for (slot, s) in self.shares.iter().enumerate() {
            if s.occupied == 0 {
                continue;
            }
            count += 1;
            let leaf = keccak(&[
                &s.id.to_le_bytes(),
                &s.ceremony_id.to_le_bytes(),
                &s.holder_addr.to_le_bytes(),
                &s.scheme.to_le_bytes(),
                &s.holder.to_le_bytes(),
                &s.data_len.to_le_bytes(),
                &s.data[..s.data_len as usize],
                &(slot as u32).to_le_bytes(),
            ]);
            acc = keccak(&[&acc, &leaf]);
        }
        self.state.key_share_root = acc;
        self.state.shares = count;
    }

    fn contribution_root(&mut self) {
        let mut acc = [0; 32];
        for (slot, c) in self.contributions.iter().enumerate() {
            if c.status != 1 {
                continue;
            }
            let leaf = keccak(&[
                &c.id.to_le_bytes(),
                &c.ceremony_id.to_le_bytes(),
                &c.holder_addr.to_le_bytes(),
                &c.round.to_le_bytes(),
                &c.holder.to_le_bytes(),
                &c.payload_len.to_le_bytes(),
                &c.payload[..c.payload_len as usize],
                &(slot as u32).to_le_bytes(),
            ]);
            acc = keccak(&[&acc, &leaf]);
        }
        self.state.contribution_root = acc;
    }
}
