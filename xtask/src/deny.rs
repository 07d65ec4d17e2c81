//! cargo-deny: licences, banned crates and sources of the dependencies; known vulnerabilities.
#![forbid(unsafe_code)]

use std::{path::PathBuf, process::Command};

use crate::{
    Result,
    context::{Context, output, run},
};

/// The release that deny.toml is written for.
const VERSION: &str = "0.20.2";

/// `cargo deny check licenses bans sources`. Needs the crates of the lock file, and no network beyond
/// the registry.
pub(crate) fn check(context: &Context) -> Result {
    deny(context, &["licenses", "bans", "sources"])
}

/// `cargo deny check advisories`. Fetches the RustSec database from its git host, which not every
/// builder can reach: run on demand only.
pub(crate) fn advisories(context: &Context) -> Result {
    deny(context, &["advisories"])
}

fn deny(context: &Context, checks: &[&str]) -> Result {
    let tool = tool(context)?;
    run(context
        .command(tool)
        .args(["--locked", "check"])
        .args(checks))
}

/// The pinned cargo-deny: target/tools, else the one on the path, else built from its source.
fn tool(context: &Context) -> Result<PathBuf> {
    let root = context.target.join("tools");
    let own = root
        .join("bin")
        .join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    for candidate in [own.clone(), PathBuf::from("cargo-deny")] {
        let version = output(Command::new(&candidate).arg("--version"));
        if version.is_ok_and(|v| v.trim() == format!("cargo-deny {VERSION}")) {
            return Ok(candidate);
        }
    }
    println!("cargo-deny {VERSION} is not here: building it");
    // Its own release profile (fat LTO, one unit) takes several times as long for a tool that runs a
    // second.
    run(context
        .cargo()
        .args(["install", "cargo-deny", "--locked", "--version", VERSION])
        .arg("--root")
        .arg(&root)
        .arg("--target-dir")
        .arg(root.join("build"))
        .args(["--config", "profile.release.lto=\"off\""])
        .args(["--config", "profile.release.opt-level=0"])
        .args(["--config", "profile.release.codegen-units=16"])
        .arg("--quiet"))?;
    // Hundreds of megabytes that nobody needs again.
    std::fs::remove_dir_all(root.join("build"))?;
    Ok(own)
}
