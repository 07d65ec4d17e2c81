//! WHIR on every other GPU: Vulkan, Metal, DX12, OpenGL.
//!
//! The same resident prover as [`crate::cuda`]: polynomial, codewords, trees and sumcheck tables stay on
//! the adapter. The kernels lie in `shaders/`, in WGSL, in two arithmetic variants from one text: products
//! as 64-bit integers, or by 16-bit halves where the adapter has none.
//!
//! A wait costs 65 µs on a fast card, so a step of the transcript makes one and no more;
//! [`WgpuEngine::waits`] counts them. Memory that an adapter shows a kernel at once may be as little as
//! 128 MiB: codewords lie in pieces of whole columns, trees in subtrees.

#![forbid(unsafe_code)]

mod encode;
mod engine;
mod eval;
mod grind;
mod kernels;
mod measure;
mod open;
pub mod plan;
pub mod selftest;
mod sumcheck;
mod texts;
mod tree;
mod weights;

use crate::cuda::words;

pub use engine::{WgpuCodeword, WgpuEngine, WgpuPinned, WgpuPolynomial, WgpuSumcheck};
pub use measure::{Rates, measure};
pub use texts::{Entry, Module, modules};
