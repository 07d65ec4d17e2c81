//! AArch64 instantiations.

pub(crate) mod neon;
