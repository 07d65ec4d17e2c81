//! What GPUs there are.
#![allow(unsafe_code)]

use core::ffi::{c_char, c_int, c_uint};

use cudarc::driver::sys::{CUdevice, CUdevice_attribute as Attribute};

use super::api::{Code, Driver, driver};
use crate::{DeviceKind, Limits, Probe};

/// The oldest architecture that the kernels are compiled for: Turing.
const OLDEST: (u32, u32) = (7, 5);

/// What a GPU is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CudaInfo {
    /// Its number in the driver's list, the N of `cuda:N`.
    pub ordinal: usize,
    /// The chip's name.
    pub name: String,
    /// Its compute capability: major, minor.
    pub capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// The version of CUDA that the driver speaks: major, minor.
    pub cuda: (u32, u32),
    /// The driver's own version, such as `580.159.04`, where the system tells it.
    pub driver: Option<String>,
    /// Bytes of device memory.
    pub total_bytes: u64,
    /// Bytes of shared memory that one block can have at most, by
    /// [`Function::set_max_dynamic_shared`](super::Function::set_max_dynamic_shared).
    pub max_shared_bytes: u32,
    /// Whether cooperative launches work.
    pub cooperative: bool,
}

impl CudaInfo {
    /// The architecture as compilers name it: `sm_90`.
    #[must_use]
    pub fn architecture(&self) -> String {
        format!("sm_{}{}", self.capability.0, self.capability.1)
    }

    /// Why no kernel runs on it; `None` if they do.
    pub(super) fn refusal(&self) -> Option<String> {
        let ((major, minor), (needed, point)) = (self.capability, OLDEST);
        (self.capability < OLDEST).then(|| {
            format!(
                "{} has compute capability {major}.{minor}, and {needed}.{point} or newer is \
                 needed (Turing, 2018)",
                self.name
            )
        })
    }
}

/// How many GPUs there are, at least one.
pub(super) fn count(driver: &Driver) -> Result<usize, String> {
    let mut count = 0;
    // SAFETY: the driver is started; a number is written.
    match unsafe { (driver.api.cuDeviceGetCount)(&raw mut count) } {
        0 if count > 0 => usize::try_from(count).map_err(|e| e.to_string()),
        0 => Err("there is no NVIDIA GPU here".to_owned()),
        code => Err(format!(
            "the NVIDIA driver does not count its GPUs: {}",
            driver.api.error(code)
        )),
    }
}

