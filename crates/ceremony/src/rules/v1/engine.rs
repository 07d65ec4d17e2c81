//! The fast engine: contributions are counted where they arrive, leaves keep their digests until
//! they change, and the three roots are folded beside each other.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;

use super::capacities::Capacities;
use super::kind::MAX_ROUNDS;
use super::shares::Pending;
use super::table::{Probe, Table};
use super::{
    CeremonyOp, CeremonyRecord, ContributionOp, ContributionRecord, Drops, MAX_PARTICIPANTS,
    MAX_PAYLOAD, MAX_SHARE, Operation, RoundDescriptor, RoundResult, SHARE_DOMAIN, ShareRecord,
    State, Status, ceremony_hash, contribution_hash, share_hash,
};
use crate::cpu::isa::Variant;
use crate::cpu::keccak::{Block, RATE, blocks, keccak256, pad};
use crate::cpu::sponge::{Chain, Leaf, Sponges};

#[derive(Clone, Debug)]
struct Ceremony {
    record: CeremonyRecord,
    /// Stored contributions by round. A begin does not reset them, for the contributions stay.
    counts: [u32; MAX_ROUNDS],
    /// The leaf's digest, if it is that of the record.
    digest: Option<crate::Digest>,
}

#[derive(Clone, Copy, Debug)]
struct Contribution {
    ceremony_id: u64,
    holder_addr: u64,
    round: u32,
    holder: u32,
    len: u32,
    /// The leaf as it is hashed begins here.
    start: u32,
    leaf: Leaf,
}

#[derive(Clone, Debug)]
struct Share {
    record: ShareRecord,
    digest: Option<crate::Digest>,
}

/// The state machine of version 1. See the [module](super).
#[derive(Clone, Debug)]
pub struct Engine {
    variant: Variant,
    capacities: Capacities,
    state: State,
    ceremony_slots: Table,
    ceremonies: Vec<Ceremony>,
    contribution_slots: Table,
    /// In the order of their ids, which begin at 1.
    contributions: Vec<Contribution>,
    /// The contributions' leaves, padded.
    blocks: Vec<Block>,
    share_slots: Table,
    /// In the order of their ids, which begin at 1.
    shares: Vec<Share>,
    pending: Pending,
    scratch: Scratch,
}

/// Buffers of the roots, kept for their memory.
#[derive(Clone, Debug, Default)]
struct Scratch {
    leaves: [Vec<Leaf>; 3],
    blocks: [Vec<Block>; 2],
}

/// What a round did and what it dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// As the original reports it.
    pub result: RoundResult,
    /// What the original does not say.
    pub drops: Drops,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new(Capacities::default())
    }
}

impl Engine {
    /// An empty state, on the fastest variant that this processor has.
    #[must_use]
    pub fn new(capacities: Capacities) -> Self {
        Self::build(capacities, Variant::best())
    }

    /// An empty state on a given variant; `None` if this processor does not have it.
    #[must_use]
    pub fn on(capacities: Capacities, variant: CpuVariant) -> Option<Self> {
        Some(Self::build(capacities, Variant::new(variant)?))
    }

    fn build(capacities: Capacities, variant: Variant) -> Self {
        Self {
            variant,
            capacities,
            state: State::default(),
            ceremony_slots: Table::new(capacities.ceremonies),
            ceremonies: Vec::new(),
            contribution_slots: Table::new(capacities.contributions),
            contributions: Vec::new(),
            blocks: Vec::new(),
            share_slots: Table::new(capacities.shares),
            shares: Vec::new(),
            pending: Pending::default(),
            scratch: Scratch::default(),
        }
    }

    /// Empties the state and keeps its memory.
    pub fn clear(&mut self) {
        self.state = State::default();
        self.ceremony_slots.clear();
        self.ceremonies.clear();
        self.contribution_slots.clear();
        self.contributions.clear();
        self.blocks.clear();
        self.share_slots.clear();
        self.shares.clear();
    }

    /// The variant that hashes.
    #[must_use]
    pub fn variant(&self) -> CpuVariant {
        self.variant.kind()
    }

