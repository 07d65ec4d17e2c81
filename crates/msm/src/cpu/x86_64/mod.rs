//! x86-64: `adx` with 64-bit carry chains, `avx512` with eight lanes of 52-bit limbs.

pub(crate) mod adx;
pub(crate) mod avx512;
