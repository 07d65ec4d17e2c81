//! RPO on any GPU through Vulkan, Metal, DX12 or OpenGL: one state an invocation.
//!
//! The kernels lie in `shaders/`, in two variants from one text: the arithmetic of the field as 64-bit
//! integers, where the adapter has them, or as pairs of 32-bit words.

mod engine;

pub use engine::WgpuEngine;
