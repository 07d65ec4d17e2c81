//! The processor: one algorithm text, several instruction sets, chosen at run time.
//!
//! One state to a lane, so that all lanes do the same and none waits for another; and beside the
//! vectors some states in the general registers, whose units would stand idle.

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod engine;
mod isa;
mod kernels;
mod mds;
mod portable;
mod rounds;
mod sbox;
mod words;
#[cfg(target_arch = "x86_64")]
mod x86_64;

pub use engine::CpuEngine;
