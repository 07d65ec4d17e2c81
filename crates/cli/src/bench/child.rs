//! The process that proves: ours, behind the protocol of [`super::protocol`].
//!
//! One process a row, so that its peak memory is the row's own. A GPU stays open from proof to proof,
//! and takes its input from page-locked memory, into which it was put before the time begins.
#![forbid(unsafe_code)]

use std::io::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use std::{io, process, thread};

use fieldspar_device::cuda::Pinned;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::CudaEngine;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, Extension};
use fieldspar_whir::input::{Encoding, Input, read_file};
use fieldspar_whir::params::ExtensionDegree;
use fieldspar_whir::proof::WhirPcsProof;
use fieldspar_whir::statement::{
    Origin, ProveError, Proved, prove, prove_loaded, random_point, verify,
};
use fieldspar_whir::wgpu::{WgpuEngine, WgpuPinned};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::memory::{peak, reset_peak};
use super::protocol::{Answer, Request, Run, Task};
use crate::engine::{AnyEngine, Prover};

/// Opens a device that a task or the parent names.
fn open(spec: &str) -> Result<Prover, String> {
    let spec = spec.parse().map_err(|e| format!("{e}"))?;
    Prover::open(&spec).map_err(|e| e.message)
}

/// The engine of a CPU device.
pub(super) fn engine(spec: &str) -> Result<CpuEngine, String> {
    match open(spec)?.engine {
        AnyEngine::Cpu(engine) => Ok(engine),
        AnyEngine::Cuda(_) | AnyEngine::Wgpu(_) => Err(format!("{spec} is not the processor")),
    }
}

/// The engine with the input where the time begins.
enum Side {
    Cpu(CpuEngine, Input),
    /// All that is committed to, padding included.
    Cuda(CudaEngine, Pinned<u32>),
    Wgpu(WgpuEngine, WgpuPinned),
}

struct Job {
    task: Task,
    side: Side,
    device_open_ms: f64,
}

impl Job {
    fn new(task: Task, prover: Prover) -> Result<Self, String> {
        let input = read_file(Path::new(&task.input), Encoding::U32).map_err(|e| e.to_string())?;
        if input.elements.len() != 1 << task.n {
            return Err(format!("{}: not 2^{} elements", task.input, task.n));
        }
        let side = match prover.engine {
            AnyEngine::Cpu(engine) => Side::Cpu(engine, input),
            AnyEngine::Cuda(engine) => {
                let committed = task.params.padded_num_variables(task.n);
                let (values, _) = input.padded(committed).map_err(|e| e.to_string())?;
                let pinned = engine.pin(&values).map_err(|e| e.to_string())?;
                Side::Cuda(engine, pinned)
            }
            AnyEngine::Wgpu(engine) => {
                let committed = task.params.padded_num_variables(task.n);
                let (values, _) = input.padded(committed).map_err(|e| e.to_string())?;
                let pinned = engine.pin(&values).map_err(|e| e.to_string())?;
                Side::Wgpu(engine, pinned)
            }
        };
        Ok(Self {
            task,
            side,
            device_open_ms: ms(prover.opening),
        })
    }

    fn run(&self) -> Result<Run, String> {
        match self.task.params.degree {
            ExtensionDegree::Four => self.run_over::<EF4>(),
            ExtensionDegree::Five => self.run_over::<EF5>(),
        }
    }

    fn run_over<EF: Extension>(&self) -> Result<Run, String>
    where
        CpuEngine: Engine<EF>,
        WhirPcsProof<EF>: Serialize,
    {
        let Task { params, seed, .. } = &self.task;
        let point = |n| random_point(*seed, n);
        let origin = Origin {
            own_variables: self.task.n,
            true_len: 1 << self.task.n,
            encoding: Encoding::U32,
        };
        match &self.side {
            Side::Cpu(engine, input) => {
                // The rival keeps its table from run to run and proves a copy of it; so does this.
                let input = input.clone();
                self.measured::<EF, _>(engine, || prove(engine, params, input, point))
            }
            Side::Cuda(engine, values) => {
                let load = || engine.load_pinned(values);
                engine.cuda().reset_high_water();
                let run = self.measured::<EF, _>(engine, || {
                    prove_loaded(engine, params, origin, load, point)
                })?;
                Ok(Run {
                    peak_device_memory_bytes: Some(engine.cuda().pool().high_water_bytes),
                    ..run
                })
            }
            Side::Wgpu(engine, values) => {
                let load = || engine.load_pinned(values);
                engine.gpu().reset_high_water();
                let before = engine.waits();
                let run = self.measured::<EF, _>(engine, || {
                    prove_loaded(engine, params, origin, load, point)
                })?;
                Ok(Run {
                    peak_device_memory_bytes: Some(engine.gpu().high_water_bytes()),
                    device_waits: Some(engine.waits() - before),
                    ..run
                })
            }
        }
    }

