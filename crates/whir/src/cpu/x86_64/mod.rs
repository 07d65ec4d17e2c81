//! x86-64 instantiations.

pub(crate) mod avx2;
pub(crate) mod avx512;
