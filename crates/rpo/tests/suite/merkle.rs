//! Trees, openings and what must not pass for one.

use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::merkle::{MerkleTree, Openings, Stream, VerifyError};
use fieldspar_rpo::{Digest, Error, Sponge, reference};

use super::{Random, engines};

/// By the definition, on the reference permutation.
fn naive(sponge: Sponge, leaves: &[Digest]) -> Digest {
    match leaves {
        [one] => *one,
        _ => {
            let (left, right) = leaves.split_at(leaves.len() / 2);
            let pair = [naive(sponge, left), naive(sponge, right)];
            sponge.merge_with(reference::permute, &pair)
        }
    }
}

fn padded(leaves: &[Digest]) -> Vec<Digest> {
    let mut leaves = leaves.to_vec();
    leaves.resize(leaves.len().next_power_of_two(), Digest::ZERO);
    leaves
}

#[test]
fn roots_are_those_of_the_definition() {
    let mut random = Random(5);
    for sponge in Sponge::ALL {
        for n in [1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 33] {
            let leaves = random.digests(n);
            let want = naive(sponge, &padded(&leaves));
            for engine in engines() {
                let tree = MerkleTree::build_padded(&engine, sponge, leaves.clone()).unwrap();
                assert_eq!(tree.root(), want, "{sponge} {n} {}", engine.variant());
                assert_eq!(1 << tree.depth(), n.next_power_of_two());
                let strict = MerkleTree::build(&engine, sponge, leaves.clone());
                match n.is_power_of_two() {
                    true => assert_eq!(strict.unwrap(), tree),
                    false => {
                        assert!(matches!(strict, Err(Error::Length { have, .. }) if have == n))
                    }
                }
            }
        }
    }
}

#[test]
fn a_tree_has_leaves_and_not_too_many() {
    let engine = engines()[0];
    let sponge = Sponge::Miden022;
    for refused in [
        MerkleTree::build(&engine, sponge, vec![]),
        MerkleTree::build_padded(&engine, sponge, vec![]),
    ] {
        assert!(matches!(refused, Err(Error::Length { have: 0, .. })));
    }
    assert!(Stream::new(&engine, sponge).finish_padded().is_err());
    assert!(MerkleTree::from_levels(sponge, vec![]).is_err());
    let two = vec![Digest::ZERO; 2];
    assert!(MerkleTree::from_levels(sponge, vec![two.clone()]).is_err());
    assert!(MerkleTree::from_levels(sponge, vec![two.clone(), two]).is_err());
}

/// 2^k - 1, 2^k, 2^k + 1 leaves: all ways to the same tree.
#[test]
fn appending_and_streaming_give_the_same_tree() {
    let mut random = Random(6);
    let engine = *engines().last().unwrap();
    let sponge = Sponge::Miden013;
    for n in [
        1_usize, 2, 3, 5, 7, 8, 31, 32, 33, 127, 128, 129, 1023, 1025,
    ] {
        let leaves = random.digests(n);
        let whole = MerkleTree::build_padded(&engine, sponge, leaves.clone()).unwrap();
        for first in [1, n / 2, n - 1, n] {
            if first == 0 {
                continue;
            }
            let mut tree =
                MerkleTree::build_padded(&engine, sponge, leaves[..first].to_vec()).unwrap();
            for piece in leaves[first..].chunks(n / 3 + 1) {
                tree.append(&engine, piece).unwrap();
            }
            tree.append(&engine, &[]).unwrap();
            assert_eq!(tree, whole, "{n} from {first}");
        }
        let mut stream = Stream::new(&engine, sponge);
        for piece in leaves.chunks(n / 3 + 1) {
            stream.push(piece).unwrap();
        }
        assert_eq!(stream.count(), n as u64);
        assert_eq!(stream.finish_padded().unwrap(), whole.root(), "{n}");
    }
}

/// Several chunks of a stream, complete and not.
#[test]
fn long_streams() {
    let engine = *engines().last().unwrap();
    let sponge = Sponge::Miden022;
    let leaves = Random(7).digests((1 << 14) * 3 + 5);
    for n in [1 << 14, (1 << 14) + 1, 1 << 15, (1 << 15) + 3, leaves.len()] {
        let leaves = &leaves[..n];
        let mut stream = Stream::new(&engine, sponge);
        leaves
            .chunks(5000)
            .for_each(|piece| stream.push(piece).unwrap());
        let tree = MerkleTree::build_padded(&engine, sponge, leaves.to_vec()).unwrap();
        let root = match n.is_power_of_two() {
            true => stream.finish(),
            false => stream.finish_padded(),
        };
        assert_eq!(root.unwrap(), tree.root(), "{n}");
    }
    let mut stream = Stream::new(&engine, sponge);
    stream.push(&leaves[..3]).unwrap();
    assert!(matches!(
        stream.finish(),
        Err(Error::Length { have: 3, .. })
    ));
}

