//! Incremental Merkle trees of the shape of RFC 9162, section 2.1, over Keccak-256.
//!
//! A leaf's hash is `keccak(0 | leaf)`, a node's `keccak(1 | left | right)`, the empty tree's
//! `keccak()`. A node without a right neighbour stands for its parent too, so the left subtree is
//! always the largest complete one, the order of the leaves is kept, and appending changes only the
//! right edge.
#![forbid(unsafe_code)]

use crate::Digest;
use crate::cpu::isa::Variant;
use crate::cpu::keccak::{Block, RATE, blocks, keccak256, pad};
use crate::cpu::nodes::Nodes;
use crate::cpu::sponge::{Chain, Leaf, Sponges};

/// A Merkle tree that keeps its nodes.
#[derive(Clone, Debug)]
pub struct Tree {
    variant: Variant,
    /// `levels[0]` are the leaves' hashes, each further level the parents of the one before, the
    /// last one the root alone; empty without leaves.
    levels: Vec<Vec<Digest>>,
}

impl Default for Tree {
    fn default() -> Self {
        Self {
            variant: Variant::best(),
            levels: Vec::new(),
        }
    }
}

impl Tree {
    /// The tree over leaves whose hashes are known.
    #[must_use]
    pub fn from_leaf_hashes(hashes: Vec<Digest>) -> Self {
        let mut tree = Self::default();
        if !hashes.is_empty() {
            let changed: Vec<usize> = (0..hashes.len()).collect();
            tree.levels.push(hashes);
            tree.propagate(changed);
        }
        tree
    }

    /// Leaves.
    #[must_use]
    pub fn len(&self) -> usize {
        self.levels.first().map_or(0, Vec::len)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }

    /// The hashes of the leaves.
    #[must_use]
    pub fn leaf_hashes(&self) -> &[Digest] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> Digest {
        match self.levels.last().and_then(|top| top.first()) {
            Some(root) => *root,
            None => keccak256(&[]),
        }
    }

    /// Sets leaves: each replaces one that is there or stands right behind the last. The indices go
    /// up.
    pub fn set<L: AsRef<[u8]>>(&mut self, leaves: impl IntoIterator<Item = (usize, L)>) {
        let mut messages: Vec<Block> = Vec::new();
        let mut hashes = Vec::new();
        let mut changed = Vec::new();
        for (index, leaf) in leaves {
            let leaf = leaf.as_ref();
            let start = messages.len();
            let count = blocks(1 + leaf.len());
            messages.resize(start + count, [0; RATE]);
            let bytes = messages[start..].as_flattened_mut();
            bytes[1..1 + leaf.len()].copy_from_slice(leaf);
            pad(bytes, 1 + leaf.len());
            hashes.push(Leaf {
                start: start as u32,
                blocks: count as u32,
                digest: [0; 32],
            });
            changed.push(index);
        }
        if changed.is_empty() {
            return;
        }
        assert!(
            changed.windows(2).all(|pair| pair[0] < pair[1]),
            "leaves are set in order"
        );
        self.variant.run_wide(Sponges(&mut [Chain {
            blocks: &messages,
            leaves: &mut hashes,
            acc: None,
        }]));
        if self.levels.is_empty() {
            self.levels.push(Vec::new());
        }
        let bottom = &mut self.levels[0];
        for (&index, leaf) in changed.iter().zip(&hashes) {
            match bottom.get_mut(index) {
                Some(place) => *place = leaf.digest,
                None => {
                    assert_eq!(index, bottom.len(), "no gap behind the last leaf");
                    bottom.push(leaf.digest);
                }
            }
        }
        self.propagate(changed);
    }

    /// Appends leaves.
    pub fn append<L: AsRef<[u8]>>(&mut self, leaves: impl IntoIterator<Item = L>) {
        let len = self.len();
        self.set((len..).zip(leaves));
    }

    /// Recomputes the nodes above the leaves that changed.
    fn propagate(&mut self, mut changed: Vec<usize>) {
        let mut level = 0;
        while self.levels[level].len() > 1 {
            if self.levels.len() == level + 1 {
                self.levels.push(Vec::new());
            }
            for index in &mut changed {
                *index /= 2;
            }
            changed.dedup();
            let (below, above) = self.levels.split_at_mut(level + 1);
            let (below, above) = (&below[level], &mut above[0]);
            above.resize(below.len().div_ceil(2), [0; 32]);
            // Only the last node can be without a right child.
            let alone = changed
                .last()
                .is_some_and(|last| 2 * last + 1 == below.len());
            let pairs = &changed[..changed.len() - usize::from(alone)];
            self.variant.run_wide(Nodes {
                children: below.as_chunks().0,
                which: pairs,
                parents: above,
            });
            if alone && let (Some(parent), Some(child)) = (above.last_mut(), below.last()) {
                *parent = *child;
            }
            level += 1;
        }
        self.levels.truncate(level + 1);
    }

    /// The neighbours on the way from a leaf to the root, bottom first; `None` if there is no such
    /// leaf. RFC 9162, section 2.1.3.
    #[must_use]
    pub fn inclusion(&self, index: usize) -> Option<Vec<Digest>> {
        if index >= self.len() {
            return None;
        }
        let place = |level: usize| (index >> level) ^ 1;
        Some(
            self.levels
                .iter()
                .enumerate()
                .filter_map(|(level, hashes)| hashes.get(place(level)).copied())
                .collect(),
        )
    }

