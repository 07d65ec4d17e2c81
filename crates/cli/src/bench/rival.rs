//! A program of bench/rivals in a process of its own, which answers lines.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The program `rival-<name>` of a folder of bench/rivals, as `cargo xtask rivals` has built it, seen
/// from the current folder or one above it.
pub(crate) fn find(folder: &str, name: &str, build: &str) -> Option<PathBuf> {
    let working = std::env::current_dir().unwrap_or_default();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = format!("bench/rivals/{folder}/target/{build}/release/rival-{name}");
    working
        .ancestors()
        .chain(source.ancestors())
        .map(|root| root.join(&program))
        .find(|path| path.is_file())
}

/// [`find`], or what to do about it.
pub(crate) fn require(folder: &str, name: &str, build: &str) -> Result<PathBuf, Failure> {
    find(folder, name, build).ok_or_else(|| {
        Failure::input(format!(
            "the {build} build of {name} is not there: run `cargo xtask rivals {folder}`"
        ))
    })
}

/// A running one; it ends with the value.
pub(crate) struct Process {
    name: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts it with these arguments and this many worker threads.
    pub(crate) fn start(
        program: &Path,
        args: &[&std::ffi::OsStr],
        threads: Option<usize>,
    ) -> Result<Self, Failure> {
        let name = program.display().to_string();
        let mut command = Command::new(program);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        if let Some(threads) = threads {
            command.env("RAYON_NUM_THREADS", threads.to_string());
        }
        let mut child = command
            .spawn()
            .map_err(|e| Failure::input(e.to_string()).at(name.clone()))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Self {
                name,
                child,
                input,
                output: BufReader::new(output),
            }),
            _ => Err(Failure::internal("a child without its pipes")),
        }
    }

    /// The next line that it writes, an object without an error.
    pub(crate) fn line(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        let answer: Option<Value> = read.ok().and_then(|_| serde_json::from_str(&line).ok());
        match answer {
            Some(answer) if answer.is_object() && answer["error"].is_null() => Ok(answer),
            _ => {
                let words = format!("the rival answered `{}`", line.trim());
                Err(Failure::internal(words).at(self.name.clone()))
            }
        }
    }

    /// Its answer to a line.
    pub(crate) fn ask(&mut self, question: &str) -> Result<Value, Failure> {
        // If it has ended, the answer says so.
        let _ = writeln!(self.input, "{question}").and_then(|()| self.input.flush());
        self.line()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
