//! Random polynomials, as files that all sides read.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// BabyBear: 15 * 2^27 + 1.
const P: u32 = 0x7800_0001;

/// SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators".
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Writes 2^n canonical elements that depend on `seed` alone, little-endian.
pub(super) fn write(path: &Path, n: usize, seed: u64) -> std::io::Result<()> {
    let mut state = seed;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut left = 1_u64 << n;
    while left > 0 {
        let word = (next(&mut state) >> 33) as u32;
        if word < P {
            out.write_all(&word.to_le_bytes())?;
            left -= 1;
        }
    }
    out.flush()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn seeds_give_distinct_canonical_files() {
        let folder = tempfile::tempdir().unwrap();
        let file = |seed| {
            let path = folder.path().join("x");
            write(&path, 10, seed).unwrap();
            std::fs::read(path).unwrap()
        };
        let (a, b) = (file(1), file(2));
        assert_eq!(a.len(), 4096);
        assert!(a != b && a == file(1));
        for word in a.chunks_exact(4) {
            assert!(u32::from_le_bytes(word.try_into().unwrap()) < P);
        }
    }
}