    /// What shows that the first `old` leaves are those of the tree when it had `old`; `None` if it
    /// never had so many, or none. RFC 9162, section 2.1.4.
    #[must_use]
    pub fn consistency(&self, old: usize) -> Option<Vec<Digest>> {
        let len = self.len();
        if old == 0 || old > len {
            return None;
        }
        let mut proof = Vec::new();
        let (mut first, mut end, mut old) = (0, len, old);
        let mut is_old_tree = true;
        while old != end - first {
            let half = (end - first).next_power_of_two() / 2;
            if old <= half {
                proof.push(self.subtree(first + half, end));
                end = first + half;
            } else {
                proof.push(self.subtree(first, first + half));
                first += half;
                old -= half;
                is_old_tree = false;
            }
        }
        if !is_old_tree {
            proof.push(self.subtree(first, end));
        }
        proof.reverse();
        Some(proof)
    }

    /// The hash over the leaves `first..end`, which are a subtree.
    fn subtree(&self, first: usize, end: usize) -> Digest {
        let level = (end - first).next_power_of_two().trailing_zeros() as usize;
        self.levels[level][first >> level]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;
    use sha3::{Digest as _, Keccak256};

    use super::super::verifier;
    use super::*;

    fn oracle(bytes: &[u8]) -> Digest {
        Keccak256::digest(bytes).into()
    }

    /// RFC 9162, section 2.1.1, word for word.
    fn definition(leaves: &[Vec<u8>]) -> Digest {
        match leaves {
            [] => oracle(&[]),
            [leaf] => oracle(&[&[0], leaf.as_slice()].concat()),
            _ => {
                let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
                oracle(&[&[1], &definition(left)[..], &definition(right)].concat())
            }
        }
    }

    fn leaf(i: usize) -> Vec<u8> {
        vec![i as u8; 1 + i * 13 % 300]
    }

    #[test]
    fn every_size_every_leaf_every_older_tree() {
        let leaves: Vec<Vec<u8>> = (0..70).map(leaf).collect();
        let mut grown = Tree::default();
        let mut roots = vec![grown.root()];
        for size in 0..=70 {
            let mut built = Tree::default();
            built.append(&leaves[..size]);
            let root = definition(&leaves[..size]);
            assert_eq!(built.root(), root, "{size}");
            assert_eq!(grown.root(), root, "{size}");
            assert_eq!(
                Tree::from_leaf_hashes(built.leaf_hashes().to_vec()).root(),
                root
            );
            for (index, leaf) in leaves[..size].iter().enumerate() {
                let path = grown.inclusion(index).unwrap();
                let check = |root: &Digest, index: usize, leaf: &[u8], path: &[Digest]| {
                    verifier::inclusion(oracle, root, size as u64, index as u64, leaf, path)
                };
                assert!(check(&root, index, leaf, &path), "{size} {index}");
                assert!(!check(&root, index, b"another", &path));
                assert!(!check(&oracle(&root), index, leaf, &path));
                assert!(!check(&root, size, leaf, &path));
                if size > 1 {
                    assert!(!check(&root, index, leaf, &path[1..]));
                    assert!(!check(&root, (index + 1) % size, leaf, &path));
                }
                let mut longer = path.clone();
                longer.push(root);
                assert!(!check(&root, index, leaf, &longer));
            }
            for (old, old_root) in roots.iter().enumerate().skip(1) {
                let path = grown.consistency(old).unwrap();
                let check = |old_root: &Digest, new_root: &Digest, path: &[Digest]| {
                    verifier::consistency(
                        oracle,
                        (old as u64, old_root),
                        (size as u64, new_root),
                        path,
                    )
                };
                assert!(check(old_root, &root, &path), "{old} {size}");
                assert!(!check(&oracle(&root), &root, &path));
                if old < size {
                    assert!(!check(old_root, &oracle(&root), &path));
                    assert!(!check(old_root, &root, &path[..path.len() - 1]));
                }
            }
            assert_eq!(grown.inclusion(size), None);
            assert_eq!(grown.consistency(0), None);
            assert_eq!(grown.consistency(size + 1), None);
            if size < 70 {
                grown.append([&leaves[size]]);
                roots.push(grown.root());
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn changes_equal_a_new_tree(
            size in 1..200_usize,
            changes in prop::collection::vec(prop::collection::btree_map(0..200_usize, any::<u8>(), 1..20), 1..6),
        ) {
            let mut leaves: Vec<Vec<u8>> = (0..size).map(leaf).collect();
            let mut tree = Tree::default();
            tree.append(&leaves);
            for change in changes {
                let mut list = Vec::new();
                for (index, byte) in change {
                    let index = index.min(leaves.len());
                    if list.last().is_some_and(|(last, _)| *last == index) {
                        continue;
                    }
                    let new = vec![byte; byte as usize];
                    if index == leaves.len() { leaves.push(new.clone()) } else { leaves[index] = new.clone() }
                    list.push((index, new));
                    if index + 1 == leaves.len() { break; }
                }
                tree.set(list);
                prop_assert_eq!(tree.root(), definition(&leaves));
            }
        }
    }
}
