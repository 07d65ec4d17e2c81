//! Which chips are here, which one runs this call, its limits, the memory plan and the errors.
#![forbid(unsafe_code)]

mod cpu;

pub use cpu::CpuVariant;
