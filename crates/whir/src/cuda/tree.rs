//! Merkle trees on the device, and what is opened of them.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};
use p3_symmetric::MerkleCap;

use super::kernels::Kernels;
use super::words::base;
use super::workspace::{NO_MAIL, Workspace};
use crate::field::{Commitment, Digest};

/// Words of a digest.
const DIGEST: usize = 8;
/// Threads of a block; rows or nodes that it hashes, one a thread.
const THREADS: usize = 256;
/// Threads that share a row or a node where there are few.
const ROW: usize = 16;
/// Up to this many rows or nodes are few: one a thread, they would not fill the chip.
const NARROW: usize = 1 << 14;
/// Up to this many digests, one block makes all that is above them.
const LAST: usize = 128;
/// Columns that one permutation takes.
const RATE: usize = 8;

/// A tree from the leaf digests up to the cap: the levels one after another.
#[derive(Debug)]
pub(super) struct Tree {
    digests: Buffer<u32>,
    /// log2 of the leaves.
    log_height: usize,
    /// Levels above the leaves.
    depth: usize,
}

impl Tree {
    /// Words of the digests of a tree.
    pub(super) const fn words(log_height: usize, cap_height: usize) -> usize {
        let depth = log_height.saturating_sub(cap_height);
        // 2^h + .. + 2^(h - depth)
        ((2 << log_height) - (1 << (log_height - depth))) * DIGEST
    }

    /// Hashes the rows of a column-major codeword, up to the commitment. `meanwhile` comes between the
    /// launches and the wait.
    pub(super) fn build(
        stream: &Stream,
        kernels: &Kernels,
        (code, columns): (&Buffer<u32>, usize),
        log_height: usize,
        cap_height: usize,
        workspace: &mut Workspace,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Self, Commitment), Error> {
        let depth = log_height.saturating_sub(cap_height);
        let digests = stream.alloc::<u32>(Self::words(log_height, cap_height))?;
        let height = 1_usize << log_height;
        // the cap comes by mail where one block of the last launch makes all of it
        let cap = 1 << (log_height - depth);
        let mail = workspace.ask();
        let mut by_mail = false;
        let mut deliver = |done: usize, blocks: usize| {
            by_mail = done == depth && blocks == 1;
            Arg::Words(if by_mail { &mail } else { &NO_MAIL })
        };
        let block = (THREADS as u32, 1, 1);
        let shape = [Arg::U32(columns as u32), Arg::U64(height as u64)];
        let (code, tree) = (Arg::Ptr(code.as_ptr()), Arg::Ptr(digests.as_ptr()));

        let mut done = 0;
        if height <= NARROW {
            let rows = THREADS / ROW;
            done = (rows.ilog2() as usize).min(depth);
            let blocks = height.div_ceil(rows);
            let levels = Arg::U32(done as u32);
            let args = [
                code,
                shape[0],
                shape[1],
                levels,
                tree,
                deliver(done, blocks),
            ];
            let grid = (blocks as u32, 1, 1);
            stream.launch(&kernels.merkle_leaves_row, grid, block, 0, &args)?;
        } else {
            let kernel = match columns {
                0..=RATE => &kernels.merkle_leaves,
                _ => &kernels.merkle_leaves_long,
            };
            let grid = (height.div_ceil(THREADS) as u32, 1, 1);
            stream.launch(kernel, grid, block, 0, &[code, shape[0], shape[1], tree])?;
        }
        while done < depth {
            let len = height >> done;
            let start = Arg::U64(level_start(log_height, done) as u64);
            let count = Arg::U64(len as u64);
            if len > 2 * NARROW {
                let grid = ((len / 2).div_ceil(THREADS) as u32, 1, 1);
                stream.launch(&kernels.merkle_nodes, grid, block, 0, &[tree, start, count])?;
                done += 1;
                continue;
            }
            let per_block = if len <= LAST { len } else { 2 * THREADS / ROW };
            let levels = (per_block.ilog2() as usize).min(depth - done);
            let blocks = len / per_block;
            let mail = deliver(done + levels, blocks);
            let args = [tree, start, count, Arg::U32(levels as u32), mail];
            let block = ((per_block * ROW / 2).max(32) as u32, 1, 1);
            let grid = (blocks as u32, 1, 1);
            stream.launch(&kernels.merkle_nodes_row, grid, block, 0, &args)?;
            done += levels;
        }
        meanwhile();
        let words = if by_mail {
            workspace.mail.wait(cap * DIGEST)?
        } else {
            let start = level_start(log_height, depth) * DIGEST;
            stream.download(&digests, start..start + cap * DIGEST)?
        };
        let commitment = MerkleCap::new(words.chunks_exact(DIGEST).map(digest).collect());
        let tree = Self {
            digests,
            log_height,
            depth,
        };
        Ok((tree, commitment))
    }

    /// Positions of the sibling digests that a verifier of these leaves lacks: level 0 first,
    /// groups by ascending parent.
    pub(super) fn missing(&self, indices: &[usize]) -> Vec<usize> {
        let mut nodes = indices.to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        let mut out = Vec::new();
        for level in 0..self.depth {
            let start = level_start(self.log_height, level);
            let mut parents = Vec::with_capacity(nodes.len());
            let mut rest = nodes.iter().copied().peekable();
            while let Some(node) = rest.next() {
                if node % 2 == 1 || rest.next_if_eq(&(node + 1)).is_none() {
                    out.push(start + (node ^ 1));
                }
                parents.push(node / 2);
            }
            nodes = parents;
        }
        out
    }

    /// log2 of the leaves.
    pub(super) const fn log_height(&self) -> usize {
        self.log_height
    }

    /// All digests.
    pub(super) const fn digests(&self) -> &Buffer<u32> {
        &self.digests
    }
}

/// The digest that level `level` begins with.
const fn level_start(log_height: usize, level: usize) -> usize {
    (2 << log_height) - (2 << log_height >> level)
}

/// A digest from its words.
pub(super) fn digest(words: &[u32]) -> Digest {
    core::array::from_fn(|i| base(words[i]))
}
