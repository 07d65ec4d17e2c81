//! AArch64 without an AArch64 machine: a program of each capability is built by Debian's own cross
//! toolchain, and what it prints under user-mode emulation is held against what the host's prints. Emulation shows that the code is
//! right, not how fast it is.
#![forbid(unsafe_code)]

use std::{
    collections::BTreeSet,
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
/// What each capability runs there: an example that prints digests, with its arguments.
const EXAMPLES: [(&str, &str, &[&str]); 2] = [
    ("fieldspar-whir", "whir_bytes", &[]),
    ("fieldspar-rpo", "rpo_bytes", &["1", "300"]),
];
/// Processors that the emulator plays: NEON alone, then each vector length of SVE.
const PROCESSORS: [&str; 4] = [
    "max,sve=off",
    "max,sve128=on,sve256=off,sve512=off",
    "max,sve256=on,sve512=off",
    "max,sve512=on",
];

/// Whether the host can do it: the packages come from Debian.
pub(crate) fn possible() -> bool {
    cfg!(all(target_os = "linux", target_arch = "x86_64")) && on_path("apt-get")
}

/// Builds the examples for both architectures and compares what they print.
pub(crate) fn check(context: &Context) -> Result {
    install(context, &PACKAGES)?;
    let rustc = Compiler::open(context)?;
    let cross = context.target.join("aarch64");
    for (package, example, args) in EXAMPLES {
        run(context
            .cargo()
            .env("RUSTC", &rustc.wrapper)
            .env(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER",
                "aarch64-linux-gnu-gcc",
            )
            .env("CARGO_TARGET_DIR", &cross)
            .args(["build", "--locked", "--quiet", "--profile", PROFILE])
            .args(["--target", TARGET, "--package", package])
            // The GPUs' side has nothing to run on there.
            .args(["--no-default-features", "--example", example]))?;
        // With the features of the tests, which have built it already.
        run(context
            .cargo()
            .args(["build", "--locked", "--quiet", "--profile", PROFILE])
            .args(["--workspace", "--example", example]))?;
        let path = |root: &Path| root.join(PROFILE).join("examples").join(example);
        let expected = digests(context.command(path(&context.target)).args(args))?;
        for processor in PROCESSORS {
            let emulated = digests(
                context
                    .command("qemu-aarch64")
                    .args(["-L", "/usr/aarch64-linux-gnu", "-cpu", processor])
                    .arg(path(&cross.join(TARGET)))
                    .args(args),
            )?;
            if emulated != expected {
                return Err(format!(
                    "{package} on {processor}: {emulated:?}, but here {expected:?}"
                )
                .into());
            }
            println!("{package}: the host's bytes on {processor}");
        }
    }
    Ok(())
}

/// The digests that an example prints, each the last word of its line; before it stands what was run,
/// which is not the same everywhere.
fn digests(command: &mut Command) -> Result<BTreeSet<String>> {
    let printed = output(command)?;
    let digests: BTreeSet<String> = printed
        .lines()
        .filter_map(|line| line.split_whitespace().last())
        .map(str::to_owned)
        .collect();
    match digests.is_empty() {
        true => Err("the example printed no digest".into()),
        false => Ok(digests),
    }
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
}
