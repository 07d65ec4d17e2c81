//! The pipelined MSM accelerator, simulated.
#![deny(unsafe_code)]

pub mod rtl;
