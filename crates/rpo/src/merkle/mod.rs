//! Merkle trees over digests.
//!
//! A parent is the merge of its children under the tree's sponge. Leaves are digests; rows of elements
//! become leaves by [`Engine::hash_rows`].
//!
//! [`MerkleTree::build`] refuses a number of leaves that is no power of two.
//! [`MerkleTree::build_padded`] takes any from 1 to [`MAX_LEAVES`] and puts [`Digest::ZERO`] after them up
//! to the next power of two; so does [`MerkleTree::append`], and [`Stream`], which gives the root alone
//! and holds a chunk of leaves at a time. The root does not say how many leaves are padding.
//!
//! The merge of two digests is the hash of their eight elements: a leaf made from a row of eight elements
//! looks like a node. What is verified therefore names the depth of the tree, and it must fit.
#![forbid(unsafe_code)]

mod opening;
mod stream;

pub use opening::{Opening, Openings, VerifyError};
pub use stream::Stream;

use crate::cpu::CpuEngine;
use crate::engine::Engine;
use crate::{Digest, Error, Sponge};

/// The deepest tree.
pub const MAX_DEPTH: usize = 28;
/// The most leaves of a tree.
pub const MAX_LEAVES: u64 = 1 << MAX_DEPTH;

/// Root of the tree of zero digests, by depth: what stands where leaves are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Missing(Vec<Digest>);

impl Missing {
    fn new(sponge: Sponge) -> Self {
        let engine = CpuEngine::best();
        let mut roots = vec![Digest::ZERO];
        for _ in 0..MAX_DEPTH {
            let last = roots[roots.len() - 1];
            roots.push(engine.merge(sponge, &[last, last]));
        }
        Self(roots)
    }

    /// `depth` is at most [`MAX_DEPTH`].
    fn root(&self, depth: usize) -> Digest {
        self.0[depth]
    }
}

/// A tree with all its nodes, except those over padding alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MerkleTree {
    sponge: Sponge,
    /// From the leaves up; each half as long as the one before, rounded up; the last is the root.
    levels: Vec<Vec<Digest>>,
    missing: Missing,
}

fn check_count(have: u64) -> Result<(), Error> {
    if (1..=MAX_LEAVES).contains(&have) {
        return Ok(());
    }
    Err(Error::Length {
        what: "leaves of a tree",
        have: usize::try_from(have).unwrap_or(usize::MAX),
        expected: format!("1 to {MAX_LEAVES}"),
    })
}

/// `have`, which is at least 1, is a power of two.
fn check_power(have: u64) -> Result<(), Error> {
    if have.is_power_of_two() {
        return Ok(());
    }
    Err(Error::Length {
        what: "leaves of a tree that is not padded",
        have: usize::try_from(have).unwrap_or(usize::MAX),
        expected: format!("a power of two, such as {}", have.next_power_of_two()),
    })
}

impl MerkleTree {
    /// The tree over `leaves`, a power of two of them.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] for another number, [`Error::Device`].
    pub fn build(
        engine: &(impl Engine + ?Sized),
        sponge: Sponge,
        leaves: Vec<Digest>,
    ) -> Result<Self, Error> {
        check_count(leaves.len() as u64)?;
        check_power(leaves.len() as u64)?;
        Ok(Self {
            sponge,
            levels: engine.levels(sponge, leaves)?,
            missing: Missing::new(sponge),
        })
    }

    /// The tree over `leaves` and as many zero digests after them as make a power of two.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] for none, or more than [`MAX_LEAVES`]; [`Error::Device`].
    pub fn build_padded(
        engine: &(impl Engine + ?Sized),
        sponge: Sponge,
        leaves: Vec<Digest>,
    ) -> Result<Self, Error> {
        check_count(leaves.len() as u64)?;
        if leaves.len().is_power_of_two() {
            return Self::build(engine, sponge, leaves);
        }
        let mut tree = Self {
            sponge,
            levels: vec![leaves],
            missing: Missing::new(sponge),
        };
        tree.rise(engine, 0)?;
        Ok(tree)
    }

    /// From levels that were stored: their lengths are checked, their digests are not.
    ///
    /// # Errors
    ///
    /// [`Error::Length`].
    pub fn from_levels(sponge: Sponge, levels: Vec<Vec<Digest>>) -> Result<Self, Error> {
        let mut expected = levels.first().map_or(0, Vec::len);
        check_count(expected as u64)?;
        for level in &levels[1..] {
            expected = match expected {
                1 => 0,
                n => n.div_ceil(2),
            };
            if level.len() != expected || expected == 0 {
                return Err(Error::Length {
                    what: "nodes of a level",
                    have: level.len(),
                    expected: expected.to_string(),
                });
            }
        }
        if expected != 1 {
            return Err(Error::Length {
                what: "nodes of the last level",
                have: expected,
                expected: "1, the root".into(),
            });
        }
        Ok(Self {
            sponge,
            levels,
            missing: Missing::new(sponge),
        })
    }

