//! Merkle trees on the adapter.
#![forbid(unsafe_code)]

use core::ops::Range;

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Batch, Buffer, ReadId, Reads};
use p3_symmetric::MerkleCap;

use super::encode::Code;
use super::engine::Core;
use super::texts::Module;
use super::words::base;
use crate::field::{Commitment, Digest};

const OP: &str = "whir merkle";
/// Words and bytes of a digest.
pub(super) const DIGEST: usize = 8;
const BYTES: u64 = 4 * DIGEST as u64;
/// Rows or nodes that a workgroup hashes, one an invocation.
const THREADS: usize = 256;
/// Digests that a workgroup climbs from, and how many levels.
const CLIMB: usize = 2 * THREADS;
const CLIMB_LEVELS: usize = CLIMB.ilog2() as usize;
/// Up to this many digests, several levels are made by one dispatch; above it, one level fills the chip.
const NARROW: usize = 1 << 15;

/// A tree from the leaf digests up to the cap. Below, it lies in subtrees, of which each fits a binding; a
/// subtree's levels lie one after another.
#[derive(Debug)]
pub(super) struct Tree {
    /// From the left; the last one holds the levels above the subtrees if there is more than one of them
    /// and the cap lies higher.
    buffers: Vec<Buffer>,
    shape: Shape,
}

/// How a tree is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// log2 of the leaves.
    pub(super) log_height: usize,
    /// Levels above the leaves.
    pub(super) depth: usize,
    /// log2 of the leaves of a subtree.
    log_sub: usize,
}

/// The digest that level `level` begins with.
const fn level_start(log_height: usize, level: usize) -> usize {
    (2 << log_height) - (2 << log_height >> level)
}

impl Shape {
    pub(super) fn new(log_height: usize, cap_height: usize, binding: u64) -> Self {
        let fits = (binding / (2 * BYTES)).max(1).ilog2() as usize;
        Self {
            log_height,
            depth: log_height.saturating_sub(cap_height),
            log_sub: log_height.min(fits),
        }
    }

    /// Levels of a subtree above its leaves.
    fn sub_depth(self) -> usize {
        self.depth.min(self.log_sub)
    }

    fn subtrees(self) -> usize {
        1 << (self.log_height - self.log_sub)
    }

    /// log2 of the subtrees, where there are levels above them.
    fn log_top(self) -> Option<usize> {
        (self.depth > self.log_sub).then_some(self.log_height - self.log_sub)
    }

    fn sub_digests(self) -> usize {
        level_start(self.log_sub, self.sub_depth() + 1)
    }

    fn top_digests(self, log_top: usize) -> usize {
        level_start(log_top, self.depth - self.log_sub + 1)
    }

    /// Where a digest lies: the buffer and its place there.
    fn place(self, level: usize, index: usize) -> (usize, usize) {
        match self.log_top() {
            Some(log_top) if level >= self.log_sub => {
                let above = level - self.log_sub;
                (self.subtrees(), level_start(log_top, above) + index)
            }
            _ => {
                let bits = self.log_sub - level;
                let within = index & ((1 << bits) - 1);
                (index >> bits, level_start(self.log_sub, level) + within)
            }
        }
    }

    /// Buffers and places of the sibling digests that a verifier of these leaves lacks: level 0 first,
    /// groups by ascending parent.
    pub(super) fn missing(self, indices: &[usize]) -> Vec<(usize, usize)> {
        let mut nodes = indices.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let mut out = Vec::new();
        for level in 0..self.depth {
            let mut parents = Vec::with_capacity(nodes.len());
            let mut rest = nodes.iter().copied().peekable();
            while let Some(node) = rest.next() {
                if node % 2 == 1 || rest.next_if_eq(&(node + 1)).is_none() {
                    out.push(self.place(level, node ^ 1));
                }
                parents.push(node / 2);
            }
            nodes = parents;
        }
        out
    }
}

/// The reads that give a commitment.
#[derive(Debug)]
pub(super) struct CapReads(Vec<ReadId>);

impl CapReads {
    pub(super) fn get(&self, reads: &Reads) -> Result<Commitment, Error> {
        let mut digests = Vec::new();
        for &id in &self.0 {
            let words = reads.get::<u32>(id)?;
            digests.extend(words.chunks_exact(DIGEST).map(digest));
        }
        Ok(MerkleCap::new(digests))
    }
}

