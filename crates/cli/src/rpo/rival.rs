//! The rivals of `rpo bench`: builds of bench/rivals/rpo, each a process that answers lines.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::failure::Failure;

const FOLDER: &str = "bench/rivals/rpo/target";
/// The builds, as `cargo xtask rivals` names them.
pub(super) const BUILDS: [&str; 3] = ["default", "v3", "native"];

/// One build, running.
pub(super) struct Rival {
    pub(super) build: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Rival {
    pub(super) fn start(build: &'static str, threads: usize) -> Result<Self, Failure> {
        let program = find(build).ok_or_else(|| {
            Failure::input(format!(
                "the {build} build of rpo is not there: run `cargo xtask rivals rpo`"
            ))
        })?;
        let failed =
            |e: std::io::Error| Failure::input(e.to_string()).at(program.display().to_string());
        let mut child = Command::new(&program)
            .env("RAYON_NUM_THREADS", threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self {
                build,
                child,
                input,
                output: BufReader::new(output),
            }),
            _ => Err(Failure::internal("a child without its pipes")),
        }
    }

    fn ask(&mut self, request: &Value) -> Result<Value, Failure> {
        let mut line = String::new();
        let answer: Value = writeln!(self.input, "{request}")
            .and_then(|()| self.input.flush())
            .and_then(|()| self.output.read_line(&mut line))
            .ok()
            .and_then(|_| serde_json::from_str(&line).ok())
            .unwrap_or_default();
        if answer.is_object() && answer["error"].is_null() {
            return Ok(answer);
        }
        let line = line.trim();
        Err(Failure::internal(format!("the rival answered `{line}`")))
    }

    /// Versions and flags of the build.
    pub(super) fn info(&mut self) -> Result<Value, Failure> {
        self.ask(&json!({"op": "info"}))
    }

    /// Nanoseconds per permutation, and the fold of the result.
    pub(super) fn run(
        &mut self,
        who: &str,
        op: &str,
        count: usize,
        seed: u64,
    ) -> Result<(f64, String), Failure> {
        let request = json!({"who": who, "op": op, "count": count, "seed": seed});
        let answer = self.ask(&request)?;
        match (answer["ns"].as_f64(), answer["check"].as_str()) {
            (Some(ns), Some(check)) => Ok((ns, check.to_owned())),
            _ => Err(Failure::internal(format!("the rival answered `{answer}`"))),
        }
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(build: &str) -> Option<PathBuf> {
    let working = std::env::current_dir().unwrap_or_default();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    working
        .ancestors()
        .chain(source.ancestors())
        .map(|root| root.join(FOLDER).join(build).join("release/rival-rpo"))
        .find(|path| path.is_file())
}
