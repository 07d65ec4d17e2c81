//! What a coordinator knows, and its root.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::Signature;
use super::answer::Outcome;
use super::kind::Kind;
use super::merkle::Tree;
use super::operation::{Begin, PublicKey};
use super::recent::Recent;
use super::verifier::{HEADER, HEADER_DOMAIN, TREES};
use super::wire::Writer;
use crate::{Digest, keccak256};

/// What a state begins with, for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Genesis {
    /// What tells this network from others; part of every id and signature.
    pub network: [u8; 32],
    /// Who adds members, imports keys, begins and cancels.
    pub operator: PublicKey,
}

/// An accepted message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// As it came.
    pub payload: Vec<u8>,
    /// Its hash.
    pub hash: Digest,
    /// The party's, over [`message_bytes`](super::message_bytes).
    pub signature: Signature,
}

/// A ceremony in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// Its id.
    pub id: Digest,
    /// What it began with.
    pub begin: Begin,
    /// The participants' places in the roster.
    pub members: Vec<u32>,
    /// The current round.
    pub round: u8,
    /// Bit `i`: participant `i` has spoken in this round.
    pub received: u128,
    /// The hash of all rounds before this one: what messages of this round begin with.
    pub transcript: Digest,
    /// The hash of all messages in the order in which they came.
    pub arrivals: Digest,
    /// By round and index.
    pub messages: BTreeMap<(u8, u16), Message>,
}

impl Live {
    /// Participants; at most [`MAX_PARTICIPANTS`](super::MAX_PARTICIPANTS).
    #[must_use]
    pub fn total(&self) -> u16 {
        self.members.len() as u16
    }

    /// Bit `i`: participant `i` is awaited.
    #[must_use]
    pub fn awaited(&self) -> u128 {
        everyone(self.total()) & !self.received
    }

    /// The last moment of this round.
    #[must_use]
    pub fn deadline(&self) -> u64 {
        // As many as rounds; checked when it began.
        self.begin
            .deadlines
            .get(self.round as usize)
            .copied()
            .unwrap_or_default()
    }

    pub(super) fn leaf(&self) -> [u8; LIVE_LEAF] {
        let mut leaf = [0; LIVE_LEAF];
        leaf[..32].copy_from_slice(&self.id);
        leaf[32] = self.begin.kind.number();
        leaf[33] = self.round;
        leaf[34..50].copy_from_slice(&self.received.to_le_bytes());
        leaf[50..82].copy_from_slice(&self.transcript);
        leaf[82..].copy_from_slice(&self.arrivals);
        leaf
    }
}

/// Bytes of a live ceremony's leaf.
const LIVE_LEAF: usize = 114;

/// The leaf of a slot; a free one's is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveLeaf {
    len: u8,
    bytes: [u8; LIVE_LEAF],
}

impl LiveLeaf {
    pub(super) fn of(live: Option<&Live>) -> Self {
        match live {
            Some(live) => Self {
                len: LIVE_LEAF as u8,
                bytes: live.leaf(),
            },
            None => Self {
                len: 0,
                bytes: [0; LIVE_LEAF],
            },
        }
    }
}

impl AsRef<[u8]> for LiveLeaf {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

/// One bit for each of `total` participants.
pub(super) const fn everyone(total: u16) -> u128 {
    match total {
        0 => 0,
        n => u128::MAX >> (128 - n as u32),
    }
}

/// A ceremony that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Archived {
    /// Its id.
    pub id: Digest,
    /// Its kind.
    pub kind: Kind,
    /// How it ended.
    pub outcome: Outcome,
    /// The round in which it ended; the number of rounds if it finished.
    pub round: u8,
    /// Who had spoken in that round.
    pub received: u128,
    /// The hash of all complete rounds.
    pub transcript: Digest,
    /// The hash of all messages in the order in which they came.
    pub arrivals: Digest,
    /// The id of the group key that came out, or zeros.
    pub key: Digest,
    /// Round, index and payload hash of every message.
    pub messages: Vec<(u8, u16, Digest)>,
}

impl Archived {
    pub(super) fn leaf(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(&self.id).u8(self.kind.number()).u8(self.round);
        w.put(&self.received.to_le_bytes());
        w.put(&self.transcript).put(&self.arrivals).put(&self.key);
        match &self.outcome {
            Outcome::Finished => w.u8(0),
            Outcome::Cancelled => w.u8(1),
            Outcome::Expired { round, awaited } => w.u8(2).u8(*round).put(&awaited.to_le_bytes()),
            Outcome::Aborted {
                culprit,
                complainer,
                sender,
            } => w.u8(3).u16(*culprit).u16(*complainer).u16(*sender),
            Outcome::Disagreement => w.u8(4),
        };
        w.0
    }
}

