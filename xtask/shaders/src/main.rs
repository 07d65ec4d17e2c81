//! Translates every kernel in WGSL as wgpu does at run time: to SPIR-V, which `spirv-val` checks, to MSL
//! and to HLSL, whose hashes are pinned: no compiler of Apple or Microsoft is at hand.
//!
//! A program of its own, so that whoever builds xtask does not build naga. `cargo xtask shaders` runs it.
#![forbid(unsafe_code)]

mod modules;
mod translate;

// What the crates' lists of texts take from the device crate, under its name.
extern crate self as fieldspar_device;
/// The two names.
pub mod wgpu {
    /// How products are made.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Arithmetic {
        /// In 64-bit integers.
        U64,
        /// By halves.
        U32,
    }
    /// How a kernel uses a buffer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Access {
        /// It reads.
        Read,
        /// It writes too.
        Write,
        /// It reads constants.
        Uniform,
    }
}

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

use sha2::{Digest, Sha256};

use modules::{Module, capabilities};
use translate::translate;

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The hashes of a capability, beside its kernels; lines as `sha256sum` writes and reads them.
const PINNED: &str = "src/wgpu/shaders/translated.sha256";

/// What the command line asks for: `ROOT [--check] [--out FOLDER]`.
struct Options {
    /// The workspace.
    root: PathBuf,
    /// Compare the hashes, write none.
    check: bool,
    /// Where the texts go.
    out: Option<PathBuf>,
}

impl Options {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self {
            root: arguments.next().ok_or("no folder of the workspace")?.into(),
            check: false,
            out: None,
        };
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--check" => options.check = true,
                "--out" => {
                    options.out = Some(arguments.next().ok_or("--out needs a folder")?.into())
                }
                other => return Err(format!("`{other}` is no option").into()),
            }
        }
        Ok(options)
    }
}

fn main() -> ExitCode {
    match Options::parse(env::args().skip(1)).and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result {
    let validator = validator();
    if validator.is_none() && env::var_os("CI").is_some() {
        return Err("spirv-val has to be here: Debian's package spirv-tools".into());
    }
    let folder = env::temp_dir().join(format!("fieldspar-shaders-{}", std::process::id()));
    let out = options.out.as_ref().unwrap_or(&folder);
    let result = all(options, out, validator.is_some());
    if options.out.is_none() {
        // Only what was made here.
        let _ = fs::remove_dir_all(&folder);
    }
    result
}

fn all(options: &Options, out: &Path, is_validated: bool) -> Result {
    for (capability, modules) in capabilities() {
        let folder = out.join(capability);
        fs::create_dir_all(&folder)?;
        let mut pinned = String::new();
        for module in &modules {
            one(module, &folder, is_validated, &mut pinned)
                .map_err(|e| format!("{capability} {}: {e}", module.name()))?;
        }
        let path = options.root.join("crates").join(capability).join(PINNED);
        if options.check {
            let there = fs::read_to_string(&path).unwrap_or_default();
            compare(capability, &there, &pinned)?;
        } else {
            fs::write(&path, &pinned).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        println!(
            "{capability}: {} texts; SPIR-V {}; MSL and HLSL {}",
            modules.len(),
            if is_validated {
                "is valid"
            } else {
                "not checked: no spirv-val"
            },
            if options.check { "as pinned" } else { "pinned" },
        );
    }
    Ok(())
}

/// Translates and checks one text, and adds its hashes.
fn one(module: &Module, folder: &Path, is_validated: bool, pinned: &mut String) -> Result {
    let made = translate(module)?;
    let name = module.name();
    let spirv = folder.join(format!("{name}.spv"));
    let bytes: Vec<u8> = made
        .spirv
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    fs::write(&spirv, bytes)?;
    if is_validated {
        let status = Command::new("spirv-val")
            .args(["--target-env", "vulkan1.1"])
            .arg(&spirv)
            .output()?;
        if !status.status.success() {
            let words = String::from_utf8_lossy(&status.stderr).into_owned()
                + &String::from_utf8_lossy(&status.stdout);
            return Err(format!("spirv-val refuses it: {}", words.trim()).into());
        }
    }
    for (kind, text) in [("metal", &made.msl), ("hlsl", &made.hlsl)] {
        let file = format!("{name}.{kind}");
        fs::write(folder.join(&file), text)?;
        let digest = Sha256::digest(text);
        let mut hex = String::new();
        for byte in digest {
            write!(hex, "{byte:02x}")?;
        }
        writeln!(pinned, "{hex}  {file}")?;
    }
    Ok(())
}

fn compare(capability: &str, there: &str, made: &str) -> Result {
    if there == made {
        return Ok(());
    }
    let differs = made.lines().find(|line| !there.lines().any(|l| l == *line));
    let file = differs.and_then(|line| line.split_whitespace().nth(1));
    Err(format!(
        "{capability}: {} is not what is pinned: read the change in what `cargo xtask shaders --out FOLDER` writes, then pin it with `cargo xtask shaders`",
        file.unwrap_or("a file that is no more made"),
    )
    .into())
}

/// The version of `spirv-val`, if it is here.
fn validator() -> Option<String> {
    let output = Command::new("spirv-val").arg("--version").output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}
