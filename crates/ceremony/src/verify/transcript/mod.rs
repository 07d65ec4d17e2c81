//! Whole ceremonies from a store's log: replayed, every signature checked, and what the messages
//! say checked too.
//!
//! A folder holds `log.fsl`, the log of a store of version 2, and for each CGGMP24 signing whose
//! signature is to be checked a file `<ceremony in hex>.ecdsa`:
//! `{"signature": "<hex>", "prehash": "sha256" | "keccak256" | "none"}`. Nothing in the folder is written, and a store in
//! use can be read.
#![forbid(unsafe_code)]

mod judge;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use ed25519_dalek::VerifyingKey;
use rayon::prelude::*;

use super::keygen::KeygenFault;
use super::signing::SigningFault;
use super::suite::ElementError;
use crate::Digest;
use crate::rules::v2::{Answer, Authentic, Begin, Body, Evidence, Genesis, Kind, PublicKey, State};
use crate::store::{FileDisk, Log, StoreError};

/// Why a folder cannot be judged at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The log cannot be read or is no log.
    #[error(transparent)]
    Log(#[from] StoreError),
    /// A file beside the log is not what it should be.
    #[error("{file}: {reason}")]
    File {
        /// Its name.
        file: String,
        /// What is wrong.
        reason: String,
    },
}

/// Who is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Culprit {
    /// Whoever kept the record.
    Coordinator,
    /// A participant.
    Party {
        /// Its number in the ceremony, from 0.
        index: u16,
        /// Its place in the roster.
        member: u32,
        /// Its key.
        key: PublicKey,
    },
}

/// What became of a ceremony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It finished, and all that can be checked holds.
    Valid,
    /// Something does not hold.
    Invalid,
    /// It has no result, and nobody is known to have done wrong.
    Incomplete,
}

/// How much of a ceremony public data let be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Everything that is public: FROST.
    Full,
    /// Envelopes and the final signature: CGGMP24 with a signature beside the log.
    EnvelopeAndSignature,
    /// Who sent what and when, not whether it is right: CGGMP24 and Corona.
    Envelope,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Finding {
    /// Round 1 of a key generation, or what follows from it.
    #[error(transparent)]
    Keygen(#[from] KeygenFault),
    /// Participants named another group key than the commitments give.
    #[error("participants {culprits:?} named another group key than the commitments give")]
    GroupKey {
        /// Who.
        culprits: Vec<u16>,
    },
    /// A signing.
    #[error(transparent)]
    Signing(#[from] SigningFault),
    /// The signing is under a key whose generation does not hold.
    #[error("the group key comes from a key generation that does not hold")]
    BadKey,
    /// An imported group key is no element.
    #[error("the imported group key: {0}")]
    ImportedKey(ElementError),
    /// Our verifier and the independent one do not agree.
    #[error("the independent verifier refuses the signature")]
    Independent,
    /// The ECDSA signature beside the log does not verify.
    #[error("the ECDSA signature does not verify")]
    Ecdsa,
    /// A complaint was decided.
    #[error(
        "participant {complainer} complained about the share of participant {sender}: participant {culprit} is at fault"
    )]
    Complaint {
        /// Who is at fault.
        culprit: u16,
        /// Who complained.
        complainer: u16,
        /// Whose share it was.
        sender: u16,
    },
    /// The operator gave the ceremony up.
    #[error("cancelled")]
    Cancelled,
    /// A deadline passed.
    #[error("expired in round {round}, waiting for participants {awaited:?}")]
    Expired {
        /// The round.
        round: u8,
        /// Who was awaited.
        awaited: Vec<u16>,
    },
    /// The log ends before the ceremony.
    #[error("in progress in round {round}, waiting for participants {awaited:?}")]
    InProgress {
        /// The round.
        round: u8,
        /// Who is awaited.
        awaited: Vec<u16>,
    },
    /// The participants named different group keys, and the messages do not say who is right.
    #[error("the participants named different group keys")]
    Disagreement,
    /// A message that the rules let in is not there; it cannot happen.
    #[error("round {round}: a message is missing")]
    Missing {
        /// The round.
        round: u8,
    },
}

impl Finding {
    /// Whom it names, by index.
    #[must_use]
    pub fn culprits(&self) -> Vec<u16> {
        match self {
            Self::Keygen(fault) => fault.culprits(),
            Self::Signing(fault) => fault.culprits(),
            Self::GroupKey { culprits } => culprits.clone(),
            Self::Complaint { culprit, .. } => vec![*culprit],
            _ => Vec::new(),
        }
    }

    const fn status(&self) -> Status {
        match self {
            Self::Cancelled | Self::Expired { .. } | Self::InProgress { .. } => Status::Incomplete,
            _ => Status::Invalid,
        }
    }
}

/// What is to be said of one ceremony.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Its id.
    pub id: Digest,
    /// Its kind.
    pub kind: Kind,
    /// What became of it.
    pub status: Status,
    /// Why it is not valid.
    pub finding: Option<Finding>,
    /// Who is at fault, where that can be known.
    pub culprits: Vec<Culprit>,
    /// How much was checked.
    pub depth: Depth,
    /// The group key that it made or used.
    pub group_key: Option<Vec<u8>>,
    /// The signature that it made.
    pub signature: Option<Vec<u8>>,
}