/// A group key that signing ceremonies can name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupKey {
    /// The kind of the key generation.
    pub kind: Kind,
    /// How many can sign.
    pub threshold: u16,
    /// The parties' places in the roster, by index.
    pub members: Vec<u32>,
    /// The encoded key.
    pub group_key: Vec<u8>,
    /// The key generation it came from; zeros if it was imported.
    pub source: Digest,
}

impl GroupKey {
    fn bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.u8(self.kind.number()).u16(self.threshold);
        w.len(self.members.len());
        for &member in &self.members {
            w.u32(member);
        }
        w.bytes(&self.group_key).put(&self.source);
        w.0
    }

    /// Its id on a network.
    #[must_use]
    pub fn id(&self, network: &[u8; 32]) -> Digest {
        keccak256(&[&b"fieldspar.ceremony.v2.key\0"[..], network, &self.bytes()].concat())
    }
}

/// Two messages of one party for the same place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The ceremony.
    pub ceremony: Digest,
    /// Its kind.
    pub kind: Kind,
    /// The round.
    pub round: u8,
    /// The party's index.
    pub index: u16,
    /// The party's key.
    pub key: PublicKey,
    /// Payload hash and signature of what was accepted.
    pub first: (Digest, Signature),
    /// Payload hash and signature of what came later.
    pub second: (Digest, Signature),
}

impl Evidence {
    pub(super) fn leaf(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(&self.ceremony)
            .u8(self.kind.number())
            .u8(self.round)
            .u16(self.index);
        w.put(&self.key);
        w.put(&self.first.0).put(&self.first.1.0);
        w.put(&self.second.0).put(&self.second.1.0);
        w.0
    }
}

/// The state's root and what it is the hash of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateRoot {
    /// `keccak(2 | header)`.
    pub root: Digest,
    /// Domain, network, time, number of operations, and size and root of each tree in the order of
    /// [`TreeName`](super::TreeName).
    pub header: [u8; HEADER],
}

/// The part that is stored; the rest follows from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Core {
    pub(super) genesis: Genesis,
    pub(super) now: u64,
    /// Operations that changed something.
    pub(super) operations: u64,
    pub(super) members: Vec<PublicKey>,
    pub(super) keys: Vec<GroupKey>,
    pub(super) live: Vec<Option<Box<Live>>>,
    /// Slots that are free, the next one last.
    pub(super) free: Vec<u32>,
    pub(super) archive: Vec<Archived>,
    pub(super) evidence: Vec<Evidence>,
    /// Hashes of key and nonce commitment.
    pub(super) nonces: Vec<Digest>,
}

/// Where a ceremony is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Live(u32),
    Archived(u32),
}

/// A state of version 2. See the [module](super).
#[derive(Clone, Debug)]
pub struct State {
    pub(super) core: Core,
    pub(super) places: HashMap<Digest, Place>,
    pub(super) member_places: HashMap<PublicKey, u32>,
    pub(super) key_places: HashMap<Digest, u32>,
    pub(super) seen: HashSet<Digest>,
    pub(super) equivocators: HashSet<(Digest, u8, u16)>,
    pub(super) deadlines: BTreeSet<(u64, u32)>,
    pub(super) recent: Recent,
    /// Slots whose leaf is not that of the tree, and the leaf, the last one of a slot counting: made
    /// while the ceremony is in the cache.
    pub(super) changed: Vec<(u32, LiveLeaf)>,
    /// Members, keys, live, archive, evidence, nonces.
    pub(super) trees: [Tree; TREES],
}

/// Bytes that hold no state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no state of version 2: {0}")]
pub struct StateError(String);

impl State {
    /// An empty state.
    #[must_use]
    pub fn new(genesis: Genesis) -> Self {
        Self::from_core(Core {
            genesis,
            now: 0,
            operations: 0,
            members: Vec::new(),
            keys: Vec::new(),
            live: Vec::new(),
            free: Vec::new(),
            archive: Vec::new(),
            evidence: Vec::new(),
            nonces: Vec::new(),
        })
    }

    fn from_core(core: Core) -> Self {
        let index = |i: usize| i as u32;
        let mut places = HashMap::new();
        let mut deadlines = BTreeSet::new();
        let mut changed = Vec::new();
        for (slot, live) in core.live.iter().enumerate() {
            changed.push((index(slot), LiveLeaf::of(live.as_deref())));
            if let Some(live) = live {
                places.insert(live.id, Place::Live(index(slot)));
                deadlines.insert((live.deadline(), index(slot)));
            }
        }
        for (i, archived) in core.archive.iter().enumerate() {
            places.insert(archived.id, Place::Archived(index(i)));
        }
        let numbered = |(i, key): (usize, &PublicKey)| (*key, index(i));
        let network = core.genesis.network;
        Self {
            places,
            member_places: core.members.iter().enumerate().map(numbered).collect(),
            key_places: core
                .keys
                .iter()
                .enumerate()
                .map(|(i, key)| (key.id(&network), index(i)))
                .collect(),
            seen: core.nonces.iter().copied().collect(),
            equivocators: core
                .evidence
                .iter()
                .map(|e| (e.ceremony, e.round, e.index))
                .collect(),
            deadlines,
            recent: Recent::default(),
            changed,
            trees: Default::default(),
            core,
        }
    }

