//! The device that runs a call.
#![forbid(unsafe_code)]

use core::fmt;

use serde::{Deserialize, Serialize};

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

/// An opened device. Holding one means that its kernels can run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    info: DeviceInfo,
    cpu: CpuVariant,
}

impl Device {
    /// Opens the device that `spec` names; `auto` is the fastest CPU variant that this processor
    /// runs, until there are other engines. What was chosen, and why, is logged at info level.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason in words. Nothing else is tried instead.
    pub fn open(spec: &DeviceSpec) -> Result<Self, Unavailable> {
        let (cpu, why) = match spec {
            DeviceSpec::Auto => {
                let best = CpuVariant::best();
                (best, format!("auto: {}", why_best(best)))
            }
            DeviceSpec::Cpu(CpuSelection::Best) => {
                let best = CpuVariant::best();
                (best, why_best(best))
            }
            DeviceSpec::Cpu(CpuSelection::Variant(variant)) => {
                if let Some(reason) = probe::cpu_missing(*variant) {
                    return Err(Unavailable::new(spec.to_string(), reason));
                }
                (*variant, "named".to_owned())
            }
            DeviceSpec::Cpu(CpuSelection::Adx) => {
                return Err(Unavailable::new(spec.to_string(), probe::ADX_REASON));
            }
            DeviceSpec::Cuda(_) => {
                return Err(Unavailable::new(spec.to_string(), probe::NO_CUDA));
            }
            DeviceSpec::Wgpu(_) => {
                return Err(Unavailable::new(spec.to_string(), probe::NO_WGPU));
            }
        };
        let info = DeviceInfo {
            spec: DeviceSpec::from(cpu).to_string(),
            kind: DeviceKind::Cpu,
            name: cpu_name().to_owned(),
            variant: cpu.name().to_owned(),
            why,
        };
        tracing::info!(device = %info.spec, name = %info.name, why = %info.why, "device chosen");
        Ok(Self { info, cpu })
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
        match self.info.kind {
            DeviceKind::Cpu => Some(self.cpu),
            _ => None,
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
        let device = open("auto").unwrap();
        assert_eq!(device.cpu_variant(), Some(CpuVariant::best()));
        assert_eq!(device.kind(), DeviceKind::Cpu);
        assert!(device.info().why.starts_with("auto: "));
        assert_eq!(device.info().spec, format!("cpu:{}", CpuVariant::best()));
        // The concrete name gives the same device again.
        assert_eq!(
            open(&device.info().spec).unwrap().cpu_variant(),
            device.cpu_variant()
        );
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
        for (spec, words) in [
            ("cuda", "this build has no CUDA engine"),
            ("cuda:3", "this build has no CUDA engine"),
            ("wgpu", "this build has no wgpu engine"),
            ("wgpu:llvmpipe", "this build has no wgpu engine"),
            ("cpu:adx", "msm"),
        ] {
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
