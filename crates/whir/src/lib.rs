//! WHIR polynomial commitments over BabyBear.
#![deny(unsafe_code)]

mod challenger;
mod claims;
pub mod cpu;
pub mod driver;
pub mod engine;
pub mod field;
pub mod pcs;
pub mod profile;
