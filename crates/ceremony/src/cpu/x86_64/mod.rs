//! The x86-64 instruction sets.

pub(crate) mod avx2;
pub(crate) mod avx512;
