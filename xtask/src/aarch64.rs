//! AArch64 without an AArch64 machine: the program is built by Debian's own cross toolchain, and what it
//! does under user-mode emulation is held against what the host's does. Emulation shows that the code is
//! right, not how fast it is.
#![forbid(unsafe_code)]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    Result,
    context::{Context, PROFILE, output, run},
};

const TARGET: &str = "aarch64-unknown-linux-gnu";
/// What the leg needs of Debian: a linker with its C library, and an emulator.
const PACKAGES: [&str; 3] = [
    "gcc-aarch64-linux-gnu",
    "libc6-dev-arm64-cross",
    "qemu-user",
];
/// Sizes of the proofs that are compared: below a vector, at its edges, several folds.
const SIZES: [u64; 8] = [1, 4, 7, 8, 60, 1000, 4096, 40_000];

/// Whether the host can do it: the packages come from Debian.
pub(crate) fn possible() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64")) && on_path("apt-get")
}

/// Builds the program and compares the emulated one with the host's.
pub(crate) fn check(context: &Context) -> Result {
    install(context, &PACKAGES)?;
    let rustc = Compiler::open(context)?;
    run(context
        .cargo()
        .env("RUSTC", &rustc.wrapper)
        .env(
            "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
            "aarch64-linux-gnu-gcc",
        )
        .env("CARGO_TARGET_DIR", context.target.join("aarch64"))
        .args([
            "build",
            "--locked",
            "--profile",
            PROFILE,
            "--target",
            TARGET,
        ])
        .args(["--package", "fieldspar"]))?;
    // Usually there already: the tests of the command line build it.
    run(context.cargo().args([
        "build",
        "--locked",
        "--profile",
        PROFILE,
        "--package",
        "fieldspar",
    ]))?;
    let built = context.target.join("aarch64").join(TARGET).join(PROFILE);
    compare(
        context,
        &built.join("fieldspar"),
        &context.built("fieldspar"),
    )
}

/// The self-test on NEON, and proofs by both.
fn compare(context: &Context, emulated: &Path, host: &Path) -> Result {
    let arm = || {
        let mut command = context.command("qemu-aarch64");
        command.args(["-L", "/usr/aarch64-linux-gnu"]).arg(emulated);
        command
    };
    run(arm().args(["selftest", "--device", "cpu:neon"]))?;
    let folder = context.target.join("aarch64/proofs");
    fs::create_dir_all(&folder)?;
    for length in SIZES {
        let input = folder.join(format!("{length}.bin"));
        fs::write(&input, sample(length))?;
        let prove = |mut command: Command, name: &str| -> Result<Vec<u8>> {
            let proof = folder.join(name);
            command
                .args([
                    "whir",
                    "prove",
                    "--encoding",
                    "u32",
                    "--at",
                    "random:1",
                    "--force",
                    "-q",
                ])
                .args(["--security-level", "60", "--pow-bits", "8"])
                .arg(&input)
                .arg("-o")
                .arg(&proof);
            output(&mut command)?;
            Ok(fs::read(proof)?)
        };
        let expected = prove(context.command(host), "host.fsp")?;
        for variant in ["cpu:neon", "cpu:portable"] {
            let mut command = arm();
            command.args(["--device", variant, "--threads", "2"]);
            if prove(command, "arm.fsp")? != expected {
                return Err(format!(
                    "{length} elements: {variant} gives other bytes than the host"
                )
                .into());
            }
        }
        println!("{length} elements: equal bytes");
    }
    Ok(())
}

/// Canonical little-endian elements, some of them at the edges of the field.
fn sample(length: u64) -> Vec<u8> {
    const P: u64 = 0x7800_0001;
    let edges = [0, 1, P - 1, P / 2];
    (0..length)
        .map(|i| match edges.get(i as usize % 11) {
            Some(&edge) => edge,
            None => i.wrapping_mul(0x9E37_79B9_7F4A_7C15) % P,
        })
        .flat_map(|x| (x as u32).to_le_bytes())
        .collect()
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|p| p.join(program).is_file()))
}

