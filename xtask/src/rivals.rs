//! The programs that `bench --vs` measures against. Each is its own crate in bench/rivals, outside
//! the workspace, so that it shares no dependency, feature or profile with what it is measured
//! against.
//!
//! Each is built twice: `native`, as its authors recommend, for the ratio of record, and `default`,
//! which is what a published binary would be; `rpo` for `x86-64-v3` as well, and one with a feature
//! `asm` a third time, `asm`: native, with that feature.
#![forbid(unsafe_code)]

use std::{fs, path::PathBuf, time::Instant};

use crate::{
    Result,
    context::{self, Context},
};

/// Options of `cargo xtask rivals`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these (folders of bench/rivals).
    names: Vec<String>,
    /// The processor that the `native` build is for.
    #[arg(long, value_name = "CPU", default_value = "native")]
    cpu: String,
}

/// One rival.
pub(crate) struct Rival {
    /// Its folder's name.
    pub(crate) name: String,
    folder: PathBuf,
}

/// Every rival, by name.
pub(crate) fn all(context: &Context) -> Result<Vec<Rival>> {
    let folder = context.root.join("bench/rivals");
    let mut rivals = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let folder = entry?.path();
            if folder.join("Cargo.toml").is_file()
                && let Some(name) = folder.file_name()
            {
                let name = name.to_string_lossy().into_owned();
                rivals.push(Rival { name, folder });
            }
        }
    }
    rivals.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(rivals)
}

impl Rival {
    /// Type-checks it, all rivals in one folder: whether they still compile against what they measure,
    /// at a fraction of the price of the optimised builds.
    pub(crate) fn check(&self, context: &Context) -> Result {
        context::run(
            context
                .cargo()
                .current_dir(&self.folder)
                .args(["check", "--locked", "--quiet", "--target-dir"])
                .arg(context.target.join("rivals")),
        )
    }

    /// Builds it into `target/<build>` of its folder.
    pub(crate) fn build(&self, context: &Context, build: &str, rustflags: &str) -> Result {
        self.build_with(context, build, rustflags, &[])
    }

    /// Whether its authors' assembly is a choice.
    fn has_assembly(&self) -> Result<bool> {
        let manifest = fs::read_to_string(self.folder.join("Cargo.toml"))?;
        Ok(manifest.lines().any(|line| line.starts_with("asm = ")))
    }

    fn build_with(&self, context: &Context, build: &str, rustflags: &str, more: &[&str]) -> Result {
        let start = Instant::now();
        let target = self.folder.join("target").join(build);
        let host = context::host_triple(context)?;
        context::run(
            context
                .cargo()
                .current_dir(&self.folder)
                // Set even when empty: flags of the surroundings must not leak into a measured build.
                .env("RUSTFLAGS", rustflags)
                .env_remove("CARGO_ENCODED_RUSTFLAGS")
                .env_remove("CARGO_TARGET_DIR")
                .args(["build", "--release", "--locked", "--quiet", "--target-dir"])
                .arg(&target)
                // With a target named, the flags do not reach build scripts, which run here and may
                // lack the instructions.
                .args(["--target", &host])
                .args(more),
        )?;
        let built = target.join(&host).join("release");
        let shelf = target.join("release");
        fs::create_dir_all(&shelf)?;
        for entry in fs::read_dir(&built)? {
            let path = entry?.path();
            let is_program = path.extension().is_none() && path.is_file();
            if let Some(name) = path.file_name().filter(|_| is_program) {
                fs::copy(&path, shelf.join(name))?;
            }
        }
        println!(
            "built {} ({build}) in {:.0} s",
            self.name,
            start.elapsed().as_secs_f64()
        );
        Ok(())
    }
}

/// `cargo xtask rivals`.
pub(crate) fn run_all(context: &Context, args: &Args) -> Result<usize> {
    let rivals = all(context)?;
    for name in &args.names {
        if !rivals.iter().any(|r| r.name == *name) {
            let known: Vec<&str> = rivals.iter().map(|r| r.name.as_str()).collect();
            return Err(format!("no rival `{name}`; there are: {}", known.join(", ")).into());
        }
    }
    let chosen = |r: &&Rival| args.names.is_empty() || args.names.contains(&r.name);
    let mut built = 0;
    for rival in rivals.iter().filter(chosen) {
        let native = format!("-C target-cpu={}", args.cpu);
        rival.build(context, "native", &native)?;
        rival.build(context, "default", "")?;
        if rival.name == "rpo" {
            // Its fastest published path is chosen at compile time by AVX2, not by AVX-512.
            rival.build(context, "v3", "-C target-cpu=x86-64-v3")?;
        }
        if rival.has_assembly()? {
            rival.build_with(context, "asm", &native, &["--features", "asm"])?;
        }
        built += 1;
    }
    Ok(built)
}

pub(crate) fn run(args: &Args) -> Result {
    match run_all(&Context::new()?, args)? {
        0 => Err("there are no rivals in bench/rivals".into()),
        n => {
            println!("{n} built, each at least twice");
            Ok(())
        }
    }
}
