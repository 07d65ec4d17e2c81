//! The root of a tree whose leaves come one after another, without keeping them.
#![forbid(unsafe_code)]

use super::{Missing, check_count, check_power};
use crate::engine::Engine;
use crate::{Digest, Error, Sponge};

/// Leaves that are merged at a time: 2^14, 512 KiB.
const CHUNK_DEPTH: usize = 14;

/// Takes leaves, gives the root; holds one chunk of leaves and a digest for each level above.
pub struct Stream<'a, E: Engine + ?Sized> {
    engine: &'a E,
    sponge: Sponge,
    missing: Missing,
    chunk: Vec<Digest>,
    /// Roots of complete trees with their depths, which fall: the digits of the count.
    roots: Vec<(usize, Digest)>,
    count: u64,
}

impl<'a, E: Engine + ?Sized> Stream<'a, E> {
    /// No leaves yet.
    #[must_use]
    pub fn new(engine: &'a E, sponge: Sponge) -> Self {
        Self {
            engine,
            sponge,
            missing: Missing::new(sponge),
            chunk: Vec::new(),
            roots: Vec::new(),
            count: 0,
        }
    }

    /// Leaves so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    fn merge(&self, left: Digest, right: Digest) -> Result<Digest, Error> {
        let mut parent = [Digest::ZERO];
        self.engine
            .merge_level(self.sponge, &[left, right], &mut parent)?;
        Ok(parent[0])
    }

    /// Takes the next leaves.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if they become too many; none of these is then taken. [`Error::Device`]; the
    /// stream is then not to be used.
    pub fn push(&mut self, mut leaves: &[Digest]) -> Result<(), Error> {
        if leaves.is_empty() {
            return Ok(());
        }
        check_count(self.count + leaves.len() as u64)?;
        self.count += leaves.len() as u64;
        while !leaves.is_empty() {
            let n = leaves.len().min((1 << CHUNK_DEPTH) - self.chunk.len());
            let (now, later) = leaves.split_at(n);
            self.chunk.extend_from_slice(now);
            leaves = later;
            if self.chunk.len() == 1 << CHUNK_DEPTH {
                self.close_chunk()?;
            }
        }
        Ok(())
    }

    fn close_chunk(&mut self) -> Result<(), Error> {
        let mut node = self.chunk_root()?;
        let mut depth = CHUNK_DEPTH;
        self.chunk.clear();
        while let Some(&(_, left)) = self.roots.last().filter(|(d, _)| *d == depth) {
            node = self.merge(left, node)?;
            depth += 1;
            self.roots.pop();
        }
        self.roots.push((depth, node));
        Ok(())
    }

    /// Root of a full chunk.
    fn chunk_root(&self) -> Result<Digest, Error> {
        let mut level = self.chunk.clone();
        while level.len() > 1 {
            let mut parents = vec![Digest::ZERO; level.len() / 2];
            self.engine.merge_level(self.sponge, &level, &mut parents)?;
            level = parents;
        }
        Ok(level[0])
    }

    /// The root of the tree over all leaves, padded as [`super::MerkleTree::build_padded`] does.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] if there were none, [`Error::Device`].
    pub fn finish_padded(mut self) -> Result<Digest, Error> {
        check_count(self.count)?;
        let mut last = None;
        if !self.chunk.is_empty() {
            let depth = match self.roots.is_empty() {
                true => self.chunk.len().next_power_of_two().ilog2() as usize,
                false => CHUNK_DEPTH,
            };
            self.chunk.resize(1 << depth, Digest::ZERO);
            last = Some((depth, self.chunk_root()?));
        }
        while let Some((depth, left)) = self.roots.pop() {
            last = Some(match last {
                None => (depth, left),
                Some((mut below, mut node)) => {
                    while below < depth {
                        node = self.merge(node, self.missing.root(below))?;
                        below += 1;
                    }
                    (depth + 1, self.merge(left, node)?)
                }
            });
        }
        // There was a leaf, so there is a root.
        Ok(last.map_or(Digest::ZERO, |(_, root)| root))
    }

    /// The root of the tree over all leaves, a power of two of them.
    ///
    /// # Errors
    ///
    /// [`Error::Length`] for another number, [`Error::Device`].
    pub fn finish(self) -> Result<Digest, Error> {
        check_count(self.count)?;
        check_power(self.count)?;
        self.finish_padded()
    }
}
