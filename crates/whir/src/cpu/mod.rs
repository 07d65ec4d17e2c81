//! The CPU engine: generic kernels, instantiated per instruction set at run time.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod columns;
mod engine;
pub(crate) mod eval;
mod ext;
pub(crate) mod grind;
pub(crate) mod isa;
pub(crate) mod merkle;
pub(crate) mod ntt;
mod pages;
pub(crate) mod partial;
mod portable;
pub(crate) mod poseidon2;
pub(crate) mod single;
pub(crate) mod strided;
pub(crate) mod sumcheck;
pub(crate) mod table;
pub(crate) mod weights;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use engine::{CpuCodeword, CpuEngine, CpuSumcheck};
