//! What the messages of one ceremony say.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::Deserialize;

use super::{Culprit, Depth, Finding, Pending, Status, TranscriptError, Verdict};
use crate::rules::v2::{Archived, Kind, Live, ONE_TIME_KEY, Outcome, State, VIEW};
use crate::verify::independent::{Prehash, accepts, accepts_ecdsa};
use crate::verify::keygen::{Keygen, KeygenFault, Round1};
use crate::verify::signing::{Commitments, Session, SigningFault};
use crate::verify::suite::{Ciphersuite, Element};
use crate::verify::with_suite;
use crate::{Digest, hex};

/// The longest file beside a log.
const MAX_FILE: u64 = 4096;

/// A group key that a key generation in this log has made.
#[derive(Debug)]
struct Known {
    /// The encoded verifying shares, by participant; `None` if the key generation does not hold.
    shares: Option<Vec<Vec<u8>>>,
}

/// What a FROST ceremony came to.
#[derive(Debug, Default)]
struct Product {
    group_key: Option<Vec<u8>>,
    signature: Option<Vec<u8>>,
    shares: Option<Vec<Vec<u8>>>,
}

#[derive(Debug)]
pub(super) struct Judge<'a> {
    folder: &'a Path,
    keys: BTreeMap<Digest, Known>,
    /// The encoded group keys of the state, by id.
    group_keys: BTreeMap<Digest, Vec<u8>>,
    /// How many of the state's keys are among them.
    indexed: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EcdsaFile {
    signature: String,
    prehash: String,
}

