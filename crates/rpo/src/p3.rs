//! Plonky3's traits over this crate's permutation and sponges.
//!
//! All take [`Goldilocks`], its packed types, and arrays such as `[Goldilocks; 8]`: a `PackedValue`
//! too, so that a build for the plain target, where nothing else is packed, reaches the variant that is
//! chosen at run time. Elements may have any representative, as they always may in Plonky3.
//!
//! ```
//! use fieldspar_rpo::Sponge;
//! use fieldspar_rpo::cpu::CpuEngine;
//! use fieldspar_rpo::p3::{RpoCompression, RpoHasher};
//! use p3_goldilocks::Goldilocks;
//! use p3_merkle_tree::MerkleTreeMmcs;
//!
//! type Lanes = [Goldilocks; 8];
//! type Mmcs = MerkleTreeMmcs<Lanes, Lanes, RpoHasher, RpoCompression, 2, 4>;
//!
//! let engine = CpuEngine::best();
//! let mmcs = Mmcs::new(
//!     RpoHasher::new(engine, Sponge::Miden022),
//!     RpoCompression::new(engine, Sponge::Miden022),
//!     0,
//! );
//! # let _ = mmcs;
//! ```
#![forbid(unsafe_code)]

use p3_field::{PackedValue, PrimeField64};
use p3_goldilocks::Goldilocks;
use p3_symmetric::{
    CryptographicHasher, CryptographicPermutation, Permutation, PseudoCompressionFunction,
};

use crate::cpu::CpuEngine;
use crate::{DIGEST, Digest, Sponge, State, WIDTH};

/// A type with Goldilocks elements in its lanes; one lane for [`Goldilocks`] itself.
trait Lanes: PackedValue<Value = Goldilocks> {}
impl<P: PackedValue<Value = Goldilocks>> Lanes for P {}

fn word<P: Lanes>(packed: &P, lane: usize) -> u64 {
    packed.as_slice()[lane].as_canonical_u64()
}

/// The permutation.
#[derive(Clone, Copy, Debug)]
pub struct RpoPermutation(CpuEngine);

impl RpoPermutation {
    /// The permutation on that engine.
    #[must_use]
    pub const fn new(engine: CpuEngine) -> Self {
        Self(engine)
    }
}

impl<P: PackedValue<Value = Goldilocks>> Permutation<[P; WIDTH]> for RpoPermutation {
    fn permute_mut(&self, input: &mut [P; WIDTH]) {
        let mut states: Vec<State> = (0..P::WIDTH)
            .map(|lane| input.each_ref().map(|packed| word(packed, lane)))
            .collect();
        match &mut states[..] {
            [one] => self.0.permute_one(one),
            many => self.0.permute_batch(many),
        }
        for (i, packed) in input.iter_mut().enumerate() {
            *packed = P::from_fn(|lane| Goldilocks::new(states[lane][i]));
        }
    }
}

impl<P: PackedValue<Value = Goldilocks>> CryptographicPermutation<[P; WIDTH]> for RpoPermutation {}

/// A sponge as a hasher of elements.
#[derive(Clone, Copy, Debug)]
pub struct RpoHasher {
    engine: CpuEngine,
    sponge: Sponge,
}

impl RpoHasher {
    /// That sponge on that engine.
    #[must_use]
    pub const fn new(engine: CpuEngine, sponge: Sponge) -> Self {
        Self { engine, sponge }
    }

    /// Hashes of `out.len()` messages of `len` items each, one after another.
    fn hash_lanes<P: Lanes>(&self, input: &[P], len: usize, out: &mut [[P; DIGEST]]) {
        let rows: Vec<Vec<u64>> = (0..out.len() * P::WIDTH)
            .map(|row| {
                let message = &input[row / P::WIDTH * len..][..len];
                message.iter().map(|p| word(p, row % P::WIDTH)).collect()
            })
            .collect();
        let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
        let mut digests = vec![Digest::ZERO; rows.len()];
        let flags = vec![self.sponge.elements_flag(len); rows.len()];
        self.engine
            .hash_sorted(self.sponge, &rows, &flags, &mut digests);
        for (out, digests) in out.iter_mut().zip(digests.chunks(P::WIDTH)) {
            *out = packed(digests);
        }
    }
}

/// Digests, one to a lane.
fn packed<P: Lanes>(digests: &[Digest]) -> [P; DIGEST] {
    core::array::from_fn(|i| P::from_fn(|lane| Goldilocks::new(digests[lane].elements()[i])))
}

/// The digest in a lane.
fn digest<P: Lanes>(packed: &[P; DIGEST], lane: usize) -> Digest {
    Digest::trusted(packed.each_ref().map(|p| word(p, lane)))
}

impl<P: PackedValue<Value = Goldilocks>> CryptographicHasher<P, [P; DIGEST]> for RpoHasher {
    const LANES: usize = 64 / P::WIDTH;

    fn hash_iter<I: IntoIterator<Item = P>>(&self, input: I) -> [P; DIGEST] {
        let message: Vec<P> = input.into_iter().collect();
        let mut out = [packed(&vec![Digest::ZERO; P::WIDTH])];
        self.hash_lanes(&message, message.len(), &mut out);
        let [out] = out;
        out
    }

    fn hash_many(&self, input: &[P], out: &mut [[P; DIGEST]]) {
        if out.is_empty() {
            return;
        }
        assert!(
            input.len().is_multiple_of(out.len()),
            "{} items are no {} messages of one length",
            input.len(),
            out.len()
        );
        self.hash_lanes(input, input.len() / out.len(), out);
    }
}

/// The merge of two digests as a compression function.
#[derive(Clone, Copy, Debug)]
pub struct RpoCompression {
    engine: CpuEngine,
    sponge: Sponge,
}

impl RpoCompression {
    /// That sponge on that engine.
    #[must_use]
    pub const fn new(engine: CpuEngine, sponge: Sponge) -> Self {
        Self { engine, sponge }
    }
}

impl<P: PackedValue<Value = Goldilocks>> PseudoCompressionFunction<[P; DIGEST], 2>
    for RpoCompression
{
    const LANES: usize = 64 / P::WIDTH;

    fn compress(&self, input: [[P; DIGEST]; 2]) -> [P; DIGEST] {
        let mut out = [input[0]];
        self.compress_many(&[input], &mut out);
        let [out] = out;
        out
    }

    fn compress_many(&self, inputs: &[[[P; DIGEST]; 2]], out: &mut [[P; DIGEST]]) {
        assert_eq!(inputs.len(), out.len(), "as many groups as outputs");
        let pairs: Vec<[Digest; 2]> = inputs
            .iter()
            .flat_map(|pair| {
                (0..P::WIDTH).map(|lane| [digest(&pair[0], lane), digest(&pair[1], lane)])
            })
            .collect();
        let mut digests = vec![Digest::ZERO; pairs.len()];
        self.engine.merge_here(self.sponge, &pairs, &mut digests);
        for (out, digests) in out.iter_mut().zip(digests.chunks(P::WIDTH)) {
            *out = packed(digests);
        }
    }
}
