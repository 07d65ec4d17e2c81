//! From an input to a proof that was verified: what `demo` and `prove` share.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use fieldspar_device::{DeviceKind, OutOfMemory, format_bytes};
use fieldspar_whir::engine::Engine;
use fieldspar_whir::error::{ParamsError, ProofError};
use fieldspar_whir::field::{EF4, EF5, Extension};
use fieldspar_whir::input::Input;
use fieldspar_whir::params::{ExtensionDegree, Params};
use fieldspar_whir::plan::{MemoryShape, peak_memory_bytes};
use fieldspar_whir::proof::{AnyProofFile, ProofFile};
use fieldspar_whir::statement::{self, ProveError};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::context::Context;
use crate::engine::{AnyEngine, Prover};
use crate::failure::Failure;
use crate::json::{fields, ms};
use crate::progress;
use crate::whir::point::{self, At};
use crate::whir::statement::View;

/// What the program holds beside the proof's data.
const BASE_BYTES: u64 = 16 << 20;

/// What a GPU's driver holds of the host's memory, and the buffers on the way to it, about.
const GPU_HOST_BYTES: u64 = 384 << 20;

/// Bytes of the host's memory that proving `n` variables holds at the peak. Our engines have no table
/// of weights before the first fold; beside a GPU there are but the values on their way to it.
pub(crate) fn peak_bytes(params: &Params, n: usize, kind: DeviceKind) -> Result<u64, ParamsError> {
    let mut shape = MemoryShape::new(params, n)?;
    if kind != DeviceKind::Cpu {
        let values = 4_u64 << shape.num_variables.min(48);
        return Ok(values + GPU_HOST_BYTES + BASE_BYTES);
    }
    shape.log_weights = shape.num_variables.saturating_sub(params.folds.first());
    Ok(peak_memory_bytes(&shape).saturating_add(BASE_BYTES))
}

/// Refuses, before any work, parameters that p3 refuses and a proof that memory does not hold, the
/// host's or the device's; gives the bytes that are planned of the device's own. `reading` is what
/// getting the input takes.
pub(crate) fn check(
    context: &Context,
    prover: &Prover,
    params: &Params,
    n: usize,
    reading: u64,
) -> Result<Option<u64>, Failure> {
    params.check(n)?;
    let need = peak_bytes(params, n, prover.device.kind())?.max(reading);
    let have = context.memory_limit()?.bytes();
    if need > have {
        let what = format!("whir prove, n = {n},");
        return Err(OutOfMemory::new(what, need, have).into());
    }
    Ok(prover.check(params, n)?.map(|plan| plan.peak_bytes()))
}

/// Base elements of each codeword that a proof commits to, in order.
fn codeword_sizes(params: &Params, n: usize) -> Result<Vec<u64>, Failure> {
    let shape = MemoryShape::new(params, n)?;
    let sizes = shape.codewords.iter().enumerate();
    Ok(sizes
        .map(|(i, &(variables, rate, _))| {
            let words = if i == 0 { 1 } else { shape.degree as u64 };
            words << (variables + rate).min(48)
        })
        .collect())
}

/// A proof that was verified, and how it came about.
pub(crate) struct Made {
    pub(crate) view: View,
    pub(crate) bytes: Vec<u8>,
    pub(crate) commit: Duration,
    pub(crate) open: Duration,
    pub(crate) verify: Duration,
    pub(crate) phases: BTreeMap<&'static str, Duration>,
    /// Opening the device and loading its kernels, which no other time counts.
    pub(crate) opening: Duration,
    /// The most that was held of the device's own memory, where it has its own.
    pub(crate) peak_device_memory: Option<u64>,
    /// Waits for the device, where they are counted.
    pub(crate) waits: Option<u64>,
    /// What was planned of it.
    pub(crate) planned_device_memory: Option<u64>,
}

