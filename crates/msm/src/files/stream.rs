//! An MSM from files that need not fit in memory: range after range of the points, each with its own
//! sum. An affine result does not depend on the cuts.
#![forbid(unsafe_code)]

use std::{
    io::Read,
    time::{Duration, Instant},
};

use fieldspar_device::OutOfMemory;

use super::{Encoding, FileError, SCALAR_BYTES, count, read_points, read_scalars};
use crate::{
    bases::{Bases, Level},
    compute::msm,
    curve::{Affine, Curve},
    engine::Engine,
    error::Error,
    reference,
};

/// A source of points and one of scalars, with their lengths in bytes.
#[derive(Debug)]
pub struct Input<P, S> {
    /// The points.
    pub points: P,
    /// Bytes of points.
    pub points_bytes: u64,
    /// The scalars.
    pub scalars: S,
    /// Bytes of scalars.
    pub scalars_bytes: u64,
    /// How the points are written.
    pub encoding: Encoding,
}

/// Where the time went.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Timing {
    /// Reading and decoding.
    pub read: Duration,
    /// Checking points.
    pub check: Duration,
    /// The sums themselves.
    pub msm: Duration,
}

/// Bytes held for each point of a range on so many threads: the point, its scalar and that recoded, its
/// places in the sorted windows under way, its share of the buckets.
#[must_use]
pub const fn memory_per_point<const N: usize>(threads: usize) -> u64 {
    let windows = if threads < 16 { threads } else { 16 };
    (16 * N + 2 * 32 + 4 * windows + 24 * N) as u64
}

/// Bytes held besides, for buffers and each thread's chunk.
const fn memory_fixed<const N: usize>(threads: usize) -> u64 {
    ((4 << 20) + threads * 4096 * 16 * N * 4) as u64
}

/// Fewer points than this at a time are not worth a pass.
const LEAST: u64 = 1 << 10;

/// The sum, with at most about `memory` bytes held. `progress` hears the points done so far, and all.
///
/// # Errors
///
/// [`FileError`]; [`OutOfMemory`] if `memory` is too little for a range of 1024 points.
pub fn msm_files<C: Curve<N>, const N: usize, L: Level>(
    engine: &Engine,
    input: Input<impl Read, impl Read>,
    memory: u64,
    mut progress: impl FnMut(u64, u64),
) -> Result<(Affine<C, N>, u64, Timing), FileError> {
    let Input {
        mut points,
        mut scalars,
        encoding,
        ..
    } = input;
    let total = count("points", input.points_bytes, encoding.bytes::<N>())?;
    let have = count("scalars", input.scalars_bytes, SCALAR_BYTES)?;
    if total != have {
        return Err(FileError::Count {
            points: total,
            scalars: have,
        });
    }
    let threads = rayon::current_num_threads();
    let (each, fixed) = (memory_per_point::<N>(threads), memory_fixed::<N>(threads));
    let range = (memory.saturating_sub(fixed) / each).min(1 << 30);
    if range < LEAST.min(total) {
        let need = fixed + each * LEAST.min(total);
        let error = fieldspar_device::Error::from(OutOfMemory::new("msm run", need, memory));
        return Err(Error::from(error).into());
    }
    let mut sum = Affine::INFINITY;
    let mut timing = Timing::default();
    let mut done = 0;
    progress(0, total);
    while done < total {
        #[allow(clippy::cast_possible_truncation)]
        let now = (total - done).min(range) as usize;
        let start = Instant::now();
        let own = read_points::<C, N>(&mut points, encoding, done, now)?;
        let factors = read_scalars::<C, N>(&mut scalars, done, now)?;
        timing.read += start.elapsed();
        let start = Instant::now();
        let bases =
            Bases::<C, N, L>::new(own).map_err(|e| located(e, done, encoding.bytes::<N>()))?;
        timing.check += start.elapsed();
        let start = Instant::now();
        let part = msm(engine, &bases, &factors)?;
        sum = reference::add(&sum, &part);
        timing.msm += start.elapsed();
        done += now as u64;
        progress(done, total);
    }
    Ok((sum, total, timing))
}

/// The error with the place in the file.
fn located(error: Error, first: u64, size: usize) -> FileError {
    match error {
        Error::Point { index, problem, .. } => {
            let index = first + index as u64;
            FileError::Point {
                index,
                offset: index * size as u64,
                problem,
            }
        }
        other => other.into(),
    }
}
