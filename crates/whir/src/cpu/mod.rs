//! The CPU engine: generic kernels, instantiated per instruction set at run time.

#[cfg(target_arch = "aarch64")]
mod aarch64;
pub(crate) mod isa;
pub(crate) mod ntt;
mod portable;
pub(crate) mod strided;
#[cfg(target_arch = "x86_64")]
mod x86_64;
