//! The fixed instantiation: BabyBear, Poseidon2 of width 16 everywhere, binary Merkle trees.
use p3_baby_bear::{BabyBear, Poseidon2BabyBear};
use p3_challenger::DuplexChallenger;
use p3_dft::Radix2DFTSmallBatch;
use p3_field::Field;
use p3_field::extension::BinomialExtensionField;
use p3_merkle_tree::{MerkleCap, MerkleTreeMmcs};
use p3_sumcheck::layout::SuffixProver;
use p3_symmetric::{PaddingFreeSponge, TruncatedPermutation};
use p3_whir::PcsProof;
use p3_whir::parameters::WhirConfig;
use p3_whir::pcs::prover::WhirProver;

use crate::challenger::SmallestFirst;

pub const WIDTH: usize = 16;
pub const RATE: usize = 8;
pub const DIGEST: usize = 8;

pub type F = BabyBear;
pub type PF = <F as Field>::Packing;
pub type Ext<const D: usize> = BinomialExtensionField<F, D>;
pub type Perm = Poseidon2BabyBear<WIDTH>;
pub type Hash = PaddingFreeSponge<Perm, WIDTH, RATE, DIGEST>;
pub type Compress = TruncatedPermutation<Perm, 2, DIGEST, WIDTH>;
pub type Mmcs = MerkleTreeMmcs<PF, PF, Hash, Compress, 2, DIGEST>;
pub type Commitment = MerkleCap<F, [F; DIGEST]>;
pub type Duplex = DuplexChallenger<F, Perm, WIDTH, RATE>;
/// The DFT of p3-whir's own benches and example.
pub type Dft = Radix2DFTSmallBatch<F>;
pub type Layout<EF> = SuffixProver<F, EF>;
pub type Config<EF> = WhirConfig<EF, F, SmallestFirst>;
pub type Pcs<EF> = WhirProver<EF, F, Dft, Mmcs, SmallestFirst, Layout<EF>>;
pub type Proof<EF> = PcsProof<F, EF, Mmcs>;