    /// The capacities.
    #[must_use]
    pub const fn capacities(&self) -> Capacities {
        self.capacities
    }

    /// Totals and roots as the last round left them; zeros before the first.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The ceremony in a slot.
    #[must_use]
    pub fn ceremony(&self, slot: u32) -> Option<&CeremonyRecord> {
        let entry = self.ceremony_slots.get(slot)?;
        Some(&self.ceremonies.get(entry as usize)?.record)
    }

    /// The contribution in a slot.
    #[must_use]
    pub fn contribution(&self, slot: u32) -> Option<ContributionRecord<'_>> {
        let entry = self.contribution_slots.get(slot)?;
        let c = self.contributions.get(entry as usize)?;
        Some(ContributionRecord {
            id: u64::from(entry) + 1,
            ceremony_id: c.ceremony_id,
            holder_addr: c.holder_addr,
            round: c.round,
            holder: c.holder,
            payload: payload(&self.blocks, c),
        })
    }

    /// The key share in a slot.
    #[must_use]
    pub fn share(&self, slot: u32) -> Option<&ShareRecord> {
        let entry = self.share_slots.get(slot)?;
        Some(&self.shares.get(entry as usize)?.record)
    }

    /// Plays one round.
    pub fn round(
        &mut self,
        round: &RoundDescriptor,
        ceremony_ops: &[CeremonyOp],
        contribution_ops: &[ContributionOp],
    ) -> Report {
        let mut report = Report::default();
        if round.mode.applies() {
            for op in ceremony_ops {
                self.apply_ceremony(op, &mut report);
            }
            for op in contribution_ops {
                self.apply_contribution(op, &mut report);
            }
            self.sweep(round.timestamp, &mut report);
        }
        self.close(round);
        report.result.state = self.state;
        report
    }

    fn find_ceremony(&self, id: u64) -> Probe {
        self.ceremony_slots.probe(ceremony_hash(id), |entry| {
            self.ceremonies[entry as usize].record.id == id
        })
    }

    fn apply_ceremony(&mut self, op: &CeremonyOp, report: &mut Report) {
        let drops = &mut report.drops;
        match op.op {
            Operation::BEGIN => {
                let entry = if op.threshold == 0 {
                    drops.begin_zero_threshold += 1;
                    return;
                } else if op.threshold > op.total {
                    drops.begin_threshold_above_total += 1;
                    return;
                } else if op.total > MAX_PARTICIPANTS {
                    drops.begin_too_many_participants += 1;
                    return;
                } else {
                    match self.find_ceremony(op.id) {
                        Probe::Found(entry) => {
                            drops.restarts += 1;
                            entry
                        }
                        Probe::Free(slot) => self.new_ceremony(slot),
                        Probe::Full => {
                            drops.begin_table_full += 1;
                            return;
                        }
                    }
                };
                let ceremony = &mut self.ceremonies[entry as usize];
                ceremony.digest = None;
                ceremony.record = CeremonyRecord {
                    id: op.id,
                    deadline: op.deadline,
                    bitmap: 0,
                    kind: op.kind,
                    round: 0,
                    threshold: op.threshold,
                    total: op.total,
                    status: Status::InProgress,
                    count: 0,
                    subject: op.subject,
                    seed: op.seed,
                };
                report.result.ceremonies_applied += 1;
            }
            Operation::CANCEL => {
                let Probe::Found(entry) = self.find_ceremony(op.id) else {
                    drops.cancel_unknown += 1;
                    return;
                };
                let ceremony = &mut self.ceremonies[entry as usize];
                if ceremony.record.status != Status::InProgress {
                    drops.cancel_not_in_progress += 1;
                    return;
                }
                ceremony.record.status = Status::Failed;
                ceremony.digest = None;
                report.result.ceremonies_applied += 1;
            }
            _ => drops.unknown_operation += 1,
        }
    }

    fn new_ceremony(&mut self, slot: u32) -> u32 {
        // No more entries than slots, of which there are at most 2^24.
        let entry = self.ceremonies.len() as u32;
        self.ceremony_slots.put(slot, entry);
        self.ceremonies.push(Ceremony {
            record: CeremonyRecord::default(),
            counts: [0; MAX_ROUNDS],
            digest: None,
        });
        entry
    }

    fn apply_contribution(&mut self, op: &ContributionOp, report: &mut Report) {
        let drops = &mut report.drops;
        if op.payload_len > MAX_PAYLOAD as u32 {
            drops.contribution_too_long += 1;
            return;
        }
        let Probe::Found(entry) = self.find_ceremony(op.ceremony_id) else {
            drops.contribution_unknown += 1;
            return;
        };
        let record = &self.ceremonies[entry as usize].record;
        if record.status != Status::InProgress {
            drops.contribution_not_in_progress += 1;
            return;
        }
        if record.round != op.round {
            drops.contribution_wrong_round += 1;
            return;
        }
        if op.holder >= record.total {
            drops.contribution_holder_out_of_range += 1;
            return;
        }
        let slot = match self.find_contribution(op.ceremony_id, op.round, op.holder) {
            Probe::Free(slot) => slot,
            Probe::Found(_) => {
                drops.contribution_duplicate += 1;
                return;
            }
            Probe::Full => {
                drops.contribution_table_full += 1;
                return;
            }
        };
        self.store_contribution(slot, op);
        let ceremony = &mut self.ceremonies[entry as usize];
        // A round in progress is below its kind's number of rounds.
        let count = &mut ceremony.counts[op.round as usize];
        *count += 1;
        ceremony.record.count = *count;
        ceremony.record.bitmap |= 1 << op.holder;
        ceremony.digest = None;
        report.result.contributions_applied += 1;
    }

    fn find_contribution(&self, id: u64, round: u32, holder: u32) -> Probe {
        let hash = contribution_hash(id, round, holder);
        self.contribution_slots.probe(hash, |entry| {
            let c = &self.contributions[entry as usize];
            (c.ceremony_id, c.round, c.holder) == (id, round, holder)
        })
    }

    /// Writes the leaf as it will be hashed: 40 bytes, the payload, the slot, the padding.
    fn store_contribution(&mut self, slot: u32, op: &ContributionOp) {
        let entry = self.contributions.len();
        let start = self.blocks.len();
        let len = op.payload_len as usize;
        let count = blocks(HEAD + len + 4);
        self.blocks.resize(start + count, [0; RATE]);
        let bytes = self.blocks[start..].as_flattened_mut();
        bytes[..8].copy_from_slice(&(entry as u64 + 1).to_le_bytes());
        bytes[8..16].copy_from_slice(&op.ceremony_id.to_le_bytes());
        bytes[16..24].copy_from_slice(&op.holder_addr.to_le_bytes());
        bytes[24..28].copy_from_slice(&op.round.to_le_bytes());
        bytes[28..32].copy_from_slice(&op.holder.to_le_bytes());
        bytes[32..36].copy_from_slice(&op.payload_len.to_le_bytes());
        bytes[HEAD..HEAD + len].copy_from_slice(&op.payload[..len]);
        bytes[HEAD + len..HEAD + len + 4].copy_from_slice(&slot.to_le_bytes());
        pad(bytes, HEAD + len + 4);
        self.contribution_slots.put(slot, entry as u32);
        self.contributions.push(Contribution {
            ceremony_id: op.ceremony_id,
            holder_addr: op.holder_addr,
            round: op.round,
            holder: op.holder,
            len: op.payload_len,
            start: start as u32,
            leaf: Leaf {
                start: start as u32,
                blocks: count as u32,
                digest: [0; 32],
            },
        });
    }

    fn sweep(&mut self, now: u64, report: &mut Report) {
        for (_, entry) in self.ceremony_slots.iter() {
            let ceremony = &mut self.ceremonies[entry as usize];
            let record = &mut ceremony.record;
            if record.status != Status::InProgress {
                continue;
            }
            let count = ceremony.counts[record.round as usize];
            if record.count != count {
                record.count = count;
                ceremony.digest = None;
            }
            if count >= record.threshold {
                ceremony.digest = None;
                record.round += 1;
                report.result.advanced += 1;
                if record.round < record.kind().rounds() {
                    record.bitmap = 0;
                    record.count = 0;
                    continue;
                }
                record.status = Status::Finalized;
                report.result.finalized += 1;
                if record.kind().is_keygen() {
                    let record = *record;
                    let mut emission = Emission {
                        slots: &mut self.share_slots,
                        shares: &mut self.shares,
                        pending: &mut self.pending,
                        contribution_slots: &self.contribution_slots,
                        contributions: &self.contributions,
                        blocks: &self.blocks,
                    };
                    report.drops.share_table_full += emission.emit(&record);
                }
            } else if now > record.deadline {
                record.status = Status::Failed;
                ceremony.digest = None;
                report.result.failed += 1;
            }
        }
        if !self.pending.is_empty() {
            let shares = &mut self.shares;
            self.pending.finish(self.variant, |entry, at, bytes| {
                shares[entry as usize].record.data[at..at + bytes.len()].copy_from_slice(bytes);
            });
        }
    }

    fn close(&mut self, round: &RoundDescriptor) {
        self.roots();
        let state = &mut self.state;
        (state.active, state.finalized, state.failed) = (0, 0, 0);
        for ceremony in &self.ceremonies {
            match ceremony.record.status {
                Status::Free => {}
                Status::InProgress => state.active += 1,
                Status::Finalized => state.finalized += 1,
                Status::Failed => state.failed += 1,
            }
        }
        state.shares = self.shares.len() as u32;
        state.now = round.timestamp;
        if round.closing {
            state.epoch = round.epoch.wrapping_add(1);
        }
        state.state_root = keccak256(&state.root_preimage(&round.parent));
    }

    fn roots(&mut self) {
        let Scratch { leaves, blocks } = &mut self.scratch;
        let [ceremony_leaves, contribution_leaves, share_leaves] = leaves;
        let [ceremony_blocks, share_blocks] = blocks;
        ceremony_blocks.clear();
        ceremony_leaves.clear();
        for (slot, entry) in self.ceremony_slots.iter() {
            let ceremony = &self.ceremonies[entry as usize];
            let bytes = ceremony.record.leaf(slot);
            ceremony_leaves.push(leaf(ceremony.digest, ceremony_blocks, [&bytes, &[], &[]]));
        }
        contribution_leaves.clear();
        for (_, entry) in self.contribution_slots.iter() {
            contribution_leaves.push(self.contributions[entry as usize].leaf);
        }
        share_blocks.clear();
        share_leaves.clear();
        for (slot, entry) in self.share_slots.iter() {
            let share = &self.shares[entry as usize];
            let (head, data) = share.record.leaf();
            let parts = [&head, data, &slot.to_le_bytes()];
            share_leaves.push(leaf(share.digest, share_blocks, parts));
        }
        let mut chains = [
            Chain {
                blocks: &self.blocks,
                leaves: contribution_leaves,
                acc: Some([0; 32]),
            },
            Chain {
                blocks: ceremony_blocks,
                leaves: ceremony_leaves,
                acc: Some([0; 32]),
            },
            Chain {
                blocks: share_blocks,
                leaves: share_leaves,
                acc: Some([0; 32]),
            },
        ];
        self.variant.run(Sponges(&mut chains));
        let [contributions, ceremonies, shares] = chains.map(|chain| chain.acc.unwrap_or_default());
        self.state.contribution_root = contributions;
        self.state.ceremony_root = ceremonies;
        self.state.key_share_root = shares;
        // Kept for the next round.
        for ((_, entry), leaf) in self.ceremony_slots.iter().zip(ceremony_leaves) {
            self.ceremonies[entry as usize].digest = Some(leaf.digest);
        }
        for ((_, entry), leaf) in self.contribution_slots.iter().zip(contribution_leaves) {
            self.contributions[entry as usize].leaf = *leaf;
        }
        for ((_, entry), leaf) in self.share_slots.iter().zip(share_leaves) {
            self.shares[entry as usize].digest = Some(leaf.digest);
        }
    }
}

