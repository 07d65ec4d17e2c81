//! The straight-line parts of kernels, written out by a program: the same rounds and butterflies for
//! every shading language, which differ in how they declare a value and name a type.
#![forbid(unsafe_code)]

mod babybear;
mod dft;
mod dialect;
mod poseidon2;
mod writer;

use std::{fs, path::Path};

use crate::Result;
use dialect::{Cuda, Wgsl};

/// What procedures in WGSL work on.
const STATE: &str = "\nvar<private> s: array<u32, 16>;\n";

/// What a capability has generated: names relative to its folder of kernels, and texts.
fn files(capability: &str) -> Vec<(&'static str, String)> {
    match capability {
        "whir" => vec![
            ("generated/poseidon2_16.cuh", poseidon2::generate(&Cuda)),
            ("generated/dft16.cuh", dft::generate(&Cuda)),
            (
                "../../wgpu/shaders/generated/poseidon2_16.wgsl",
                poseidon2::generate(&Wgsl { prelude: STATE }),
            ),
            (
                "../../wgpu/shaders/generated/dft16.wgsl",
                dft::generate_with_rows(&Wgsl { prelude: STATE }),
            ),
        ],
        _ => Vec::new(),
    }
}

/// Writes the generated files of a capability; those that are right already are not touched.
pub(crate) fn write(capability: &str, folder: &Path) -> Result {
    for (name, text) in files(capability) {
        let path = folder.join(name);
        if fs::read_to_string(&path).is_ok_and(|there| there == text) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// The generated files are what the generator writes.
pub(crate) fn check(capability: &str, folder: &Path) -> Result {
    for (name, text) in files(capability) {
        let path = folder.join(name);
        let there = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if there != text {
            return Err(format!(
                "{} is not what the generator writes: run `cargo xtask kernels`",
                path.display()
            )
            .into());
        }
    }
    Ok(())
}
