//! The command line, run as a user runs it: one binary, since each test binary links all of it.
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used)]

mod bench;
mod ceremony;
mod common;
mod edges;
mod exit_codes;
mod files;
mod msm;
mod policy;
mod rpo;
mod serve;
mod verbs;