/// What the GPU `ordinal` is.
pub(super) fn describe(driver: &Driver, ordinal: usize) -> Result<(CUdevice, CudaInfo), String> {
    let api = &driver.api;
    let said = |code: Code| match code {
        0 => Ok(()),
        code => Err(format!("the NVIDIA driver says: {}", api.error(code))),
    };
    let index = c_int::try_from(ordinal).map_err(|e| e.to_string())?;
    let mut device = 0;
    // SAFETY: a device's number is written on success.
    said(unsafe { (api.cuDeviceGet)(&raw mut device, index) })?;
    let mut name = [0u8; 256];
    // SAFETY: at most 255 bytes and a zero are written, and one more zero stands behind them.
    said(unsafe { (api.cuDeviceGetName)(name.as_mut_ptr().cast::<c_char>(), 255, device) })?;
    let name = name.split(|&b| b == 0).next().unwrap_or_default();
    let mut total = 0;
    // SAFETY: a figure is written.
    said(unsafe { (api.cuDeviceTotalMem_v2)(&raw mut total, device) })?;
    let attribute = |attribute: Attribute| {
        let mut value = 0;
        // SAFETY: a figure is written.
        let code =
            unsafe { (api.cuDeviceGetAttribute)(&raw mut value, attribute as c_uint, device) };
        said(code).map(|()| value.unsigned_abs())
    };
    let info = CudaInfo {
        ordinal,
        name: String::from_utf8_lossy(name).into_owned(),
        capability: (
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        cuda: driver.cuda,
        driver: driver_version(),
        total_bytes: total as u64,
        max_shared_bytes: attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?,
        cooperative: attribute(Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
    };
    Ok((device, info))
}

/// The driver's version from the kernel module: `580.159.04`.
fn driver_version() -> Option<String> {
    parse_driver_version(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn parse_driver_version(text: &str) -> Option<String> {
    let mut words = text.lines().next()?.split_whitespace();
    let version = |w: &&str| {
        w.contains('.')
            && w.split('.')
                .all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
    };
    words.find(version).map(str::to_owned)
}

/// Each GPU as `cuda:N`; one entry named `cuda`, with the reason, where there is none.
#[must_use]
pub fn probe() -> Vec<Probe> {
    let none = |reason: String| Probe {
        spec: "cuda".to_owned(),
        kind: DeviceKind::Cuda,
        name: String::new(),
        variant: String::new(),
        backend: None,
        adapter: None,
        driver: None,
        available: false,
        reason: Some(reason),
        memory_bytes: None,
        limits: Limits::default(),
    };
    let found = driver()
        .map_err(str::to_owned)
        .and_then(|driver| Ok((driver, count(driver)?)));
    let (driver, count) = match found {
        Ok(found) => found,
        Err(reason) => return vec![none(reason)],
    };
    let one = |ordinal: usize| match describe(driver, ordinal) {
        Ok((_, info)) => entry(&info),
        Err(reason) => Probe {
            spec: format!("cuda:{ordinal}"),
            ..none(reason)
        },
    };
    (0..count).map(one).collect()
}

fn entry(info: &CudaInfo) -> Probe {
    let reason = info.refusal();
    Probe {
        spec: format!("cuda:{}", info.ordinal),
        kind: DeviceKind::Cuda,
        name: info.name.clone(),
        variant: info.architecture(),
        backend: None,
        adapter: None,
        driver: None,
        available: reason.is_none(),
        reason,
        memory_bytes: Some(info.total_bytes),
        limits: Limits {
            multiprocessors: Some(info.multiprocessors),
            ..Limits::default()
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cuda::Cuda;

    fn info(capability: (u32, u32)) -> CudaInfo {
        CudaInfo {
            ordinal: 1,
            name: "NVIDIA Test".into(),
            capability,
            multiprocessors: 132,
            cuda: (13, 0),
            driver: None,
            total_bytes: 1 << 37,
            max_shared_bytes: 232_448,
            cooperative: true,
        }
    }

    #[test]
    fn an_old_architecture_is_listed_and_refused() {
        let probe = entry(&info((7, 0)));
        assert!(!probe.available);
        let reason = probe.reason.unwrap();
        assert!(reason.contains("7.0, and 7.5 or newer"), "{reason}");
        let probe = entry(&info((12, 0)));
        assert!(probe.available && probe.reason.is_none());
        assert_eq!(
            (probe.spec.as_str(), probe.variant.as_str()),
            ("cuda:1", "sm_120")
        );
        assert_eq!(probe.limits.multiprocessors, Some(132));
    }

    #[test]
    fn every_probe_says_what_open_does() {
        let probes = probe();
        assert!(!probes.is_empty());
        for probe in probes {
            let ordinal = probe
                .spec
                .strip_prefix("cuda:")
                .map_or(0, |n| n.parse().unwrap());
            let opened = Cuda::open(ordinal);
            assert_eq!(opened.is_ok(), probe.available, "{opened:?}");
            assert_eq!(opened.err().map(|e| e.reason), probe.reason);
        }
        let refused = Cuda::open(usize::MAX).unwrap_err();
        assert!(refused.reason.contains("NVIDIA"), "{refused}");
    }

    #[test]
    fn the_version_of_the_driver_is_read() {
        for (text, version) in [
            (
                "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n\
                 GCC version:  gcc version 13.2.0",
                Some("580.159.04"),
            ),
            (
                "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue",
                Some("550.54.15"),
            ),
            ("GCC", None),
            ("", None),
        ] {
            assert_eq!(parse_driver_version(text).as_deref(), version);
        }
    }
}
