//! AArch64.

pub(crate) mod neon;
pub(crate) mod sve;
