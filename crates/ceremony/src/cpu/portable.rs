//! The portable variant: one state in plain registers.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};
use super::keccak::{Block, Digest};

/// Token of the portable variant; always available.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl Isa for Portable {
    const LANES: usize = 1;
    type V = u64;

    #[inline(always)]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: u64) -> u64 {
        x
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> u64 {
        words[0]
    }

    #[inline(always)]
    fn xor(self, a: u64, b: u64) -> u64 {
        a ^ b
    }

    #[inline(always)]
    fn and(self, a: u64, b: u64) -> u64 {
        a & b
    }

    #[inline(always)]
    fn chi(self, a: u64, b: u64, c: u64) -> u64 {
        a ^ (!b & c)
    }

    #[inline(always)]
    fn xor3(self, a: u64, b: u64, c: u64) -> u64 {
        a ^ b ^ c
    }

    #[inline(always)]
    fn rotl<const L: i32, const R: i32>(self, v: u64) -> u64 {
        (v << L) | (v >> R)
    }

    #[inline(always)]
    fn transpose_in(self, blocks: &[&Block; MAX_LANES]) -> [u64; 17] {
        let mut words = [0; 17];
        for (word, bytes) in words.iter_mut().zip(blocks[0].as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        words
    }

    #[inline(always)]
    fn transpose_out(self, words: [u64; 4], digests: &mut [Digest; MAX_LANES]) {
        for (bytes, word) in digests[0].as_chunks_mut().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
    }
}
