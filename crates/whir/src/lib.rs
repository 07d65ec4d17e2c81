//! WHIR polynomial commitments over BabyBear.
#![deny(unsafe_code)]

mod challenger;
mod claims;
pub mod cpu;
pub mod driver;
pub mod engine;
pub mod error;
pub mod field;
pub mod input;
pub mod params;
pub mod pcs;
pub mod plan;
pub mod profile;
pub mod proof;
pub mod selftest;
pub mod statement;

#[cfg(test)]
mod testing;
