//! A rival program of the ceremonies.
#![forbid(unsafe_code)]

use serde_json::Value;

use crate::bench::rival::{Process, require};
use crate::failure::Failure;

/// A built rival, waiting.
pub(super) struct Rival {
    pub(super) build: &'static str,
    process: Process,
}

impl Rival {
    /// Starts `name` of bench/rivals, as `cargo xtask rivals` has built it.
    pub(super) fn start(name: &str, build: &'static str) -> Result<Self, Failure> {
        let program = require(name, name, build)?;
        let process = Process::start(&program, &[], None)?;
        Ok(Self { build, process })
    }

    /// Its answer to a line.
    pub(super) fn ask(&mut self, question: &str) -> Result<Value, Failure> {
        self.process.ask(question)
    }
}
