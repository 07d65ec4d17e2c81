//! What is translated: every text that a crate compiles on an adapter.
#![forbid(unsafe_code)]

use crate::wgpu::Arithmetic;

/// The texts of WHIR, from its own source, which asks of the device crate for nothing but two names.
#[path = "../../../crates/whir/src/wgpu/texts.rs"]
#[allow(dead_code, unreachable_pub)]
mod whir;

/// A text, and what it needs.
pub(crate) struct Module {
    label: String,
    /// The whole text in WGSL.
    pub(crate) text: String,
    /// The entry points that there must be.
    pub(crate) entries: &'static [&'static str],
    /// It multiplies in 64-bit integers.
    pub(crate) has_u64: bool,
}

impl Module {
    /// Its name, the variant included.
    pub(crate) fn name(&self) -> String {
        let variant = if self.has_u64 { "u64" } else { "u32" };
        format!("{}.{variant}", self.label)
    }
}

/// Each capability that has kernels, and its texts.
pub(crate) fn capabilities() -> [(&'static str, Vec<Module>); 2] {
    let variants = [Arithmetic::U64, Arithmetic::U32];
    let rpo = variants.map(|variant| Module {
        label: "rpo".to_owned(),
        text: match variant {
            Arithmetic::U64 => concat!(
                include_str!("../../../crates/rpo/src/wgpu/shaders/field_u64.wgsl"),
                include_str!("../../../crates/rpo/src/wgpu/shaders/rpo.wgsl")
            ),
            Arithmetic::U32 => concat!(
                include_str!("../../../crates/rpo/src/wgpu/shaders/field_u32.wgsl"),
                include_str!("../../../crates/rpo/src/wgpu/shaders/rpo.wgsl")
            ),
        }
        .to_owned(),
        entries: &["permute_many", "merge_level", "hash_many"],
        has_u64: variant == Arithmetic::U64,
    });
    let whir = whir::modules().into_iter().flat_map(|module| {
        variants.map(|variant| Module {
            label: module.label(),
            text: module.text(variant),
            entries: module.entries(),
            has_u64: variant == Arithmetic::U64,
        })
    });
    [("rpo", rpo.into()), ("whir", whir.collect())]
}
