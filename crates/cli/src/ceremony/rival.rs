//! A rival program that answers lines of standard input.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// A built rival, waiting.
pub(super) struct Rival {
    pub(super) build: &'static str,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Rival {
    /// Starts `name` of bench/rivals, as `cargo xtask rivals` has built it.
    pub(super) fn start(name: &str, build: &'static str) -> Result<Self, Failure> {
        let working = std::env::current_dir().unwrap_or_default();
        let source = Path::new(env!("CARGO_MANIFEST_DIR"));
        let target = format!("bench/rivals/{name}/target/{build}/release/rival-{name}");
        let program: PathBuf = working
            .ancestors()
            .chain(source.ancestors())
            .map(|root| root.join(&target))
            .find(|path| path.is_file())
            .ok_or_else(|| {
                Failure::input(format!(
                    "the {build} build of {name} is not there: run `cargo xtask rivals`"
                ))
            })?;
        let failed =
            |e: std::io::Error| Failure::input(e.to_string()).at(program.display().to_string());
        let mut child = Command::new(&program)
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

    /// Its answer to a line, without an error.
    pub(super) fn ask(&mut self, question: &str) -> Result<Value, Failure> {
        let mut line = String::new();
        let read = writeln!(self.input, "{question}")
            .and_then(|()| self.input.flush())
            .and_then(|()| self.output.read_line(&mut line));
        let answer: Option<Value> = read.ok().and_then(|_| serde_json::from_str(&line).ok());
        match answer {
            Some(answer) if answer["error"].is_null() => Ok(answer),
            _ => Err(Failure::internal(format!(
                "the rival answered `{}`",
                line.trim()
            ))),
        }
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
