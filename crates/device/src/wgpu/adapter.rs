//! Which adapters are here, and which of them a name means.
#![forbid(unsafe_code)]

use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::{DeviceKind, Limits, Probe, available_memory, total_memory};

/// The interfaces, best first: where one chip is reached through several, the first of them is taken.
const BACKENDS: [(&str, ::wgpu::Backend); 4] = [
    ("vulkan", ::wgpu::Backend::Vulkan),
    ("metal", ::wgpu::Backend::Metal),
    ("dx12", ::wgpu::Backend::Dx12),
    ("gl", ::wgpu::Backend::Gl),
];

/// How kernels multiply 64-bit values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Arithmetic {
    /// `u64` of WGSL, where the adapter has it.
    U64,
    /// Pairs of `u32`, products by 16-bit halves: everywhere.
    U32,
}

impl Arithmetic {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U64 => "u64",
            Self::U32 => "u32",
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What sort of chip an adapter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum AdapterKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU lent by a host.
    Virtual,
    /// Not known.
    Other,
    /// A program on the processor.
    Software,
}

impl AdapterKind {
    /// Its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete",
            Self::Integrated => "integrated",
            Self::Virtual => "virtual",
            Self::Other => "other",
            Self::Software => "software",
        }
    }

    fn of(kind: ::wgpu::DeviceType, name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        // Not every driver admits what it is.
        let software = ["llvmpipe", "softpipe", "swiftshader", "basic render"];
        if software.iter().any(|s| name.contains(s)) {
            return Self::Software;
        }
        match kind {
            ::wgpu::DeviceType::DiscreteGpu => Self::Discrete,
            ::wgpu::DeviceType::IntegratedGpu => Self::Integrated,
            ::wgpu::DeviceType::VirtualGpu => Self::Virtual,
            ::wgpu::DeviceType::Cpu => Self::Software,
            ::wgpu::DeviceType::Other => Self::Other,
        }
    }
}

/// What an adapter allows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AdapterLimits {
    /// Bytes of the largest buffer.
    pub buffer_bytes: u64,
    /// Bytes of a buffer that one kernel can see.
    pub binding_bytes: u64,
    /// Storage buffers of one kernel.
    pub storage_buffers: u32,
    /// Invocations of a workgroup.
    pub workgroup_invocations: u32,
    /// Bytes that a workgroup shares.
    pub workgroup_bytes: u32,
    /// Workgroups of one dispatch.
    pub workgroups: u32,
    /// What the start of a binding is a multiple of.
    pub binding_alignment: u32,
}

/// What every kernel of Fieldspar may use, so what an adapter must have.
const BASE: AdapterLimits = AdapterLimits {
    buffer_bytes: 128 << 20,
    binding_bytes: 128 << 20,
    storage_buffers: 8,
    workgroup_invocations: 256,
    workgroup_bytes: 16 << 10,
    workgroups: 65535,
    binding_alignment: 256,
};

/// One adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WgpuInfo {
    /// The specification that means this adapter and no other here.
    pub spec: String,
    /// The chip's name as the driver tells it.
    pub name: String,
    /// The interface: `vulkan`, `metal`, `dx12` or `gl`.
    pub backend: String,
    /// What sort of chip it is.
    pub kind: AdapterKind,
    /// The driver and its version.
    pub driver: String,
    /// The variant of the kernels that would run.
    pub arithmetic: Arithmetic,
    /// What it allows.
    pub limits: AdapterLimits,
    /// Smallest and largest size of a subgroup; 0 where there are none.
    pub subgroup: (u32, u32),
    /// Why no kernel of Fieldspar can run on it, if so.
    pub refusal: Option<String>,
}