    /// The state as bytes, for a snapshot.
    ///
    /// # Errors
    ///
    /// None is known.
    pub fn to_bytes(&self) -> Result<Vec<u8>, StateError> {
        postcard::to_allocvec(&self.core).map_err(|e| StateError(e.to_string()))
    }

    /// The state in a snapshot. Its root says whether it is the right one.
    ///
    /// # Errors
    ///
    /// The bytes hold no state.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StateError> {
        let (core, rest): (Core, _) =
            postcard::take_from_bytes(bytes).map_err(|e| StateError(e.to_string()))?;
        if !rest.is_empty() {
            return Err(StateError(format!("{} bytes behind it", rest.len())));
        }
        Ok(Self::from_core(core))
    }

    /// What it began with.
    #[must_use]
    pub const fn genesis(&self) -> &Genesis {
        &self.core.genesis
    }

    /// The time of the last tick.
    #[must_use]
    pub const fn now(&self) -> u64 {
        self.core.now
    }

    /// Operations that changed something.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.core.operations
    }

    /// The roster, by place.
    #[must_use]
    pub fn members(&self) -> &[PublicKey] {
        &self.core.members
    }

    /// The group keys, in the order in which they came.
    #[must_use]
    pub fn keys(&self) -> &[GroupKey] {
        &self.core.keys
    }

    /// Equivocations, in the order in which they came.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        &self.core.evidence
    }

    /// Ceremonies that have ended, in the order in which they did.
    #[must_use]
    pub fn archive(&self) -> &[Archived] {
        &self.core.archive
    }

    /// Ceremonies in progress, by slot.
    pub fn live(&self) -> impl Iterator<Item = &Live> {
        self.core.live.iter().flatten().map(AsRef::as_ref)
    }

    /// A ceremony in progress.
    #[must_use]
    pub fn ceremony(&self, id: &Digest) -> Option<&Live> {
        match self.places.get(id)? {
            Place::Live(slot) => self.core.live.get(*slot as usize)?.as_deref(),
            Place::Archived(_) => None,
        }
    }

    /// A ceremony that has ended.
    #[must_use]
    pub fn archived(&self, id: &Digest) -> Option<&Archived> {
        match self.places.get(id)? {
            Place::Archived(at) => self.core.archive.get(*at as usize),
            Place::Live(_) => None,
        }
    }

    /// A ceremony that has ended, with its messages, if it did so not long ago. No part of the state:
    /// which are still there depends on how much came after them.
    #[must_use]
    pub fn recent(&self, id: &Digest) -> Option<&Live> {
        self.recent.get(id)
    }

    /// The earliest deadline of a ceremony in progress.
    #[must_use]
    pub fn next_deadline(&self) -> Option<u64> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// The leaf of a slot has changed.
    pub(super) fn touch(&mut self, slot: u32) {
        let live = self.core.live.get(slot as usize).and_then(Option::as_deref);
        self.changed.push((slot, LiveLeaf::of(live)));
        // Without end where nobody asks for roots.
        if self.changed.len() > 1 << 20 {
            self.update_trees();
        }
    }

    /// The root. What changed since the last call is hashed now.
    pub fn root(&mut self) -> StateRoot {
        self.update_trees();
        let mut w = Writer::default();
        w.put(HEADER_DOMAIN).put(&self.core.genesis.network);
        w.u64(self.core.now).u64(self.core.operations);
        for tree in &self.trees {
            w.u64(tree.len() as u64).put(&tree.root());
        }
        let mut header = [0; HEADER];
        header.copy_from_slice(&w.0);
        StateRoot {
            root: keccak256(&[&[2], header.as_slice()].concat()),
            header,
        }
    }

    fn update_trees(&mut self) {
        let Core {
            members,
            keys,
            archive,
            evidence,
            nonces,
            ..
        } = &self.core;
        let [
            member_tree,
            key_tree,
            live_tree,
            archive_tree,
            evidence_tree,
            nonce_tree,
        ] = &mut self.trees;
        member_tree.append(&members[member_tree.len()..]);
        key_tree.append(keys[key_tree.len()..].iter().map(GroupKey::bytes));
        archive_tree.append(archive[archive_tree.len()..].iter().map(Archived::leaf));
        evidence_tree.append(evidence[evidence_tree.len()..].iter().map(Evidence::leaf));
        nonce_tree.append(&nonces[nonce_tree.len()..]);
        self.changed.sort_by_key(|&(slot, _)| slot);
        let groups = self.changed.chunk_by(|a, b| a.0 == b.0);
        live_tree.set(
            groups
                .filter_map(|group| group.last())
                .map(|(slot, leaf)| (*slot as usize, leaf)),
        );
        self.changed.clear();
    }
}
