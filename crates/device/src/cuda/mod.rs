//! NVIDIA GPUs through their driver: contexts, streams, memory, kernels, graphs.
//!
//! The library of the driver is found at run time, so a program with this module starts on a machine
//! without one, and [`Cuda::open`] says what is missing. One [`Cuda`] is one GPU with its primary
//! context, one pool of device memory and one cache of page-locked memory; work goes to its
//! [`Stream`]s, each in its own order.
//!
//! ```no_run
//! use fieldspar_device::cuda::{Arg, Cuda};
//!
//! # fn run(image: &[u8]) -> Result<(), fieldspar_device::Error> {
//! let gpu = Cuda::open(0)?;
//! let double = gpu.load_module(image)?.function("double")?;
//! let stream = gpu.stream()?;
//! let words = stream.upload(&[1u32, 2, 3, 4])?;
//! let args = [Arg::Ptr(words.as_ptr()), Arg::U32(4)];
//! stream.launch(&double, (1, 1, 1), (32, 1, 1), 0, &args)?;
//! assert_eq!(stream.download(&words, 0..4)?, [2, 4, 6, 8]);
//! # Ok(())
//! # }
//! ```
//!
//! # Order and lifetime
//!
//! Every call makes the GPU's context current for its thread, so threads on different GPUs, and
//! several threads on one GPU, need no care of their own. A [`Buffer`] belongs to the stream that it
//! was made on and is freed in that stream's order; work of another stream on it must be ordered
//! with [`Stream::wait_for`]. Host memory is never touched by the device after a call or a value
//! that lends it has gone: pageable memory is copied before a call returns, and a [`Pinned`] waits
//! for its transfers before it is read, written or released.
//!
//! # Trust
//!
//! A kernel is compiled code of this program, as an `extern` function is: the launch checks number
//! and sizes of the arguments against the kernel's own, not what the kernel does with an address.

mod api;
mod archive;
mod buffer;
mod context;
mod event;
#[cfg(test)]
mod fake;
mod fault;
mod graph;
mod info;
mod launch;
mod mailbox;
mod module;
mod pinned;
mod pod;
mod staging;
mod stream;
#[cfg(test)]
mod tests;
mod timeline;

pub use api::DriverError;
pub use archive::{Archive, ArchiveError, Image, ImageKind};
pub use buffer::{Buffer, RangeError};
pub use context::{Cuda, PoolStats};
pub use event::Event;
pub use fault::{FaultKind, Faults, Injected};
pub use graph::Graph;
pub use info::{CudaInfo, probe};
pub use mailbox::Mailbox;
pub use module::{Arg, Function, MAX_ARGS, Module};
pub use pinned::Pinned;
pub use pod::Pod;
pub use stream::Stream;
pub use timeline::Timed;