/// Proves the input at a point on the device, and verifies the proof as the file will hold it.
pub(crate) fn make(
    context: &Context,
    prover: &Prover,
    params: &Params,
    input: Input,
    at: &At,
) -> Result<Made, Failure> {
    use ExtensionDegree::{Five, Four};
    let before = prover.reset_counts();
    let mut made = match (&prover.engine, params.degree) {
        (AnyEngine::Cpu(cpu), Four) => make_over::<EF4, _>(context, cpu, params, input, at),
        (AnyEngine::Cpu(cpu), Five) => make_over::<EF5, _>(context, cpu, params, input, at),
        (AnyEngine::Cuda(gpu), Four) => make_over::<EF4, _>(context, gpu, params, input, at),
        (AnyEngine::Cuda(gpu), Five) => make_over::<EF5, _>(context, gpu, params, input, at),
        (AnyEngine::Wgpu(gpu), Four) => make_over::<EF4, _>(context, gpu, params, input, at),
        (AnyEngine::Wgpu(gpu), Five) => make_over::<EF5, _>(context, gpu, params, input, at),
    }?;
    made.opening = prover.opening;
    made.peak_device_memory = prover.peak_bytes();
    made.waits = prover.waits_since(before);
    Ok(made)
}

fn make_over<EF, E>(
    context: &Context,
    engine: &E,
    params: &Params,
    input: Input,
    at: &At,
) -> Result<Made, Failure>
where
    EF: Extension,
    E: Engine<EF>,
    ProofFile<EF>: Into<AnyProofFile>,
{
    let own = input.elements.len().max(1).next_power_of_two().ilog2() as usize;
    let committed = params.padded_num_variables(own);
    let coordinates = at.coordinates(own, committed, params.degree)?;
    let point = point::elements::<EF>(&coordinates);

    let sizes = codeword_sizes(params, committed)?;
    let profile = engine.profile().clone();
    let traced = context.trace_path().is_some();
    if traced {
        engine.start_timeline().map_err(ProveError::from)?;
    }
    profile.clear();
    let origin = Instant::now();
    let proved = progress::watch(context, "proving", &profile, &sizes, || {
        statement::prove::<EF, _>(engine, params, input, |_| point)
    })?;
    context.keep_spans(origin, profile.spans());
    if traced && let Some((origin, spans)) = engine.take_timeline().map_err(ProveError::from)? {
        context.keep_device_spans(origin, spans);
    }
    let phases = profile.totals();

    let broken = |e: ProofError| Failure::internal(format!("the proof cannot be encoded: {e}"));
    let bytes = proved.file.encode().map_err(broken)?;
    // What was written is what is verified, not what is in memory.
    let file = ProofFile::<EF>::decode(&bytes).map_err(broken)?;
    let begin = Instant::now();
    let (verdict, verify) = progress::timed(|| statement::verify(&file));
    verdict?;
    context.keep_span("verify", begin);
    Ok(Made {
        view: View::of(&file.into()),
        bytes,
        commit: proved.commit,
        open: proved.open,
        verify,
        phases,
        opening: Duration::ZERO,
        peak_device_memory: None,
        waits: None,
        planned_device_memory: None,
    })
}

impl Made {
    fn prove(&self) -> Duration {
        self.commit + self.open
    }

    fn grind(&self) -> Duration {
        self.phases.get("grind").copied().unwrap_or_default()
    }

    pub(crate) fn sha256(&self) -> String {
        let digest = Sha256::digest(&self.bytes);
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Statement, sizes and times under the documented names.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let phases: Map<String, Value> = self
            .phases
            .iter()
            .map(|(name, time)| ((*name).to_owned(), json!(ms(*time))))
            .collect();
        let mut all = self.view.fields();
        all.extend(fields(json!({
            "proof_bytes": self.bytes.len(),
            "proof_sha256": self.sha256(),
            "commit_ms": ms(self.commit),
            "open_ms": ms(self.open),
            "prove_ms": ms(self.prove()),
            "grind_ms": ms(self.grind()),
            "phases": phases,
            "peak_memory_bytes": peak_memory(),
            "device_open_ms": ms(self.opening),
            "peak_device_memory_bytes": self.peak_device_memory,
            "device_waits": self.waits,
            "planned_device_memory_bytes": self.planned_device_memory,
            "verify_ms": ms(self.verify),
            "valid": true,
        })));
        all
    }

