//! Pippenger's method: sort by bucket, add up each bucket, reduce the buckets, one window after the
//! other; generic over the kernel that adds.
#![forbid(unsafe_code)]

mod accumulate;
pub(crate) mod plan;
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod profile;
mod reduce;
mod sort;
pub(crate) mod straus;

use rayon::prelude::*;

use crate::{
    cpu::{Arithmetic, pages},
    curve::{Affine, Curve, Xyzz},
    digits::Digits,
    kernel::Kernel,
};
use sort::Column;

/// The sums of the vectors of `digits` over `points`: at most 2^31 of them, in the kernel's form.
pub(crate) fn run<K: Kernel<C, N>, A: Arithmetic, C: Curve<N>, const N: usize>(
    kernel: K,
    arithmetic: A,
    points: &[K::Point],
    digits: &[Digits],
) -> Vec<Affine<C, N>> {
    let mut columns: Vec<Column> = Vec::new();
    for (vector, d) in digits.iter().enumerate() {
        columns.extend((0..d.windows().count).map(|window| Column {
            vector,
            window,
            buckets: d.windows().buckets(window),
        }));
    }
    let length = segment_length(&columns, K::CHUNK);
    for column in &mut columns {
        #[allow(clippy::cast_possible_truncation)]
        {
            column.buckets = column.buckets.next_multiple_of(length as u32);
        }
    }
    let sums = bucket_sums(kernel, points, digits, &columns);
    let windows = reduce::reduce(kernel, arithmetic, &sums, &columns, length);
    let mut windows = windows.as_slice();
    digits
        .iter()
        .map(|d| {
            let (own, rest) = windows.split_at(d.windows().count as usize);
            windows = rest;
            horner(arithmetic, own, d.windows().width).to_affine(arithmetic)
        })
        .collect()
}

/// The sum of every bucket of every column, one column after the other.
fn bucket_sums<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    points: &[K::Point],
    digits: &[Digits],
    columns: &[Column],
) -> Vec<K::Point> {
    let buckets: usize = columns.iter().map(|c| c.buckets as usize).sum();
    let mut sums = pages::filled(buckets, K::INFINITY);
    // Few points: several columns together fill a chunk. Never so many that the threads run dry.
    let together = (4 * K::CHUNK / points.len().max(1))
        .min(columns.len() / rayon::current_num_threads())
        .max(1);
    let mut rest = sums.as_mut_slice();
    let mut groups = Vec::new();
    for group in columns.chunks(together) {
        let count = group.iter().map(|c| c.buckets as usize).sum();
        let (own, after) = rest.split_at_mut(count);
        rest = after;
        groups.push((group, own));
    }
    groups.par_iter_mut().for_each(|(group, own)| {
        let sorted = sort::sort(group, digits);
        accumulate::accumulate(kernel, points, &sorted, own);
    });
    sums
}

/// Buckets a segment of the reduction: a power of two. With `s` segments a thread of `B` buckets, the
/// walk takes `2 B / s` inversions of some 3 us each and the rest about a microsecond a segment, so
/// `s` is about `sqrt(6 B)`.
fn segment_length(columns: &[Column], chunk: usize) -> usize {
    let buckets: usize = columns.iter().map(|c| c.buckets as usize).sum();
    let threads = rayon::current_num_threads();
    let segments = threads * (6 * buckets / threads).isqrt().clamp(1, chunk / 4);
    let widest = columns
        .iter()
        .map(|c| c.buckets as usize)
        .max()
        .unwrap_or(1);
    (buckets / segments).next_power_of_two().clamp(
        4.min(widest.next_power_of_two()),
        widest.next_power_of_two(),
    )
}

/// `sum of 2^(width w) windows[w]`.
fn horner<A: Arithmetic, C: Curve<N>, const N: usize>(
    a: A,
    windows: &[Xyzz<C, N>],
    width: u32,
) -> Xyzz<C, N> {
    let mut sum = Xyzz::INFINITY;
    for window in windows.iter().rev() {
        for _ in 0..width {
            sum = sum.double(a);
        }
        sum = sum.add(a, window);
    }
    sum
}
