//! Operations, the bytes that are signed, and the bytes that are stored.
#![forbid(unsafe_code)]

use ed25519_dalek::{Signature as Ed25519Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::kind::{Kind, MAX_OPAQUE, VIEW};
use super::wire::{Reader, WireError, Writer};
use super::{MAX_PARTICIPANTS, Signature};
use crate::{Digest, keccak256};

/// The longest message to be signed, in bytes.
pub const MAX_MESSAGE: usize = 1 << 16;

/// An Ed25519 public key.
pub type PublicKey = [u8; 32];

/// The start of a ceremony. Its id is the hash of all of this and the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// What is computed.
    pub kind: Kind,
    /// Whatever makes the id new.
    pub salt: [u8; 32],
    /// Key generation: how many can sign later. Signing: the key's, again.
    pub threshold: u16,
    /// Key generation: the parties' places in the roster; party `i` of the ceremony is the `i`th.
    /// Signing: the chosen signers' places among the key's parties, going up.
    pub participants: Vec<u32>,
    /// The last moment of each round.
    pub deadlines: Vec<u64>,
    /// Signing: the key's id. Zeros for a key generation.
    pub key: Digest,
    /// Signing: what is signed. Empty for a key generation.
    pub message: Vec<u8>,
}

/// A party's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contribution {
    /// The ceremony.
    pub ceremony: Digest,
    /// Its kind.
    pub kind: Kind,
    /// The round, from 0.
    pub round: u8,
    /// The party's number in the ceremony, from 0.
    pub index: u16,
    /// The message; its layout is the kind's and the round's.
    pub payload: Vec<u8>,
}

/// A party's claim that a package sealed to it is bad, with the secret that lets all see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The ceremony, a FROST key generation.
    pub ceremony: Digest,
    /// Who complains.
    pub index: u16,
    /// Whose package it is.
    pub sender: u16,
    /// The secret of the complainer's one-time encryption key.
    pub secret: [u8; 32],
}

/// A key that was made elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportKey {
    /// The key generation it would have come from.
    pub kind: Kind,
    /// How many can sign.
    pub threshold: u16,
    /// The parties' places in the roster.
    pub members: Vec<u32>,
    /// The encoded group key.
    pub group_key: Vec<u8>,
}

/// What can be asked of a coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Operator: a new member of the roster at the place `index`.
    AddMember {
        /// The next free place; it keeps an old operation from being played again.
        index: u32,
        /// The member's key.
        key: PublicKey,
    },
    /// Operator: a group key that was made elsewhere.
    ImportKey(ImportKey),
    /// Operator: a ceremony starts.
    Begin(Begin),
    /// Party: a message.
    Contribute(Contribution),
    /// Party: a bad package.
    Complain(Complaint),
    /// Operator: a ceremony is given up.
    Cancel {
        /// Which.
        ceremony: Digest,
    },
    /// Nobody's signature: it is this time now.
    Tick {
        /// In the unit of the deadlines.
        now: u64,
    },
}

/// An operation and who vouches for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What is asked.
    pub body: Body,
    /// Who asks; zeros for a tick.
    pub key: PublicKey,
    /// The signature over [`Body::signed_bytes`]; zeros for a tick.
    pub signature: Signature,
}

/// An operation whose signature was verified, or is trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authentic(Operation);

/// A signature that does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not verify under the operation's key")]
pub struct BadSignature;

fn list(w: &mut Writer, entries: &[u32]) {
    w.len(entries.len());
    for &entry in entries {
        w.u32(entry);
    }
}

fn read_list(r: &mut Reader<'_>) -> Result<Vec<u32>, WireError> {
    let len = r.len(MAX_PARTICIPANTS as usize, 4)?;
    (0..len).map(|_| r.u32()).collect()
}

fn read_kind(r: &mut Reader<'_>) -> Result<Kind, WireError> {
    let number = r.u8()?;
    Kind::from_number(number).ok_or_else(|| r.unknown("kind", number))
}

impl Begin {
    fn write(&self, w: &mut Writer) {
        w.u8(self.kind.number()).put(&self.salt).u16(self.threshold);
        list(w, &self.participants);
        w.len(self.deadlines.len());
        for &deadline in &self.deadlines {
            w.u64(deadline);
        }
        w.put(&self.key).bytes(&self.message);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        let kind = read_kind(r)?;
        let salt = r.array()?;
        let threshold = r.u16()?;
        let participants = read_list(r)?;
        let rounds = r.len(kind.rounds() as usize, 8)?;
        Ok(Self {
            kind,
            salt,
            threshold,
            participants,
            deadlines: (0..rounds).map(|_| r.u64()).collect::<Result<_, _>>()?,
            key: r.array()?,
            message: r.bytes(MAX_MESSAGE)?,
        })
    }

    /// The ceremony's id on a network.
    #[must_use]
    pub fn id(&self, network: &[u8; 32]) -> Digest {
        let mut w = Writer::default();
        w.put(b"fieldspar.ceremony.v2.id\0").put(network);
        self.write(&mut w);
        keccak256(&w.0)
    }
}

impl Body {
    const fn number(&self) -> u8 {
        match self {
            Self::AddMember { .. } => 1,
            Self::ImportKey(_) => 2,
            Self::Begin(_) => 3,
            Self::Contribute(_) => 4,
            Self::Complain(_) => 5,
            Self::Cancel { .. } => 6,
            Self::Tick { .. } => 7,
        }
    }

