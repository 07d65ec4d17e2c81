//! What a coordinator does with each operation: state machines without clock, randomness or I/O.
#![forbid(unsafe_code)]

pub mod v1;
pub mod v2;
