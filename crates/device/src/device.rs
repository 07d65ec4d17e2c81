//! The device that runs a call.
#![forbid(unsafe_code)]

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::cuda::Cuda;
#[cfg(not(feature = "wgpu"))]
use crate::no_wgpu::Wgpu;
#[cfg(feature = "wgpu")]
use crate::wgpu::{AdapterKind, Wgpu};
use crate::{CpuSelection, CpuVariant, DeviceSpec, Probe, Unavailable, host::cpu_name, probe};

/// What sort of engine runs on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum DeviceKind {
    /// The processor.
    Cpu,
    /// An NVIDIA GPU through its driver.
    Cuda,
    /// A GPU through Vulkan, Metal or DX12.
    Wgpu,
}

impl DeviceKind {
    /// Its name in specifications.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Wgpu => "wgpu",
        }
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which device it is and why this one: goes into results, logs and `--json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// The specification that gives exactly this device again.
    pub spec: String,
    /// The sort of engine.
    pub kind: DeviceKind,
    /// The chip's name.
    pub name: String,
    /// The instruction set or architecture that the kernels are compiled for.
    pub variant: String,
    /// Why it was chosen, in words.
    pub why: String,
}

impl DeviceInfo {
    /// The processor, running code of this name, which need not be a [`CpuVariant`].
    #[must_use]
    pub fn cpu(variant: &str, why: &str) -> Self {
        Self {
            spec: format!("cpu:{variant}"),
            kind: DeviceKind::Cpu,
            name: cpu_name().to_owned(),
            variant: variant.to_owned(),
            why: why.to_owned(),
        }
    }
}

/// An opened device. Holding one means that its kernels can run here. Two are equal if they are the
/// same device, chosen for the same reason.
#[derive(Clone, Debug)]
pub struct Device {
    info: DeviceInfo,
    chip: Chip,
}

#[derive(Clone, Debug)]
enum Chip {
    Cpu(CpuVariant),
    Cuda(Cuda),
    #[cfg_attr(
        not(feature = "wgpu"),
        expect(dead_code, reason = "no adapter is ever opened")
    )]
    Wgpu(Wgpu),
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.info == other.info
    }
}

impl Eq for Device {}

/// Every kind, for [`Device::open`].
const ANY: [DeviceKind; 3] = [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Wgpu];

impl Device {
    /// Opens the device that `spec` names; `auto` is the first NVIDIA GPU, or else the best discrete or
    /// integrated GPU of another interface, or else the fastest CPU variant that this processor runs,
    /// and never a software adapter. What was chosen, and why, is logged at info level.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason in words. Nothing else is tried instead.
    pub fn open(spec: &DeviceSpec) -> Result<Self, Unavailable> {
        Self::open_for(spec, &ANY)
    }

    /// [`Self::open`] for a caller that has engines for the kinds in `engines` only: `auto` chooses
    /// among them, and a named device of another kind is refused, whether it is here or not.
    ///
    /// ```
    /// use fieldspar_device::{Device, DeviceKind, DeviceSpec};
    ///
    /// let device = Device::open_for(&DeviceSpec::Auto, &[DeviceKind::Cpu])?;
    /// assert_eq!(device.kind(), DeviceKind::Cpu);
    /// let refused = Device::open_for(&DeviceSpec::Cuda(None), &[DeviceKind::Cpu]).unwrap_err();
    /// assert!(refused.reason.contains("no cuda engine"));
    /// # Ok::<(), fieldspar_device::Unavailable>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason in words. Nothing else is tried instead.
    pub fn open_for(spec: &DeviceSpec, engines: &[DeviceKind]) -> Result<Self, Unavailable> {
        let missing = |reason: String| Unavailable::new(spec.to_string(), reason);
        let engine = |kind: DeviceKind| -> Result<(), Unavailable> {
            if engines.contains(&kind) {
                return Ok(());
            }
            let names: Vec<&str> = engines.iter().map(|k| k.name()).collect();
            let names = names.join(", ");
            Err(missing(format!(
                "there is no {kind} engine for this work, which runs on: {names}"
            )))
        };
        match spec {
            DeviceSpec::Auto => Self::auto(engines),
            DeviceSpec::Cpu(selection) => {
                engine(DeviceKind::Cpu)?;
                match selection {
                    CpuSelection::Best => {
                        let best = CpuVariant::best();
                        Ok(Self::chosen_cpu(best, why_best(best)))
                    }
                    CpuSelection::Variant(variant) => match probe::cpu_missing(*variant) {
                        Some(reason) => Err(missing(reason)),
                        None => Ok(Self::chosen_cpu(*variant, "named".to_owned())),
                    },
                    CpuSelection::Adx => Err(missing(probe::ADX_REASON.to_owned())),
                }
            }
            DeviceSpec::Cuda(named) => {
                engine(DeviceKind::Cuda)?;
                let why = named.map_or("the first NVIDIA GPU", |_| "named");
                // The one beyond `usize` is beyond the list as well.
                let ordinal = usize::try_from(named.unwrap_or(0)).unwrap_or(usize::MAX);
                match Cuda::open(ordinal) {
                    Ok(cuda) => Ok(Self::chosen_cuda(cuda, why.to_owned())),
                    Err(error) => Err(missing(error.reason)),
                }
            }
            DeviceSpec::Wgpu(name) => {
                engine(DeviceKind::Wgpu)?;
                let (wgpu, why) = Wgpu::open_saying_why(name.as_deref())?;
                Ok(Self::chosen_wgpu(wgpu, Some(why)))
            }
        }
    }

    fn auto(engines: &[DeviceKind]) -> Result<Self, Unavailable> {
        let has = |kind| engines.contains(&kind);
        let mut no_gpu = Vec::new();
        if has(DeviceKind::Cuda) {
            match Cuda::open(0) {
                Ok(cuda) => {
                    return Ok(Self::chosen_cuda(
                        cuda,
                        "auto: the first NVIDIA GPU".to_owned(),
                    ));
                }
                Err(error) => no_gpu.push(error.reason),
            }
        }
        if has(DeviceKind::Wgpu) {
            match Wgpu::open_automatic() {
                Ok(wgpu) => {
                    return Ok(Self::chosen_wgpu(wgpu, None));
                }
                Err(reason) => no_gpu.push(reason),
            }
        }
        if has(DeviceKind::Cpu) {
            let best = CpuVariant::best();
            let mut why = format!("auto: {}", why_best(best));
            for reason in no_gpu {
                why.push_str("; ");
                why.push_str(&reason);
            }
            return Ok(Self::chosen_cpu(best, why));
        }
        let reason = match no_gpu.is_empty() {
            true => "there is no engine for this work in this build".to_owned(),
            false => no_gpu.join("; "),
        };
        Err(Unavailable::new(DeviceSpec::Auto.to_string(), reason))
    }

    fn chosen_cpu(variant: CpuVariant, why: String) -> Self {
        let info = DeviceInfo {
            spec: DeviceSpec::from(variant).to_string(),
            kind: DeviceKind::Cpu,
            name: cpu_name().to_owned(),
            variant: variant.name().to_owned(),
            why,
        };
        Self::chosen(info, Chip::Cpu(variant))
    }

    fn chosen_cuda(cuda: Cuda, why: String) -> Self {
        let info = DeviceInfo {
            spec: cuda.name().to_owned(),
            kind: DeviceKind::Cuda,
            name: cuda.info().name.clone(),
            variant: cuda.info().architecture(),
            why,
        };
        Self::chosen(info, Chip::Cuda(cuda))
    }

    #[cfg(not(feature = "wgpu"))]
    fn chosen_wgpu(wgpu: Wgpu, _: Option<String>) -> Self {
        match wgpu {}
    }

    #[cfg(feature = "wgpu")]
    fn chosen_wgpu(wgpu: Wgpu, why: Option<String>) -> Self {
        let why = why.unwrap_or_else(|| format!("auto: the best {} GPU", wgpu.info().kind.name()));
        let why = match wgpu.info().kind {
            AdapterKind::Software => format!("{why}; it is a program on the processor, no GPU"),
            _ => why,
        };
        let info = DeviceInfo {
            spec: wgpu.spec().to_owned(),
            kind: DeviceKind::Wgpu,
            name: wgpu.info().name.clone(),
            variant: wgpu.arithmetic().name().to_owned(),
            why,
        };
        Self::chosen(info, Chip::Wgpu(wgpu))
    }

    fn chosen(info: DeviceInfo, chip: Chip) -> Self {
        tracing::info!(device = %info.spec, name = %info.name, why = %info.why, "device chosen");
        Self { info, chip }
    }

    /// Every device that this build knows of, with what it can do or why it cannot be had.
    #[must_use]
    pub fn probe_all() -> Vec<Probe> {
        probe::all()
    }

    /// Which device this is, and why.
    #[must_use]
    pub const fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The sort of engine.
    #[must_use]
    pub const fn kind(&self) -> DeviceKind {
        self.info.kind
    }

    /// The instruction set of the kernels, if this is the processor.
    #[must_use]
    pub const fn cpu_variant(&self) -> Option<CpuVariant> {
        match self.chip {
            Chip::Cpu(variant) => Some(variant),
            Chip::Cuda(_) | Chip::Wgpu(_) => None,
        }
    }

    /// The adapter, if this is one of wgpu.
    #[must_use]
    #[cfg(feature = "wgpu")]
    pub const fn wgpu(&self) -> Option<&Wgpu> {
        match &self.chip {
            Chip::Wgpu(wgpu) => Some(wgpu),
            Chip::Cpu(_) | Chip::Cuda(_) => None,
        }
    }

    /// The GPU, if this is one of NVIDIA's.
    #[must_use]
    pub const fn cuda(&self) -> Option<&Cuda> {
        match &self.chip {
            Chip::Cuda(cuda) => Some(cuda),
            Chip::Cpu(_) | Chip::Wgpu(_) => None,
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info.spec, self.info.name)
    }
}

