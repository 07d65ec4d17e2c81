//! What every verb works with: settings, the device, and the way to talk.
#![forbid(unsafe_code)]

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use fieldspar_device::{
    Device, DeviceInfo, DeviceKind, DeviceSpec, ENV_MAX_MEMORY, MemoryLimit, Source, Unavailable,
};
use fieldspar_whir::profile::Span;
use serde_json::{Map, Value};

use crate::args::{Color, GlobalArgs};
use crate::engine::Prover;
use crate::failure::Failure;

/// The devices that WHIR has engines for; `auto` chooses among them.
pub(crate) const ENGINES: [DeviceKind; 3] = [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Wgpu];

/// Opens a device that proofs are made on.
pub(crate) fn open(spec: &DeviceSpec) -> Result<Device, Unavailable> {
    Device::open_for(spec, &ENGINES)
}

/// What a verb found out.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// For people; ends with a newline unless empty.
    pub(crate) text: String,
    /// The verb's own fields, after the common head.
    pub(crate) fields: Map<String, Value>,
    /// The device that ran, if one did.
    pub(crate) device: Option<DeviceInfo>,
    /// How the process ends.
    pub(crate) exit_code: u8,
    /// With `--json` too, `text` is what is printed: an object a line.
    pub(crate) lines: bool,
}

impl Outcome {
    pub(crate) const fn new(text: String, fields: Map<String, Value>) -> Self {
        Self {
            text,
            fields,
            device: None,
            exit_code: 0,
            lines: false,
        }
    }

    pub(crate) fn on(mut self, device: &Device) -> Self {
        self.device = Some(device.info().clone());
        self
    }

    /// 0 for yes, 1 for no.
    pub(crate) const fn answer(mut self, yes: bool) -> Self {
        self.exit_code = if yes { 0 } else { 1 };
        self
    }
}

/// Settings and the collected warnings of one run.
#[derive(Debug)]
pub(crate) struct Context {
    global: GlobalArgs,
    threads: usize,
    started: Instant,
    warnings: Mutex<Vec<String>>,
    spans: Mutex<Vec<Span>>,
    /// The same by a device's own clock.
    device_spans: Mutex<Vec<Span>>,
}

impl Context {
    pub(crate) fn new(global: GlobalArgs, threads: usize) -> Self {
        Self {
            global,
            threads,
            started: Instant::now(),
            warnings: Mutex::default(),
            spans: Mutex::default(),
            device_spans: Mutex::default(),
        }
    }

    /// Worker threads of the pool that everything runs in; for a verb that starts none, those that
    /// it would have.
    pub(crate) const fn threads(&self) -> usize {
        self.threads
    }

    pub(crate) const fn json(&self) -> bool {
        self.global.json
    }

    pub(crate) const fn quiet(&self) -> bool {
        self.global.quiet
    }

    pub(crate) fn trace_path(&self) -> Option<&Path> {
        self.global.trace.as_deref()
    }

    pub(crate) const fn device_flag(&self) -> Option<&String> {
        self.global.device.as_ref()
    }

    /// The device that flag or environment name, and which of them does.
    pub(crate) fn device_spec(&self) -> Result<(DeviceSpec, Source), Failure> {
        Ok(DeviceSpec::resolve(self.global.device.as_deref())?)
    }

    /// Opens the device that flag or environment name, else the best.
    pub(crate) fn open_device(&self) -> Result<Device, Failure> {
        let (spec, _) = self.device_spec()?;
        Ok(open(&spec)?)
    }

    /// [`Self::open_device`] for work that only processors do.
    pub(crate) fn open_processor(&self) -> Result<Device, Failure> {
        let (spec, _) = self.device_spec()?;
        Ok(Device::open_for(&spec, &[DeviceKind::Cpu])?)
    }

    /// [`Self::open_device`], with its engine.
    pub(crate) fn open_prover(&self) -> Result<Prover, Failure> {
        let (spec, _) = self.device_spec()?;
        let begin = Instant::now();
        let prover = Prover::open(&spec)?;
        self.keep_span("open device", begin);
        Ok(prover)
    }

