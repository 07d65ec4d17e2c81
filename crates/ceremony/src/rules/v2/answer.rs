//! What an operation is answered.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use crate::Digest;

/// Every operation has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It has its effect, or had it before.
    Accepted {
        /// A member's public key, an imported key's id, a begin's ceremony, a message's payload
        /// hash, the ceremony complained of or cancelled; zeros for a tick.
        id: Digest,
        /// The same bytes were accepted before, and nothing changed.
        again: bool,
    },
    /// It has none, save that a rejected equivocation is kept as evidence.
    Rejected {
        /// Why.
        reason: Reason,
    },
}

impl Answer {
    /// Whether it is accepted.
    #[must_use]
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accepted { .. })
    }
}

/// Why an operation is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// Only the operator may ask for this.
    #[error("the operator's signature is needed")]
    NotTheOperator,
    /// A member's place that is not the next.
    #[error("the next place in the roster is {next}, not {have}")]
    RosterPlace {
        /// The next place.
        next: u32,
        /// The place asked for.
        have: u32,
    },
    /// A key that is no Ed25519 public key, or one of small or mixed order.
    #[error("no Ed25519 public key that can sign")]
    BadMemberKey,
    /// The key is in the roster already.
    #[error("the key is already at place {at} of the roster")]
    MemberExists {
        /// Where.
        at: u32,
    },
    /// A place of the roster that is empty.
    #[error("place {place} of the roster is empty")]
    UnknownMember {
        /// Which.
        place: u32,
    },
    /// Too few or too many participants.
    #[error("{have} participants: at least {least}, at most {most}")]
    Participants {
        /// How many.
        have: usize,
        /// The least.
        least: usize,
        /// The most.
        most: usize,
    },
    /// A participant twice, or signers not in order.
    #[error("participant {at} is there twice or out of order")]
    ParticipantOrder {
        /// The place in the list.
        at: usize,
    },
    /// A threshold below 2 or above the number of participants.
    #[error("threshold {have}: at least 2, at most {most}")]
    Threshold {
        /// The threshold.
        have: u16,
        /// The most.
        most: u16,
    },
    /// Another number of deadlines than rounds.
    #[error("{have} deadlines for {need} rounds")]
    Deadlines {
        /// Deadlines.
        have: usize,
        /// Rounds.
        need: u8,
    },
    /// A deadline before the one of the round before, or in the past.
    #[error("the deadline of round {round} is past or before that of an earlier round")]
    DeadlineOrder {
        /// The round.
        round: u8,
    },
    /// A begin whose id was used, by a ceremony that lives or one that has ended.
    #[error("the id is used: a ceremony begins once")]
    UsedId,
    /// A group key that is not known.
    #[error("no such group key")]
    UnknownKey,
    /// A group key of another kind, or fields that the kind does not have.
    #[error("the key or the message does not fit the kind")]
    KindMismatch,
    /// The key is imported already.
    #[error("the key is known already")]
    KeyExists,
    /// A ceremony that never was.
    #[error("no such ceremony")]
    UnknownCeremony,
    /// The ceremony has ended.
    #[error("the ceremony has ended")]
    Ended,
    /// An index that the ceremony does not have.
    #[error("index {have}: the ceremony has {total} participants")]
    Index {
        /// The index.
        have: u16,
        /// Participants.
        total: u16,
    },
    /// The key is not the one of that index.
    #[error("the key is not that of participant {index}")]
    WrongSigner {
        /// The index claimed.
        index: u16,
    },
    /// A message for another round.
    #[error("round {have}: the ceremony is in round {need}")]
    Round {
        /// The message's.
        have: u8,
        /// The ceremony's.
        need: u8,
    },
    /// Other bytes for the same round and index. Both are kept.
    #[error("equivocation: other bytes were accepted for this round and index; both are kept")]
    Equivocation,
    /// A payload of a length that the kind and round do not have.
    #[error("a payload of {have} bytes: at least {least}, at most {most}")]
    PayloadLength {
        /// Its length.
        have: usize,
        /// The least.
        least: usize,
        /// The most.
        most: usize,
    },
    /// The sender has seen other messages than were accepted here.
    #[error("the message is for another transcript than this one")]
    Transcript,
    /// A sealed package for or from somebody else.
    #[error("sealed package {at} names another sender or recipient")]
    SealedAddress {
        /// The package's place.
        at: u16,
    },
    /// A nonce commitment that was used under this key.
    #[error("the nonce commitment was used before under this key")]
    NonceReused,
    /// A complaint at the wrong time or in the wrong kind.
    #[error("complaints belong to the last round of a FROST key generation")]
    ComplaintTime,
    /// A secret that is not that of the complainer's one-time key.
    #[error("the secret is not that of the complainer's one-time key")]
    ComplaintSecret,
    /// Time that goes back.
    #[error("it is {now} already, not {have}")]
    Time {
        /// The state's time.
        now: u64,
        /// The time asked for.
        have: u64,
    },
}

/// How a ceremony ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Outcome {
    /// All rounds are complete.
    Finished,
    /// The operator gave it up.
    Cancelled,
    /// A round's deadline passed.
    Expired {
        /// The round.
        round: u8,
        /// Bit `i`: participant `i` was still awaited.
        awaited: u128,
    },
    /// A complaint was decided.
    Aborted {
        /// Who is at fault.
        culprit: u16,
        /// Who complained.
        complainer: u16,
        /// Whose package it was about.
        sender: u16,
    },
    /// The parties of a key generation named different group keys.
    Disagreement,
}
