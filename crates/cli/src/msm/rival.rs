//! The rivals of `msm bench`, on the same files.
#![forbid(unsafe_code)]

use std::ffi::OsStr;
use std::path::Path;

use super::CurveName;
use crate::bench::rival::{Process, find};
use crate::failure::Failure;

/// How rivals are built; the fastest build counts.
const BUILDS: [&str; 3] = ["default", "native", "asm"];

/// One build of a rival, its inputs read.
pub(super) struct Rival {
    pub(super) name: &'static str,
    pub(super) build: &'static str,
    pub(super) version: String,
    process: Process,
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
    // gnark's is built by a script of its own.
    let folder = match name {
        "gnark" => name.to_owned(),
        _ => format!("msm-{name}"),
    };
    let program = format!("msm-{name}");
    let count = threads.to_string();
    let args: [&OsStr; 4] = [
        curve.name().as_ref(),
        points.as_ref(),
        scalars.as_ref(),
        count.as_ref(),
    ];
    let mut rivals = Vec::new();
    for build in BUILDS {
        if let Some(path) = find(&folder, &program, build) {
            let mut process = Process::start(&path, &args, Some(threads))?;
            let ready = process.line()?;
            rivals.push(Rival {
                name,
                build,
                version: ready["version"].as_str().unwrap_or("unknown").to_owned(),
                process,
            });
        }
    }
    if rivals.is_empty() {
        let how = match name {
            "gnark" => "bench/rivals/gnark/build.sh makes one",
            _ => "run `cargo xtask rivals`",
        };
        let message = format!("no build of {program} is there: {how}");
        return Err(Failure::input(message));
    }
    Ok(rivals)
}

impl Rival {
    /// Runs it so many times.
    pub(super) fn run(&mut self, times: u32) -> Result<Answer, Failure> {
        let answer = self.process.ask(&format!("run {times}"))?;
        match (answer["ms"].as_f64(), answer["result"].as_str()) {
            (Some(ms), Some(result)) => Ok(Answer {
                ms,
                result: result.to_owned(),
            }),
            _ => Err(Failure::internal(format!(
                "msm-{} answered {answer}",
                self.name
            ))),
        }
    }
}