/// What is to be said of a record.
#[derive(Debug)]
pub struct Transcript {
    /// Network and operator.
    pub genesis: Genesis,
    /// Frames that are good.
    pub frames: u64,
    /// Operations that were replayed.
    pub operations: u64,
    /// The root of the state behind them.
    pub state_root: Digest,
    /// Bytes behind the last whole frame.
    pub torn_bytes: u64,
    /// Why the record itself is bad from some frame on; the coordinator's fault.
    pub fault: Option<StoreError>,
    /// The ceremonies, in the order in which they ended, and then those in progress.
    pub ceremonies: Vec<Verdict>,
    /// Parties that signed two messages for one place.
    pub equivocations: Vec<Evidence>,
}

impl Transcript {
    /// Whether the record is good and so is every ceremony with a result, of which there is one.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let all = |status| self.ceremonies.iter().any(|c| c.status == status);
        self.fault.is_none() && all(Status::Valid) && !all(Status::Invalid)
    }
}

/// A ceremony of which not all is known yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) begin: Begin,
    pub(super) members: Vec<u32>,
    pub(super) messages: BTreeMap<(u8, u16), Vec<u8>>,
}

/// Verifies the record in a folder.
///
/// # Errors
///
/// There is no log, or it cannot be read; a file beside it is malformed. A log that is read and does
/// not hold is no error but [`Transcript::fault`].
pub fn verify_transcript(folder: &Path) -> Result<Transcript, TranscriptError> {
    let file =
        File::open(folder.join(crate::store::LOG)).map_err(StoreError::io("open the log"))?;
    let (mut log, genesis) = Log::open(FileDisk::new(file))?;
    if let Some(base) = log.base() {
        return Err(StoreError::Shortened { frame: base.frame }.into());
    }
    let mut replay = Replay {
        state: State::new(genesis),
        pending: BTreeMap::new(),
        archived: 0,
        judge: judge::Judge::new(folder),
        verdicts: Vec::new(),
    };
    // With such a key verifiers would differ on what the operator has signed.
    let operator = VerifyingKey::from_bytes(&genesis.operator);
    let prime = operator.is_ok_and(|key| !key.is_weak() && key.to_edwards().is_torsion_free());
    let fault = loop {
        if !prime {
            break Some(StoreError::Header(
                "the operator's key is not of prime order",
            ));
        }
        match replay.frame(&mut log) {
            Ok(true) => {}
            Ok(false) => break None,
            Err(TranscriptError::Log(error @ StoreError::Io { .. })) => return Err(error.into()),
            Err(TranscriptError::Log(error)) => break Some(error),
            Err(error) => return Err(error),
        }
    };
    replay.in_progress();
    Ok(Transcript {
        genesis,
        frames: log.frames(),
        operations: replay.state.operations(),
        state_root: replay.state.root().root,
        torn_bytes: log.torn_bytes(),
        fault,
        ceremonies: replay.verdicts,
        equivocations: replay.state.evidence().to_vec(),
    })
}

struct Replay<'a> {
    state: State,
    pending: BTreeMap<Digest, Pending>,
    /// Entries of the archive that are judged.
    archived: usize,
    judge: judge::Judge<'a>,
    verdicts: Vec<Verdict>,
}

impl Replay<'_> {
    /// Plays a frame; false at the end.
    fn frame(&mut self, log: &mut Log<FileDisk>) -> Result<bool, TranscriptError> {
        let Some(operations) = log.read_frame()? else {
            return Ok(false);
        };
        let frame = log.frames();
        let network = self.state.genesis().network;
        let authentic: Vec<Authentic> = operations
            .into_par_iter()
            .map(|operation| operation.authenticate(&network))
            .collect::<Result<_, _>>()
            .map_err(|_| StoreError::BadSignature { frame })?;
        for operation in authentic {
            let body = operation.operation().body.clone();
            let before = self.state.operations();
            let answer = self.state.apply(operation);
            if self.state.operations() == before {
                return Err(StoreError::Foreign { frame }.into());
            }
            self.keep(answer, body);
            self.judge_ended()?;
        }
        Ok(true)
    }

    /// Keeps what the state forgets when a ceremony ends.
    fn keep(&mut self, answer: Answer, body: Body) {
        let Answer::Accepted { id, again: false } = answer else {
            return;
        };
        match body {
            Body::Begin(begin) => {
                let members = self.state.ceremony(&id).map(|live| live.members.clone());
                let pending = Pending {
                    begin,
                    members: members.unwrap_or_default(),
                    messages: BTreeMap::new(),
                };
                self.pending.insert(id, pending);
            }
            Body::Contribute(c) => {
                if let Some(pending) = self.pending.get_mut(&c.ceremony) {
                    pending.messages.insert((c.round, c.index), c.payload);
                }
            }
            _ => {}
        }
    }

    fn judge_ended(&mut self) -> Result<(), TranscriptError> {
        while let Some(archived) = self.state.archive().get(self.archived) {
            self.archived += 1;
            if let Some(pending) = self.pending.remove(&archived.id) {
                let verdict = self.judge.ended(&self.state, archived, &pending)?;
                self.verdicts.push(verdict);
            }
        }
        Ok(())
    }

    fn in_progress(&mut self) {
        for live in self.state.live() {
            if let Some(pending) = self.pending.get(&live.id) {
                let verdict = self.judge.in_progress(&self.state, live, pending);
                self.verdicts.push(verdict);
            }
        }
    }
}
