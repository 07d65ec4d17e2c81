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

    /// Absolute values with signs; the index of the first that is not below `order` otherwise.
    pub(crate) fn signed(&self, order: &Wide) -> Result<Vec<Wide>, usize> {
        fn narrow<T: Copy + Sync>(s: &[T], order: &Wide, to: impl Fn(T) -> u64 + Sync) -> Vec<Wide> {
            let wide = |&v: &T| signed(&[to(v), 0, 0, 0], order);
            s.par_iter().with_min_len(1 << 12).map(wide).collect()
        }
        Ok(match self {
            Self::Wide(s) => {
                let bad = |v: &Wide| !less(v, order);
                if let Some(index) = s.par_iter().with_min_len(1 << 12).position_first(bad) {
                    return Err(index);
                }
                let each = s.par_iter().with_min_len(1 << 12);
                each.map(|v| signed(v, order)).collect()
            }
            Self::U64(s) => narrow(s, order, |v| v),
            Self::U32(s) => narrow(s, order, u64::from),
            Self::U16(s) => narrow(s, order, u64::from),
            Self::U8(s) => narrow(s, order, u64::from),
            Self::Bool(s) => narrow(s, order, u64::from),
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

from!(Wide([u64; 4]), U64(u64), U32(u32), U16(u16), U8(u8), Bool(bool));
