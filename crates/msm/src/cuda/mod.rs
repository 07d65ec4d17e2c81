//! The sum on an NVIDIA GPU.
//!
//! Scalars become signed digits on the device; the digits of a column, which is a set of buckets, are
//! sorted by bucket with a radix sort; the sorted list is cut into segments of one length, each added up
//! by one thread; what a bucket has in several segments is added in pairs; the buckets are reduced, and
//! the last doublings done on the host. BLS12-377 is summed in its twisted Edwards form, the others in
//! (X, Y, ZZ, ZZZ). Bases that stay on the device may bring multiples `2^(c k) P`, so that several windows
//! share a column.
//!
//! The kernels lie in `kernels/`; `cargo xtask kernels` compiles them into `kernels.bin`, which is part of
//! the program, so that a user needs nothing but the driver.

mod engine;
mod finish;
mod form;
mod kernels;
pub mod measure;
mod plan;
mod pod;
mod resident;
mod selftest;
mod sort;
mod sum;

pub use engine::{CudaEngine, Tuning};
pub use kernels::kernels_id;
pub use resident::Budget;
pub(crate) use resident::Resident;
pub(crate) use sum::{Points, Source};
