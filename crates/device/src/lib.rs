//! Which chips are here, which one runs this call, its limits, the memory plan and the errors.
#![forbid(unsafe_code)]

mod cpu;

pub use cpu::CpuVariant;

/// stub
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// mismatch
    #[error("{op} gave a wrong result at {index}")]
    Mismatch {
        /// op
        op: &'static str,
        /// index
        index: usize,
    },
}
