//! Version 1: byte for byte the public engine of luxfi/mpcvm.
//!
//! It is bookkeeping over Keccak-256: no signature is checked, anyone may begin, cancel or
//! contribute, a begin restarts any ceremony, slots are never freed, and the "key shares" that it
//! emits are digests of public data, so that **anyone can compute them**. Use it to follow or check
//! a system that speaks version 1, and nothing else.
//!
//! A round is [`Engine::round`]: operations on ceremonies in order, then contributions in order,
//! then one sweep over the ceremonies in slot order, then four roots. What the original drops
//! without a word is counted in [`Drops`], beside unchanged roots.
//!
//! Source: luxfi/chains, thresholdvm/thresholdvm_gpu_cpu.go, against which the vectors in this
//! crate's tests were checked.
#![forbid(unsafe_code)]

mod capacities;
mod drops;
mod engine;
pub mod jsonl;
mod kind;
mod records;
pub mod scenario;
mod shares;
mod table;

pub use capacities::{Capacities, CapacityError};
pub use drops::Drops;
pub use engine::{Engine, Report};
pub use kind::{Kind, Scheme};
pub use records::{
    CeremonyOp, CeremonyRecord, ContributionOp, ContributionRecord, MAX_PAYLOAD, MAX_SHARE, Mode,
    Operation, Payload, RoundDescriptor, RoundResult, ShareRecord, State, Status,
};

/// The most participants of a ceremony.
pub const MAX_PARTICIPANTS: u32 = 64;

/// What stands in a share's preimage before the payloads.
pub(crate) const SHARE_DOMAIN: &[u8; 14] = b"MPCVM-SHARE-V1";

/// Where a ceremony's search for a slot begins; masked by the table.
pub(crate) const fn ceremony_hash(id: u64) -> u32 {
    (0xcbf2_9ce4_8422_2325 ^ id).wrapping_mul(0x100_0000_01b3) as u32
}

/// `2^64 / golden ratio + (id << 6) + (id >> 2)`.
const fn spread(id: u64) -> u64 {
    0x9e37_79b9_7f4a_7c15_u64
        .wrapping_add(id << 6)
        .wrapping_add(id >> 2)
}

/// Where a contribution's search for a slot begins; masked by the table.
pub(crate) const fn contribution_hash(id: u64, round: u32, holder: u32) -> u32 {
    (id ^ ((round as u64) << 32 | holder as u64) ^ spread(id)) as u32
}

/// Where a share's search for a slot begins; masked by the table.
pub(crate) const fn share_hash(id: u64, holder: u32) -> u32 {
    (id ^ spread(id).wrapping_add(holder as u64)) as u32
}
