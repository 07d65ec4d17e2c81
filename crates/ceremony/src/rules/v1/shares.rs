//! The bytes of emitted shares, many at a time: chains of digests that differ by a counter.
#![forbid(unsafe_code)]

use crate::Digest;
use crate::cpu::isa::Variant;
use crate::cpu::keccak::{Block, RATE, blocks, pad};
use crate::cpu::sponge::{Chain, Leaf, Sponges};

/// Shares whose preimages are known and whose bytes are not.
#[derive(Clone, Debug, Default)]
pub(super) struct Pending {
    /// Entry and length of each share.
    shares: Vec<(u32, usize)>,
    preimages: Vec<Block>,
    leaves: Vec<Leaf>,
    buffer: Vec<u8>,
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.shares.is_empty()
    }

    /// Adds the share of an entry, `len` bytes from the preimage that the parts make together.
    pub(super) fn add<'p>(
        &mut self,
        entry: u32,
        len: usize,
        parts: impl Iterator<Item = &'p [u8]>,
    ) {
        self.buffer.clear();
        parts.for_each(|part| self.buffer.extend_from_slice(part));
        let start = self.preimages.len();
        let count = blocks(self.buffer.len());
        self.preimages.resize(start + count, [0; RATE]);
        let bytes = self.preimages[start..].as_flattened_mut();
        bytes[..self.buffer.len()].copy_from_slice(&self.buffer);
        pad(bytes, self.buffer.len());
        self.shares.push((entry, len));
        self.leaves.push(Leaf {
            start: start as u32,
            blocks: count as u32,
            digest: [0; 32],
        });
    }

    /// Computes the bytes, hands 32 of them (or what is left) at a time to `write` with the entry
    /// and their place, and forgets everything.
    pub(super) fn finish(&mut self, variant: Variant, mut write: impl FnMut(u32, usize, &[u8])) {
        let mut written = 0;
        while !self.shares.is_empty() {
            variant.run_wide(Sponges(&mut [Chain {
                blocks: &self.preimages,
                leaves: &mut self.leaves,
                acc: None,
            }]));
            // What goes on hashes its last digest and the number of digests so far.
            let mut next = Vec::new();
            let mut blocks = Vec::new();
            for (&(entry, len), leaf) in self.shares.iter().zip(&self.leaves) {
                let take = (len - written).min(32);
                write(entry, written, &leaf.digest[..take]);
                if written + take < len {
                    next.push((entry, len));
                    blocks.push(link(&leaf.digest, (written + take) / 32));
                }
            }
            written += 32;
            self.leaves.clear();
            self.leaves.extend((0..blocks.len()).map(|i| Leaf {
                start: i as u32,
                blocks: 1,
                digest: [0; 32],
            }));
            self.preimages = blocks;
            self.shares = next;
        }
    }
}

/// The padded message `digest | counter`.
fn link(digest: &Digest, counter: usize) -> Block {
    let mut block = [0; RATE];
    block[..32].copy_from_slice(digest);
    block[32] = counter as u8;
    pad(&mut block, 33);
    block
}
