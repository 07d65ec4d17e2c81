//! Every other GPU, through Vulkan, Metal, DX12 or OpenGL: adapters, buffers, kernels in WGSL, and one
//! call that submits and waits.
//!
//! The interface's library is found at run time. [`adapters`] lists what is here, software adapters
//! too; [`Wgpu::open`] opens one of them by [`Selector`]. Work is recorded in a [`Batch`] and done by
//! [`Batch::run`], which waits once: a wait costs 65 µs on a fast card.
//!
//! ```no_run
//! use fieldspar_device::wgpu::{Access, Source, Wgpu};
//!
//! # fn run() -> Result<(), fieldspar_device::Error> {
//! let gpu = Wgpu::open(None)?;
//! let text = "
//!     @group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
//!     @group(0) @binding(1) var<storage, read_write> words: array<u32>;
//!     @compute @workgroup_size(64)
//!     fn double(@builtin(global_invocation_id) id: vec3<u32>) {
//!         let i = id.x + 64u * params[0].x;
//!         if (i < params[0].y) { words[i] = 2u * words[i]; }
//!     }";
//! let double = gpu.kernel(&Source { label: "example", text }, "double", &[Access::Write])?;
//! let words = gpu.upload("example", &[1_u32, 2, 3, 4])?;
//! let mut batch = gpu.batch("example");
//! batch.dispatch(&double, &[words.all()], &[4], 1)?;
//! let read = batch.read(&words, 0..16)?;
//! assert_eq!(batch.run()?.get::<u32>(read)?, [2, 4, 6, 8]);
//! # Ok(())
//! # }
//! ```
//!
//! # What a kernel may rely on
//!
//! Binding 0 is a uniform `array<vec4<u32>, 4>`. Word 0 is the workgroup that this dispatch begins
//! with, since long ones are cut into pieces; the others are the caller's parameters. The bindings
//! after it are storage buffers, in the order of the dispatch. What runs everywhere: 256 invocations,
//! 16 KiB of workgroup memory, 8 storage buffers, 128 MiB a binding, no 64-bit integers
//! ([`Arithmetic`]), no known size of subgroup.
//!
//! # Errors
//!
//! What wgpu reports by its handlers, its error scopes or a panic becomes an
//! [`Error`](crate::Error) whose cause is a [`Fault`]. A device that was lost, or that a wait gave up,
//! refuses all further work; no result of the failed work is handed out.
#![forbid(unsafe_code)]

mod adapter;
mod batch;
mod buffer;
mod context;
mod fault;
mod kernel;
mod pace;
#[cfg(test)]
mod tests;

pub use adapter::{AdapterKind, AdapterLimits, Arithmetic, Selector, WgpuInfo, adapters};
pub(crate) use adapter::{choose, probe};
pub use batch::{Batch, Pending, ReadId, Reads};
pub use buffer::{Binding, Buffer};
pub use context::Wgpu;
pub use fault::Fault;
pub use kernel::{Access, Kernel, MAX_PARAMS, Source};
