//! MSMs against arkworks, on every variant that this processor runs.
#![allow(clippy::unwrap_used)]

mod arkworks;
mod failures;
mod files;
mod random;
mod support;