/// Installs what is missing.
fn install(context: &Context, packages: &[&str]) -> Result {
    let there = |package: &&&str| {
        let mut query = context.command("dpkg-query");
        query.args(["--show", "--showformat=${db:Status-Status}", package]);
        query.output().is_ok_and(|out| out.stdout == b"installed")
    };
    let missing: Vec<&&str> = packages.iter().filter(|p| !there(p)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    run(context.command("apt-get").args(["-qq", "update"]))?;
    run(context
        .command("apt-get")
        .args(["install", "-y", "-qq", "--no-install-recommends"])
        .args(missing))
}

/// Debian's compiler with the standard library for AArch64, unpacked beside the build: as a package it
/// would take the place of the system's `rustc`.
struct Compiler {
    /// Starts it with its own libraries.
    wrapper: PathBuf,
}

impl Compiler {
    fn open(context: &Context) -> Result<Self> {
        let shelf = context.target.join("aarch64-rustc");
        let wrapper = shelf.join("rustc");
        if !wrapper.exists() {
            Self::fetch(context, &shelf, &wrapper)?;
        }
        println!(
            "compiler   {}",
            output(context.command(&wrapper).arg("--version"))?.trim()
        );
        Ok(Self { wrapper })
    }

    fn fetch(context: &Context, shelf: &Path, wrapper: &Path) -> Result {
        // Lists of both architectures, apart from the system's.
        let (lists, cache) = (shelf.join("lists"), shelf.join("cache"));
        let (debs, root) = (shelf.join("debs"), shelf.join("root"));
        for folder in [
            &lists.join("partial"),
            &cache.join("archives/partial"),
            &debs,
            &root,
        ] {
            fs::create_dir_all(folder)?;
        }
        let apt = |program: &str| {
            let mut command = context.command(program);
            command
                .current_dir(&debs)
                .arg("-qq")
                .args(["-o", "APT::Architectures::=amd64"])
                .args(["-o", "APT::Architectures::=arm64"])
                .arg("-o")
                .arg(format!("Dir::State::lists={}", lists.display()))
                .arg("-o")
                .arg(format!("Dir::Cache={}", cache.display()));
            command
        };
        run(apt("apt-get").arg("update"))?;
        // The newest: `libstd-rust-web-1.96` and `libllvm22` carry their versions in their names.
        let std = dependency(
            &output(apt("apt-cache").args(["depends", "libstd-rust-web-dev:arm64"]))?,
            "libstd-rust-web-",
        )?;
        let llvm = dependency(
            &output(apt("apt-cache").args(["depends", &format!("{std}:amd64")]))?,
            "libllvm",
        )?;
        // Its code generator has dependencies of its own.
        install(context, &[&llvm])?;
        run(apt("apt-get").arg("download").args([
            "rustc-web:amd64".to_owned(),
            "libstd-rust-web-dev:amd64".to_owned(),
            "libstd-rust-web-dev:arm64".to_owned(),
            format!("{std}:amd64"),
        ]))?;
        for deb in fs::read_dir(&debs)? {
            run(context
                .command("dpkg")
                .arg("-x")
                .arg(deb?.path())
                .arg(&root))?;
        }
        let text = format!(
            "#!/bin/sh\nLD_LIBRARY_PATH='{0}/usr/lib/x86_64-linux-gnu' exec '{0}/usr/bin/rustc' \"$@\"\n",
            root.display()
        );
        let begun = shelf.join("rustc.new");
        fs::write(&begun, text)?;
        run(context.command("chmod").arg("+x").arg(&begun))?;
        Ok(fs::rename(begun, wrapper)?)
    }
}

/// The first package that another depends on whose name begins so.
fn dependency(listed: &str, begins: &str) -> Result<String> {
    listed
        .lines()
        .filter_map(|l| l.trim().strip_prefix("Depends: "))
        .map(|l| l.split(':').next().unwrap_or(l))
        .find(|l| l.starts_with(begins))
        .map(str::to_owned)
        .ok_or_else(|| format!("no dependency named {begins}* in:\n{listed}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_found_by_name() {
        let listed =
            "libstd-rust-web-dev:arm64\n  Depends: libstd-rust-web-1.96:arm64\n  Replaces: x\n";
        assert_eq!(
            dependency(listed, "libstd-rust-web-").as_deref().ok(),
            Some("libstd-rust-web-1.96")
        );
        assert!(dependency(listed, "libllvm").is_err());
    }

    #[test]
    fn samples_are_canonical() {
        let bytes = sample(1000);
        assert_eq!(bytes.len(), 4000);
        for word in bytes.as_chunks::<4>().0 {
            assert!(u32::from_le_bytes(*word) < 0x7800_0001);
        }
    }
}
