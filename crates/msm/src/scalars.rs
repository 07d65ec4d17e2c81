//! Scalars as the caller has them.
#![forbid(unsafe_code)]

use rayon::prelude::*;

use crate::{
    digits::{Wide, less, signed},
    error::Error,
};

/// A vector of public scalars.
///
/// The narrow forms cost what their bits cost; wide scalars that happen to be small, or small below
/// the order, cost no more than narrow ones.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Scalars<'a> {
    /// Plain values below the group's order, little-endian limbs.
    Wide(&'a [[u64; 4]]),
    /// 64-bit numbers.
    U64(&'a [u64]),
    /// 32-bit numbers.
    U32(&'a [u32]),
    /// 16-bit numbers.
    U16(&'a [u16]),
    /// 8-bit numbers.
    U8(&'a [u8]),
    /// Zeros and ones.
    Bool(&'a [bool]),
}

impl Scalars<'_> {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Wide(s) => s.len(),
            Self::U64(s) => s.len(),
            Self::U32(s) => s.len(),
            Self::U16(s) => s.len(),
            Self::U8(s) => s.len(),
            Self::Bool(s) => s.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Absolute values with signs if `signs`, else the values; the index of the first that is not below
    /// `order` otherwise.
    pub(crate) fn values(&self, order: &Wide, signs: bool) -> Result<Vec<Wide>, usize> {
        let value = |v: Wide| if signs { signed(&v, order) } else { v };
        // Only the order of a toy curve is below 2^64.
        let narrow = |v: u64| value([v, 0, 0, 0]);
        Ok(match self {
            Self::Wide(s) => {
                let bad = |v: &Wide| !less(v, order);
                if let Some(index) = s.par_iter().with_min_len(PIECE).position_first(bad) {
                    return Err(index);
                }
                s.par_iter()
                    .with_min_len(PIECE)
                    .map(|&v| value(v))
                    .collect()
            }
            Self::U64(s) => each(s, narrow),
            Self::U32(s) => each(s, |v| narrow(v.into())),
            Self::U16(s) => each(s, |v| narrow(v.into())),
            Self::U8(s) => each(s, |v| narrow(v.into())),
            Self::Bool(s) => each(s, |v| narrow(v.into())),
        })
    }

    pub(crate) fn error(vector: usize, index: usize, curve: &'static str) -> Error {
        Error::Scalar {
            vector,
            index,
            curve,
        }
    }
}

/// Scalars that a thread takes at once.
const PIECE: usize = 1 << 12;

fn each<T: Copy + Sync>(scalars: &[T], value: impl Fn(T) -> Wide + Sync) -> Vec<Wide> {
    let each = scalars.par_iter().with_min_len(PIECE);
    each.map(|&v| value(v)).collect()
}

macro_rules! from {
    ($($variant:ident($item:ty)),*) => {$(
        impl<'a> From<&'a [$item]> for Scalars<'a> {
            fn from(scalars: &'a [$item]) -> Self {
                Self::$variant(scalars)
            }
        }

        impl<'a> From<&'a Vec<$item>> for Scalars<'a> {
            fn from(scalars: &'a Vec<$item>) -> Self {
                Self::$variant(scalars)
            }
        }
    )*};
}

from!(
    Wide([u64; 4]),
    U64(u64),
    U32(u32),
    U16(u16),
    U8(u8),
    Bool(bool)
);
