//! A process on the other end of the line protocol.
#![forbid(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::BenchError;
use super::protocol::{Answer, Request};

/// glibc's allocator gives the memory of a proof back to the system after each one, and every
/// page of the next proof faults again. Measured on p3-whir: up to a quarter of the time. With
/// these it keeps the memory.
pub(super) const KEEP_MEMORY: [(&str, &str); 3] = [
    ("MALLOC_ARENA_MAX", "1"),
    ("MALLOC_MMAP_THRESHOLD_", "1099511627776"),
    ("MALLOC_TRIM_THRESHOLD_", "1099511627776"),
];

/// How a peer is started.
#[derive(Clone, Debug)]
pub(super) struct Launch {
    /// What to call it in messages.
    pub(super) name: String,
    pub(super) program: PathBuf,
    pub(super) args: Vec<String>,
    pub(super) threads: usize,
    /// Whether [`KEEP_MEMORY`] is set.
    pub(super) keep_memory: bool,
}

/// A running process; ends with the value.
pub(super) struct Peer {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Peer {
    pub(super) fn start(launch: &Launch) -> Result<Self, BenchError> {
        let fail = |error: &dyn std::fmt::Display| {
            BenchError::peer(
                &launch.name,
                format!("{}: {error}", launch.program.display()),
            )
        };
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.args)
            .env("RAYON_NUM_THREADS", launch.threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        for (name, value) in KEEP_MEMORY {
            match launch.keep_memory {
                true => command.env(name, value),
                false => command.env_remove(name),
            };
        }
        let mut child = command.spawn().map_err(|e| fail(&e))?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| fail(&"no output"))?;
        Ok(Self {
            name: launch.name.clone(),
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask<T: DeserializeOwned>(&mut self, request: &Request) -> Result<T, BenchError> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        let mut reply = String::new();
        let sent = match &mut self.input {
            Some(input) => input
                .write_all(line.as_bytes())
                .and_then(|()| input.flush()),
            None => Ok(()),
        };
        let received = sent.and_then(|()| self.output.read_line(&mut reply));
        if received.as_ref().is_ok_and(|&n| n > 0) {
            return serde_json::from_str::<Answer<T>>(&reply)
                .map_err(|e| e.to_string())
                .and_then(Answer::into_result)
                .map_err(|reason| BenchError::peer(&self.name, reason));
        }
        // It is gone; why it went says more than a broken pipe.
        self.input = None;
        let how = match self.child.wait() {
            Ok(status) => format!("ended without an answer: {status}"),
            Err(error) => format!("ended without an answer: {error}"),
        };
        Err(BenchError::peer(&self.name, how))
    }

    /// As [`Self::ask`] for an answer that says only that it worked.
    pub(super) fn tell(&mut self, request: &Request) -> Result<(), BenchError> {
        self.ask::<Value>(request).map(drop)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // End of input ends it; a running proof is not worth waiting for.
        self.input = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The two builds of the rival, native first.
///
/// They lie in bench/rivals/p3-whir/target of the source tree that the working folder is in, or
/// that this program was built from.
pub(super) fn p3(
    threads: usize,
    keep_memory: bool,
) -> Result<Vec<(&'static str, Launch)>, BenchError> {
    let working = std::env::current_dir().unwrap_or_default();
    let source = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders: Vec<PathBuf> = working
        .ancestors()
        .chain(source.ancestors())
        .map(|root| root.join("bench/rivals/p3-whir/target"))
        .collect();
    p3_in(&folders, threads, keep_memory)
}

fn p3_in(
    folders: &[PathBuf],
    threads: usize,
    keep_memory: bool,
) -> Result<Vec<(&'static str, Launch)>, BenchError> {
    ["native", "default"]
        .into_iter()
        .map(|built| {
            let program = folders
                .iter()
                .map(|folder| {
                    let name = format!("rival-p3-whir{}", std::env::consts::EXE_SUFFIX);
                    folder.join(built).join("release").join(name)
                })
                .find(|path| path.is_file())
                .ok_or(BenchError::NoRival { built })?;
            let launch = Launch {
                name: format!("p3-whir ({built})"),
                program,
                args: vec!["--threads".into(), threads.to_string()],
                threads,
                keep_memory,
            };
            Ok((built, launch))
        })
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_rival_names_the_command_that_builds_it() {
        let error = p3_in(&[PathBuf::from("/nowhere")], 2, true).unwrap_err();
        assert!(error.to_string().contains("cargo xtask rivals"), "{error}");
    }

    #[test]
    fn a_peer_that_dies_says_how() {
        let launch = Launch {
            name: "false".into(),
            program: "false".into(),
            args: Vec::new(),
            threads: 1,
            keep_memory: false,
        };
        let error = Peer::start(&launch)
            .unwrap()
            .tell(&Request::Info)
            .unwrap_err();
        assert!(
            error.to_string().contains("ended without an answer"),
            "{error}"
        );
    }
}
