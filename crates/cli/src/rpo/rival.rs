//! The rivals of `rpo bench`: builds of bench/rivals/rpo.
#![forbid(unsafe_code)]

use serde_json::{Value, json};

use crate::bench::rival::{Process, require};
use crate::failure::Failure;

/// The builds, as `cargo xtask rivals` names them.
pub(super) const BUILDS: [&str; 3] = ["default", "v3", "native"];

/// One build, running.
pub(super) struct Rival {
    pub(super) build: &'static str,
    process: Process,
}

impl Rival {
    pub(super) fn start(build: &'static str, threads: usize) -> Result<Self, Failure> {
        let program = require("rpo", "rpo", build)?;
        let process = Process::start(&program, &[], Some(threads))?;
        Ok(Self { build, process })
    }

    /// Versions and flags of the build.
    pub(super) fn info(&mut self) -> Result<Value, Failure> {
        self.process.ask(&json!({"op": "info"}).to_string())
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
        let answer = self.process.ask(&request.to_string())?;
        match (answer["ns"].as_f64(), answer["check"].as_str()) {
            (Some(ns), Some(check)) => Ok((ns, check.to_owned())),
            _ => Err(Failure::internal(format!("the rival answered `{answer}`"))),
        }
    }
}