/// Bytes of a contribution's leaf before the payload.
const HEAD: usize = 36;

fn payload<'a>(blocks: &'a [Block], c: &Contribution) -> &'a [u8] {
    &blocks[c.start as usize..].as_flattened()[HEAD..HEAD + c.len as usize]
}

/// A leaf whose digest is known, or one that is written behind `out`.
fn leaf(digest: Option<crate::Digest>, out: &mut Vec<Block>, parts: [&[u8]; 3]) -> Leaf {
    // No engine has 2^32 blocks in memory.
    let start = out.len() as u32;
    if let Some(digest) = digest {
        return Leaf {
            start,
            blocks: 0,
            digest,
        };
    }
    let len = parts.iter().map(|part| part.len()).sum();
    let count = blocks(len);
    out.resize(out.len() + count, [0; RATE]);
    let bytes = out[start as usize..].as_flattened_mut();
    let mut at = 0;
    for part in parts {
        bytes[at..at + part.len()].copy_from_slice(part);
        at += part.len();
    }
    pad(bytes, len);
    Leaf {
        start,
        blocks: count as u32,
        digest: [0; 32],
    }
}

/// Shares being emitted.
struct Emission<'a> {
    slots: &'a mut Table,
    shares: &'a mut Vec<Share>,
    pending: &'a mut Pending,
    contribution_slots: &'a Table,
    contributions: &'a [Contribution],
    blocks: &'a [Block],
}

