//! Checks the proofs of version 2. It stands alone: nothing but a Keccak-256 function is needed, so
//! that it can be copied, or translated, by whoever does not want to trust this crate.
//!
//! A tree's leaf is hashed as `keccak(0 | leaf)` and a node as `keccak(1 | left | right)`; the
//! shapes and the two algorithms are those of RFC 9162, sections 2.1.3.2 and 2.1.4.2. The state
//! root is `keccak(2 | header)`, where the header holds size and root of every tree.
#![forbid(unsafe_code)]

/// A Keccak-256 digest.
type Digest = [u8; 32];

/// Bytes of the header: domain, network, time, number of operations, and size and root of each tree.
pub const HEADER: usize = 22 + 32 + 8 + 8 + TREES * 40;

/// How many trees a state has.
pub const TREES: usize = 6;

/// What a header begins with.
pub const HEADER_DOMAIN: &[u8; 22] = b"fieldspar.ceremony.v2\0";

fn node(keccak: impl Fn(&[u8]) -> Digest, left: &Digest, right: &Digest) -> Digest {
    let mut bytes = [1; 65];
    bytes[1..33].copy_from_slice(left);
    bytes[33..].copy_from_slice(right);
    keccak(&bytes)
}

/// Whether `leaf` is the `index`th of the `size` leaves under `root`.
#[must_use]
pub fn inclusion(
    keccak: impl Fn(&[u8]) -> Digest + Copy,
    root: &Digest,
    size: u64,
    index: u64,
    leaf: &[u8],
    path: &[Digest],
) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last) = (index, size - 1);
    let mut hash = keccak(&[&[0], leaf].concat());
    for neighbour in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            hash = node(keccak, neighbour, &hash);
            // Up to where it is a right child: without a right neighbour a node is its own parent.
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(keccak, &hash, neighbour);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// Whether the tree of `old` leaves is the beginning of that of `new` leaves, each given with its
/// root.
#[must_use]
pub fn consistency(
    keccak: impl Fn(&[u8]) -> Digest + Copy,
    (old, old_root): (u64, &Digest),
    (new, new_root): (u64, &Digest),
    path: &[Digest],
) -> bool {
    if old == 0 || old > new {
        return false;
    }
    if old == new {
        return path.is_empty() && old_root == new_root;
    }
    // A complete old tree is a node of the new one, which its root names.
    let mut path = path.iter();
    let first = if old.is_power_of_two() {
        Some(old_root)
    } else {
        path.next()
    };
    let Some(first) = first else {
        return false;
    };
    let (mut at, mut last) = (old - 1, new - 1);
    while at & 1 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut old_hash, mut new_hash) = (*first, *first);
    for neighbour in path {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_hash = node(keccak, neighbour, &old_hash);
            new_hash = node(keccak, neighbour, &new_hash);
            while at & 1 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            new_hash = node(keccak, &new_hash, neighbour);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && old_hash == *old_root && new_hash == *new_root
}

/// Size and root of a tree, from the header whose hash is the state root; `None` if it is not that.
#[must_use]
pub fn tree_of_state(
    keccak: impl Fn(&[u8]) -> Digest,
    state_root: &Digest,
    header: &[u8; HEADER],
    tree: usize,
) -> Option<(u64, Digest)> {
    let is_header = header.starts_with(HEADER_DOMAIN);
    if !is_header || tree >= TREES || keccak(&[&[2], header.as_slice()].concat()) != *state_root {
        return None;
    }
    let entry = &header[HEADER - (TREES - tree) * 40..][..40];
    let size = u64::from_le_bytes(entry[..8].try_into().ok()?);
    Some((size, entry[8..].try_into().ok()?))
}
