//! Which chips are here, which one runs this call, its limits, the memory plan and the errors.
//!
//! Every capability of Fieldspar takes a [`Device`] and none of them detects hardware itself.
//! The crate knows no cryptography.
//!
//! # Naming a device
//!
//! A device is named by a [`DeviceSpec`]: `auto`, `cpu`, `cpu:avx2`, `cuda`, `cuda:1`, `wgpu`,
//! `wgpu:llvmpipe`, `wgpu:vulkan`. A command-line flag goes before the environment variable
//! [`FIELDSPAR_DEVICE`](ENV_DEVICE), and that before `auto`.
//!
//! ```
//! use fieldspar_device::{Device, DeviceSpec};
//!
//! let spec: DeviceSpec = "cpu:portable".parse()?;
//! let device = Device::open(&spec)?;
//! assert_eq!(device.info().spec, "cpu:portable");
//! println!("{device}: {}", device.info().why);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `auto` chooses and says what and why. Anything else is an order: a device that cannot be had is
//! [`Unavailable`], with the reason in words, and nothing runs elsewhere instead.
//!
//! ```
//! use fieldspar_device::{Device, DeviceSpec};
//!
//! let refused = Device::open(&"cpu:adx".parse::<DeviceSpec>()?).unwrap_err();
//! assert_eq!(refused.device, "cpu:adx");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//!
//! An operation writes down what it will hold, phase by phase, as a [`MemoryPlan`], and the plan
//! is checked before anything is allocated.
//!
//! ```
//! use fieldspar_device::{MemoryLimit, MemoryPlan};
//!
//! let mut plan = MemoryPlan::new("whir commit");
//! let polynomial = plan.buffer("polynomial", 4 << 20);
//! let codeword = plan.buffer("codeword", 8 << 20);
//! let tree = plan.buffer("tree", 1 << 20);
//! plan.phase("encode", &[polynomial, codeword]);
//! plan.phase("hash", &[codeword, tree]);
//! assert_eq!(plan.peak_bytes(), 12 << 20);
//! plan.check(MemoryLimit::explicit(1 << 30).bytes())?;
//! # Ok::<(), fieldspar_device::OutOfMemory>(())
//! ```
#![deny(unsafe_code)]

mod cpu;
pub mod cuda;
mod device;
mod error;
mod expect;
mod host;
mod memory;
#[cfg(not(feature = "wgpu"))]
mod no_wgpu;
mod probe;
mod spec;
#[cfg(feature = "wgpu")]
pub mod wgpu;

pub use cpu::CpuVariant;
pub use device::{Device, DeviceInfo, DeviceKind};
pub use error::{Error, OutOfMemory, Unavailable};
#[cfg(feature = "wgpu")]
pub use expect::adapters_to_test;
pub use expect::{ENV_EXPECT, ExpectError, variants_to_test};
pub use host::{Host, cpu_name};
pub use memory::{
    BufferId, ENV_MAX_MEMORY, MemoryLimit, MemoryLimitSource, MemoryPlan, ParseBytesError, Phase,
    available_memory, format_bytes, parse_bytes, total_memory,
};
pub use probe::{Limits, Probe};
pub use spec::{CpuSelection, DeviceSpec, ENV_DEVICE, ParseSpecError, Source, SpecProblem};
