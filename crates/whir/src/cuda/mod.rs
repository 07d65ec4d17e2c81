//! WHIR on an NVIDIA GPU.
//!
//! Everything that grows with the polynomial stays on the device: the polynomial, codewords, trees
//! and sumcheck tables. Roots, single evaluations, two elements a sumcheck round, opened rows with
//! their paths and the final polynomial cross the bus.
//!
//! The kernels lie in `kernels/`; `cargo xtask kernels` compiles them into `kernels.bin`, which is
//! part of the program, so that a user needs nothing but the driver.

mod encode;
mod engine;
mod eval;
mod kernels;
pub mod measure;
mod open;
pub mod plan;
pub mod selftest;
mod sumcheck;
mod tree;
mod weights;
pub(crate) mod words;
mod workspace;

pub use engine::{CudaCodeword, CudaEngine, CudaPolynomial, CudaSumcheck};