impl WgpuInfo {
    fn of(adapter: &::wgpu::Adapter) -> Option<Self> {
        let info = adapter.get_info();
        let (backend, _) = BACKENDS.into_iter().find(|(_, b)| *b == info.backend)?;
        let features = adapter.features();
        let limits = adapter.limits();
        let subgroup = features.contains(::wgpu::Features::SUBGROUP);
        let limits = AdapterLimits {
            buffer_bytes: limits.max_buffer_size,
            binding_bytes: limits.max_storage_buffer_binding_size,
            storage_buffers: limits.max_storage_buffers_per_shader_stage,
            workgroup_invocations: limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            workgroups: limits.max_compute_workgroups_per_dimension,
            binding_alignment: limits.min_storage_buffer_offset_alignment,
        };
        let compute = adapter
            .get_downlevel_capabilities()
            .flags
            .contains(::wgpu::DownlevelFlags::COMPUTE_SHADERS);
        let name = info.name.trim().to_owned();
        let driver = format!("{} {}", info.driver, info.driver_info);
        Some(Self {
            spec: String::new(),
            backend: backend.to_owned(),
            kind: AdapterKind::of(info.device_type, &name),
            driver: driver.trim().to_owned(),
            arithmetic: if features.contains(::wgpu::Features::SHADER_INT64) {
                Arithmetic::U64
            } else {
                Arithmetic::U32
            },
            subgroup: if subgroup {
                (info.subgroup_min_size, info.subgroup_max_size)
            } else {
                (0, 0)
            },
            refusal: refusal(compute, &limits),
            name,
            limits,
        })
    }

    /// The chip without what a driver adds to its name.
    fn chip(&self) -> String {
        let end = self.name.find(['(', '/']).unwrap_or(self.name.len());
        self.name[..end].trim().to_ascii_lowercase()
    }

    fn rank(&self) -> (AdapterKind, usize) {
        (self.kind, self.backend_rank())
    }

    fn backend_rank(&self) -> usize {
        let at = BACKENDS.iter().position(|(name, _)| *name == self.backend);
        at.unwrap_or(BACKENDS.len())
    }

    /// Bytes that buffers could take, where that is known: what the machine has left, for an adapter
    /// that shares its memory. The interface tells nothing of other memory.
    #[must_use]
    pub fn available_bytes(&self) -> Option<u64> {
        match self.kind {
            AdapterKind::Integrated | AdapterKind::Software => available_memory(),
            _ => None,
        }
    }
}

fn refusal(compute: bool, limits: &AdapterLimits) -> Option<String> {
    if !compute {
        return Some("it runs no compute kernels".to_owned());
    }
    let least = [
        ("bytes a buffer", limits.buffer_bytes, BASE.buffer_bytes),
        ("bytes a binding", limits.binding_bytes, BASE.binding_bytes),
        (
            "storage buffers",
            limits.storage_buffers.into(),
            BASE.storage_buffers.into(),
        ),
        (
            "invocations a workgroup",
            limits.workgroup_invocations.into(),
            BASE.workgroup_invocations.into(),
        ),
        (
            "bytes of workgroup memory",
            limits.workgroup_bytes.into(),
            BASE.workgroup_bytes.into(),
        ),
    ];
    least.into_iter().find_map(|(what, have, need)| {
        (have < need).then(|| format!("it allows {have} {what}, and kernels need {need}"))
    })
}

/// Which adapter is meant: the text after `wgpu:`.
///
/// `vulkan`, `metal`, `dx12`, `gl` name an interface, `NAME` a part of an adapter's name in any case,
/// `vulkan:NAME` both; `#2` after it means the second of those that fit, from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selector {
    backend: Option<&'static str>,
    part: String,
    ordinal: Option<usize>,
}

impl Selector {
    /// Reads one; nothing is the best adapter.
    #[must_use]
    pub fn new(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default();
        let (head, tail) = text.split_once(':').unwrap_or((text, ""));
        let named = BACKENDS.iter().find(|(name, _)| *name == head);
        let (backend, rest) = match named {
            Some((name, _)) => (Some(*name), tail),
            None => (None, text),
        };
        let numbered = rest
            .rsplit_once('#')
            .and_then(|(part, n)| Some((part, n.parse::<usize>().ok()?)));
        let (part, ordinal) = match numbered {
            Some((part, n)) => (part, Some(n)),
            None => (rest, None),
        };
        Self {
            backend,
            part: part.to_ascii_lowercase(),
            ordinal,
        }
    }

