//! Proofs that something is in the state, and that a state goes on from an earlier one.
#![forbid(unsafe_code)]

use serde::{Deserialize, Serialize};

use super::state::{Place, State, StateRoot};
use super::verifier;
use crate::{Digest, hex, keccak256};

/// The trees of a state, in the order of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TreeName {
    /// The roster.
    Members,
    /// Group keys.
    Keys,
    /// Ceremonies in progress, by slot. The only one that is not append-only.
    Live,
    /// Ceremonies that have ended.
    Archive,
    /// Equivocations.
    Evidence,
    /// Nonce commitments seen.
    Nonces,
}

impl TreeName {
    /// All of them.
    pub const ALL: [Self; verifier::TREES] = [
        Self::Members,
        Self::Keys,
        Self::Live,
        Self::Archive,
        Self::Evidence,
        Self::Nonces,
    ];
}

/// Bytes in a file are hex.
mod as_hex {
    use serde::{Deserialize, Deserializer, Serializer, de};

    use crate::hex;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&hex::encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(d)?;
        let mut bytes = vec![0; text.len() / 2];
        hex::decode(&text, &mut bytes).map_err(de::Error::custom)?;
        Ok(bytes)
    }
}

/// That a leaf is in a tree of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inclusion {
    /// The tree.
    pub tree: TreeName,
    /// The leaf's place.
    pub index: u64,
    /// The leaf.
    #[serde(with = "as_hex")]
    pub leaf: Vec<u8>,
    /// The neighbours up to the tree's root, in hex.
    pub path: Vec<String>,
    /// What the state root is the hash of.
    #[serde(with = "as_hex")]
    pub header: Vec<u8>,
    /// The state root, in hex.
    pub state_root: String,
}

/// That a tree of a state begins with that of an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consistency {
    /// The tree.
    pub tree: TreeName,
    /// Leaves that it had.
    pub old_size: u64,
    /// The root that it had, in hex.
    pub old_root: String,
    /// The nodes, in hex.
    pub path: Vec<String>,
    /// What the new state root is the hash of.
    #[serde(with = "as_hex")]
    pub header: Vec<u8>,
    /// The new state root, in hex.
    pub state_root: String,
}

fn digests(path: &[String]) -> Option<Vec<Digest>> {
    path.iter().map(|text| hex::array(text).ok()).collect()
}

/// Size and root of the tree that the header names.
fn tree(root: &str, header: &[u8], tree: TreeName) -> Option<(u64, Digest)> {
    let root = hex::array(root).ok()?;
    let header = header.try_into().ok()?;
    verifier::tree_of_state(keccak256, &root, header, tree as usize)
}

impl Inclusion {
    /// Whether it holds for its own state root. Whoever asks must know that root from elsewhere.
    #[must_use]
    pub fn holds(&self) -> bool {
        let tree = tree(&self.state_root, &self.header, self.tree);
        match (tree, digests(&self.path)) {
            (Some((size, root)), Some(path)) => {
                verifier::inclusion(keccak256, &root, size, self.index, &self.leaf, &path)
            }
            _ => false,
        }
    }
}

impl Consistency {
    /// Whether it holds for its own roots. Whoever asks must know them from elsewhere.
    #[must_use]
    pub fn holds(&self) -> bool {
        let tree = tree(&self.state_root, &self.header, self.tree);
        match (tree, digests(&self.path), hex::array(&self.old_root)) {
            (Some((size, root)), Some(path), Ok(old)) => {
                verifier::consistency(keccak256, (self.old_size, &old), (size, &root), &path)
            }
            _ => false,
        }
    }
}

fn encode(path: Vec<Digest>) -> Vec<String> {
    path.iter().map(|digest| hex::encode(digest)).collect()
}

impl State {
    /// Shows that a ceremony is in the state: in progress, or how it ended. `None` if it never began.
    pub fn prove(&mut self, id: &Digest) -> Option<Inclusion> {
        let StateRoot { root, header } = self.root();
        let (name, index, leaf) = match *self.places.get(id)? {
            Place::Live(slot) => {
                let live = self.core.live.get(slot as usize)?.as_ref()?;
                (TreeName::Live, slot, live.leaf().to_vec())
            }
            Place::Archived(at) => {
                let archived = self.core.archive.get(at as usize)?;
                (TreeName::Archive, at, archived.leaf())
            }
        };
        Some(Inclusion {
            tree: name,
            index: index.into(),
            leaf,
            path: encode(self.trees[name as usize].inclusion(index as usize)?),
            header: header.to_vec(),
            state_root: hex::encode(&root),
        })
    }

    /// Shows that a tree begins with its `old_size` first leaves. `None` for the tree of the live,
    /// which does not only grow, and for sizes that it never had.
    pub fn prove_consistency(&mut self, name: TreeName, old_size: u64) -> Option<Consistency> {
        if name == TreeName::Live {
            return None;
        }
        let StateRoot { root, header } = self.root();
        let tree = &self.trees[name as usize];
        let old = usize::try_from(old_size).ok()?;
        let path = tree.consistency(old)?;
        let old_leaves = tree.leaf_hashes().get(..old)?.to_vec();
        Some(Consistency {
            tree: name,
            old_size,
            old_root: hex::encode(&super::merkle::Tree::from_leaf_hashes(old_leaves).root()),
            path: encode(path),
            header: header.to_vec(),
            state_root: hex::encode(&root),
        })
    }
}
