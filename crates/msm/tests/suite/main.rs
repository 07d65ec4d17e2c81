//! MSMs against arkworks, on every variant that this processor runs.
#![allow(clippy::unwrap_used)]

mod failures;
mod random;
mod support;