impl Tree {
    /// Records what hashes the rows of a codeword, up to the commitment.
    pub(super) fn build(
        core: &Core,
        batch: &mut Batch<'_>,
        code: &Code,
        cap_height: usize,
    ) -> Result<(Self, CapReads), Error> {
        let shape = Shape::new(code.log_height, cap_height, core.binding);
        let pieces = code.pieces.len();
        let leaves = core.kernel(Module::Merkle { pieces }, "leaves")?;
        let mut buffers = Vec::with_capacity(shape.subtrees() + 1);
        let count = 1 << shape.log_sub;
        for i in 0..shape.subtrees() {
            let bytes = shape.sub_digests() as u64 * BYTES;
            let tree = core.gpu.scratch(OP, bytes)?;
            let mut bindings = vec![core.constants.all(), tree.all()];
            bindings.extend(code.pieces.iter().map(Buffer::all));
            let params = [
                count,
                i << shape.log_sub,
                1 << code.log_height,
                code.columns,
                code.per_piece,
            ];
            let groups = count.div_ceil(THREADS) as u64;
            batch.dispatch(&leaves, &bindings, &params.map(|x| x as u32), groups)?;
            climb(core, batch, &tree, shape.log_sub, shape.sub_depth())?;
            buffers.push(tree);
        }
        if let Some(log_top) = shape.log_top() {
            let bytes = shape.top_digests(log_top) as u64 * BYTES;
            let top = core.gpu.scratch(OP, bytes)?;
            let root = level_start(shape.log_sub, shape.log_sub) as u64 * BYTES;
            for (i, tree) in (0..).zip(&buffers) {
                batch.copy(tree, root..root + BYTES, &top, i * BYTES)?;
            }
            climb(core, batch, &top, log_top, shape.depth - shape.log_sub)?;
            buffers.push(top);
        }
        let tree = Self { buffers, shape };
        let cap = tree.read_cap(batch)?;
        Ok((tree, cap))
    }

    fn read_cap(&self, batch: &mut Batch<'_>) -> Result<CapReads, Error> {
        let shape = self.shape;
        let cap = 1_usize << (shape.log_height - shape.depth);
        // whole runs in each buffer
        let run = if shape.log_top().is_some() {
            cap
        } else {
            cap / shape.subtrees()
        };
        let mut reads = Vec::new();
        for first in (0..cap).step_by(run) {
            let (buffer, at) = shape.place(shape.depth, first);
            let range =
                |from: usize, to: usize| -> Range<u64> { from as u64 * BYTES..to as u64 * BYTES };
            reads.push(batch.read(&self.buffers[buffer], range(at, at + run))?);
        }
        Ok(CapReads(reads))
    }

    pub(super) const fn shape(&self) -> Shape {
        self.shape
    }

    /// What [`Shape::missing`] counts.
    pub(super) fn buffers(&self) -> &[Buffer] {
        &self.buffers
    }
}

/// Records `depth` levels above the 2^`log_height` digests that `tree` begins with.
fn climb(
    core: &Core,
    batch: &mut Batch<'_>,
    tree: &Buffer,
    log_height: usize,
    depth: usize,
) -> Result<(), Error> {
    let module = Module::Merkle { pieces: 1 };
    let bindings = [core.constants.all(), tree.all()];
    let mut done = 0;
    while done < depth {
        let len = 1_usize << (log_height - done);
        let start = level_start(log_height, done);
        if len > NARROW {
            let kernel = core.kernel(module, "nodes")?;
            let params = [len / 2, start, start + len].map(|x| x as u32);
            let groups = (len / 2).div_ceil(THREADS) as u64;
            batch.dispatch(&kernel, &bindings, &params, groups)?;
            done += 1;
        } else {
            let levels = CLIMB_LEVELS.min(depth - done);
            let kernel = core.kernel(module, "climb")?;
            let params = [len, start, levels].map(|x| x as u32);
            let groups = len.div_ceil(CLIMB) as u64;
            batch.dispatch(&kernel, &bindings, &params, groups)?;
            done += levels;
        }
    }
    Ok(())
}

/// A digest from its words.
pub(super) fn digest(words: &[u32]) -> Digest {
    core::array::from_fn(|i| base(words[i]))
}

#[cfg(test)]
mod tests {
    use super::Shape;

    #[test]
    fn every_digest_has_a_place_of_its_own() {
        for (log_height, cap, binding) in [
            (0, 0, 1 << 20),
            (6, 0, 64 << 3),
            (6, 2, 64 << 3),
            (6, 4, 64 << 3),
            (5, 1, 1 << 20),
        ] {
            let shape = Shape::new(log_height, cap, binding);
            let mut places = Vec::new();
            for level in 0..=shape.depth {
                places.extend((0..1 << (log_height - level)).map(|i| shape.place(level, i)));
            }
            let count = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), count);
            let top = shape.log_top().map_or(0, |log| shape.top_digests(log));
            // the leaves of the part above are the roots of those below
            let twice = if top > 0 { shape.subtrees() } else { 0 };
            assert_eq!(shape.subtrees() * shape.sub_digests() + top, count + twice);
        }
    }
}