impl Emission<'_> {
    /// Places the share of each holder in the last round's bitmap; its bytes follow later, for no
    /// place depends on them. Returns how many found no place.
    fn emit(&mut self, ceremony: &CeremonyRecord) -> u32 {
        let mut dropped = 0;
        for holder in (0..MAX_PARTICIPANTS).filter(|h| ceremony.bitmap >> h & 1 == 1) {
            let Some(entry) = self.place(ceremony, holder) else {
                dropped += 1;
                continue;
            };
            let len = ceremony.kind().share_len();
            let share = &mut self.shares[entry as usize];
            share.record.len = len as u32;
            share.digest = None;
            let (id, index) = (ceremony.id.to_le_bytes(), holder.to_le_bytes());
            let payloads = (0..ceremony.kind().rounds()).filter_map(|round| {
                let hash = contribution_hash(ceremony.id, round, holder);
                let probe = self.contribution_slots.probe(hash, |entry| {
                    let c = &self.contributions[entry as usize];
                    (c.ceremony_id, c.round, c.holder) == (ceremony.id, round, holder)
                });
                match probe {
                    Probe::Found(entry) => {
                        Some(payload(self.blocks, &self.contributions[entry as usize]))
                    }
                    Probe::Free(_) | Probe::Full => None,
                }
            });
            let head: [&[u8]; 4] = [&ceremony.seed, &id, &index, SHARE_DOMAIN];
            self.pending
                .add(entry, len, head.into_iter().chain(payloads));
        }
        dropped
    }

    fn place(&mut self, ceremony: &CeremonyRecord, holder: u32) -> Option<u32> {
        let shares = &self.shares;
        let probe = self.slots.probe(share_hash(ceremony.id, holder), |entry| {
            let record = &shares[entry as usize].record;
            (record.ceremony_id, record.holder) == (ceremony.id, holder)
        });
        match probe {
            Probe::Found(entry) => Some(entry),
            Probe::Full => None,
            Probe::Free(slot) => {
                let entry = self.shares.len() as u32;
                self.slots.put(slot, entry);
                self.shares.push(Share {
                    record: ShareRecord {
                        id: u64::from(entry) + 1,
                        ceremony_id: ceremony.id,
                        scheme: ceremony.kind().scheme(),
                        holder,
                        len: 0,
                        data: [0; MAX_SHARE],
                    },
                    digest: None,
                });
                Some(entry)
            }
        }
    }
}
