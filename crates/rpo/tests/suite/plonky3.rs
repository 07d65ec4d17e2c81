//! Plonky3's own types over this permutation.

use fieldspar_rpo::Sponge;
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::p3::{RpoCompression, RpoHasher, RpoPermutation};
use p3_commit::Mmcs;
use p3_field::{Field, PackedValue, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_matrix::dense::RowMajorMatrix;
use p3_matrix::{Dimensions, Matrix};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_rescue::RpoGoldilocks;
use p3_symmetric::{CryptographicHasher, Permutation, PseudoCompressionFunction};

use super::{Random, engines};

type Packing = <Goldilocks as Field>::Packing;
type Lanes = [Goldilocks; 8];

fn permutes_as_p3<P: PackedValue<Value = Goldilocks>>() {
    let theirs = RpoGoldilocks::from_standard_constants();
    let mut random = Random(12);
    for engine in engines() {
        let ours = RpoPermutation::new(engine);
        let input: [P; 12] =
            core::array::from_fn(|_| P::from_fn(|_| Goldilocks::new(random.word())));
        let output = ours.permute(input);
        for lane in 0..P::WIDTH {
            let want = theirs.permute(input.map(|p| p.as_slice()[lane]));
            assert_eq!(output.map(|p| p.as_slice()[lane]), want);
        }
    }
}

#[test]
fn permutations() {
    permutes_as_p3::<Goldilocks>();
    permutes_as_p3::<Packing>();
    permutes_as_p3::<Lanes>();
    permutes_as_p3::<[Goldilocks; 3]>();
}

fn hashes_as_ours<P: PackedValue<Value = Goldilocks>>() {
    let mut random = Random(13);
    for engine in engines() {
        for sponge in Sponge::ALL {
            let hasher = RpoHasher::new(engine, sponge);
            for len in [0_usize, 1, 8, 9, 20] {
                let items: Vec<P> = (0..3 * len)
                    .map(|_| P::from_fn(|_| Goldilocks::new(random.word())))
                    .collect();
                let mut many = [[P::from_fn(|_| Goldilocks::new(0)); 4]; 3];
                CryptographicHasher::<P, [P; 4]>::hash_many(&hasher, &items, &mut many);
                for (m, digest) in many.iter().enumerate() {
                    let message = &items[m * len..][..len];
                    let one: [P; 4] = hasher.hash_iter(message.iter().copied());
                    for lane in 0..P::WIDTH {
                        let words: Vec<u64> = message
                            .iter()
                            .map(|p| p.as_slice()[lane].as_canonical_u64())
                            .collect();
                        let want = engine.hash_elements(sponge, &words).unwrap();
                        for digest in [digest, &one] {
                            let own = digest.map(|p| p.as_slice()[lane].as_canonical_u64());
                            assert_eq!(own, *want.elements());
                        }
                    }
                }
            }
            let compression = RpoCompression::new(engine, sponge);
            let pair: [[P; 4]; 2] = core::array::from_fn(|_| {
                core::array::from_fn(|_| P::from_fn(|_| Goldilocks::new(random.word())))
            });
            let node = compression.compress(pair);
            for lane in 0..P::WIDTH {
                let words: Vec<u64> = pair
                    .as_flattened()
                    .iter()
                    .map(|p| p.as_slice()[lane].as_canonical_u64())
                    .collect();
                let want = engine.hash_elements(sponge, &words).unwrap();
                let own = node.map(|p| p.as_slice()[lane].as_canonical_u64());
                assert_eq!(own, *want.elements());
            }
        }
    }
}

#[test]
fn hashers_and_compressions() {
    hashes_as_ours::<Goldilocks>();
    hashes_as_ours::<Packing>();
    hashes_as_ours::<Lanes>();
}

/// `MerkleTreeMmcs` over scalars and over arrays commits to the same root, which is ours.
#[test]
fn merkle_tree_mmcs() {
    let engine = *engines().last().unwrap();
    let sponge = Sponge::Miden022;
    let (height, width) = (32, 11);
    let words = Random(14).elements(height * width);
    let values: Vec<Goldilocks> = words.iter().map(|&x| Goldilocks::new(x)).collect();
    let matrix = RowMajorMatrix::new(values, width);
    let hasher = RpoHasher::new(engine, sponge);
    let compression = RpoCompression::new(engine, sponge);
    let leaves = engine.hash_rows(sponge, &words, width).unwrap();
    let root = engine.levels(sponge, leaves).unwrap().pop().unwrap()[0];

    let scalar = MerkleTreeMmcs::<Goldilocks, Goldilocks, _, _, 2, 4>::new(hasher, compression, 0);
    let lanes = MerkleTreeMmcs::<Lanes, Lanes, _, _, 2, 4>::new(hasher, compression, 0);
    let (first, _) = scalar.commit(vec![matrix.clone()]);
    let (second, data) = lanes.commit(vec![matrix.clone()]);
    assert_eq!(first, second);
    let own: Vec<u64> = second[0].iter().map(|x| x.as_canonical_u64()).collect();
    assert_eq!(own, root.elements());
    for index in [0, 7, height - 1] {
        let opening = lanes.open_batch(index, &data);
        assert_eq!(
            opening.opened_values[0],
            matrix.row_slice(index).unwrap().to_vec()
        );
        let dimensions = [Dimensions { width, height }];
        lanes
            .verify_batch(&second, &dimensions, index, (&opening).into())
            .unwrap();
    }
}
