//! The engine of a device: opened, compared with Plonky3 at its first use, and what it holds.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fieldspar_device::cuda::Cuda;
use fieldspar_device::{Device, DeviceSpec, MemoryPlan};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::plan::memory_plan;
use fieldspar_whir::cuda::{CudaEngine, selftest};
use fieldspar_whir::params::Params;

use crate::context::open;
use crate::failure::{Failure, Kind};

/// An engine of one of the kinds that WHIR has.
#[derive(Clone, Debug)]
pub(crate) enum AnyEngine {
    Cpu(CpuEngine),
    Cuda(CudaEngine),
}

impl AnyEngine {
    /// The engine of an opened device, as it is.
    pub(crate) fn new(device: &Device) -> Result<Self, Failure> {
        match (device.cpu_variant(), device.cuda()) {
            (Some(variant), _) => Ok(Self::Cpu(CpuEngine::new(variant)?)),
            (None, Some(cuda)) => Ok(Self::Cuda(CudaEngine::new(cuda)?)),
            (None, None) => Err(Failure::new(
                Kind::Unavailable,
                format!("this build has no WHIR engine for {}", device.info().spec),
            )),
        }
    }
}

/// A device that proofs are made on, with its engine.
#[derive(Clone, Debug)]
pub(crate) struct Prover {
    pub(crate) device: Device,
    pub(crate) engine: AnyEngine,
    /// What opening the device and loading the kernels took.
    pub(crate) opening: Duration,
}

impl Prover {
    /// Opens a device, and a GPU not without a self-test of it, its driver and these kernels.
    pub(crate) fn open(spec: &DeviceSpec) -> Result<Self, Failure> {
        let begin = Instant::now();
        let device = open(spec)?;
        let engine = AnyEngine::new(&device)?;
        if let AnyEngine::Cuda(engine) = &engine {
            first_use(engine)?;
        }
        Ok(Self {
            device,
            engine,
            opening: begin.elapsed(),
        })
    }

    /// The GPU, if it is one.
    pub(crate) fn cuda(&self) -> Option<&Cuda> {
        self.device.cuda()
    }

    /// The plan of its memory where it has its own, checked against what is free.
    pub(crate) fn check(&self, params: &Params, n: usize) -> Result<Option<MemoryPlan>, Failure> {
        let Some(cuda) = self.cuda() else {
            return Ok(None);
        };
        let plan = memory_plan(params, n)?;
        plan.check(cuda.free_bytes()?)?;
        Ok(Some(plan))
    }
}

/// Compares the GPU with Plonky3, unless that was done before with this driver and these kernels.
fn first_use(engine: &CudaEngine) -> Result<(), Failure> {
    let marker = cache_folder().zip(marker_name(engine.cuda()));
    let marker = marker.map(|(folder, name)| folder.join("fieldspar").join(name));
    if marker.as_ref().is_some_and(|path| path.is_file()) {
        return Ok(());
    }
    let begin = Instant::now();
    selftest::quick(engine).map_err(|e| {
        let name = engine.cuda().name();
        Failure::new(Kind::Mismatch, format!("{name}: {e}")).at(e.operation)
    })?;
    tracing::info!(device = engine.cuda().name(), time = ?begin.elapsed(), "self-test passed");
    if let Some(path) = marker {
        // Where nothing can be kept the test runs every time.
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(path, "passed\n");
    }
    Ok(())
}

/// What a passed self-test holds for.
fn marker_name(cuda: &Cuda) -> Option<String> {
    let info = cuda.info();
    let driver = match &info.driver {
        Some(driver) => driver.clone(),
        None => format!("cuda{}.{}", info.cuda.0, info.cuda.1),
    };
    let kernels = selftest::kernels_id()?;
    Some(file_name(&format!(
        "selftest-{}-{driver}-{}",
        info.name,
        kernels.get(..16)?
    )))
}

/// The text with nothing in it that a file's name may not have.
fn file_name(text: &str) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    text.chars()
        .map(|c| if fine(c) { c } else { '_' })
        .collect()
}

/// The user's folder for what can be made again.
fn cache_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("LOCALAPPDATA"))
        .or_else(|| Some(absolute("HOME")?.join(".cache")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_a_plain_file_name() {
        assert_eq!(
            file_name("selftest-NVIDIA H200/../x-580.159.04-00ff"),
            "selftest-NVIDIA_H200_.._x-580.159.04-00ff"
        );
        assert_eq!(selftest::kernels_id().unwrap().len(), 64);
    }

    #[test]
    fn the_cpu_has_no_memory_of_its_own() {
        let prover = Prover::open(&"cpu:portable".parse().unwrap()).unwrap();
        assert!(prover.cuda().is_none());
        let plan = prover.check(&Params::default(), 20).unwrap();
        assert_eq!(plan, None);
    }
}
