//! Tests of the simulated accelerator. Those named `rtl` need designs that `cargo xtask rtl` builds.
#![allow(clippy::unwrap_used)]

mod msm;
mod rtl_adder;
mod rtl_area;
mod rtl_blocks;
mod rtl_scheduler;
mod support;
