//! Points and scalars in files, read in pieces.
//!
//! | encoding | a point | infinity |
//! |---|---|---|
//! | `compressed` | arkworks' canonical form: x and flags, 48 bytes (BN254: 32) | its flag, all else zero |
//! | `uncompressed` | arkworks' canonical form: x, y and flags, 96 bytes (BN254: 64) | its flag, all else zero |
//! | `limbs` | x, y as plain values (not Montgomery form), little-endian 64-bit limbs, 96 bytes (BN254: 64) | all zero |
//!
//! Points stand one after the other without a header; scalars are 32 bytes each, little-endian, below
//! the order. BLS12-381's canonical form is the big-endian one of Zcash, as in arkworks.
//!
//! Stricter than arkworks: infinity with a coordinate that is not zero, flags that do not fit the y
//! that follows, and bytes after the last whole item are refused.
#![forbid(unsafe_code)]

mod encoding;
mod stream;

use std::io::{self, Read};

use rayon::prelude::*;
use thiserror::Error as ThisError;

pub use encoding::{Encoding, decode, encode};
pub use stream::{Input, Timing, memory_per_point, msm_files};

use crate::{
    curve::{Affine, Curve},
    digits::{Wide, less},
    error::{Error, PointProblem},
};

/// Bytes of a scalar.
pub const SCALAR_BYTES: usize = 32;
/// Items that are decoded at once.
const PIECE: usize = 1 << 14;

/// Why a file is refused.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum FileError {
    /// Reading failed.
    #[error("reading {what} failed: {source}")]
    Io {
        /// Points or scalars.
        what: &'static str,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The length is no multiple of an item's.
    #[error("{what}: {bytes} bytes are not a whole number of {item} bytes each")]
    Length {
        /// Points or scalars.
        what: &'static str,
        /// The file's length.
        bytes: u64,
        /// Bytes of an item.
        item: usize,
    },
    /// There are not as many scalars as points.
    #[error("there are {scalars} scalars for {points} points")]
    Count {
        /// Number of points.
        points: u64,
        /// Number of scalars.
        scalars: u64,
    },
    /// A point is refused.
    #[error("point {index}, at byte {offset}: {problem}")]
    Point {
        /// Its index in the file.
        index: u64,
        /// Where it begins.
        offset: u64,
        /// What is wrong with it.
        problem: PointProblem,
    },
    /// A scalar is not below the order.
    #[error("scalar {index}, at byte {offset}, is not below the order of {curve}")]
    Scalar {
        /// Its index in the file.
        index: u64,
        /// Where it begins.
        offset: u64,
        /// The curve's name.
        curve: &'static str,
    },
    /// Something other than the files.
    #[error(transparent)]
    Msm(#[from] Error),
}

/// How many items of `item` bytes a file of `bytes` holds.
///
/// # Errors
///
/// [`FileError::Length`] if bytes are left over.
pub fn count(what: &'static str, bytes: u64, item: usize) -> Result<u64, FileError> {
    if bytes.is_multiple_of(item as u64) {
        Ok(bytes / item as u64)
    } else {
        Err(FileError::Length { what, bytes, item })
    }
}

/// Reads the next `count` points; `first` is the index of the first, for messages.
///
/// # Errors
///
/// [`FileError::Io`], also for a file that ends early; [`FileError::Point`].
pub fn read_points<C: Curve<N>, const N: usize>(
    from: &mut impl Read,
    encoding: Encoding,
    first: u64,
    count: usize,
) -> Result<Vec<Affine<C, N>>, FileError> {
    let size = encoding.bytes::<N>();
    let mut points = crate::cpu::pages::filled(count, Affine::INFINITY);
    let mut buffer = vec![0; size * PIECE.min(count)];
    let mut index = first;
    for piece in points.chunks_mut(PIECE) {
        let bytes = &mut buffer[..size * piece.len()];
        let read = from.read_exact(bytes);
        read.map_err(|source| FileError::Io {
            what: "points",
            source,
        })?;
        let decoded = bytes.par_chunks_exact(size).zip(piece.par_iter_mut());
        let problem = decoded
            .enumerate()
            .with_min_len(64)
            .find_map_first(|(i, (bytes, point))| match decode(bytes, encoding) {
                Ok(decoded) => {
                    *point = decoded;
                    None
                }
                Err(problem) => Some((i as u64, problem)),
            });
        if let Some((i, problem)) = problem {
            let index = index + i;
            return Err(FileError::Point {
                index,
                offset: index * size as u64,
                problem,
            });
        }
        index += piece.len() as u64;
    }
    Ok(points)
}

/// Reads the next `count` scalars; `first` is the index of the first, for messages.
///
/// # Errors
///
/// [`FileError::Io`], also for a file that ends early; [`FileError::Scalar`].
pub fn read_scalars<C: Curve<N>, const N: usize>(
    from: &mut impl Read,
    first: u64,
    count: usize,
) -> Result<Vec<Wide>, FileError> {
    let mut scalars = crate::cpu::pages::filled(count, [0; 4]);
    let mut buffer = vec![0; SCALAR_BYTES * PIECE.min(count)];
    let mut index = first;
    for piece in scalars.chunks_mut(PIECE) {
        let bytes = &mut buffer[..SCALAR_BYTES * piece.len()];
        let read = from.read_exact(bytes);
        read.map_err(|source| FileError::Io {
            what: "scalars",
            source,
        })?;
        for (scalar, bytes) in piece.iter_mut().zip(bytes.chunks_exact(SCALAR_BYTES)) {
            *scalar = encoding::little_endian(bytes);
            if !less(scalar, &C::ORDER) {
                return Err(FileError::Scalar {
                    index,
                    offset: index * SCALAR_BYTES as u64,
                    curve: C::NAME,
                });
            }
            index += 1;
        }
    }
    Ok(scalars)
}