fn why_best(best: CpuVariant) -> String {
    if best == CpuVariant::Portable {
        "no faster variant runs on this processor".to_owned()
    } else {
        format!("{best} is the fastest variant that this processor runs")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn open(spec: &str) -> Result<Device, Unavailable> {
        Device::open(&spec.parse().unwrap())
    }

    #[test]
    fn auto_takes_the_best_and_says_why() {
        let device = Device::open_for(&DeviceSpec::Auto, &[DeviceKind::Cpu]).unwrap();
        assert_eq!(device.cpu_variant(), Some(CpuVariant::best()));
        assert_eq!(device.kind(), DeviceKind::Cpu);
        assert!(device.cuda().is_none());
        assert!(device.info().why.starts_with("auto: "));
        assert_eq!(device.info().spec, format!("cpu:{}", CpuVariant::best()));
        // The concrete name gives the same device again.
        assert_eq!(
            open(&device.info().spec).unwrap().cpu_variant(),
            device.cpu_variant()
        );
    }

    #[test]
    fn auto_takes_the_gpu_or_says_why_not() {
        // Without adapters of wgpu, which its own tests cover.
        let engines = [DeviceKind::Cpu, DeviceKind::Cuda];
        let device = Device::open_for(&DeviceSpec::Auto, &engines).unwrap();
        match Cuda::open(0) {
            Ok(_) => {
                assert_eq!(device.info().spec, "cuda:0");
                assert!(device.cuda().is_some() && device.cpu_variant().is_none());
            }
            Err(error) => {
                assert_eq!(device.cpu_variant(), Some(CpuVariant::best()));
                assert!(device.info().why.ends_with(&error.reason), "{device:?}");
            }
        }
    }

    #[test]
    fn work_without_an_engine_is_refused_and_never_chosen() {
        let cpu_only = [DeviceKind::Cpu];
        for spec in ["cuda", "cuda:1", "wgpu"] {
            let refused = Device::open_for(&spec.parse().unwrap(), &cpu_only).unwrap_err();
            assert_eq!(refused.device, spec);
            assert!(refused.reason.ends_with("which runs on: cpu"), "{refused}");
        }
        let refused = Device::open_for(&DeviceSpec::Auto, &[]).unwrap_err();
        assert_eq!(refused.device, "auto");
        let refused = Device::open_for(&"cpu".parse().unwrap(), &[DeviceKind::Cuda]);
        assert!(refused.unwrap_err().reason.contains("no cpu engine"));
    }

    #[cfg(feature = "wgpu")]
    #[test]
    fn auto_takes_no_software_adapter() {
        let engines = [DeviceKind::Cpu, DeviceKind::Wgpu];
        let device = Device::open_for(&DeviceSpec::Auto, &engines).unwrap();
        match device.wgpu() {
            Some(gpu) => {
                let kinds = [AdapterKind::Discrete, AdapterKind::Integrated];
                assert!(kinds.contains(&gpu.info().kind));
            }
            None => assert!(device.info().why.contains("adapter"), "{device:?}"),
        }
    }

    #[test]
    fn a_named_variant_is_that_variant_or_an_error() {
        for variant in CpuVariant::ALL {
            let result = Device::open(&variant.into());
            if variant.is_available() {
                assert_eq!(result.unwrap().cpu_variant(), Some(variant));
            } else {
                let refused = result.unwrap_err();
                assert_eq!(refused.device, format!("cpu:{variant}"));
                assert!(!refused.reason.is_empty());
            }
        }
    }

    #[test]
    fn what_this_build_lacks_is_refused_in_words() {
        for (spec, words) in [("cuda:4294967295", "NVIDIA"), ("cpu:adx", "msm")] {
            let refused = open(spec).unwrap_err();
            assert_eq!(refused.device, spec);
            assert!(refused.reason.contains(words), "{refused}");
        }
    }

    #[test]
    fn the_json_has_the_documented_names() {
        let json = serde_json::to_value(open("cpu:portable").unwrap().info()).unwrap();
        for key in ["kind", "name", "variant", "why"] {
            assert!(json[key].is_string(), "{key}");
        }
        assert_eq!(json["kind"], "cpu");
    }
}
