//! The pipelined MSM accelerator, simulated.
#![deny(unsafe_code)]

pub mod designs;
pub mod digits;
pub mod driver;
mod error;
pub mod hot;
pub mod machine;
pub mod model;
pub mod rtl;

pub use error::Error;
pub use machine::{Machine, Policy};
