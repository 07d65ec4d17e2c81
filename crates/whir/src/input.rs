//! Polynomials from files: little-endian words, NumPy arrays, or any bytes.
//!
//! The elements are evaluations over the Boolean hypercube in index order; coordinate 0 of a
//! point is the most significant bit of the index.
#![forbid(unsafe_code)]

mod bytes;
mod npy;
mod words;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use p3_field::PrimeCharacteristicRing;
use serde::{Deserialize, Serialize};

use crate::error::InputError;
use crate::field::F;
use crate::params::MAX_NUM_VARIABLES;

/// How a file holds field elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Little-endian u32, canonical: each below the modulus.
    U32,
    /// A NumPy array of little-endian uint32 or uint64, each below the modulus.
    Npy,
    /// Any file: three bytes an element, little-endian; the last chunk is padded with zeros.
    Bytes,
}

impl Encoding {
    /// The name used in JSON and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U32 => "u32",
            Self::Npy => "npy",
            Self::Bytes => "bytes",
        }
    }

    /// The identifier in a proof file.
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::U32 => 0,
            Self::Npy => 1,
            Self::Bytes => 2,
        }
    }

    /// Number of elements of an input of this true length (bytes for [`Self::Bytes`], else
    /// elements).
    #[must_use]
    pub const fn element_count(self, true_len: u64) -> u64 {
        match self {
            Self::U32 | Self::Npy => true_len,
            Self::Bytes => true_len.div_ceil(3),
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Encoding {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        [Self::U32, Self::Npy, Self::Bytes]
            .into_iter()
            .find(|e| e.name() == s)
            .ok_or_else(|| format!("{s:?} is not one of u32, npy, bytes"))
    }
}

/// The elements of a file, not yet padded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The elements, as many as the file has.
    pub elements: Vec<F>,
    /// What the proof binds: bytes for [`Encoding::Bytes`], else elements.
    pub true_len: u64,
    /// The encoding that was read.
    pub encoding: Encoding,
}

impl Input {
    /// Pads with zeros to a power of two, at least 2^`min_vars`: the elements, and log2 of how
    /// many.
    ///
    /// # Errors
    /// [`InputError::TooLarge`] above 2^32 elements or if the memory cannot be had.
    pub fn padded(self, min_vars: usize) -> Result<(Vec<F>, usize), InputError> {
        let n = (self.elements.len().max(1).next_power_of_two().ilog2() as usize).max(min_vars);
        if n > MAX_NUM_VARIABLES {
            return Err(InputError::TooLarge { n });
        }
        let mut elements = self.elements;
        let len = 1_usize << n;
        elements
            .try_reserve_exact(len - elements.len())
            .map_err(|_| InputError::TooLarge { n })?;
        elements.resize(len, F::ZERO);
        Ok((elements, n))
    }
}

/// Reads a file.
///
/// # Errors
/// The file cannot be read, or [`parse`] refuses it.
pub fn read_file(path: &Path, encoding: Encoding) -> Result<Input, InputError> {
    let data = std::fs::read(path).map_err(|source| InputError::Io {
        path: path.to_path_buf(),
        source,
    })?;
    parse(&data, encoding)
}

/// Parses the bytes of a file.
///
/// # Errors
/// Empty input, a value that is not below the modulus (with its index), a length that is not a
/// whole number of elements, a malformed or unsupported `.npy` header.
pub fn parse(data: &[u8], encoding: Encoding) -> Result<Input, InputError> {
    let (elements, true_len) = match encoding {
        Encoding::U32 => {
            let elements = words::parse_u32(data)?;
            let len = elements.len();
            (elements, len)
        }
        Encoding::Npy => {
            let elements = npy::parse(data)?;
            let len = elements.len();
            (elements, len)
        }
        Encoding::Bytes => (bytes::parse(data), data.len()),
    };
    if elements.is_empty() {
        return Err(InputError::Empty);
    }
    Ok(Input {
        elements,
        true_len: true_len as u64,
        encoding,
    })
}

#[cfg(test)]
mod tests;
