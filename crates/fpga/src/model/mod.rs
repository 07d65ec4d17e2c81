//! The cycle model.
#![forbid(unsafe_code)]

pub mod aggregate;
pub mod column;
pub mod feed;
