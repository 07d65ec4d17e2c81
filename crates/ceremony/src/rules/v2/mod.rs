//! Version 2: the rules to use.
//!
//! A coordinator keeps a roster of Ed25519 keys and plays [`Operation`]s: the operator adds members,
//! imports keys, begins and cancels ceremonies; parties send messages and complaints; time comes in
//! as an operation too. Every operation is answered [`Answer::Accepted`] or [`Answer::Rejected`]
//! with a [`Reason`]; a rejected one changes nothing, save that equivocation is kept as evidence.
//!
//! * A ceremony's id is the hash of network, kind and everything it begins with, so a message for
//!   one ceremony fits no other; a used id never begins again.
//! * Each message is signed over ceremony, kind, round, index and payload hash. The same bytes again
//!   are a success; other bytes are equivocation, and both signatures are kept.
//! * Key generation needs all parties in every round, signing exactly the chosen signers. A round
//!   ends when all have spoken, or at its deadline, with the set of the awaited on record.
//! * Every message after the first round begins with the hash of the transcript before it, so a
//!   party's signature says what it has seen; a coordinator that shows two views collects signatures
//!   that contradict its root.
//! * Shares of a FROST key generation are sealed to one-time keys ([`complaint`]): the coordinator
//!   sees sender, recipient and length. A complaint publishes the one-time secret, ends the ceremony
//!   and names the culprit.
//! * A signing ceremony names its group key, and a nonce commitment once seen under that key, in
//!   whatever became of its ceremony, is refused for ever.
//! * Ceremonies that have ended are archived and their slots used again.
//!
//! What is inside FROST messages is not checked here, but for lengths, addresses and a complained
//! share: that is [`verify`](crate::verify)'s. CGGMP and Corona messages are envelopes around bytes that nobody reads.
//!
//! The state is under one root: the hash of a header with size and root of six Merkle trees
//! ([`merkle`]), whose proofs [`verifier`] checks alone.
#![forbid(unsafe_code)]

mod answer;
mod apply;
mod begin;
pub mod complaint;
mod kind;
pub mod merkle;
mod operation;
mod proof;
mod recent;
pub mod scenario;
mod state;
pub mod verifier;
mod wire;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use answer::{Answer, Outcome, Reason};
pub use kind::{Kind, MAX_OPAQUE, ONE_TIME_KEY, SEALED, Suite, VIEW};
pub use operation::{
    Authentic, BadSignature, Begin, Body, Complaint, Contribution, ImportKey, MAX_MESSAGE,
    Operation, PublicKey, message_bytes, verifies,
};
pub use proof::{Consistency, Inclusion, TreeName};
pub use state::{
    Archived, Evidence, Genesis, GroupKey, Live, Message, State, StateError, StateRoot,
};
pub use wire::WireError;

/// The most participants of a ceremony.
pub const MAX_PARTICIPANTS: u16 = 128;

/// An Ed25519 signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

impl core::fmt::Debug for Signature {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Signature({})", crate::hex::encode(&self.0))
    }
}

impl Serialize for Signature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (low, high) = self.0.split_at(32);
        (low.as_array::<32>(), high.as_array::<32>()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let (low, high): (Option<[u8; 32]>, Option<[u8; 32]>) = Deserialize::deserialize(source)?;
        let mut bytes = [0; 64];
        bytes[..32].copy_from_slice(&low.unwrap_or_default());
        bytes[32..].copy_from_slice(&high.unwrap_or_default());
        Ok(Self(bytes))
    }
}
