//! The file of a tree: `FSPRTREE`, a version, the sponge, the number of leaves, then the digests of all
//! levels from the leaves up. docs/rpo-tree-format.md has it byte by byte.
#![forbid(unsafe_code)]

use std::path::Path;

use fieldspar_rpo::merkle::{MAX_LEAVES, MerkleTree};
use fieldspar_rpo::{Digest, Error, Sponge};

use super::read;
use crate::failure::Failure;
use crate::whir::output;

const MAGIC: &[u8; 8] = b"FSPRTREE";
const VERSION: u8 = 1;
/// Magic, version, sponge, six zeros, leaves.
const HEADER: usize = 24;

const fn tag(sponge: Sponge) -> u8 {
    match sponge {
        Sponge::Miden022 => 1,
        Sponge::Miden013 => 2,
        // The enum may grow; its encoding then grows with it.
        _ => 3,
    }
}

pub(super) fn write(path: &Path, tree: &MerkleTree, force: bool) -> Result<(), Failure> {
    let nodes: usize = tree.levels().iter().map(Vec::len).sum();
    let mut bytes = Vec::with_capacity(HEADER + 32 * nodes);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&[VERSION, tag(tree.sponge()), 0, 0, 0, 0, 0, 0]);
    bytes.extend_from_slice(&(tree.leaves().len() as u64).to_le_bytes());
    for digest in tree.levels().iter().flatten() {
        bytes.extend_from_slice(&digest.to_bytes());
    }
    output::write(path, &bytes, force)
}

/// Reads a tree made with `sponge`.
pub(super) fn load(path: &Path, sponge: Sponge) -> Result<MerkleTree, Failure> {
    parse(&read(path)?, sponge).map_err(|e| e.in_file(path))
}

fn parse(bytes: &[u8], sponge: Sponge) -> Result<MerkleTree, Failure> {
    let refuse = |at: usize, what: String| Err(Failure::input(what).at(format!("byte {at}")));
    let Some((header, mut rest)) = bytes.split_at_checked(HEADER) else {
        return refuse(0, format!("no tree: {} bytes", bytes.len()));
    };
    if header[..8] != *MAGIC {
        return refuse(0, "no tree file: its first bytes are not FSPRTREE".into());
    }
    if header[8] != VERSION {
        return refuse(8, format!("version {}, expected {VERSION}", header[8]));
    }
    if header[9] != tag(sponge) {
        let made = Sponge::ALL.into_iter().find(|s| tag(*s) == header[9]);
        let made = made.map_or("an unknown sponge", Sponge::name);
        return refuse(
            9,
            format!("the tree was made with {made}, not with {sponge}"),
        );
    }
    if header[10..16] != [0; 6] {
        return refuse(10, "the reserved bytes are not zero".into());
    }
    let mut word = [0; 8];
    word.copy_from_slice(&header[16..]);
    let leaves = u64::from_le_bytes(word);
    if !(1..=MAX_LEAVES).contains(&leaves) {
        return refuse(16, format!("{leaves} leaves, expected 1 to {MAX_LEAVES}"));
    }
    let mut levels = Vec::new();
    let mut count = leaves as usize;
    loop {
        let at = bytes.len() - rest.len();
        let Some((level, after)) = rest.split_at_checked(32 * count) else {
            return refuse(
                at,
                format!("a level of {count} digests, {} bytes are left", rest.len()),
            );
        };
        let digests: Result<Vec<Digest>, Error> = level
            .as_chunks::<32>()
            .0
            .iter()
            .map(Digest::from_bytes)
            .collect();
        levels.push(digests?);
        rest = after;
        if count == 1 {
            break;
        }
        count = count.div_ceil(2);
    }
    if !rest.is_empty() {
        let at = bytes.len() - rest.len();
        return refuse(at, format!("{} bytes after the root", rest.len()));
    }
    Ok(MerkleTree::from_levels(sponge, levels)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldspar_rpo::cpu::CpuEngine;

    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tree");
        let sponge = Sponge::Miden013;
        let engine = CpuEngine::best();
        let leaves = (0..5).map(|i| Digest::new([i; 4]).unwrap()).collect();
        let tree = MerkleTree::build_padded(&engine, sponge, leaves).unwrap();
        write(&path, &tree, false).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), HEADER + 32 * (5 + 3 + 2 + 1));
        assert_eq!(parse(&bytes, sponge).unwrap(), tree);
        assert!(parse(&bytes, Sponge::Miden022).is_err());
        for cut in 0..bytes.len() {
            assert!(parse(&bytes[..cut], sponge).is_err(), "{cut}");
        }
        for at in 0..HEADER {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x40;
            assert!(parse(&wrong, sponge).is_err(), "{at}");
        }
        let mut long = bytes;
        long.push(0);
        assert!(parse(&long, sponge).is_err());
    }
}
