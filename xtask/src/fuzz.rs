//! The fuzz targets: their own workspace in fuzz/, laid out as cargo-fuzz wants it.
#![forbid(unsafe_code)]

use std::{fs, path::PathBuf, process::Command};

use crate::{
    Result,
    context::{Context, PROFILE, output, run},
};

/// What cargo-fuzz passes for `-s none`: coverage, no sanitizer, all of it stable. Given here so that a
/// soak needs no cargo-fuzz.
const COVERAGE: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// The line of fuzz/Cargo.toml that keeps the targets out of the checks while the API they call is not
/// there.
const OFF: &str = "build-in-ci = false";

/// The targets, by the names of their files; `None` while fuzz/Cargo.toml says that they cannot build.
pub(crate) fn targets(context: &Context) -> Result<Option<Vec<String>>> {
    let manifest = context.root.join("fuzz/Cargo.toml");
    if !manifest.is_file()
        || fs::read_to_string(&manifest)?
            .lines()
            .any(|l| l.trim() == OFF)
    {
        return Ok(None);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(context.root.join("fuzz/fuzz_targets"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "rs")
            && let Some(stem) = path.file_stem()
        {
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(Some(names))
}

/// Builds the targets with the profile and into the folder of the workspace, whose compiled
/// dependencies they share, and runs each over its seeds and `runs` mutations of them. Only the target
/// itself is instrumented, which is enough to keep libFuzzer going; the search proper is the soak's.
pub(crate) fn check(context: &Context, names: &[String], runs: u32) -> Result {
    for name in names {
        run(context
            .cargo()
            .args(["rustc", "--locked", "--quiet", "--profile", PROFILE])
            .args(["--manifest-path", "fuzz/Cargo.toml", "--bin", name])
            .arg("--target-dir")
            .arg(&context.target)
            .arg("--")
            .args(COVERAGE))?;
        // libFuzzer writes what it finds into the first folder, which must not be the committed one.
        let found = context.target.join("fuzz").join(name);
        fs::create_dir_all(&found)?;
        run(context
            .command(context.built(name))
            .arg(found)
            .arg(seeds(context, name)?)
            .arg(format!("-runs={runs}"))
            .args(["-keep_seed=1", "-seed=1", "-verbosity=0"])
            .args(["-max_total_time=60", "-timeout=10", "-rss_limit_mb=2048"])
            .arg(format!(
                "-artifact_prefix={}/",
                artifacts(context)?.display()
            )))?;
    }
    Ok(())
}

/// The command that fuzzes `name` with coverage for `seconds`; builds it first.
pub(crate) fn fuzz(context: &Context, name: &str, seconds: u64) -> Result<Command> {
    let known =
        targets(context)?.ok_or("fuzz/Cargo.toml says that the targets cannot build yet")?;
    if !known.iter().any(|k| k == name) {
        return Err(format!("no fuzz target `{name}`").into());
    }
    let host = host(context)?;
    let target = context.root.join("fuzz/target");
    run(context
        .cargo()
        // With `--target` the flags do not reach build scripts, which could not link with them.
        .env("RUSTFLAGS", COVERAGE.join(" "))
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .args(["build", "--locked", "--profile", PROFILE, "--quiet"])
        .args(["--manifest-path", "fuzz/Cargo.toml", "--bin", name])
        .args(["--target", &host, "--target-dir"])
        .arg(&target))?;
    // New inputs go here, not among the committed seeds.
    let corpus = target.join("corpus").join(name);
    fs::create_dir_all(&corpus)?;
    let mut command = context.command(target.join(&host).join(PROFILE).join(name));
    command
        .arg(corpus)
        .arg(seeds(context, name)?)
        .arg(format!("-max_total_time={seconds}"))
        .args(["-timeout=10", "-rss_limit_mb=4096", "-print_final_stats=1"])
        .arg(format!(
            "-artifact_prefix={}/",
            artifacts(context)?.display()
        ));
    Ok(command)
}

/// Committed seeds.
fn seeds(context: &Context, name: &str) -> Result<PathBuf> {
    let folder = context.root.join("fuzz/corpus").join(name);
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(format!("fuzz target `{name}` has no seeds in fuzz/corpus").into())
    }
}

/// Where inputs that crash a target are left.
fn artifacts(context: &Context) -> Result<PathBuf> {
    let folder = context.root.join("fuzz/artifacts");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn host(context: &Context) -> Result<String> {
    let version = output(context.command("rustc").arg("-vV"))?;
    version
        .lines()
        .find_map(|l| l.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc does not say its host".into())
}
