//! The CPU engine: generic kernels, instantiated per instruction set at run time.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod grind;
pub(crate) mod isa;
pub(crate) mod merkle;
mod portable;
pub(crate) mod poseidon2;
#[cfg(target_arch = "x86_64")]
mod x86_64;
