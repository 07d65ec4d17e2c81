//! What can be wrong.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

/// Why a simulation is refused or failed.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A parameter of the machine is out of range.
    #[error("{what} is {value}, and may be {least} to {most}")]
    Machine {
        /// The parameter.
        what: &'static str,
        /// Its value.
        value: u64,
        /// The least that it may be.
        least: u64,
        /// The most.
        most: u64,
    },
    /// More points than an engine computes with.
    #[error("{points} points: the engine {engine} takes at most {most}")]
    TooMany {
        /// How many points.
        points: usize,
        /// The engine's name.
        engine: &'static str,
        /// How many it takes.
        most: usize,
    },
    /// The points are not known to be in the subgroup of prime order, where alone the addition is
    /// complete.
    #[error(
        "the Edwards addition is complete in the subgroup of prime order only: check the points for \
         membership"
    )]
    Subgroup,
    /// A digit does not fit the machine.
    #[error("digit {index} is {digit}: a machine of {bits}-bit digits has no such bucket")]
    Digit {
        /// Which digit.
        index: usize,
        /// Its value.
        digit: i32,
        /// Bits of a digit.
        bits: u32,
    },
    /// The RTL did not end in the cycles that it may take.
    #[error("the RTL gave no result in {cycles} cycles: {state}")]
    Hung {
        /// How many cycles.
        cycles: u64,
        /// What it was doing.
        state: String,
    },
    /// The RTL gave a coordinate that is the modulus or more.
    #[error(
        "the RTL's result of column {column} is no point: a coordinate is not below the modulus"
    )]
    Output {
        /// Which column.
        column: usize,
    },
    /// A form of scalars that this device does not know.
    #[error("scalars in a form that this device does not take")]
    Scalars,
    /// The input.
    #[error(transparent)]
    Msm(#[from] fieldspar_msm::Error),
    /// The Verilated design.
    #[error(transparent)]
    Rtl(#[from] crate::rtl::Error),
}
