//! What proves leaves of a tree, and its check.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

use super::MAX_DEPTH;
use crate::cpu::CpuEngine;
use crate::{Digest, Sponge};

/// Why an opening does not hold.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum VerifyError {
    /// Deeper than any tree.
    #[error("depth {depth}, trees have at most {MAX_DEPTH}")]
    Depth {
        /// The depth asked for.
        depth: usize,
    },
    /// The path is not as long as the tree is deep.
    #[error("{have} digests beside the path, expected {expected}")]
    Path {
        /// Digests found.
        have: usize,
        /// Digests that this opening needs.
        expected: usize,
    },
    /// No leaf has this index, or the indices do not rise.
    #[error("leaf {index} of a tree of depth {depth} is not where it may be")]
    Index {
        /// The index found.
        index: u64,
        /// The depth of the tree.
        depth: usize,
    },
    /// The path leads to another root.
    #[error("the path leads to the root {found}, expected {expected}")]
    Root {
        /// The root that was computed.
        found: Digest,
        /// The root that was given.
        expected: Digest,
    },
}

/// One leaf and its path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Which leaf, from 0.
    pub index: u64,
    /// The leaf.
    pub leaf: Digest,
    /// Beside the path, from the leaf's sibling up.
    pub path: Vec<Digest>,
}

/// Several leaves, and what of their paths cannot be computed from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Openings {
    /// Indices, rising, and leaves.
    pub leaves: Vec<(u64, Digest)>,
    /// The nodes beside, from the leaves up, in each level from left to right.
    pub siblings: Vec<Digest>,
}

fn check_root(found: Digest, expected: Digest) -> Result<(), VerifyError> {
    if found == expected {
        Ok(())
    } else {
        Err(VerifyError::Root { found, expected })
    }
}

impl Opening {
    /// Whether this is a leaf of the tree with that root and depth.
    ///
    /// # Errors
    ///
    /// [`VerifyError`]: it is not, and why.
    pub fn verify(
        &self,
        engine: &CpuEngine,
        sponge: Sponge,
        root: Digest,
        depth: usize,
    ) -> Result<(), VerifyError> {
        if depth > MAX_DEPTH {
            return Err(VerifyError::Depth { depth });
        }
        if self.path.len() != depth {
            return Err(VerifyError::Path {
                have: self.path.len(),
                expected: depth,
            });
        }
        if self.index >> depth != 0 {
            return Err(VerifyError::Index {
                index: self.index,
                depth,
            });
        }
        let mut node = self.leaf;
        for (height, &sibling) in self.path.iter().enumerate() {
            let pair = match (self.index >> height) & 1 {
                0 => [node, sibling],
                _ => [sibling, node],
            };
            node = engine.merge(sponge, &pair);
        }
        check_root(node, root)
    }
}

impl Openings {
    /// Whether these are leaves of the tree with that root and depth. All siblings must be used.
    ///
    /// # Errors
    ///
    /// [`VerifyError`]: they are not, and why.
    pub fn verify(
        &self,
        engine: &CpuEngine,
        sponge: Sponge,
        root: Digest,
        depth: usize,
    ) -> Result<(), VerifyError> {
        if depth > MAX_DEPTH {
            return Err(VerifyError::Depth { depth });
        }
        let mut last = None;
        for &(index, _) in &self.leaves {
            if index >> depth != 0 || last.is_some_and(|last| index <= last) {
                return Err(VerifyError::Index { index, depth });
            }
            last = Some(index);
        }
        let mut nodes = self.leaves.clone();
        let mut siblings = self.siblings.iter().copied();
        let mut used = 0;
        for _ in 0..depth {
            let mut pairs = Vec::with_capacity(nodes.len());
            let mut parents = Vec::with_capacity(nodes.len());
            let mut at = 0;
            while let Some(&(index, node)) = nodes.get(at) {
                let right = nodes
                    .get(at + 1)
                    .filter(|n| index % 2 == 0 && n.0 == index + 1);
                pairs.push(match right {
                    Some(&(_, right)) => [node, right],
                    None => {
                        used += 1;
                        let sibling = siblings.next().ok_or(VerifyError::Path {
                            have: self.siblings.len(),
                            expected: used,
                        })?;
                        match index % 2 {
                            0 => [node, sibling],
                            _ => [sibling, node],
                        }
                    }
                });
                parents.push(index / 2);
                at += 1 + usize::from(right.is_some());
            }
            let merged = engine.merge_many(sponge, &pairs);
            nodes = parents.into_iter().zip(merged).collect();
        }
        if used != self.siblings.len() {
            return Err(VerifyError::Path {
                have: self.siblings.len(),
                expected: used,
            });
        }
        match nodes.first() {
            Some(&(_, node)) => check_root(node, root),
            None => Err(VerifyError::Path {
                have: 0,
                expected: 1,
            }),
        }
    }
}
