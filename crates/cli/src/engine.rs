//! The engine of a device: opened, compared with Plonky3 at its first use, and what it holds.
#![forbid(unsafe_code)]

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fieldspar_device::cuda::Cuda;
use fieldspar_device::{Device, DeviceKind, DeviceSpec, MemoryPlan};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::{self, CudaEngine};
use fieldspar_whir::error::ParamsError;
use fieldspar_whir::params::Params;
use fieldspar_whir::selftest::SelfTestFailure;
use fieldspar_whir::wgpu::{self, WgpuEngine};

use crate::context::open;
use crate::failure::{Failure, Kind};

/// An engine of one of the kinds that WHIR has.
#[derive(Clone, Debug)]
pub(crate) enum AnyEngine {
    Cpu(CpuEngine),
    Cuda(CudaEngine),
    Wgpu(WgpuEngine),
}

impl AnyEngine {
    /// The engine of an opened device, as it is.
    pub(crate) fn new(device: &Device) -> Result<Self, Failure> {
        match (device.cpu_variant(), device.cuda(), device.wgpu()) {
            (Some(variant), ..) => Ok(Self::Cpu(CpuEngine::new(variant)?)),
            (_, Some(cuda), _) => Ok(Self::Cuda(CudaEngine::new(cuda)?)),
            (_, _, Some(gpu)) => Ok(Self::Wgpu(WgpuEngine::new(gpu)?)),
            (None, None, None) => Err(Failure::new(
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
        match &engine {
            AnyEngine::Cpu(_) => {}
            AnyEngine::Cuda(gpu) => {
                let name = gpu.cuda().name();
                first_use(name, cuda_marker(gpu.cuda()), || cuda::selftest::quick(gpu))?;
            }
            AnyEngine::Wgpu(gpu) => {
                let marker = Some(wgpu_marker(gpu));
                first_use(gpu.gpu().spec(), marker, || wgpu::selftest::quick(gpu))?;
            }
        }
        Ok(Self {
            device,
            engine,
            opening: begin.elapsed(),
        })
    }

    /// Whether it is a GPU.
    pub(crate) const fn is_gpu(&self) -> bool {
        !matches!(self.engine, AnyEngine::Cpu(_))
    }

    /// The plan of its memory where it is a GPU, checked against what is free.
    pub(crate) fn check(&self, params: &Params, n: usize) -> Result<Option<MemoryPlan>, Failure> {
        let plan = plan_of(&self.device, params, n)?;
        if let AnyEngine::Wgpu(engine) = &self.engine {
            wgpu::plan::check_bindings(engine, params, n)??;
        }
        if let (Some(plan), Some(free)) = (&plan, free_bytes(&self.device)?) {
            plan.check(free)?;
        }
        Ok(plan)
    }

    /// From here on the most that is held of the device's memory, and the waits for it, count anew.
    pub(crate) fn reset_counts(&self) -> u64 {
        match &self.engine {
            AnyEngine::Cpu(_) => 0,
            AnyEngine::Cuda(engine) => {
                engine.cuda().reset_high_water();
                0
            }
            AnyEngine::Wgpu(engine) => {
                engine.gpu().reset_high_water();
                engine.waits()
            }
        }
    }

    /// The most that was held of the device's memory.
    pub(crate) fn peak_bytes(&self) -> Option<u64> {
        match &self.engine {
            AnyEngine::Cpu(_) => None,
            AnyEngine::Cuda(engine) => Some(engine.cuda().pool().high_water_bytes),
            AnyEngine::Wgpu(engine) => Some(engine.gpu().high_water_bytes()),
        }
    }

    /// Waits for the device since [`Self::reset_counts`] gave `before`, where they are counted.
    pub(crate) fn waits_since(&self, before: u64) -> Option<u64> {
        match &self.engine {
            AnyEngine::Wgpu(engine) => Some(engine.waits() - before),
            _ => None,
        }
    }
}

/// The plan of a GPU's memory for one proof.
pub(crate) fn plan_of(
    device: &Device,
    params: &Params,
    n: usize,
) -> Result<Option<MemoryPlan>, ParamsError> {
    plan_for(device.kind(), params, n)
}

/// The same of a GPU of this kind.
pub(crate) fn plan_for(
    kind: DeviceKind,
    params: &Params,
    n: usize,
) -> Result<Option<MemoryPlan>, ParamsError> {
    match kind {
        DeviceKind::Cuda => cuda::plan::memory_plan(params, n).map(Some),
        DeviceKind::Wgpu => wgpu::plan::memory_plan(params, n).map(Some),
        _ => Ok(None),
    }
}

/// What a GPU's memory has free, where that is known.
pub(crate) fn free_bytes(device: &Device) -> Result<Option<u64>, fieldspar_device::Error> {
    match (device.cuda(), device.wgpu()) {
        (Some(cuda), _) => cuda.free_bytes().map(Some),
        (_, Some(gpu)) => Ok(gpu.info().available_bytes()),
        _ => Ok(None),
    }
}

/// Compares a GPU with Plonky3, unless that was done before with this driver and these kernels.
fn first_use(
    name: &str,
    marker: Option<String>,
    quick: impl FnOnce() -> Result<(), SelfTestFailure>,
) -> Result<(), Failure> {
    let marker = cache_folder().zip(marker);
    let marker = marker.map(|(folder, name)| folder.join("fieldspar").join(name));
    if marker.as_ref().is_some_and(|path| path.is_file()) {
        return Ok(());
    }
    let begin = Instant::now();
    quick().map_err(|e| Failure::new(Kind::Mismatch, format!("{name}: {e}")).at(e.operation))?;
    tracing::info!(device = name, time = ?begin.elapsed(), "self-test passed");
    if let Some(path) = marker {
        // Where nothing can be kept the test runs every time.
        let _ = path.parent().map(fs::create_dir_all);
        let _ = fs::write(path, "passed\n");
    }
    Ok(())
}

/// What a passed self-test of an adapter holds for.
fn wgpu_marker(engine: &WgpuEngine) -> String {
    let info = engine.gpu().info();
    let kernels = wgpu::selftest::kernels_id(engine.arithmetic());
    let kernels: String = kernels.chars().take(16).collect();
    file_name(&format!(
        "selftest-{}-{}-{}-{}-{kernels}",
        info.backend,
        info.name,
        info.driver,
        engine.arithmetic()
    ))
}

/// What a passed self-test of an NVIDIA GPU holds for.
fn cuda_marker(cuda: &Cuda) -> Option<String> {
    let info = cuda.info();
    let driver = match &info.driver {
        Some(driver) => driver.clone(),
        None => format!("cuda{}.{}", info.cuda.0, info.cuda.1),
    };
    let kernels = cuda::selftest::kernels_id()?;
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
        assert_eq!(cuda::selftest::kernels_id().unwrap().len(), 64);
    }

    #[test]
    fn the_cpu_has_no_memory_of_its_own() {
        let prover = Prover::open(&"cpu:portable".parse().unwrap()).unwrap();
        assert!(!prover.is_gpu());
        let plan = prover.check(&Params::default(), 20).unwrap();
        assert_eq!(plan, None);
    }
}