    fn fits(&self, info: &WgpuInfo) -> bool {
        self.backend.is_none_or(|b| b == info.backend)
            && info.name.to_ascii_lowercase().contains(&self.part)
    }

    fn is_exact(&self, info: &WgpuInfo) -> bool {
        info.name.eq_ignore_ascii_case(&self.part)
    }
}

/// Which of `found` the selector means, and why in words.
pub(crate) fn choose(selector: &Selector, found: &[WgpuInfo]) -> Result<(usize, String), String> {
    let list = |which: &[usize]| {
        let names: Vec<_> = which.iter().map(|&i| found[i].spec.as_str()).collect();
        names.join(", ")
    };
    let all: Vec<usize> = (0..found.len()).collect();
    if all.is_empty() {
        return Err(NONE.to_owned());
    }
    let mut fit: Vec<usize> = all
        .iter()
        .copied()
        .filter(|&i| selector.fits(&found[i]))
        .collect();
    if fit.iter().any(|&i| selector.is_exact(&found[i])) {
        fit.retain(|&i| selector.is_exact(&found[i]));
    }
    let Some(&first) = fit.first() else {
        return Err(format!("no adapter fits; there are: {}", list(&all)));
    };
    if let Some(ordinal) = selector.ordinal {
        let chosen = ordinal.checked_sub(1).and_then(|i| fit.get(i));
        return match chosen {
            Some(&i) => usable(i, found, "named".to_owned()),
            None => Err(format!(
                "there is no number {ordinal} of those that fit: {}",
                list(&fit)
            )),
        };
    }
    if selector.part.is_empty() {
        // The order that the interface lists them in decides between equals.
        let best = fit
            .iter()
            .copied()
            .min_by_key(|&i| (found[i].refusal.is_some(), found[i].rank()))
            .unwrap_or(first);
        let why = match (fit.len(), selector.backend) {
            (1, None) => "the only adapter".to_owned(),
            (1, Some(backend)) => format!("the only adapter of {backend}"),
            (n, None) => format!("the best of {n} adapters"),
            (n, Some(backend)) => format!("the best of {n} adapters of {backend}"),
        };
        return usable(best, found, why);
    }
    // One chip through two interfaces is not ambiguous.
    let best = fit.iter().map(|&i| found[i].backend_rank()).min();
    let one_chip = fit.iter().all(|&i| found[i].chip() == found[first].chip());
    if one_chip {
        fit.retain(|&i| Some(found[i].backend_rank()) == best);
    }
    match fit[..] {
        [one] => usable(one, found, "named".to_owned()),
        _ => Err(format!("several adapters fit: {}", list(&fit))),
    }
}

fn usable(i: usize, found: &[WgpuInfo], why: String) -> Result<(usize, String), String> {
    match &found[i].refusal {
        Some(reason) => Err(format!("{}: {reason}", found[i].spec)),
        None => Ok((i, why)),
    }
}

/// The adapter that `auto` may take: a GPU that can be touched, never a program.
pub(super) fn automatic(found: &[WgpuInfo]) -> Option<usize> {
    let real = |info: &WgpuInfo| {
        matches!(info.kind, AdapterKind::Discrete | AdapterKind::Integrated)
            && info.refusal.is_none()
    };
    (0..found.len())
        .filter(|&i| real(&found[i]))
        .min_by_key(|&i| found[i].rank())
}

pub(super) const NONE: &str =
    "no adapter was found: neither Vulkan nor another interface has a driver here";

/// Every adapter as found, in the order of [`WgpuInfo`]s.
pub(super) struct Found {
    pub(super) adapters: Vec<::wgpu::Adapter>,
    pub(super) infos: Vec<WgpuInfo>,
}

