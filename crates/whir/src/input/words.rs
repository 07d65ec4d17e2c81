//! Little-endian words, in parallel.
#![forbid(unsafe_code)]

use p3_field::{PrimeCharacteristicRing, PrimeField32};
use rayon::prelude::*;

use crate::error::InputError;
use crate::field::F;

/// Elements per task: large enough that scheduling costs nothing beside the conversion.
pub(super) const CHUNK: usize = 1 << 15;

/// Converts words of `N` bytes. On a value that is not below the modulus: its index and value,
/// of the first such word.
pub(super) fn convert<const N: usize>(
    data: &[[u8; N]],
    word: fn(&[u8; N]) -> u64,
) -> Result<Vec<F>, (usize, u64)> {
    let mut out = F::zero_vec(data.len());
    let first = out
        .par_chunks_mut(CHUNK)
        .zip(data.par_chunks(CHUNK))
        .enumerate()
        .filter_map(|(chunk, (out, data))| {
            // The check has no early exit, so that the loop vectorises; a rescan finds the index.
            let mut bad = false;
            for (o, d) in out.iter_mut().zip(data) {
                let w = word(d);
                bad |= w >= u64::from(F::ORDER_U32);
                *o = F::new(w as u32);
            }
            bad.then(|| {
                data.iter()
                    .map(word)
                    .enumerate()
                    .find(|&(_, w)| w >= u64::from(F::ORDER_U32))
                    .map(|(i, w)| (chunk * CHUNK + i, w))
            })
            .flatten()
        })
        .min();
    first.map_or(Ok(out), Err)
}

pub(super) fn le32(w: &[u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(*w))
}

pub(super) fn le64(w: &[u8; 8]) -> u64 {
    u64::from_le_bytes(*w)
}

/// A note if the bytes look compressed: nothing is ever decompressed.
pub(super) fn compressed_hint(data: &[u8]) -> &'static str {
    if data.starts_with(&[0x1f, 0x8b]) {
        "; it starts like a gzip stream: decompress it first"
    } else if data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        "; it starts like a zstd stream: decompress it first"
    } else if data.starts_with(b"\x93NUMPY") {
        "; it starts like a NumPy array: use encoding npy"
    } else {
        ""
    }
}

pub(super) fn parse_u32(data: &[u8]) -> Result<Vec<F>, InputError> {
    let (words, rest) = data.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(InputError::Length {
            have: data.len(),
            hint: compressed_hint(data),
        });
    }
    convert(words, le32).map_err(|(index, value)| InputError::NotCanonical {
        index,
        value,
        hint: compressed_hint(data),
    })
}