    /// The times as a table.
    pub(crate) fn times_text(&self) -> String {
        let line = |name: &str, time: Duration| format!("  {name:<18}{:>10.2} ms\n", ms(time));
        let mut text = format!(
            "proved in {:.2} ms (commit {:.2}, open {:.2})\n",
            ms(self.prove()),
            ms(self.commit),
            ms(self.open)
        );
        let mut rest = self.prove();
        let mut phases: Vec<_> = self.phases.iter().collect();
        phases.sort_by_key(|(_, time)| std::cmp::Reverse(**time));
        for (name, time) in phases {
            text.push_str(&line(name, *time));
            rest = rest.saturating_sub(*time);
        }
        text.push_str(&line("other", rest));
        if let Some(waits) = self.waits {
            text.push_str(&format!("waits for the device: {waits}\n"));
        }
        if let (Some(peak), Some(planned)) = (self.peak_device_memory, self.planned_device_memory) {
            text.push_str(&format!(
                "device memory: {} at the peak, {} planned\n",
                format_bytes(peak),
                format_bytes(planned)
            ));
        }
        text
    }
}

/// The line that says what ran.
pub(crate) fn device_text(prover: &Prover, context: &Context) -> String {
    let device = &prover.device;
    let opening = match device.kind() {
        DeviceKind::Cpu => String::new(),
        _ => format!(", opened in {:.0} ms", ms(prover.opening)),
    };
    format!(
        "device       {device}, {} threads ({}){opening}\n",
        context.threads(),
        device.info().why
    )
}

/// The most memory this process has held, in bytes; `None` where the system does not say.
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// Reads a file that must not be larger than `limit`.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| {
        Failure::input(format!("cannot read {}: {error}", path.display()))
            .at(path.display().to_string())
    };
    let file = File::open(path).map_err(failed)?;
    let mut data = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut data)
        .map_err(failed)?;
    if data.len() as u64 > limit {
        return Err(Failure {
            have: Some(limit),
            ..Failure::input(format!("{} is larger than {limit} bytes", path.display()))
                .at(path.display().to_string())
        });
    }
    Ok(data)
}

/// Far above the largest proof whose commitment anyone would send.
const MAX_PROOF_FILE: u64 = 1 << 28;

/// What is looked at before the rest is read: more than the longest header before the commitment.
const HEAD_BYTES: u64 = 4096;

/// Of a proof file are held its bytes, its content, and the encoding that must give the bytes again.
const PROOF_COPIES: u64 = 3;

/// Refuses a proof file of so many bytes, or of more.
fn check_length(path: &Path, length: u64, memory: u64) -> Result<(), Failure> {
    if length > MAX_PROOF_FILE {
        return Err(Failure {
            need: Some(length),
            have: Some(MAX_PROOF_FILE),
            ..Failure::input(format!(
                "{} is larger than {MAX_PROOF_FILE} bytes, the most that a proof may have",
                path.display()
            ))
            .at(path.display().to_string())
        });
    }
    let need = length.saturating_mul(PROOF_COPIES);
    if need > memory {
        let what = format!("reading {}", path.display());
        return Err(OutOfMemory::new(what, need, memory).into());
    }
    Ok(())
}

/// Reads and decodes a proof file: its bytes and its content. Of what is no proof file only the
/// beginning is read.
pub(crate) fn read_proof(
    path: &Path,
    context: &Context,
) -> Result<(Vec<u8>, AnyProofFile), Failure> {
    let memory = context.memory_limit()?.bytes();
    let failed = |error: std::io::Error| {
        Failure::input(format!("cannot read {}: {error}", path.display()))
            .at(path.display().to_string())
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut data = Vec::new();
    let mut read = |limit: u64, data: &mut Vec<u8>| {
        file.by_ref()
            .take(limit)
            .read_to_end(data)
            .map_err(failed)
            .map(drop)
    };
    read(HEAD_BYTES, &mut data)?;
    if data.len() as u64 == HEAD_BYTES {
        match AnyProofFile::decode(&data) {
            // The rest is missing, as it should, or something stands behind a whole proof.
            Ok(_) | Err(ProofError::Truncated { .. }) => {}
            Err(error) => return Err(Failure::from(error).in_file(path)),
        }
        if let Some(found) = std::fs::metadata(path).ok().filter(|f| f.is_file()) {
            check_length(path, found.len(), memory)?;
        }
        // One byte more than is allowed says that there are too many.
        let most = MAX_PROOF_FILE.min(memory / PROOF_COPIES);
        read(most.saturating_add(1).saturating_sub(HEAD_BYTES), &mut data)?;
    }
    check_length(path, data.len() as u64, memory)?;
    let file = AnyProofFile::decode(&data).map_err(|e| Failure::from(e).in_file(path))?;
    Ok((data, file))
}