/// Looked for once: a driver's start costs tens of milliseconds.
pub(super) fn found() -> &'static Found {
    static FOUND: OnceLock<Found> = OnceLock::new();
    FOUND.get_or_init(|| {
        let mut descriptor = ::wgpu::InstanceDescriptor::new_without_display_handle();
        // No validation layers, in no profile, unless WGPU_VALIDATION=1 asks for them.
        descriptor.flags = ::wgpu::InstanceFlags::empty().with_env();
        let instance = ::wgpu::Instance::new(descriptor);
        let all = ready(instance.enumerate_adapters(::wgpu::Backends::all())).unwrap_or_default();
        let (adapters, mut infos): (Vec<_>, Vec<_>) = all
            .into_iter()
            .filter_map(|adapter| WgpuInfo::of(&adapter).map(|info| (adapter, info)))
            .unzip();
        name_each(&mut infos);
        Found { adapters, infos }
    })
}

/// Specifications that mean one adapter each.
fn name_each(infos: &mut [WgpuInfo]) {
    let same =
        |a: &WgpuInfo, b: &WgpuInfo| a.backend == b.backend && a.name.eq_ignore_ascii_case(&b.name);
    for i in 0..infos.len() {
        let (before, after) = infos.split_at(i);
        let info = &after[0];
        let earlier = before.iter().filter(|o| same(o, info)).count();
        let later = after[1..].iter().any(|o| same(o, info));
        let number = match (earlier, later) {
            (0, false) => String::new(),
            (n, _) => format!("#{}", n + 1),
        };
        infos[i].spec = format!("wgpu:{}:{}{number}", infos[i].backend, infos[i].name);
    }
}

/// Every adapter that is here.
#[must_use]
pub fn adapters() -> &'static [WgpuInfo] {
    &found().infos
}

/// The value of a future of wgpu, which outside a browser is there at once.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Each adapter; one entry named `wgpu`, with the reason, where there is none.
pub(crate) fn probe() -> Vec<Probe> {
    let infos = adapters();
    if infos.is_empty() {
        return vec![Probe {
            spec: "wgpu".to_owned(),
            kind: DeviceKind::Wgpu,
            name: String::new(),
            variant: String::new(),
            backend: None,
            adapter: None,
            driver: None,
            available: false,
            reason: Some(NONE.to_owned()),
            memory_bytes: None,
            limits: Limits::default(),
        }];
    }
    infos.iter().map(entry).collect()
}

