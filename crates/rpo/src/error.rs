//! What can be wrong with an input.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

use crate::MODULUS;

/// Why a call has no result.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// An element is not below the modulus.
    #[error("element {index} is {value}, not below the Goldilocks modulus {MODULUS}")]
    NotCanonical {
        /// Its index, from 0; over several inputs, counted through all of them.
        index: usize,
        /// The value found.
        value: u64,
    },
    /// A number of elements or of digests does not fit.
    #[error("{what}: there are {have}, expected {expected}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// The number found.
        have: usize,
        /// What would do.
        expected: String,
    },
    /// No sponge has that name.
    #[error("no sponge is called {name:?}; there are miden-0.22, miden-0.13 and paper-2023")]
    UnknownSponge {
        /// The name found.
        name: String,
    },
    /// A digest is not 64 hexadecimal digits.
    #[error("a digest is 64 hexadecimal digits, found {found:?}")]
    Hex {
        /// The text found, cut to a few characters.
        found: String,
    },
    /// An index beyond the leaves.
    #[error("leaf {index} of a tree of {leaves} leaves")]
    Index {
        /// The index asked for.
        index: u64,
        /// Leaves of the tree.
        leaves: u64,
    },
    /// The device failed, or cannot be had.
    #[error(transparent)]
    Device(#[from] fieldspar_device::Error),
}
