//! WHIR polynomial commitments over BabyBear: Plonky3's own proofs, byte for byte, made on the
//! device that is there.
//!
//! Commit to a multilinear polynomial given by its values on the hypercube, open it at a point,
//! verify. Commitments, proofs, transcript and verifier are those of `p3-whir` 0.8.0; the prover
//! is this crate's. Proof of work takes the smallest nonce, so that a proof is the same on every
//! device and for every number of threads.
//!
//! # In three calls
//!
//! ```
//! use fieldspar_device::CpuVariant;
//! use fieldspar_whir::cpu::CpuEngine;
//! use fieldspar_whir::field::EF5;
//! use fieldspar_whir::input::{Encoding, parse};
//! use fieldspar_whir::params::Params;
//! use fieldspar_whir::statement::{prove, random_point, verify};
//!
//! // 100 bits under the Johnson bound, degree-5 extension
//! let params = Params::default();
//! let input = parse(b"any bytes, three to an element", Encoding::Bytes)?;
//! let engine = CpuEngine::new(CpuVariant::best())?;
//! let proved = prove::<EF5, _>(&engine, &params, input, |n| random_point(7, n))?;
//! verify(&proved.file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # In Plonky3
//!
//! [`pcs::WhirPcs`] is a `MultilinearPcs` and a `PrescribedPointPcs`: put it where
//! `p3_whir::pcs::prover::WhirProver` stood, under `p3-multi-stark` for instance, and nothing else
//! changes. The examples `keccak` and `poseidon2` do that.
//!
//! # Where to read on
//!
//! - [`params`]: what can be chosen, and what is refused with the figure that is needed.
//! - [`driver`] and [`engine`]: the protocol, and what a device does for it.
//! - [`cpu`]: the CPU engine and its instruction sets.
//! - [`proof`]: the proof file; `docs/proof-format.md` has it byte by byte.
//!
//! # What a proof does not say
//!
//! Proofs are not zero-knowledge: opened rows of the codeword are revealed. Binding the length of
//! the input does not prove that the padding behind it is zero.
#![deny(unsafe_code)]

mod challenger;
mod claims;
pub mod cpu;
pub mod cuda;
pub mod driver;
pub mod engine;
pub mod error;
pub mod field;
pub mod input;
pub mod params;
pub mod pcs;
pub mod plan;
pub mod profile;
pub mod proof;
pub mod selftest;
pub mod statement;
#[cfg(feature = "wgpu")]
pub mod wgpu;

#[cfg(test)]
mod testing;
