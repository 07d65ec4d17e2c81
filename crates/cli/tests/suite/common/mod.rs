//! Runs the real binary.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Run {
    /// Panics, with what was said, unless the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(
            self.code,
            Some(code),
            "stdout: {}\nstderr: {}",
            self.stdout,
            self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {}", self.stdout))
    }

    /// The error object on stderr.
    #[track_caller]
    pub fn error(&self) -> Value {
        assert_eq!(self.stdout, "");
        let value: Value =
            serde_json::from_str(&self.stderr).unwrap_or_else(|e| panic!("{e}: {}", self.stderr));
        assert_eq!(value["schema"], 1);
        has(&value, &["version", "command", "warnings"]);
        has(&value["error"], &["kind", "message", "at", "need", "have"]);
        value["error"].clone()
    }
}

pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fieldspar"));
    for name in [
        "FIELDSPAR_DEVICE",
        "FIELDSPAR_MAX_MEMORY",
        "RAYON_NUM_THREADS",
        "FIELDSPAR_TEST_FAULT",
    ] {
        command.env_remove(name);
    }
    // A layer of Mesa complains on stderr where there is no desktop; this switches it off.
    command.env("NODEVICE_SELECT", "1");
    command.stdin(Stdio::null());
    command
}

pub fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

pub fn fieldspar(args: &[&str]) -> Run {
    finish(command().args(args))
}

/// Whether an NVIDIA GPU is here.
pub fn has_gpu() -> bool {
    let devices = fieldspar(&["devices", "--json"]).json()["devices"].clone();
    let mut all = devices.as_array().unwrap().iter();
    let found = all.any(|d| d["kind"] == "cuda" && d["available"] == true);
    let expected = std::env::var("FIELDSPAR_EXPECT").unwrap_or_default();
    assert!(found || !expected.contains("cuda"), "{devices}");
    found
}

#[track_caller]
pub fn has(value: &Value, names: &[&str]) {
    for name in names {
        assert!(value.get(name).is_some(), "{name} is missing in {value}");
    }
}

pub const HEAD: [&str; 7] = [
    "schema", "version", "command", "device", "threads", "host", "warnings",
];

/// Checks the head that every object has.
#[track_caller]
pub fn head(value: &Value, verb: &str) {
    has(value, &HEAD);
    assert_eq!(value["schema"], 1);
    assert_eq!(value["command"], verb);
    assert!(value["version"].as_str().unwrap().contains("p3 0.8.0"));
    has(&value["device"], &["kind", "name", "variant", "why"]);
    has(&value["host"], &["cpu", "cores", "os"]);
    assert!(value["threads"].as_u64().unwrap() > 0);
    assert!(value["warnings"].is_array());
}

/// A folder of its own, with files in it.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn name(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    pub fn write(&self, name: &str, data: &[u8]) -> String {
        std::fs::write(self.path(name), data).unwrap();
        self.name(name)
    }

    /// `count` canonical words.
    pub fn words(&self, name: &str, count: u32) -> String {
        let words = (0..count).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 2).to_le_bytes());
        self.write(name, &words.collect::<Vec<_>>())
    }

    /// A small proof: its path and what `prove --json` said.
    pub fn proof(&self, name: &str, flags: &[&str]) -> (String, Value) {
        let input = self.words("input.u32", 1000);
        let output = self.name(name);
        let mut args = vec!["whir", "prove", &input, "-o", &output, "--json"];
        args.extend(flags);
        let made = fieldspar(&args).exits(0).json();
        (output, made)
    }

    pub fn files(&self) -> Vec<String> {
        list(self.0.path())
    }
}

pub fn list(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}
