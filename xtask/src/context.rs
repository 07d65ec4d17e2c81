//! Where the workspace lies, and how a chore starts other programs.
#![forbid(unsafe_code)]

use std::{
    env,
    ffi::OsStr,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Result;

/// The profile of everything that a chore builds, see the workspace's Cargo.toml.
pub(crate) const PROFILE: &str = "ci";

/// The workspace.
pub(crate) struct Context {
    /// Its root.
    pub(crate) root: PathBuf,
    /// Where it is built.
    pub(crate) target: PathBuf,
}

impl Context {
    /// The workspace that this program belongs to.
    pub(crate) fn new() -> Result<Self> {
        // What cargo sets for this run, not what stood there when xtask was compiled: two clones may
        // share one target folder.
        let manifest = env::var_os("CARGO_MANIFEST_DIR");
        let manifest = PathBuf::from(manifest.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into()));
        let root = manifest.parent().ok_or("xtask has no parent folder")?;
        let root = root.canonicalize()?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(dir) if !dir.is_empty() => root.join(dir),
            _ => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// `program` in the workspace's root, without what cargo set for xtask's own run: build scripts
    /// would take it for a change and build again.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).stdin(Stdio::null());
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            let own = [
                "CARGO_PKG_",
                "CARGO_MANIFEST_",
                "CARGO_BIN_",
                "CARGO_CRATE_",
            ]
            .iter()
            .any(|prefix| name.starts_with(prefix));
            if own {
                command.env_remove(&*name);
            }
        }
        command
    }

    /// Cargo, the one that started xtask.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.command(cargo)
    }

    /// What the shared build holds under `name`.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        let name = format!("{name}{}", env::consts::EXE_SUFFIX);
        self.target.join(PROFILE).join(name)
    }
}

/// The command as a person would type it.
pub(crate) fn shown(command: &Command) -> String {
    let mut words = Vec::new();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            words.push(format!("{}={:?}", name.display(), value));
        }
    }
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    words.push(name.to_string_lossy().into_owned());
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    words.join(" ")
}

fn announce(command: &Command) {
    println!("$ {}", shown(command));
    // Ours before the child's, also where both go to one file.
    let _ = std::io::stdout().flush();
}

/// Runs the command with its output shown; an exit code other than 0 is an error.
pub(crate) fn run(command: &mut Command) -> Result {
    announce(command);
    let status = command
        .status()
        .map_err(|e| format!("{}: {e}", shown(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{}` ended with {status}", shown(command)).into())
    }
}

/// Runs the command in silence and gives its standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let out = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("{}: {e}", shown(command)))?;
    if out.status.success() {
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    } else {
        Err(format!("`{}` ended with {}", shown(command), out.status).into())
    }
}

/// The triple of the machine that builds.
pub(crate) fn host_triple(context: &Context) -> Result<String> {
    let version = output(context.command("rustc").args(["-vV"]))?;
    version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc names no host".into())
}

/// Runs the command, shows its standard output and gives it too, with whether it ended well.
pub(crate) fn tee(command: &mut Command) -> Result<(bool, String)> {
    announce(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", shown(command)))?;
    let mut all = Vec::new();
    if let Some(mut pipe) = child.stdout.take() {
        let mut chunk = [0; 8192];
        loop {
            let n = pipe.read(&mut chunk)?;
            if n == 0 {
                break;
            }
            let part = &chunk[..n];
            std::io::stdout().write_all(part)?;
            std::io::stdout().flush()?;
            all.extend_from_slice(part);
        }
    }
    let status = child.wait()?;
    Ok((status.success(), String::from_utf8_lossy(&all).into_owned()))
}
