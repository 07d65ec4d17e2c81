//! Rescue-Prime Optimized over the Goldilocks field: one permutation, the three sponges that are in
//! use, and Merkle trees; many states at a time, on the device that is there.
//!
//! The permutation (eprint 2022/1577) is one and stable: 12 elements of `p = 2^64 - 2^32 + 1`, 7
//! rounds. What is built on it is not: three hash functions called RPO-256 give three digests for the
//! same input. Nothing here has a default; each call names its [`Sponge`].
//!
//! | sponge | rate | capacity | padding of elements | as in |
//! |---|---|---|---|---|
//! | [`Sponge::Miden022`] `miden-0.22` | 0..8 | 8..12 | length mod 8 in the capacity | miden-crypto 0.22 to 0.28 |
//! | [`Sponge::Miden013`] `miden-0.13` | 4..12 | 0..4 | length mod 8 in the capacity | miden-crypto 0.13 to 0.20 |
//! | [`Sponge::Paper2023`] `paper-2023` | 4..12 | 0..4 | 1, 0, .. and a 1 in the capacity | the paper; miden-crypto 0.8 |
//!
//! # Elements and representation
//!
//! An element is a `u64` below [`MODULUS`]. A call that hashes refuses another with its index: were it
//! reduced silently, two inputs would have one digest. Whole states given to a permutation may hold
//! any 64-bit representatives; what comes back is always canonical.
//!
//! # Where to read on
//!
//! - [`mod@reference`]: the definition of correct, in plain Rust.
//! - [`sponge`]: the sponges, over any permutation.
//! - [`cpu`]: the processor; [`cuda`]: NVIDIA GPUs; [`wgpu`]: any GPU; [`engine`]: what any device does.
//! - [`p3`]: Plonky3's traits.
//! - [`merkle`]: trees, openings, their check.
#![deny(unsafe_code)]

pub mod cpu;
pub mod cuda;
mod digest;
pub mod engine;
mod error;
mod gpu;
pub mod merkle;
pub mod p3;
pub mod reference;
pub mod sponge;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub use digest::Digest;
pub use error::Error;
pub use sponge::Sponge;

/// The prime of the field, 2^64 - 2^32 + 1.
pub const MODULUS: u64 = 0xFFFF_FFFF_0000_0001;
/// Elements of a state.
pub const WIDTH: usize = 12;
/// Elements that a permutation absorbs.
pub const RATE: usize = 8;
/// Elements of a digest.
pub const DIGEST: usize = 4;
/// Rounds of the permutation, each with an S-box and its inverse.
pub const ROUNDS: usize = 7;

/// A state of the permutation.
pub type State = [u64; WIDTH];

/// The index of the first element that is not below [`MODULUS`], and that element.
///
/// # Errors
///
/// [`Error::NotCanonical`].
pub fn check_canonical(elements: &[u64]) -> Result<(), Error> {
    match elements.iter().position(|&x| x >= MODULUS) {
        None => Ok(()),
        Some(index) => Err(Error::NotCanonical {
            index,
            value: elements[index],
        }),
    }
}
