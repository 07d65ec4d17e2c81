//! WHIR polynomial commitments over BabyBear.
#![deny(unsafe_code)]

pub mod cpu;
pub mod error;
pub mod field;
pub mod input;
pub mod params;
pub mod plan;
pub mod proof;

#[cfg(test)]
mod testing;
