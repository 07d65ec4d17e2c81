//! Four elements.
#![forbid(unsafe_code)]

use core::fmt;
use core::str::FromStr;

use crate::{DIGEST, Error, check_canonical};

/// A digest: four canonical elements, by [`Ord`] compared as a list of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Digest([u64; DIGEST]);

impl Digest {
    /// Four zeros.
    pub const ZERO: Self = Self([0; DIGEST]);

    /// # Errors
    ///
    /// [`Error::NotCanonical`].
    pub fn new(elements: [u64; DIGEST]) -> Result<Self, Error> {
        check_canonical(&elements)?;
        Ok(Self(elements))
    }

    /// From elements that are known to be canonical.
    pub(crate) const fn trusted(elements: [u64; DIGEST]) -> Self {
        Self(elements)
    }

    /// The elements, each below the modulus.
    #[must_use]
    pub const fn elements(&self) -> &[u64; DIGEST] {
        &self.0
    }

    /// The elements one after another, each little-endian.
    #[must_use]
    pub fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (chunk, element) in bytes.chunks_exact_mut(8).zip(self.0) {
            chunk.copy_from_slice(&element.to_le_bytes());
        }
        bytes
    }

    /// The inverse of [`Self::to_bytes`].
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, Error> {
        let mut elements = [0; DIGEST];
        for (element, chunk) in elements.iter_mut().zip(bytes.chunks_exact(8)) {
            let mut word = [0; 8];
            word.copy_from_slice(chunk);
            *element = u64::from_le_bytes(word);
        }
        Self::new(elements)
    }
}

/// Hexadecimal digits of [`Digest::to_bytes`].
impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_bytes()
            .iter()
            .try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl FromStr for Digest {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let bad = || Error::Hex {
            found: text.chars().take(80).collect(),
        };
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |d: u8| (d as char).to_digit(16);
            let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
                return Err(bad());
            };
            // below 256
            *byte = (high << 4 | low) as u8;
        }
        Self::from_bytes(&bytes)
    }
}
