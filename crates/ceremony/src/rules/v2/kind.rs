//! Kinds of ceremonies: rounds, and what a message of each round looks like.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

/// The groups and hashes of FROST (RFC 9591) that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Suite {
    /// FROST(Ed25519, SHA-512).
    Ed25519,
    /// FROST(ristretto255, SHA-512).
    Ristretto255,
    /// FROST(secp256k1, SHA-256).
    Secp256k1,
    /// FROST(secp256k1, SHA-256) with BIP-340 signatures.
    Secp256k1Tr,
}

impl Suite {
    /// Every suite, by number.
    pub const ALL: [Self; 4] = [
        Self::Ed25519,
        Self::Ristretto255,
        Self::Secp256k1,
        Self::Secp256k1Tr,
    ];

    /// Bytes of an encoded group element.
    #[must_use]
    pub const fn element_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::Ristretto255 => 32,
            Self::Secp256k1 | Self::Secp256k1Tr => 33,
        }
    }

    /// Bytes of a proof of knowledge, which is encoded like a signature.
    #[must_use]
    pub const fn proof_len(self) -> usize {
        match self {
            Self::Secp256k1 => 65,
            _ => 64,
        }
    }
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Kind {
    /// FROST key generation without a dealer: all n take part in every round.
    FrostKeygen(Suite),
    /// FROST signing.
    FrostSign(Suite),
    /// CGGMP24 key generation. Envelope, transcript and agreement only: what is inside is not read.
    CggmpKeygen,
    /// CGGMP24 signing. Envelope and transcript only.
    CggmpSign,
    /// Corona key generation. Envelope and agreement only.
    CoronaKeygen,
    /// Corona signing. Envelope only.
    CoronaSign,
}

/// The most bytes of a message that is not read.
pub const MAX_OPAQUE: usize = 1 << 17;

/// Bytes of a package sealed to one recipient: sender, recipient, ephemeral key, scalar, tag.
pub const SEALED: usize = 2 + 2 + 32 + 32 + 16;

/// Bytes of the transcript hash that every message after the first round begins with.
pub const VIEW: usize = 32;

/// Bytes of a one-time encryption key.
pub const ONE_TIME_KEY: usize = 32;

impl Kind {
    /// The number in messages and ids.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::FrostKeygen(suite) => 0x10 + suite as u8,
            Self::FrostSign(suite) => 0x20 + suite as u8,
            Self::CggmpKeygen => 0x30,
            Self::CggmpSign => 0x31,
            Self::CoronaKeygen => 0x40,
            Self::CoronaSign => 0x41,
        }
    }

    /// The kind of a number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        let frost = Suite::ALL
            .into_iter()
            .flat_map(|suite| [Self::FrostKeygen(suite), Self::FrostSign(suite)]);
        let others = [
            Self::CggmpKeygen,
            Self::CggmpSign,
            Self::CoronaKeygen,
            Self::CoronaSign,
        ];
        frost.chain(others).find(|kind| kind.number() == number)
    }

    /// Rounds from begin to end.
    #[must_use]
    pub const fn rounds(self) -> u8 {
        match self {
            Self::FrostKeygen(_) | Self::CggmpKeygen => 3,
            Self::FrostSign(_) | Self::CoronaKeygen | Self::CoronaSign => 2,
            Self::CggmpSign => 4,
        }
    }

    /// Whether a group key comes out.
    #[must_use]
    pub const fn is_keygen(self) -> bool {
        matches!(
            self,
            Self::FrostKeygen(_) | Self::CggmpKeygen | Self::CoronaKeygen
        )
    }

    /// The key generation whose keys a signing kind uses; itself for a key generation.
    #[must_use]
    pub const fn keygen(self) -> Self {
        match self {
            Self::FrostSign(suite) => Self::FrostKeygen(suite),
            Self::CggmpSign => Self::CggmpKeygen,
            Self::CoronaSign => Self::CoronaKeygen,
            other => other,
        }
    }

    /// The suite of a FROST kind.
    #[must_use]
    pub const fn suite(self) -> Option<Suite> {
        match self {
            Self::FrostKeygen(suite) | Self::FrostSign(suite) => Some(suite),
            _ => None,
        }
    }

    /// Bytes of a group key: an element; for Corona a digest of the key.
    #[must_use]
    pub const fn key_len(self) -> usize {
        match self {
            Self::FrostKeygen(suite) | Self::FrostSign(suite) => suite.element_len(),
            Self::CggmpKeygen | Self::CggmpSign => 33,
            Self::CoronaKeygen | Self::CoronaSign => 32,
        }
    }

    /// The least and the most bytes of a message of `round`, among `total` participants of whom
    /// `threshold` can sign. Every message after the first round begins with [`VIEW`].
    #[must_use]
    pub const fn payload_len(self, round: u8, threshold: u16, total: u16) -> (usize, usize) {
        let (t, n) = (threshold as usize, total as usize);
        let last = round + 1 == self.rounds();
        let exact = match (self, round) {
            (Self::FrostKeygen(suite), 0) => {
                ONE_TIME_KEY + t * suite.element_len() + suite.proof_len()
            }
            (Self::FrostKeygen(_), 1) => VIEW + (n - 1) * SEALED,
            (Self::FrostSign(suite), 0) => 2 * suite.element_len(),
            (Self::FrostSign(_), 1) => VIEW + 32,
            _ if self.is_keygen() && last => VIEW + self.key_len(),
            (_, 0) => return (1, MAX_OPAQUE),
            _ => return (VIEW + 1, VIEW + MAX_OPAQUE),
        };
        (exact, exact)
    }
}
