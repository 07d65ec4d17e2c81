//! CPU variants, chosen at run time.
#![forbid(unsafe_code)]

use core::fmt;

use serde::{Deserialize, Serialize};

/// One instruction-set variant of the CPU kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CpuVariant {
    /// Plain Rust, no instruction set beyond the target's baseline.
    Portable,
    /// x86-64 AVX2: 8 lanes of 32 bits.
    Avx2,
    /// x86-64 AVX-512 (F): 16 lanes of 32 bits.
    Avx512,
    /// AArch64 NEON: 4 lanes of 32 bits.
    Neon,
    /// AArch64 SVE: vectors of any length. For hashing with RPO only, and never chosen unnamed: what it
    /// gains depends on the chip.
    Sve,
}

impl CpuVariant {
    /// The variants that every capability has, slowest first.
    pub const ALL: [Self; 4] = [Self::Portable, Self::Neon, Self::Avx2, Self::Avx512];

    /// Every variant that can be named: [`Self::ALL`] and those of one capability.
    pub const NAMED: [Self; 5] = [
        Self::Portable,
        Self::Neon,
        Self::Avx2,
        Self::Avx512,
        Self::Sve,
    ];

    /// The name used in device specifications (`cpu:avx2`).
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
            Self::Sve => "sve",
        }
    }

    /// Whether this processor can run the variant. Once true, true for the life of the process.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => std::arch::is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => std::arch::is_x86_feature_detected!("avx512f"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            #[cfg(target_arch = "aarch64")]
            Self::Sve => std::arch::is_aarch64_feature_detected!("sve"),
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }

    /// The fastest of [`Self::ALL`] that this processor can run.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL
            .into_iter()
            .rev()
            .find(|v| v.is_available())
            .unwrap_or(Self::Portable)
    }
}

impl fmt::Display for CpuVariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
