//! From the sums of buckets to the sum of a window: `sum of (b + 1) B_b`.
//!
//! The buckets of a window are cut into segments of `L`. All segments of all windows walk down their
//! buckets together, each with a running sum and a sum of the running sums, so that every step is one
//! call for as many additions as there are segments. What is left, one running sum and one total a
//! segment, is added up one by one.
#![forbid(unsafe_code)]

use rayon::prelude::*;

use super::sort::Column;
use crate::{
    cpu::Arithmetic,
    curve::{Affine, Curve, Xyzz},
    kernel::{Kernel, Operands, Pair},
};

/// A segment: `sum of B` and `sum of (k + 1) B_k` over its buckets.
struct Segment<C, const N: usize> {
    running: Affine<C, N>,
    total: Affine<C, N>,
}

/// The sum of each column. The columns' buckets lie one after the other in `sums`, the number of each
/// a multiple of `length`, which is a power of two.
pub(crate) fn reduce<K: Kernel<C, N>, A: Arithmetic, C: Curve<N>, const N: usize>(
    kernel: K,
    arithmetic: A,
    sums: &[K::Point],
    columns: &[Column],
    length: usize,
) -> Vec<Xyzz<C, N>> {
    let segments = sums.len() / length;
    let threads = rayon::current_num_threads();
    let block = segments.div_ceil(threads).clamp(1, K::CHUNK / 2);
    let parts: Vec<Vec<Segment<C, N>>> = sums
        .par_chunks(block * length)
        .map(|buckets| walk(kernel, buckets, length))
        .collect();
    let mut segments = parts.into_iter().flatten();
    let mut cut: Vec<Vec<Segment<C, N>>> = Vec::with_capacity(columns.len());
    for column in columns {
        let count = column.buckets as usize / length;
        cut.push(segments.by_ref().take(count).collect());
    }
    cut.par_iter()
        .map(|segments| combine(arithmetic, segments, length))
        .collect()
}

/// Walks down all segments of `buckets` at once.
fn walk<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    buckets: &[K::Point],
    length: usize,
) -> Vec<Segment<C, N>> {
    let count = buckets.len() / length;
    let mut scratch = kernel.scratch(count);
    let last = |j: usize| buckets[j * length + length - 1];
    let mut running: Vec<K::Point> = (0..count).map(last).collect();
    let mut total = running.clone();
    let mut next = vec![K::INFINITY; count];
    #[allow(clippy::cast_possible_truncation)]
    let same: Vec<Pair> = (0..count as u32)
        .map(|j| Pair { a: j, b: j, out: j })
        .collect();
    let mut down = same.clone();
    for k in (0..length - 1).rev() {
        for (j, pair) in down.iter_mut().enumerate() {
            #[allow(clippy::cast_possible_truncation)]
            {
                pair.b = (j * length + k) as u32;
            }
        }
        kernel.add(
            &running,
            buckets,
            &down,
            &mut next,
            &mut scratch,
            Operands::Scattered,
        );
        core::mem::swap(&mut running, &mut next);
        kernel.add(
            &total,
            &running,
            &same,
            &mut next,
            &mut scratch,
            Operands::Near,
        );
        core::mem::swap(&mut total, &mut next);
    }
    let mut out = (vec![Affine::INFINITY; count], vec![Affine::INFINITY; count]);
    kernel.store(&running, &mut out.0);
    kernel.store(&total, &mut out.1);
    out.0
        .into_iter()
        .zip(out.1)
        .map(|(running, total)| Segment { running, total })
        .collect()
}

/// `sum of total_j + L sum of j running_j` over the segments of one window.
fn combine<A: Arithmetic, C: Curve<N>, const N: usize>(
    a: A,
    segments: &[Segment<C, N>],
    length: usize,
) -> Xyzz<C, N> {
    let (mut running, mut weighted) = (Xyzz::INFINITY, Xyzz::INFINITY);
    for segment in segments.iter().skip(1).rev() {
        running = running.add_affine(a, &segment.running);
        weighted = weighted.add(a, &running);
    }
    for _ in 0..length.trailing_zeros() {
        weighted = weighted.double(a);
    }
    segments
        .iter()
        .fold(weighted, |sum, s| sum.add_affine(a, &s.total))
}
