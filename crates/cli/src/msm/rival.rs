//! Another implementation in a process of its own, on the same files.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::CurveName;
use crate::failure::Failure;

/// How rivals are built; the fastest build counts.
const BUILDS: [&str; 3] = ["default", "native", "asm"];

/// One build of a rival, its inputs read.
pub(super) struct Rival {
    pub(super) name: &'static str,
    pub(super) build: &'static str,
    pub(super) version: String,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

/// What a rival says of some runs.
pub(super) struct Answer {
    /// Milliseconds a run.
    pub(super) ms: f64,
    /// The point, compressed, in hex.
    pub(super) result: String,
}

/// Every build of `name` that is there, with its inputs read.
pub(super) fn start_all(
    name: &'static str,
    curve: CurveName,
    points: &Path,
    scalars: &Path,
    threads: usize,
) -> Result<Vec<Rival>, Failure> {
    let mut rivals = Vec::new();
    for build in BUILDS {
        if let Some(program) = find(name, build) {
            let mut command = Command::new(&program);
            command.arg(curve.name()).arg(points).arg(scalars);
            command.arg(threads.to_string());
            command.env("RAYON_NUM_THREADS", threads.to_string());
            rivals.push(Rival::start(name, build, command)?);
        }
    }
    if rivals.is_empty() {
        let how = match name {
            "gnark" => "bench/rivals/gnark/build.sh makes one",
            _ => "run `cargo xtask rivals`",
        };
        let message = format!("no build of msm-{name} is there: {how}");
        return Err(Failure::input(message));
    }
    Ok(rivals)
}

/// Its folder in bench/rivals; gnark's is built by a script of its own.
fn folder(name: &str) -> String {
    match name {
        "gnark" => name.to_owned(),
        _ => format!("msm-{name}"),
    }
}

fn find(name: &str, build: &str) -> Option<PathBuf> {
    let working = std::env::current_dir().unwrap_or_default();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    working
        .ancestors()
        .chain(source.ancestors())
        .map(|root| {
            root.join("bench/rivals")
                .join(folder(name))
                .join("target")
                .join(build)
                .join(format!("release/rival-msm-{name}"))
        })
        .find(|path| path.is_file())
}

impl Rival {
    fn start(
        name: &'static str,
        build: &'static str,
        mut command: Command,
    ) -> Result<Self, Failure> {
        let failed = |e: std::io::Error| Failure::input(format!("msm-{name}: {e}"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Failure::internal("a child without its pipes"));
        };
        let mut rival = Self {
            name,
            build,
            version: String::new(),
            child,
            input,
            output: BufReader::new(output),
        };
        let ready = rival.line()?;
        rival.version = ready["version"].as_str().unwrap_or("unknown").to_owned();
        Ok(rival)
    }

    fn line(&mut self) -> Result<Value, Failure> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line);
        let parsed = read.ok().and_then(|_| serde_json::from_str(&line).ok());
        parsed.ok_or_else(|| Failure::input(format!("msm-{} ({}) gave up", self.name, self.build)))
    }

    /// Runs it so many times.
    pub(super) fn run(&mut self, times: u32) -> Result<Answer, Failure> {
        let asked = writeln!(self.input, "run {times}").and_then(|()| self.input.flush());
        asked.map_err(|e| Failure::input(format!("msm-{}: {e}", self.name)))?;
        let answer = self.line()?;
        match (answer["ms"].as_f64(), answer["result"].as_str()) {
            (Some(ms), Some(result)) => Ok(Answer {
                ms,
                result: result.to_owned(),
            }),
            _ => Err(Failure::input(format!(
                "msm-{} answered {answer}",
                self.name
            ))),
        }
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