impl<'a> Judge<'a> {
    pub(super) const fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            keys: BTreeMap::new(),
            group_keys: BTreeMap::new(),
            indexed: 0,
        }
    }

    fn index_keys(&mut self, state: &State) {
        let network = state.genesis().network;
        for key in state.keys().iter().skip(self.indexed) {
            self.group_keys
                .insert(key.id(&network), key.group_key.clone());
            self.indexed += 1;
        }
    }

    /// A ceremony in progress: what was said so far.
    pub(super) fn in_progress(&self, state: &State, live: &Live, pending: &Pending) -> Verdict {
        let finding = early(pending).unwrap_or(Finding::InProgress {
            round: live.round,
            awaited: bits(live.awaited()),
        });
        verdict(state, live.id, pending, Some(finding), Product::default())
    }

    /// A ceremony that has ended.
    pub(super) fn ended(
        &mut self,
        state: &State,
        archived: &Archived,
        pending: &Pending,
    ) -> Result<Verdict, TranscriptError> {
        self.index_keys(state);
        let kind = archived.kind;
        let early_or = |finding| Err(early(pending).unwrap_or(finding));
        let outcome = match &archived.outcome {
            Outcome::Finished | Outcome::Disagreement => match kind {
                Kind::FrostKeygen(suite) => {
                    let judged = with_suite!(suite, S => keygen::<S>(pending));
                    if archived.outcome == Outcome::Finished {
                        let shares = judged.as_ref().ok().and_then(|r| r.shares.clone());
                        self.keys.insert(archived.key, Known { shares });
                    }
                    judged
                }
                Kind::FrostSign(suite) => {
                    with_suite!(suite, S => self.signing::<S>(pending))
                }
                _ if archived.outcome == Outcome::Disagreement => Err(Finding::Disagreement),
                _ => return self.envelope(state, archived, pending),
            },
            Outcome::Aborted {
                culprit,
                complainer,
                sender,
            } => Err(Finding::Complaint {
                culprit: *culprit,
                complainer: *complainer,
                sender: *sender,
            }),
            Outcome::Cancelled => early_or(Finding::Cancelled),
            Outcome::Expired { round, awaited } => early_or(Finding::Expired {
                round: *round,
                awaited: bits(*awaited),
            }),
        };
        let (finding, result) = match outcome {
            Ok(result) => (None, result),
            Err(finding) => (Some(finding), Product::default()),
        };
        Ok(verdict(state, archived.id, pending, finding, result))
    }

    /// CGGMP24 and Corona: the rules have checked the envelope. For CGGMP24 there may be a signature.
    fn envelope(
        &self,
        state: &State,
        archived: &Archived,
        pending: &Pending,
    ) -> Result<Verdict, TranscriptError> {
        let id = if archived.kind.is_keygen() {
            archived.key
        } else {
            pending.begin.key
        };
        let key = self.group_keys.get(&id).cloned();
        let mut result = Product {
            group_key: key.clone(),
            ..Product::default()
        };
        let mut finding = None;
        if archived.kind == Kind::CggmpSign
            && let Some((signature, prehash)) = self.ecdsa_file(&archived.id)?
        {
            let message = &pending.begin.message;
            let key = key.unwrap_or_default();
            if !accepts_ecdsa(&key, message, prehash, &signature) {
                finding = Some(Finding::Ecdsa);
            }
            result.signature = Some(signature);
        }
        Ok(verdict(state, archived.id, pending, finding, result))
    }

    fn ecdsa_file(&self, id: &Digest) -> Result<Option<(Vec<u8>, Prehash)>, TranscriptError> {
        let name = format!("{}.ecdsa", hex::encode(id));
        let bad = |reason: String| TranscriptError::File {
            file: name.clone(),
            reason,
        };
        let file = match File::open(self.folder.join(&name)) {
            Ok(file) => file,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(bad(e.to_string())),
        };
        let mut text = String::new();
        file.take(MAX_FILE)
            .read_to_string(&mut text)
            .map_err(|e| bad(e.to_string()))?;
        let parsed: EcdsaFile = serde_json::from_str(&text).map_err(|e| bad(e.to_string()))?;
        let prehash = match parsed.prehash.as_str() {
            "sha256" => Prehash::Sha256,
            "keccak256" => Prehash::Keccak256,
            "none" => Prehash::None,
            other => return Err(bad(format!("no prehash `{other}`"))),
        };
        let mut signature = vec![0; parsed.signature.len() / 2];
        hex::decode(&parsed.signature, &mut signature).map_err(|e| bad(e.to_string()))?;
        Ok(Some((signature, prehash)))
    }

    fn signing<S: Ciphersuite>(&self, pending: &Pending) -> Result<Product, Finding> {
        let begin = &pending.begin;
        let group = self.group_keys.get(&begin.key).cloned().unwrap_or_default();
        let known = self.keys.get(&begin.key);
        let key = match (Element::<S>::parse(&group), known) {
            (_, Some(Known { shares: None })) | (Err(_), Some(_)) => return Err(Finding::BadKey),
            (Err(error), None) => return Err(Finding::ImportedKey(error)),
            (Ok(key), _) => key,
        };
        // At most 128 participants.
        let signers: Vec<u16> = begin.participants.iter().map(|&i| i as u16).collect();
        let commitments = round(pending, 0, 0)?;
        let session = Session::<S>::parse(key, &begin.message, &signers, &commitments)?;
        let verifying: Option<Vec<S::Point>> =
            known.and_then(|k| k.shares.as_ref()).and_then(|shares| {
                let share = |&i: &u16| {
                    let bytes = shares.get(usize::from(i))?;
                    Some(*Element::<S>::parse(bytes).ok()?.point())
                };
                signers.iter().map(share).collect()
            });
        let signature = session
            .finish(&round(pending, 1, VIEW)?, verifying.as_deref())?
            .to_bytes();
        if !accepts(S::SUITE, &group, &begin.message, &signature) {
            return Err(Finding::Independent);
        }
        Ok(Product {
            group_key: Some(group),
            signature: Some(signature),
            shares: None,
        })
    }
}

/// The messages of a round by index, without their first `skip` bytes.
fn round(pending: &Pending, round: u8, skip: usize) -> Result<Vec<&[u8]>, Finding> {
    // At most 128 participants.
    let total = pending.members.len() as u16;
    (0..total)
        .map(|index| {
            let message = pending.messages.get(&(round, index));
            message
                .and_then(|bytes| bytes.get(skip..))
                .ok_or(Finding::Missing { round })
        })
        .collect()
}

