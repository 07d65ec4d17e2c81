//! `--trace`: where the time went, in the trace event format of Chrome and Perfetto.
//!
//! Complete events (`ph: X`) with microseconds since the start of the program; an event that lies
//! inside another on the same thread is drawn below it. What a device with a clock of its own did is
//! on a second row, kernel by kernel.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;

use fieldspar_whir::profile::Span;
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::Failure;
use crate::whir::output;

fn micros(duration: std::time::Duration) -> f64 {
    duration.as_nanos() as f64 / 1e3
}

/// The rows of a trace: the host's phases, and below them the device's kernels by its own clock.
const HOST: u32 = 1;
const DEVICE: u32 = 2;

fn events(command: &str, host: &[Span], device: &[Span]) -> Value {
    let process = std::process::id();
    let row = |id, name: String, kind| json!({"name": kind, "ph": "M", "pid": process, "tid": id, "args": {"name": name}});
    let mut events = vec![row(HOST, format!("fieldspar {command}"), "process_name")];
    if !device.is_empty() {
        events.push(row(HOST, "host".into(), "thread_name"));
        events.push(row(DEVICE, "device".into(), "thread_name"));
    }
    for (id, spans) in [(HOST, host), (DEVICE, device)] {
        events.extend(spans.iter().map(|span| {
            json!({
                "name": span.name,
                "cat": "fieldspar",
                "ph": "X",
                "ts": micros(span.start),
                "dur": micros(span.length),
                "pid": process,
                "tid": id,
            })
        }));
    }
    json!({"displayTimeUnit": "ms", "traceEvents": events})
}

/// How every trace begins.
const START: &[u8] = b"{\"displayTimeUnit\"";

/// Refuses, before any work, to replace anything but an older trace or an empty file.
pub(crate) fn check(context: &Context) -> Result<(), Failure> {
    let Some(path) = context.trace_path() else {
        return Ok(());
    };
    output::check(path, true)?;
    let mut start = Vec::new();
    let length = START.len() as u64;
    match File::open(path).and_then(|file| file.take(length).read_to_end(&mut start)) {
        Ok(_) if !start.is_empty() && start != START => Err(Failure::usage(format!(
            "{} exists and is no trace; it is left alone",
            path.display()
        ))),
        // One that cannot be read is not there, or says so when it is replaced.
        _ => Ok(()),
    }
}

/// Writes the trace, if one is asked for, in place of an older one.
pub(crate) fn write(context: &Context, command: &str) -> Result<(), Failure> {
    let Some(path) = context.trace_path() else {
        return Ok(());
    };
    check(context)?;
    let text = events(command, &context.spans(), &context.device_spans()).to_string();
    output::write(path, text.as_bytes(), true)
}
