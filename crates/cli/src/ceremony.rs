//! `ceremony`: a coordinator's record of threshold-signing ceremonies.
#![forbid(unsafe_code)]

pub(crate) mod bench;
pub(crate) mod replay_ops;

use clap::ValueEnum;

/// Which rules an operation is played by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Rules {
    /// Those of the public engine, with its defects
    V1,
}

impl Rules {
    const fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
        }
    }
}
