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
/// Threads of a block; leaves that it hashes, or nodes, one a thread.
const THREADS: usize = 256;
/// Nodes of a block in which four threads share one.
const QUAD_NODES: usize = 256;
/// Up to this many rows or nodes, four threads share one: they would not fill the chip alone.
const NARROW: usize = 1 << 14;

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

    /// Hashes the rows of a column-major codeword, up to the commitment.
    pub(super) fn build(
        stream: &Stream,
        kernels: &Kernels,
        code: &Buffer<u32>,
        columns: usize,
        log_height: usize,
        cap_height: usize,
        workspace: &mut Workspace,
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

        let (kernel, per_block, climb) = if height <= NARROW {
            let within = (THREADS / 4).ilog2() as usize;
            (&kernels.merkle_leaves_quad, THREADS / 4, within)
        } else {
            // each further level would leave half of the block's warps idle: 5 % was measured
            (&kernels.merkle_leaves, THREADS, 0)
        };
        let mut done = climb.min(log_height).min(depth);
        let blocks = height.div_ceil(per_block);
        let args = [
            Arg::Ptr(code.as_ptr()),
            Arg::U32(columns as u32),
            Arg::U64(height as u64),
            Arg::U32(done as u32),
            Arg::Ptr(digests.as_ptr()),
            deliver(done, blocks),
        ];
        let block = (THREADS as u32, 1, 1);
        stream.launch(kernel, (blocks as u32, 1, 1), block, 0, &args)?;

        while done < depth {
            let len = height >> done;
            let (kernel, nodes, threads, climb) = if len <= 2 * NARROW {
                let within = QUAD_NODES.ilog2() as usize + 1;
                (
                    &kernels.merkle_nodes_quad,
                    QUAD_NODES,
                    4 * QUAD_NODES,
                    within,
                )
            } else {
                (&kernels.merkle_nodes, THREADS, THREADS, 1)
            };
            let levels = climb.min(len.ilog2() as usize).min(depth - done);
            let blocks = len.div_ceil(2 * nodes);
            let args = [
                Arg::Ptr(digests.as_ptr()),
                Arg::U64(level_start(log_height, done) as u64),
                Arg::U64(len as u64),
                Arg::U32(levels as u32),
                deliver(done + levels, blocks),
            ];
            let block = (threads as u32, 1, 1);
            stream.launch(kernel, (blocks as u32, 1, 1), block, 0, &args)?;
            done += levels;
        }
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