    fn write(&self, w: &mut Writer) {
        w.u8(self.number());
        match self {
            Self::AddMember { index, key } => {
                w.u32(*index).put(key);
            }
            Self::ImportKey(key) => {
                w.u8(key.kind.number()).u16(key.threshold);
                list(w, &key.members);
                w.bytes(&key.group_key);
            }
            Self::Begin(begin) => begin.write(w),
            Self::Contribute(c) => {
                w.put(&c.ceremony).u8(c.kind.number()).u8(c.round);
                w.u16(c.index).bytes(&c.payload);
            }
            Self::Complain(c) => {
                w.put(&c.ceremony).u16(c.index).u16(c.sender).put(&c.secret);
            }
            Self::Cancel { ceremony } => {
                w.put(ceremony);
            }
            Self::Tick { now } => {
                w.u64(*now);
            }
        }
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, WireError> {
        Ok(match r.u8()? {
            1 => Self::AddMember {
                index: r.u32()?,
                key: r.array()?,
            },
            2 => {
                let kind = read_kind(r)?;
                Self::ImportKey(ImportKey {
                    kind,
                    threshold: r.u16()?,
                    members: read_list(r)?,
                    group_key: r.bytes(kind.key_len())?,
                })
            }
            3 => Self::Begin(Begin::read(r)?),
            4 => {
                let ceremony = r.array()?;
                let kind = read_kind(r)?;
                let round = r.u8()?;
                // No message of the kind is longer, whatever the number of participants.
                let (_, most) = kind.payload_len(round, MAX_PARTICIPANTS, MAX_PARTICIPANTS);
                Self::Contribute(Contribution {
                    ceremony,
                    kind,
                    round,
                    index: r.u16()?,
                    payload: r.bytes(most.min(VIEW + MAX_OPAQUE))?,
                })
            }
            5 => Self::Complain(Complaint {
                ceremony: r.array()?,
                index: r.u16()?,
                sender: r.u16()?,
                secret: r.array()?,
            }),
            6 => Self::Cancel {
                ceremony: r.array()?,
            },
            7 => Self::Tick { now: r.u64()? },
            number => return Err(r.unknown("operation", number)),
        })
    }

    /// What is signed. A contribution's is domain, ceremony, kind, round, index and the hash of the
    /// payload, so that a stored signature can be checked without the payload; any other's is domain,
    /// network and the operation itself.
    #[must_use]
    pub fn signed_bytes(&self, network: &[u8; 32]) -> Vec<u8> {
        if let Self::Contribute(c) = self {
            let hash = keccak256(&c.payload);
            return message_bytes(&c.ceremony, c.kind, c.round, c.index, &hash);
        }
        let mut w = Writer::default();
        w.put(b"fieldspar.ceremony.v2.operation\0").put(network);
        self.write(&mut w);
        w.0
    }

    /// Signs.
    #[must_use]
    pub fn sign(self, network: &[u8; 32], key: &SigningKey) -> Operation {
        let signature = key.sign(&self.signed_bytes(network));
        Operation {
            key: key.verifying_key().to_bytes(),
            signature: Signature(signature.to_bytes()),
            body: self,
        }
    }
}

/// What a party signs for a message whose payload has the hash `payload`.
#[must_use]
pub fn message_bytes(
    ceremony: &Digest,
    kind: Kind,
    round: u8,
    index: u16,
    payload: &Digest,
) -> Vec<u8> {
    let mut w = Writer::default();
    w.put(b"fieldspar.ceremony.v2.message\0").put(ceremony);
    w.u8(kind.number()).u8(round).u16(index).put(payload);
    w.0
}

/// Whether `signature` is `key`'s over `bytes`, by the one rule that is used everywhere: that of
/// RFC 8032 without cofactor, canonical encodings, no key or commitment of small order
/// (`verify_strict` of ed25519-dalek). The roster takes only keys of prime order, and then it is the
/// rule of [`verify::signature`](mod@crate::verify::signature).
#[must_use]
pub fn verifies(key: &PublicKey, bytes: &[u8], signature: &Signature) -> bool {
    VerifyingKey::from_bytes(key).is_ok_and(|key| {
        key.verify_strict(bytes, &Ed25519Signature::from_bytes(&signature.0))
            .is_ok()
    })
}

impl Operation {
    /// A tick, which nobody signs.
    #[must_use]
    pub const fn tick(now: u64) -> Self {
        Self {
            body: Body::Tick { now },
            key: [0; 32],
            signature: Signature([0; 64]),
        }
    }

    /// The bytes that are stored and sent.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        self.body.write(&mut w);
        w.put(&self.key).put(&self.signature.0);
        w.0
    }

    /// Reads one operation and nothing behind it.
    ///
    /// # Errors
    ///
    /// The bytes are not those of an operation; lengths are checked before anything is allocated.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, WireError> {
        let mut r = Reader::new(bytes);
        let operation = Self {
            body: Body::read(&mut r)?,
            key: r.array()?,
            signature: Signature(r.array()?),
        };
        r.end()?;
        Ok(operation)
    }

    /// Verifies the signature; needs no state, so that many can be verified beside each other.
    ///
    /// # Errors
    ///
    /// It does not verify.
    pub fn authenticate(self, network: &[u8; 32]) -> Result<Authentic, BadSignature> {
        let tick = matches!(self.body, Body::Tick { .. });
        if tick || verifies(&self.key, &self.body.signed_bytes(network), &self.signature) {
            Ok(Authentic(self))
        } else {
            Err(BadSignature)
        }
    }

    /// Takes the signature for granted: for operations from a log that is trusted.
    #[must_use]
    pub const fn trust(self) -> Authentic {
        Authentic(self)
    }
}

impl Authentic {
    /// The operation.
    #[must_use]
    pub const fn operation(&self) -> &Operation {
        &self.0
    }

    pub(crate) fn into_inner(self) -> Operation {
        self.0
    }
}
