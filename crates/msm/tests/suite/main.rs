//! MSMs against arkworks, on every variant that this processor runs.
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod arkworks;
#[cfg(unix)]
mod device_code;
#[cfg(unix)]
mod device_sums;
mod failures;
mod files;
#[cfg(unix)]
#[path = "../kernels/library.rs"]
mod library;
mod random;
mod support;
