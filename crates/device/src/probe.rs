//! Every device that can be named, with what it can do or why it cannot be had.
#![forbid(unsafe_code)]

use serde::Serialize;

#[cfg(not(feature = "wgpu"))]
use crate::no_wgpu as wgpu;
#[cfg(feature = "wgpu")]
use crate::wgpu;
use crate::{CpuVariant, DeviceKind, DeviceSpec, cuda, host, total_memory};

pub(crate) const ADX_REASON: &str =
    "the adx variant is for the big-integer arithmetic of msm alone";

/// What bounds the work on a device. A figure that does not apply, or is not known, is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Limits {
    /// Bits of one vector register.
    pub vector_bits: Option<u32>,
    /// Cores that this process may use.
    pub cores: Option<usize>,
    /// Multiprocessors of a GPU.
    pub multiprocessors: Option<u32>,
    /// Bytes of the largest single buffer.
    pub max_buffer_bytes: Option<u64>,
    /// Bytes of a buffer that one kernel can see.
    pub max_binding_bytes: Option<u64>,
    /// Invocations of a workgroup.
    pub workgroup_invocations: Option<u32>,
    /// Bytes that a workgroup shares.
    pub workgroup_bytes: Option<u32>,
}

/// One device as found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Probe {
    /// The specification that names it.
    pub spec: String,
    /// The sort of engine.
    pub kind: DeviceKind,
    /// The chip's name; empty if none was found.
    pub name: String,
    /// The instruction set or architecture of the kernels; empty if none was found.
    pub variant: String,
    /// The interface of an adapter: `vulkan`, `metal`, `dx12` or `gl`.
    pub backend: Option<String>,
    /// What sort of chip an adapter is: `discrete`, `integrated`, `virtual`, `software` or `other`.
    pub adapter: Option<String>,
    /// The driver and its version, where an adapter tells it.
    pub driver: Option<String>,
    /// Whether [`crate::Device::open`] would give it.
    pub available: bool,
    /// Why not, in words.
    pub reason: Option<String>,
    /// Its memory, if known.
    pub memory_bytes: Option<u64>,
    /// What bounds the work on it.
    pub limits: Limits,
}

/// Why the variant cannot run here; `None` if it can.
pub(crate) fn cpu_missing(variant: CpuVariant) -> Option<String> {
    if variant.is_available() {
        return None;
    }
    let (architecture, feature) = match variant {
        CpuVariant::Portable => return None,
        CpuVariant::Avx2 => ("x86_64", "AVX2"),
        CpuVariant::Avx512 => ("x86_64", "AVX-512F"),
        CpuVariant::Neon => ("aarch64", "NEON"),
        CpuVariant::Sve => ("aarch64", "SVE"),
    };
    let here = std::env::consts::ARCH;
    Some(if here == architecture {
        format!("this processor ({}) has no {feature}", host::cpu_name())
    } else {
        format!("{feature} belongs to {architecture}, and this program is built for {here}")
    })
}

fn cpu(variant: CpuVariant) -> Probe {
    let reason = cpu_missing(variant);
    Probe {
        spec: DeviceSpec::from(variant).to_string(),
        kind: DeviceKind::Cpu,
        name: host::cpu_name().to_owned(),
        variant: variant.name().to_owned(),
        backend: None,
        adapter: None,
        driver: None,
        available: reason.is_none(),
        memory_bytes: total_memory(),
        limits: Limits {
            vector_bits: match variant {
                // The length of SVE's is the processor's own.
                CpuVariant::Portable | CpuVariant::Sve => None,
                CpuVariant::Neon => Some(128),
                CpuVariant::Avx2 => Some(256),
                CpuVariant::Avx512 => Some(512),
            },
            cores: Some(host::cores()),
            ..Limits::default()
        },
        reason,
    }
}

pub(crate) fn absent(
    spec: &DeviceSpec,
    kind: DeviceKind,
    name: &str,
    variant: &str,
    reason: &str,
) -> Probe {
    Probe {
        spec: spec.to_string(),
        kind,
        name: name.to_owned(),
        variant: variant.to_owned(),
        backend: None,
        adapter: None,
        driver: None,
        available: false,
        reason: Some(reason.to_owned()),
        memory_bytes: None,
        limits: Limits::default(),
    }
}

pub(crate) fn all() -> Vec<Probe> {
    let adx = DeviceSpec::Cpu(crate::CpuSelection::Adx);
    let mut found: Vec<Probe> = CpuVariant::NAMED.into_iter().map(cpu).collect();
    found.push(absent(
        &adx,
        DeviceKind::Cpu,
        host::cpu_name(),
        "adx",
        ADX_REASON,
    ));
    found.extend(cuda::probe());
    found.extend(wgpu::probe());
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Device;

    #[test]
    fn a_probe_says_what_open_does() {
        let probes = all();
        assert!(
            probes
                .iter()
                .any(|p| p.spec == "cpu:portable" && p.available)
        );
        for probe in probes {
            let opened = Device::open(&probe.spec.parse().unwrap());
            assert_eq!(opened.is_ok(), probe.available, "{}", probe.spec);
            assert_eq!(opened.err().map(|e| e.reason), probe.reason);
        }
    }

    #[test]
    fn a_variant_of_another_architecture_says_so() {
        let foreign = if cfg!(target_arch = "x86_64") {
            CpuVariant::Neon
        } else {
            CpuVariant::Avx2
        };
        let reason = cpu_missing(foreign).unwrap();
        assert!(reason.contains("this program is built for"), "{reason}");
    }

    #[test]
    fn the_json_has_the_documented_names() {
        let json = serde_json::to_value(all()).unwrap();
        for key in [
            "spec",
            "kind",
            "name",
            "variant",
            "backend",
            "adapter",
            "driver",
            "available",
            "reason",
            "memory_bytes",
            "limits",
        ] {
            assert!(json[0].get(key).is_some(), "{key}");
        }
        assert!(json[0]["reason"].is_null());
    }
}
