//! Roots and openings against Plonky3's own Merkle scheme.

use p3_baby_bear::default_babybear_poseidon2_16;
use p3_commit::Mmcs as _;
use p3_matrix::dense::RowMajorMatrix;

use super::*;
use crate::cpu::isa::tests::{edge_elements, variants};
use crate::field::{LeafHash, Mmcs, NodeHash};

fn check(height: usize, width: usize, degree: usize, cap_height: usize) {
    let perm = default_babybear_poseidon2_16();
    let mmcs = Mmcs::new(LeafHash::new(perm.clone()), NodeHash::new(perm), cap_height);
    let flat = edge_elements(height * width * degree);
    let planes: Vec<Vec<F>> = (0..degree)
        .map(|d| flat.iter().skip(d).step_by(degree).copied().collect())
        .collect();
    let planes: Vec<&[F]> = planes.iter().map(Vec::as_slice).collect();
    let (cap, data) = mmcs.commit(vec![RowMajorMatrix::new(flat, width * degree)]);
    let queries = [
        vec![0],
        vec![height - 1, 0, height / 2, height / 2],
        (0..height).rev().collect(),
        (0..5).map(|i| (i * 37 + 11) % height).collect::<Vec<_>>(),
    ];
    for variant in variants() {
        let tree = Tree::build(variant, &planes, width, cap_height);
        assert_eq!(
            tree.cap(),
            cap,
            "{variant:?} {height} {width} {degree} {cap_height}"
        );
        for query in &queries {
            let (_, proof) = mmcs.open_multi_batch(query, &data);
            assert_eq!(tree.prune(query), proof.sibling_hashes);
        }
    }
}

#[test]
fn equals_plonky3_for_every_shape() {
    for width in 1..=20 {
        for log_height in 0..=7 {
            check(1 << log_height, width, 1, (width + log_height) % 4);
        }
    }
    for (width, degree) in [
        (1, 4),
        (2, 5),
        (3, 4),
        (4, 5),
        (16, 4),
        (16, 5),
        (32, 1),
        (7, 5),
    ] {
        for log_height in [0, 1, 3, 4, 6] {
            check(1 << log_height, width, degree, (width + log_height) % 4);
        }
    }
}

#[test]
fn does_not_depend_on_the_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            check(1 << 12, 4, 1, 2);
            check(1 << 11, 1, 5, 0);
        });
    }
}
