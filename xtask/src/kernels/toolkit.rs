//! The pinned compilers: which wheels of PyPI, for which architectures, with which options.
#![forbid(unsafe_code)]

use std::{fs, path::PathBuf};

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::nvrtc::Nvrtc;
use crate::{
    Result,
    context::{Context, run},
};

/// Whether the pinned compilers run here.
pub(crate) const POSSIBLE: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// What xtask/kernels.json says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    /// The package on PyPI.
    package: String,
    /// Its releases that are used.
    pub(crate) toolkits: Vec<Toolkit>,
    /// Options of every compilation.
    pub(crate) options: Vec<String>,
}

/// One release of the compiler and what it makes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Toolkit {
    version: String,
    wheel: String,
    sha256: String,
    library: PathBuf,
    builtins: PathBuf,
    /// Architectures that get machine code: 90 is sm_90.
    pub(crate) cubins: Vec<u16>,
    /// Architectures that get PTX: 75 is compute_75.
    pub(crate) ptx: Vec<u16>,
}

impl Manifest {
    /// Images of one module.
    pub(crate) fn images(&self) -> usize {
        let of = |t: &Toolkit| t.cubins.len() + t.ptx.len();
        self.toolkits.iter().map(of).sum()
    }

    pub(crate) fn read(context: &Context) -> Result<Self> {
        let path = context.root.join("xtask/kernels.json");
        let text = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        serde_json::from_slice(&text).map_err(|e| format!("{}: {e}", path.display()).into())
    }

    /// The compiler of a release, downloaded if it is not there yet.
    pub(crate) fn open(&self, context: &Context, toolkit: &Toolkit) -> Result<Nvrtc> {
        if !POSSIBLE {
            return Err(
                "kernels are compiled on x86_64 Linux: the pinned wheels are for it".into(),
            );
        }
        let shelf = context.target.join("nvrtc");
        let folder = shelf.join(&toolkit.version);
        if !folder.is_dir() {
            self.download(context, toolkit)?;
        }
        Nvrtc::load(
            &folder.join(&toolkit.library),
            &folder.join(&toolkit.builtins),
        )
    }

    fn download(&self, context: &Context, toolkit: &Toolkit) -> Result {
        let shelf = context.target.join("nvrtc");
        // Of its own, so that two runs do not meet; it becomes the folder only when it is whole.
        let part = shelf.join(format!("{}.part{}", toolkit.version, std::process::id()));
        fs::create_dir_all(&part)?;
        let result = self.unpack(context, toolkit, &part);
        let folder = shelf.join(&toolkit.version);
        let moved = result.and_then(|()| match fs::rename(&part, &folder) {
            Err(_) if folder.is_dir() => Ok(()),
            other => other.map_err(Into::into),
        });
        if part.is_dir() {
            fs::remove_dir_all(&part)?;
        }
        moved
    }

    fn unpack(&self, context: &Context, toolkit: &Toolkit, part: &PathBuf) -> Result {
        run(context
            .command("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--disable-pip-version-check", "--only-binary", ":all:"])
            .arg("--dest")
            .arg(part)
            .arg(format!("{}=={}", self.package, toolkit.version)))
        .map_err(|e| format!("{e}\nPython 3 with pip has to be here, and reach PyPI"))?;
        let wheel = part.join(&toolkit.wheel);
        let bytes = fs::read(&wheel)
            .map_err(|e| format!("pip brought another file than {}: {e}", toolkit.wheel))?;
        let digest = hex(&Sha256::digest(&bytes));
        if digest != toolkit.sha256 {
            return Err(format!(
                "{} has sha256 {digest}, xtask/kernels.json expects {}",
                toolkit.wheel, toolkit.sha256
            )
            .into());
        }
        // A wheel is a zip file.
        run(context
            .command("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(&wheel)
            .arg(part))?;
        fs::remove_file(&wheel)?;
        Ok(())
    }
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
