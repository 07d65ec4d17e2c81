//! What naga makes of the kernels in WGSL, see `xtask/shaders`: a program of its own, since it takes a
//! minute to build.
#![forbid(unsafe_code)]

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{
    Result, adapters,
    context::{Context, PROFILE, run as start},
    test::Outcome,
};

/// Options of `cargo xtask shaders`.
#[derive(clap::Args, Default)]
pub(crate) struct Args {
    /// Compare with what is pinned; write nothing.
    #[arg(long)]
    check: bool,
    /// Keep the translations in this folder, to read them.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result {
    translate(&Context::new()?, args)
}

/// The leg of CI.
pub(crate) fn check(context: &Context) -> Result<Outcome> {
    if !has_validator() {
        let installed = adapters::apt(context, &["spirv-tools"]);
        if env::var_os("CI").is_some() {
            installed.map_err(|e| format!("spirv-tools has to be here: {e}"))?;
        }
    }
    let args = Args {
        check: true,
        out: None,
    };
    translate(context, &args)?;
    if has_validator() {
        Ok(Outcome::Passed)
    } else {
        Ok(Outcome::Skipped(
            "MSL and HLSL are as pinned, but there is no spirv-val for the SPIR-V",
        ))
    }
}

fn has_validator() -> bool {
    let status = Command::new("spirv-val")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

fn translate(context: &Context, args: &Args) -> Result {
    let mut command = context.cargo();
    command
        .args(["run", "--locked", "--quiet", "--profile", PROFILE])
        .args(["--package", "fieldspar-shaders", "--"])
        .arg(&context.root);
    if args.check {
        command.arg("--check");
    }
    if let Some(out) = &args.out {
        command.arg("--out").arg(env::current_dir()?.join(out));
    }
    start(&mut command)
}