    /// For verbs that run no kernel: a named device must exist all the same, and is not used.
    pub(crate) fn unused_device(&self) -> Result<(), Failure> {
        let Some(flag) = &self.global.device else {
            return Ok(());
        };
        let spec: DeviceSpec = flag.parse()?;
        match spec {
            DeviceSpec::Auto => open(&spec)?,
            _ => Device::open(&spec)?,
        };
        if !matches!(flag.as_str(), "auto" | "cpu") {
            self.warn(&format!(
                "--device {flag} has no effect here: p3's own code does the work, on the processor"
            ));
        }
        Ok(())
    }

    /// For verbs of `msm` that run no kernel: a named device must exist all the same.
    pub(crate) fn unused_engine(&self) -> Result<(), Failure> {
        match &self.global.device {
            Some(flag) => Ok(fieldspar_msm::Engine::open(&flag.parse()?).map(|_| ())?),
            None => Ok(()),
        }
    }

    pub(crate) fn memory_limit(&self) -> Result<MemoryLimit, Failure> {
        MemoryLimit::resolve(self.global.max_memory)
            .map_err(|e| Failure::usage(format!("{ENV_MAX_MEMORY}: {e}")).at(ENV_MAX_MEMORY))
    }

    /// Kept for `warnings`, and a line on stderr unless quiet; with `--json` that line comes last,
    /// so that an error has stderr for itself.
    pub(crate) fn warn(&self, line: &str) {
        let mut warnings = lock(&self.warnings);
        if warnings.iter().any(|w| w == line) {
            return;
        }
        warnings.push(line.to_owned());
        drop(warnings);
        if !self.global.json {
            self.print_warning(line);
        }
    }

    fn print_warning(&self, line: &str) {
        if !self.global.quiet {
            let word = self.global.paint("warning:", "33");
            // Talk that cannot be heard is no failure.
            let _ = writeln!(std::io::stderr(), "{word} {}", printable(line));
        }
    }

    /// Prints what [`Self::warn`] held back.
    pub(crate) fn print_held_warnings(&self) {
        if self.global.json {
            self.warnings()
                .iter()
                .for_each(|line| self.print_warning(line));
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        lock(&self.warnings).clone()
    }

    /// Keeps an engine's spans for `--trace`; they began at `origin`.
    pub(crate) fn keep_spans(&self, origin: Instant, spans: Vec<Span>) {
        lock(&self.spans).extend(self.since_start(origin, spans));
    }

    /// What an engine's device did by its own clock, since `origin`.
    pub(crate) fn keep_device_spans(&self, origin: Instant, spans: Vec<Span>) {
        lock(&self.device_spans).extend(self.since_start(origin, spans));
    }

    fn since_start(&self, origin: Instant, spans: Vec<Span>) -> impl Iterator<Item = Span> {
        let offset = origin.saturating_duration_since(self.started);
        spans.into_iter().map(move |mut span| {
            span.start += offset;
            span
        })
    }

    /// A span of our own, that began at `begin` and ends now.
    pub(crate) fn keep_span(&self, name: &'static str, begin: Instant) {
        lock(&self.spans).push(Span {
            name,
            start: begin.saturating_duration_since(self.started),
            length: begin.elapsed(),
        });
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        lock(&self.spans).clone()
    }

    pub(crate) fn device_spans(&self) -> Vec<Span> {
        lock(&self.device_spans).clone()
    }
}

/// The text on one line, with nothing in it that a terminal would obey: file names may hold anything.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            c if c.is_control() => c.escape_default().to_string(),
            c => c.to_string(),
        })
        .collect()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl GlobalArgs {
    /// Colours text for stderr where that is wanted.
    pub(crate) fn paint(&self, text: &str, code: &str) -> String {
        let colored = match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
            }
        };
        if colored {
            format!("\x1b[1;{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}
