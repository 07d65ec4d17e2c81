//! The coefficients of random linear combinations.
//!
//! They are hashed from everything that is checked, so that the same input gives the same bytes and
//! an input that passes by luck, one of 2^128, has to be searched for by hashing.
#![forbid(unsafe_code)]

use crate::{Digest, keccak256};

/// Collects what is checked.
pub(crate) struct Transcript(Vec<u8>);

impl Transcript {
    pub(crate) fn new(what: &str, suite: &str) -> Self {
        let mut transcript = Self(b"fieldspar.ceremony.verify\0".to_vec());
        transcript.put(what.as_bytes());
        transcript.put(suite.as_bytes());
        transcript
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) {
        self.0.extend((bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn coefficients(&self) -> Coefficients {
        Coefficients {
            seed: keccak256(&self.0),
            block: 0,
            spare: None,
        }
    }
}

/// Numbers below 2^128, none of them zero, without end.
pub(crate) struct Coefficients {
    seed: Digest,
    block: u64,
    spare: Option<u128>,
}

impl Coefficients {
    pub(crate) fn draw(&mut self) -> u128 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let mut block = [0; 40];
        block[..32].copy_from_slice(&self.seed);
        block[32..].copy_from_slice(&self.block.to_le_bytes());
        self.block += 1;
        let digest = keccak256(&block);
        let half = |at: usize| {
            let bytes = digest[at..].first_chunk::<16>();
            bytes.map_or(1, |bytes| u128::from_le_bytes(*bytes).max(1))
        };
        self.spare = Some(half(16));
        half(0)
    }
}
