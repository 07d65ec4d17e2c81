//! Multi-scalar multiplication, `sum of s_i P_i`, on BLS12-377, BLS12-381 and BN254 G1.
#![deny(unsafe_code)]

mod cpu;
pub mod curve;
pub mod field;
mod kernel;
pub mod reference;
