//! p3-whir's own, unmodified prover behind a line protocol: one JSON object a line on stdin, one
//! answer a line on stdout. It stays up, so that a benchmark can alternate it with another prover.
mod challenger;
mod memory;
mod permutation;
mod protocol;
mod session;
mod types;

use std::io::{BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use p3_field::PackedValue;
use serde_json::{Value, json};

use protocol::Request;
use session::Job;

#[derive(Default)]
struct Server {
    job: Option<Box<dyn Job>>,
    proof: Option<Vec<u8>>,
}

impl Server {
    fn answer(&mut self, request: Request) -> Result<Value, String> {
        match request {
            Request::Info => Ok(json!({
                "name": "p3-whir",
                "version": "0.8.0",
                "packing_width": types::PF::WIDTH,
                "target_features": env!("RIVAL_TARGET_FEATURES"),
                "rustc": env!("RIVAL_RUSTC"),
                "threads": rayon::current_num_threads(),
            })),
            Request::Prepare(statement) => {
                // The old statement goes first: two of the largest size need not fit in memory.
                *self = Self::default();
                self.job = Some(session::prepare(&statement)?);
                Ok(json!({ "ok": true }))
            }
            Request::Run => {
                let job = self.job.as_ref().ok_or("nothing is prepared")?;
                self.proof = None;
                // On a worker thread: called from outside the pool, every parallel call of p3 wakes a
                // sleeping worker and waits for it. Measured: a fifth of the time of small proofs
                // (n = 16, 20); no clear difference for large ones.
                let (run, proof) = rayon::scope(|_| job.run())?;
                self.proof = Some(proof);
                to_value(run)
            }
            Request::Proof { path } => {
                let proof = self.proof.as_ref().ok_or("nothing was proved")?;
                std::fs::write(&path, proof).map_err(|e| format!("{path}: {e}"))?;
                Ok(json!({ "ok": true }))
            }
            Request::MaxLevel(statement) => to_value(session::max_level(&statement)?),
            Request::Permutation => Ok(json!({
                "ok": true,
                "packing_width": types::PF::WIDTH,
                "ns_per_state": permutation::ns_per_state(),
            })),
            Request::Quit => Ok(Value::Null),
        }
    }
}

fn to_value(answer: impl serde::Serialize) -> Result<Value, String> {
    serde_json::to_value(answer).map_err(|e| e.to_string())
}

/// p3 asserts where it could refuse; such a panic answers the request instead of ending the process.
fn guarded(server: &mut Server, request: Request) -> Result<Value, String> {
    catch_unwind(AssertUnwindSafe(|| server.answer(request))).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no message");
        Err(format!("panic: {text}"))
    })
}

fn threads() -> Result<Option<usize>, String> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(None),
        ["--threads", n] => match n.parse() {
            Ok(n) if n > 0 => Ok(Some(n)),
            _ => Err(format!("--threads {n}: not a positive number")),
        },
        _ => Err("usage: rival-p3-whir [--threads N]".into()),
    }
}

fn serve() -> Result<(), String> {
    if let Some(n) = threads()? {
        rayon::ThreadPoolBuilder::new()
            .num_threads(n)
            .build_global()
            .map_err(|e| e.to_string())?;
    }
    let mut server = Server::default();
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|e| e.to_string())?;
        if line.trim().is_empty() {
            continue;
        }
        let answer = match serde_json::from_str(&line) {
            Ok(Request::Quit) => break,
            Ok(request) => guarded(&mut server, request),
            Err(e) => Err(format!("bad request: {e}")),
        };
        let answer = answer.unwrap_or_else(|error| json!({ "ok": false, "error": error }));
        writeln!(out, "{answer}")
            .and_then(|()| out.flush())
            .map_err(|e| e.to_string())?;
    }
    Ok(())
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("rival-p3-whir: {e}");
            ExitCode::FAILURE
        }
    }
}
