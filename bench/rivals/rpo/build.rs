//! Records what the `info` answer reports about this build: compiler and enabled target features.
use std::process::Command;

fn main() {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|o| String::from_utf8(o.stdout).ok())
        .unwrap_or_default();
    let features = std::env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    println!("cargo::rustc-env=RIVAL_RUSTC={}", version.trim());
    println!("cargo::rustc-env=RIVAL_TARGET_FEATURES={features}");
    println!("cargo::rerun-if-changed=build.rs");
}