fn keygen<S: Ciphersuite>(pending: &Pending) -> Result<Product, Finding> {
    let packages = round(pending, 0, ONE_TIME_KEY)?;
    let keygen = Keygen::<S>::parse(pending.begin.threshold, &packages)?;
    keygen.check_proofs()?;
    let keys = keygen.public_keys()?;
    let key = keys.group_key.bytes().as_ref();
    let named = round(pending, 2, VIEW)?;
    let culprits: Vec<u16> = (0..)
        .zip(named)
        .filter(|(_, named)| *named != key)
        .map(|(index, _)| index)
        .collect();
    if !culprits.is_empty() {
        return Err(Finding::GroupKey { culprits });
    }
    let shares = keys.shares.iter().filter_map(S::encode);
    Ok(Product {
        group_key: Some(key.to_vec()),
        signature: None,
        shares: Some(shares.map(|s| s.as_ref().to_vec()).collect()),
    })
}

/// What is wrong with the first messages of a FROST ceremony that has not got to its end.
fn early(pending: &Pending) -> Option<Finding> {
    match pending.begin.kind {
        Kind::FrostKeygen(suite) => with_suite!(suite, S => early_keygen::<S>(pending)),
        Kind::FrostSign(suite) => with_suite!(suite, S => early_signing::<S>(pending)),
        _ => None,
    }
}

fn first_messages(pending: &Pending) -> impl Iterator<Item = (u16, &[u8])> {
    let first = pending.messages.range((0, 0)..=(0, u16::MAX));
    first.map(|(&(_, index), bytes)| (index, bytes.as_slice()))
}

fn early_keygen<S: Ciphersuite>(pending: &Pending) -> Option<Finding> {
    let mut culprits = Vec::new();
    for (culprit, bytes) in first_messages(pending) {
        let bytes = bytes.get(ONE_TIME_KEY..).unwrap_or_default();
        match Round1::<S>::parse(bytes, pending.begin.threshold) {
            Err(source) => return Some(KeygenFault::Package { culprit, source }.into()),
            Ok(package) if !package.proof_holds(culprit) => culprits.push(culprit),
            Ok(_) => {}
        }
    }
    (!culprits.is_empty()).then_some(Finding::Keygen(KeygenFault::Proof { culprits }))
}

fn early_signing<S: Ciphersuite>(pending: &Pending) -> Option<Finding> {
    first_messages(pending).find_map(|(culprit, bytes)| {
        let (which, source) = Commitments::<S>::parse(bytes).err()?;
        Some(Finding::Signing(SigningFault::Commitment {
            culprit,
            which,
            source,
        }))
    })
}

/// The places of the bits.
fn bits(set: u128) -> Vec<u16> {
    (0..128).filter(|i| set >> i & 1 == 1).collect()
}

fn verdict(
    state: &State,
    id: Digest,
    pending: &Pending,
    finding: Option<Finding>,
    result: Product,
) -> Verdict {
    let kind = pending.begin.kind;
    let party = |index: u16| {
        let member = *pending.members.get(usize::from(index))?;
        let key = *state.members().get(member as usize)?;
        Some(Culprit::Party { index, member, key })
    };
    let culprits = match &finding {
        // Only the operator imports keys.
        Some(Finding::ImportedKey(_)) => vec![Culprit::Coordinator],
        Some(finding) => finding.culprits().into_iter().filter_map(party).collect(),
        None => Vec::new(),
    };
    let depth = match kind {
        Kind::FrostKeygen(_) | Kind::FrostSign(_) => Depth::Full,
        _ if result.signature.is_some() => Depth::EnvelopeAndSignature,
        _ => Depth::Envelope,
    };
    Verdict {
        id,
        kind,
        status: finding.as_ref().map_or(Status::Valid, Finding::status),
        finding,
        culprits,
        depth,
        group_key: result.group_key,
        signature: result.signature,
    }
}
