//! The compiled kernels, by name.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Archive, Cuda, Function, Module};

/// What `cargo xtask kernels` made of `kernels/*.cu`.
static ARCHIVE: &[u8] = include_bytes!("kernels.bin");

/// Every kernel of this crate, loaded on one GPU.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) permute_many: Function,
    pub(super) hash_rows: Function,
    pub(super) hash_many: Function,
    pub(super) merge_level: Function,
    pub(super) merge_narrow: Function,
}

impl Kernels {
    /// Loads the kernels for this GPU's architecture.
    pub(super) fn load(cuda: &Cuda) -> Result<Self, Error> {
        let image = Archive::parse(ARCHIVE)
            .and_then(|archive| archive.image("rpo", cuda.info().capability))
            .map_err(|e| Error::Unsupported {
                op: "load kernels",
                device: cuda.name().to_owned(),
                why: e.to_string(),
            })?;
        Self::of(&cuda.load_module(&image.bytes)?)
    }

    /// The kernels of a module.
    pub(super) fn of(module: &Module) -> Result<Self, Error> {
        Ok(Self {
            permute_many: module.function("permute_many")?,
            hash_rows: module.function("hash_rows")?,
            hash_many: module.function("hash_many")?,
            merge_level: module.function("merge_level")?,
            merge_narrow: module.function("merge_narrow")?,
        })
    }
}

/// Sha256 of the sources of the kernels, in hex: a passed self-test holds for these.
#[must_use]
pub fn kernels_id() -> Option<String> {
    let sources = Archive::parse(ARCHIVE).ok()?.sources();
    Some(sources.iter().map(|byte| format!("{byte:02x}")).collect())
}
