//! The field, hash and transcript types: Plonky3's own, so that proofs are its own proofs.
#![forbid(unsafe_code)]

use p3_baby_bear::{BabyBear, Poseidon2BabyBear};
use p3_challenger::DuplexChallenger;
use p3_field::extension::BinomialExtensionField;
use p3_field::{BasedVectorSpace, ExtensionField, Field, TwoAdicField};
use p3_merkle_tree::MerkleTreeMmcs;
use p3_symmetric::{MerkleCap, PaddingFreeSponge, TruncatedPermutation};

/// The base field, BabyBear: p = 15 * 2^27 + 1, stored in Montgomery form.
pub type F = BabyBear;
/// Degree-4 extension, x^4 - 11.
pub type EF4 = BinomialExtensionField<F, 4>;
/// Degree-5 extension, x^5 - 2.
pub type EF5 = BinomialExtensionField<F, 5>;
/// Poseidon2 of width 16 (`default_babybear_poseidon2_16`).
pub type Perm = Poseidon2BabyBear<16>;
/// Leaf hash: overwrite-mode sponge, rate 8.
pub type LeafHash = PaddingFreeSponge<Perm, 16, 8, 8>;
/// Node hash: the permutation of both children, truncated to 8 elements.
pub type NodeHash = TruncatedPermutation<Perm, 2, 8, 16>;
/// Plonky3's Merkle scheme over these hashes; verifies our openings, never builds our trees.
pub type Mmcs =
    MerkleTreeMmcs<<F as Field>::Packing, <F as Field>::Packing, LeafHash, NodeHash, 2, 8>;
/// The Fiat-Shamir transcript.
pub type Challenger = DuplexChallenger<F, Perm, 16, 8>;
/// A digest: 8 base elements.
pub type Digest = [F; 8];
/// A commitment: the 2^cap_height digests at the cap of the tree.
pub type Commitment = MerkleCap<F, Digest>;

/// An extension of [`F`] that the kernels know: x^D - W.
pub trait Extension: ExtensionField<F> + TwoAdicField + BasedVectorSpace<F> {
    /// Degree over [`F`].
    const D: usize;
    /// The binomial constant: x^D = W.
    const W: F;
}

impl Extension for EF4 {
    const D: usize = 4;
    const W: F = F::new(11);
}

impl Extension for EF5 {
    const D: usize = 5;
    const W: F = F::new(2);
}
