//! `ceremony`: a coordinator's record of threshold-signing ceremonies.
#![forbid(unsafe_code)]

pub(crate) mod bench;
mod bench_live;
mod bench_v2;
mod bench_verify;
mod common;
pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod operate;
pub(crate) mod party;
mod place;
pub(crate) mod replay_ops;
mod rival;
pub(crate) mod serve;
pub(crate) mod verify;

use clap::ValueEnum;

pub(crate) use common::StoreArgs;

/// Which rules an operation is played by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rules {
    /// Those of the public engine, with its defects
    V1,
    /// Those to use
    V2,
}

impl Rules {
    const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
        }
    }
}
