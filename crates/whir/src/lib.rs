//! WHIR polynomial commitments over BabyBear.
#![deny(unsafe_code)]

pub mod cpu;
pub mod field;
