//! RPO on an NVIDIA GPU: one state a thread; of the upper levels of a tree, one element a lane.
//!
//! The kernels lie in `kernels/`; `cargo xtask kernels` compiles them into `kernels.bin`, which is
//! part of the program, so that a user needs nothing but the driver.

mod engine;
mod kernels;
pub mod measure;
mod pod;

pub use engine::CudaEngine;
pub use kernels::kernels_id;
