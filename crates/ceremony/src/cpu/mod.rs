//! Keccak-f\[1600\] in vector registers, and what is hashed with it in bulk.

pub(crate) mod isa;
pub(crate) mod keccak;
pub(crate) mod nodes;
mod portable;
pub(crate) mod sponge;
#[cfg(target_arch = "x86_64")]
mod x86_64;