fn entry(info: &WgpuInfo) -> Probe {
    let shared = matches!(info.kind, AdapterKind::Integrated | AdapterKind::Software);
    Probe {
        spec: info.spec.clone(),
        kind: DeviceKind::Wgpu,
        name: info.name.clone(),
        variant: info.arithmetic.name().to_owned(),
        backend: Some(info.backend.clone()),
        adapter: Some(info.kind.name().to_owned()),
        driver: Some(info.driver.clone()),
        available: info.refusal.is_none(),
        reason: info.refusal.as_ref().map(|r| format!("{}: {r}", info.spec)),
        memory_bytes: if shared { total_memory() } else { None },
        limits: Limits {
            max_buffer_bytes: Some(info.limits.buffer_bytes),
            max_binding_bytes: Some(info.limits.binding_bytes),
            workgroup_invocations: Some(info.limits.workgroup_invocations),
            workgroup_bytes: Some(info.limits.workgroup_bytes),
            ..Limits::default()
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn info(backend: &str, name: &str, kind: AdapterKind) -> WgpuInfo {
        WgpuInfo {
            spec: String::new(),
            name: name.to_owned(),
            backend: backend.to_owned(),
            kind,
            driver: String::new(),
            arithmetic: Arithmetic::U32,
            limits: BASE,
            subgroup: (0, 0),
            refusal: None,
        }
    }

    fn machine() -> Vec<WgpuInfo> {
        use AdapterKind as K;
        let mut infos = vec![
            info("gl", "NVIDIA H200/PCIe/SSE2", K::Other),
            info("vulkan", "llvmpipe (LLVM 15.0.6, 256 bits)", K::Software),
            info("vulkan", "Intel(R) Graphics", K::Integrated),
            info("vulkan", "NVIDIA H200", K::Discrete),
            info("vulkan", "NVIDIA H200 NVL", K::Discrete),
            info("gl", "llvmpipe (LLVM 15.0.6, 256 bits)", K::Software),
            info("vulkan", "AMD Radeon", K::Discrete),
            info("vulkan", "AMD Radeon", K::Discrete),
        ];
        name_each(&mut infos);
        infos
    }

    fn chosen(text: Option<&str>) -> Result<String, String> {
        let infos = machine();
        let (i, _) = choose(&Selector::new(text), &infos)?;
        Ok(infos[i].spec.clone())
    }

    #[test]
    fn a_name_means_one_adapter() {
        for (text, spec) in [
            (None, "wgpu:vulkan:NVIDIA H200"),
            (Some("vulkan"), "wgpu:vulkan:NVIDIA H200"),
            (Some("gl"), "wgpu:gl:NVIDIA H200/PCIe/SSE2"),
            (
                Some("llvmpipe"),
                "wgpu:vulkan:llvmpipe (LLVM 15.0.6, 256 bits)",
            ),
            (
                Some("gl:LLVMPIPE"),
                "wgpu:gl:llvmpipe (LLVM 15.0.6, 256 bits)",
            ),
            (Some("NVL"), "wgpu:vulkan:NVIDIA H200 NVL"),
            (Some("NVIDIA H200"), "wgpu:vulkan:NVIDIA H200"),
            (Some("radeon#2"), "wgpu:vulkan:AMD Radeon#2"),
        ] {
            assert_eq!(chosen(text).as_deref(), Ok(spec), "{text:?}");
        }
    }

    #[test]
    fn every_specification_means_its_adapter() {
        for info in machine() {
            let text = info.spec.strip_prefix("wgpu:").unwrap();
            assert_eq!(chosen(Some(text)), Ok(info.spec.clone()));
        }
    }

    #[test]
    fn what_is_ambiguous_or_absent_is_refused_with_a_list() {
        let refused = chosen(Some("H200")).unwrap_err();
        assert!(refused.starts_with("several adapters fit: "), "{refused}");
        assert!(refused.contains("wgpu:gl:NVIDIA H200/PCIe/SSE2"));
        assert!(refused.contains("wgpu:vulkan:NVIDIA H200 NVL"));
        assert!(!refused.contains("llvmpipe"));
        let refused = chosen(Some("radeon")).unwrap_err();
        assert!(refused.ends_with("wgpu:vulkan:AMD Radeon#1, wgpu:vulkan:AMD Radeon#2"));
        let refused = chosen(Some("voodoo")).unwrap_err();
        assert!(refused.starts_with("no adapter fits; there are: wgpu:gl:NVIDIA"));
        assert!(chosen(Some("radeon#3")).unwrap_err().contains("number 3"));
        assert!(chosen(Some("radeon#0")).unwrap_err().contains("number 0"));
        assert!(chosen(Some("metal")).is_err());
        assert_eq!(
            choose(&Selector::new(None), &[]).map(|_| ()),
            Err(NONE.to_owned())
        );
    }

    #[test]
    fn auto_never_takes_a_program() {
        let mut infos = machine();
        assert_eq!(automatic(&infos), Some(3));
        infos.retain(|i| i.kind != AdapterKind::Discrete);
        assert_eq!(
            automatic(&infos).map(|i| &infos[i].name[..]),
            Some("Intel(R) Graphics")
        );
        infos.retain(|i| i.kind != AdapterKind::Integrated);
        assert_eq!(automatic(&infos), None);
        let named = AdapterKind::of(::wgpu::DeviceType::DiscreteGpu, "SwiftShader Device");
        assert_eq!(named, AdapterKind::Software);
    }

    #[test]
    fn too_little_is_refused_in_words() {
        assert_eq!(refusal(true, &BASE), None);
        assert!(refusal(false, &BASE).is_some());
        let small = AdapterLimits {
            workgroup_invocations: 128,
            ..BASE
        };
        assert_eq!(
            refusal(true, &small).as_deref(),
            Some("it allows 128 invocations a workgroup, and kernels need 256")
        );
        let mut infos = vec![info("vulkan", "Old", AdapterKind::Discrete)];
        infos[0].refusal = refusal(true, &small);
        name_each(&mut infos);
        let refused = choose(&Selector::new(None), &infos).unwrap_err();
        assert!(refused.starts_with("wgpu:vulkan:Old: it allows 128"));
    }
}
