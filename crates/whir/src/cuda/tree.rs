//! Merkle trees on the device, and what is opened of them.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};
use p3_symmetric::MerkleCap;

use super::kernels::Kernels;
use super::words::base;
use super::workspace::{NO_MAIL, Workspace};
use crate::field::{Commitment, Digest};

/// Threads of a block, and leaves that it hashes.
const THREADS: usize = 256;
/// Words of a digest.
const DIGEST: usize = 8;
/// Below this many digests a launch goes up as far as it can: time is latency there, not work.
const SHORT: usize = 1 << 14;
/// Levels that a launch climbs on top of its first one where there is work for all.
const CLIMB: usize = 3;

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

        let within = log_height.min(THREADS.ilog2() as usize);
        let mut above = if height <= SHORT { within } else { CLIMB }.min(depth);
        // the cap comes by mail where one block of the last launch makes all of it
        let cap = 1 << (log_height - depth);
        let mail = workspace.ask();
        let mailed = |blocks: usize, done: bool| match done && blocks == 1 {
            true => Arg::Words(&mail),
            false => Arg::Words(&NO_MAIL),
        };
        let blocks = height.div_ceil(THREADS);
        let mut by_mail = above == depth && blocks == 1;
        let args = [
            Arg::Ptr(code.as_ptr()),
            Arg::U32(columns as u32),
            Arg::U64(height as u64),
            Arg::U32(above as u32),
            Arg::Ptr(digests.as_ptr()),
            mailed(blocks, above == depth),
        ];
        let block = (THREADS as u32, 1, 1);
        let grid = (blocks as u32, 1, 1);
        stream.launch(&kernels.merkle_leaves, grid, block, 0, &args)?;

        while above < depth {
            let level_len = height >> above;
            // a block takes two digests a thread
            let within = (level_len.ilog2() as usize).min(THREADS.ilog2() as usize + 1);
            let climb = if level_len <= SHORT { within } else { 1 + CLIMB };
            let climb = climb.min(depth - above);
            let blocks = level_len.div_ceil(2 * THREADS);
            by_mail = above + climb == depth && blocks == 1;
            let args = [
                Arg::Ptr(digests.as_ptr()),
                Arg::U64(level_start(log_height, above) as u64),
                Arg::U64(level_len as u64),
                Arg::U32(climb as u32),
                mailed(blocks, above + climb == depth),
            ];
            let grid = (blocks as u32, 1, 1);
            stream.launch(&kernels.merkle_nodes, grid, block, 0, &args)?;
            above += climb;
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