    /// Makes the nodes over the leaves from `first` on, and the levels that are missing.
    fn rise(&mut self, engine: &(impl Engine + ?Sized), first: usize) -> Result<(), Error> {
        let mut first = first / 2;
        for depth in 0.. {
            let children = &self.levels[depth];
            if children.len() == 1 {
                self.levels.truncate(depth + 1);
                return Ok(());
            }
            let mut parents = vec![Digest::ZERO; children.len().div_ceil(2) - first];
            let (pairs, odd) = children[2 * first..].as_chunks::<2>();
            let whole = pairs.len();
            engine.merge_level(self.sponge, pairs.as_flattened(), &mut parents[..whole])?;
            if let [last] = odd {
                let pair = [*last, self.missing.root(depth)];
                engine.merge_level(self.sponge, &pair, &mut parents[whole..])?;
            }
            if self.levels.len() == depth + 1 {
                self.levels.push(Vec::new());
            }
            let level = &mut self.levels[depth + 1];
            level.truncate(first);
            level.append(&mut parents);
            first /= 2;
        }
        Ok(())
    }

    /// Puts leaves after the last one: into the padding, and where that is full the tree grows by a
    /// level. The result is the padded tree over all the leaves.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if they become too many; the tree is then as before. [`Error::Device`]; the
    /// tree is then not to be used.
    pub fn append(
        &mut self,
        engine: &(impl Engine + ?Sized),
        leaves: &[Digest],
    ) -> Result<(), Error> {
        let before = self.levels[0].len();
        check_count(before as u64 + leaves.len() as u64)?;
        if leaves.is_empty() {
            return Ok(());
        }
        self.levels[0].extend_from_slice(leaves);
        // A level begins at 0 if the one below did not reach its second node: then it is new.
        self.rise(engine, before)
    }

    /// The sponge of its merges.
    #[must_use]
    pub const fn sponge(&self) -> Sponge {
        self.sponge
    }

    /// The leaves, without padding.
    #[must_use]
    pub fn leaves(&self) -> &[Digest] {
        &self.levels[0]
    }

    /// All levels, the leaves first, without what stands over padding alone.
    #[must_use]
    pub fn levels(&self) -> &[Vec<Digest>] {
        &self.levels
    }

    /// Merges from a leaf to the root; the tree has `2^depth` leaves with its padding.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Digest {
        self.node(self.depth(), 0)
    }

    /// The node over the leaves from `index << height`.
    fn node(&self, height: usize, index: usize) -> Digest {
        let found = self.levels[height].get(index).copied();
        found.unwrap_or_else(|| self.missing.root(height))
    }

    /// The index, if it is that of a leaf that is no padding.
    fn check_index(&self, index: u64) -> Result<usize, Error> {
        match usize::try_from(index) {
            Ok(i) if i < self.leaves().len() => Ok(i),
            _ => Err(Error::Index {
                index,
                leaves: self.leaves().len() as u64,
            }),
        }
    }

    /// The path of one leaf.
    ///
    /// # Errors
    ///
    /// [`Error::Index`].
    pub fn open(&self, index: u64) -> Result<Opening, Error> {
        let i = self.check_index(index)?;
        Ok(Opening {
            index,
            leaf: self.leaves()[i],
            path: (0..self.depth())
                .map(|height| self.node(height, (i >> height) ^ 1))
                .collect(),
        })
    }

    /// Paths of several leaves, each node once and none that can be computed from the others. Indices
    /// in any order; one that comes twice is opened once.
    ///
    /// # Errors
    ///
    /// [`Error::Index`]; [`Error::Length`] for none.
    pub fn open_many(&self, indices: &[u64]) -> Result<Openings, Error> {
        if indices.is_empty() {
            return Err(Error::Length {
                what: "leaves to open",
                have: 0,
                expected: "at least 1".into(),
            });
        }
        let mut known = Vec::with_capacity(indices.len());
        for &index in indices {
            known.push(self.check_index(index)?);
        }
        known.sort_unstable();
        known.dedup();
        let leaves = known
            .iter()
            .map(|&i| (i as u64, self.leaves()[i]))
            .collect();
        let mut siblings = Vec::new();
        for height in 0..self.depth() {
            let mut parents = Vec::with_capacity(known.len());
            let mut at = 0;
            while at < known.len() {
                let i = known[at];
                let pair = i.is_multiple_of(2) && known.get(at + 1) == Some(&(i + 1));
                if !pair {
                    siblings.push(self.node(height, i ^ 1));
                }
                parents.push(i / 2);
                at += 1 + usize::from(pair);
            }
            known = parents;
        }
        Ok(Openings { leaves, siblings })
    }
}
