//! Multi-scalar multiplication, `sum of s_i P_i`, on BLS12-377, BLS12-381 and BN254 G1.
#![deny(unsafe_code)]

#[cfg(feature = "ark")]
pub mod ark;
mod bases;
mod compute;
mod cpu;
pub mod curve;
pub mod delayed;
mod digits;
mod engine;
mod error;
pub mod field;
pub mod files;
pub mod inputs;
mod kernel;
pub mod reference;
mod scalars;
mod schedule;

pub use bases::{Bases, InSubgroup, Level, OnCurve, Trusted};
pub use compute::{msm, msm_many, plan};
pub use engine::{Engine, Variant};
pub use error::{Error, PointProblem};
pub use scalars::Scalars;
pub use schedule::plan::Plan;
