//! Any file: three bytes an element, so that every value is below the modulus.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use super::words::CHUNK;
use crate::field::F;

pub(super) fn parse(data: &[u8]) -> Vec<F> {
    let mut out = F::zero_vec(data.len().div_ceil(3));
    out.par_chunks_mut(CHUNK)
        .zip(data.par_chunks(3 * CHUNK))
        .for_each(|(out, data)| {
            let (chunks, rest) = data.as_chunks::<3>();
            for (o, &[a, b, c]) in out.iter_mut().zip(chunks) {
                *o = F::new(u32::from_le_bytes([a, b, c, 0]));
            }
            if let Some(o) = out.get_mut(chunks.len()) {
                let mut word = [0; 4];
                for (w, &r) in word.iter_mut().zip(rest) {
                    *w = r;
                }
                *o = F::new(u32::from_le_bytes(word));
            }
        });
    out
}