    /// One proof, measured and then verified.
    fn measured<EF: Extension, E: Engine<EF>>(
        &self,
        engine: &E,
        prove: impl FnOnce() -> Result<Proved<EF>, ProveError>,
    ) -> Result<Run, String>
    where
        WhirPcsProof<EF>: Serialize,
    {
        let profile = engine.profile();
        profile.clear();
        reset_peak();
        let proved = prove().map_err(|e| e.to_string())?;
        let peak_memory_bytes = peak();
        let phases: std::collections::BTreeMap<String, f64> = profile
            .totals()
            .into_iter()
            .map(|(name, time)| (name.to_owned(), ms(time)))
            .collect();

        let start = Instant::now();
        let verdict = verify(&proved.file);
        let verify_time = start.elapsed();

        let bytes = postcard::to_allocvec(&proved.file.proof).map_err(|e| e.to_string())?;
        let file = proved.file.encode().map_err(|e| e.to_string())?;
        Ok(Run {
            commit_ms: ms(proved.commit),
            open_ms: ms(proved.open),
            prove_ms: ms(proved.commit + proved.open),
            grind_ms: phases.get("grind").copied().unwrap_or(0.0),
            verify_ms: ms(verify_time),
            verified: verdict.is_ok(),
            verify_error: verdict.err().map(|e| e.to_string()),
            proof_bytes: bytes.len() as u64,
            proof_sha256: hex(&Sha256::digest(&bytes)),
            peak_memory_bytes,
            phases,
            file_bytes: file.len() as u64,
            peak_device_memory_bytes: None,
            device_waits: None,
            device_open_ms: Some(self.device_open_ms),
        })
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// What is kept from request to request.
#[derive(Default)]
struct State {
    job: Option<Job>,
    /// The last GPU: opening it anew would take its memory anew, in the next proof's time.
    gpu: Option<Prover>,
}

impl State {
    fn prover(&mut self, spec: &str) -> Result<Prover, String> {
        match &self.gpu {
            Some(gpu) if gpu.device.info().spec == spec => Ok(gpu.clone()),
            _ => {
                let prover = open(spec)?;
                self.gpu = prover.is_gpu().then(|| prover.clone());
                Ok(prover)
            }
        }
    }
}

fn answer(state: &mut State, request: Request) -> Result<Value, String> {
    match request {
        Request::Info | Request::Quit => Ok(json!({
            "name": "fieldspar",
            "version": env!("CARGO_PKG_VERSION"),
            "threads": rayon::current_num_threads(),
        })),
        Request::Prepare(task) => {
            // The old one goes first: two of the largest size need not fit in memory.
            state.job = None;
            let prover = state.prover(&task.device)?;
            state.job = Some(Job::new(*task, prover)?);
            Ok(json!({}))
        }
        Request::Run => {
            let job = state.job.as_ref().ok_or("nothing is prepared")?;
            // On a worker thread, as in the rival: called from outside the pool, every parallel
            // call wakes a sleeping worker and waits for it.
            let run = rayon::scope(|_| job.run())?;
            serde_json::to_value(run).map_err(|e| e.to_string())
        }
        Request::MaxLevel(task) => Ok(json!({
            "max_level": super::grid::level(&task.params, task.n).map(|(level, _)| level),
        })),
    }
}

/// Answers on standard output what standard input asks. When that is closed the parent is gone, or
/// wants no more, and the process ends at once, in the middle of a proof too.
pub(super) fn serve_standard() -> io::Result<()> {
    let (sender, lines) = mpsc::channel();
    let watch = move || {
        for line in io::stdin().lines() {
            let failed = line.is_err();
            if sender.send(line).is_err() || failed {
                return;
            }
        }
        process::exit(0);
    };
    thread::Builder::new().name("stdin".into()).spawn(watch)?;
    serve(lines, io::stdout().lock())
}

/// Answers requests until there are no more.
fn serve(
    lines: impl IntoIterator<Item = io::Result<String>>,
    mut output: impl Write,
) -> io::Result<()> {
    let mut state = State::default();
    for line in lines {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let result = match serde_json::from_str(&line) {
            Ok(Request::Quit) => break,
            Ok(request) => answer(&mut state, request),
            Err(e) => Err(format!("bad request: {e}")),
        };
        serde_json::to_writer(&mut output, &Answer::from(result))?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::grid::{Point, Setting, level};
    use super::super::input;
    use super::*;

    fn talk(requests: &[Request]) -> Vec<Value> {
        let lines: Vec<String> = requests
            .iter()
            .map(|r| serde_json::to_string(r).unwrap())
            .collect();
        let mut out = Vec::new();
        serve(lines.into_iter().map(Ok), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        text.lines()
            .map(|l| serde_json::from_str(l).unwrap())
            .collect()
    }

    #[test]
    fn proves_what_was_prepared() {
        let folder = tempfile::tempdir().unwrap();
        for (n, fold) in [(6, 2), (2, 4)] {
            let path = folder.path().join("input");
            input::write(&path, n, 1).unwrap();
            let point = Point { n, fold, rate: 1 };
            for setting in [Setting::published(), Setting::proven()] {
                let mut params = setting.params(point);
                params.security_level = level(&params, n).unwrap().0.min(40);
                let mut task = Task::new(&params, n, path.to_str().unwrap(), 5).unwrap();
                task.device = "cpu:portable".into();
                let answers = talk(&[Request::Run, Request::Prepare(Box::new(task)), Request::Run]);
                assert_eq!(answers[0]["ok"], false);
                assert_eq!(answers[1]["ok"], true, "{answers:?}");
                assert_eq!(answers[2]["verified"], true, "{answers:?}");
            }
        }
    }

    #[test]
    fn a_bad_request_is_answered() {
        let mut out = Vec::new();
        let lines = ["{\"op\":\"x\"}", "", "{\"op\":\"quit\"}", "{}"];
        serve(lines.map(|line| Ok(line.to_owned())), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().count(), 1);
        assert!(text.contains("bad request"));
    }
}
