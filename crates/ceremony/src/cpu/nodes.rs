//! Nodes of Merkle trees: `keccak(1 | left | right)`, as many at a time as there are lanes.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::keccak::{Digest, RATE, pad, permute};

/// Nodes whose children are fetched together.
const AHEAD: usize = 128;

/// Sets `parents[i]` from `children[i]` for each `i` in `which`; all are in range.
pub(crate) struct Nodes<'a> {
    pub(crate) children: &'a [[Digest; 2]],
    pub(crate) which: &'a [usize],
    pub(crate) parents: &'a mut [Digest],
}

impl Kernel for Nodes<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let mut block = [0; RATE];
        block[0] = 1;
        pad(&mut block, 65);
        let mut blocks = [block; MAX_LANES];
        let mut digests = [[0; 32]; MAX_LANES];
        let mut pairs = [[[0; 32]; 2]; AHEAD];
        for ahead in self.which.chunks(AHEAD) {
            // In a large tree each child is a cache miss. Here they overlap; between permutations
            // only those of one vector would.
            for (&node, pair) in ahead.iter().zip(&mut pairs) {
                *pair = self.children[node];
            }
            for (which, pairs) in ahead.chunks(I::LANES).zip(pairs.chunks(I::LANES)) {
                for ([left, right], block) in pairs.iter().zip(&mut blocks) {
                    block[1..33].copy_from_slice(left);
                    block[33..65].copy_from_slice(right);
                }
                let words = isa.transpose_in(&blocks.each_ref());
                let mut state = [isa.splat(0); 25];
                state[..17].copy_from_slice(&words);
                permute(isa, &mut state);
                isa.transpose_out([state[0], state[1], state[2], state[3]], &mut digests);
                for (&node, digest) in which.iter().zip(&digests) {
                    self.parents[node] = *digest;
                }
            }
        }
    }
}