#[test]
fn every_leaf_opens_and_nothing_else_does() {
    let mut random = Random(8);
    let engine = engines()[0];
    for sponge in Sponge::ALL {
        for n in [1, 2, 5, 8] {
            let leaves = random.digests(n);
            let tree = MerkleTree::build_padded(&engine, sponge, leaves.clone()).unwrap();
            let (root, depth) = (tree.root(), tree.depth());
            for (i, leaf) in leaves.iter().enumerate() {
                let opening = tree.open(i as u64).unwrap();
                assert_eq!(opening.leaf, *leaf);
                opening.verify(&engine, sponge, root, depth).unwrap();
                let mut wrong = opening.clone();
                wrong.leaf = random.digests(1)[0];
                let refused = wrong.verify(&engine, sponge, root, depth);
                assert!(matches!(refused, Err(VerifyError::Root { .. })));
                for at in 0..depth {
                    let mut wrong = opening.clone();
                    wrong.path[at] = random.digests(1)[0];
                    assert!(wrong.verify(&engine, sponge, root, depth).is_err());
                    wrong = opening.clone();
                    wrong.index ^= 1 << at;
                    assert!(wrong.verify(&engine, sponge, root, depth).is_err());
                }
                let mut beyond = opening.clone();
                beyond.index += 1 << depth;
                let refused = beyond.verify(&engine, sponge, root, depth);
                assert!(matches!(refused, Err(VerifyError::Index { .. })));
                assert!(opening.verify(&engine, sponge, root, depth + 1).is_err());
                assert!(opening.verify(&engine, sponge, root, 1000).is_err());
            }
            // Padding is not opened.
            assert!(matches!(tree.open(n as u64), Err(Error::Index { .. })));
            assert!(tree.open(u64::MAX).is_err());
        }
    }
}

/// A node above the leaves is the leaf of a shallower tree with the same root.
#[test]
fn a_node_does_not_pass_for_a_leaf() {
    let engine = engines()[0];
    let sponge = Sponge::Miden022;
    let tree = MerkleTree::build(&engine, sponge, Random(9).digests(8)).unwrap();
    let mut forged = tree.open(5).unwrap();
    forged.leaf = tree.levels()[1][2];
    forged.index = 2;
    forged.path.remove(0);
    forged.verify(&engine, sponge, tree.root(), 2).unwrap();
    let refused = forged.verify(&engine, sponge, tree.root(), 3);
    assert!(matches!(
        refused,
        Err(VerifyError::Path {
            have: 2,
            expected: 3
        })
    ));
}

#[test]
fn several_leaves_open_together() {
    let mut random = Random(10);
    let engine = *engines().last().unwrap();
    let sponge = Sponge::Paper2023;
    for n in [1_usize, 2, 3, 8, 13, 64] {
        let tree = MerkleTree::build_padded(&engine, sponge, random.digests(n)).unwrap();
        let (root, depth) = (tree.root(), tree.depth());
        for _ in 0..20 {
            let count = random.word() as usize % (n + 2) + 1;
            let indices: Vec<u64> = (0..count).map(|_| random.word() % n as u64).collect();
            let openings = tree.open_many(&indices).unwrap();
            openings.verify(&engine, sponge, root, depth).unwrap();
            let alone = openings.leaves.len() * depth;
            assert!(openings.siblings.len() <= alone);
            if openings.leaves.len() == 1 {
                let one = tree.open(openings.leaves[0].0).unwrap();
                assert_eq!(one.path, openings.siblings);
            }
            let tampered = |change: &dyn Fn(&mut Openings)| {
                let mut wrong = openings.clone();
                change(&mut wrong);
                assert!(wrong.verify(&engine, sponge, root, depth).is_err());
            };
            tampered(&|o| o.siblings.push(Digest::ZERO));
            tampered(&|o| o.leaves[0].1 = Digest::new([9; 4]).unwrap());
            tampered(&|o| o.leaves.insert(0, o.leaves[0]));
            tampered(&|o| o.leaves.clear());
            tampered(&|o| o.leaves[0].0 += 1 << depth);
            if !openings.siblings.is_empty() {
                tampered(&|o| o.siblings.truncate(o.siblings.len() - 1));
                tampered(&|o| o.siblings[0] = Digest::new([9; 4]).unwrap());
            }
        }
        let all: Vec<u64> = (0..n as u64).collect();
        let openings = tree.open_many(&all).unwrap();
        openings.verify(&engine, sponge, root, depth).unwrap();
        assert!(!n.is_power_of_two() || openings.siblings.is_empty());
        assert!(tree.open_many(&[]).is_err());
        assert!(tree.open_many(&[0, n as u64]).is_err());
    }
}

#[test]
fn rows_become_leaves() {
    let engine = engines()[0];
    let sponge = Sponge::Miden022;
    let rows = Random(11).elements(16 * 20);
    let leaves = engine.hash_rows(sponge, &rows, 20).unwrap();
    let tree = MerkleTree::build(&engine, sponge, leaves).unwrap();
    let want: Vec<Digest> = rows
        .chunks(20)
        .map(|row| sponge.hash_elements_with(reference::permute, row).unwrap())
        .collect();
    assert_eq!(tree.root(), naive(sponge, &want));
}
