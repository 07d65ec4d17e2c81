//! The sum of every bucket: pairwise trees, many buckets at once.
//!
//! Sorted entries are taken in chunks. In a chunk, a level adds neighbours inside each bucket, all
//! pairs of the level with one inversion. A bucket larger than a chunk is cut, and the last levels
//! of a chunk, which have too few pairs to pay for an inversion, are left undone; what remains goes
//! together into another round. So no distribution of digits is slow: all entries in one bucket are
//! one deep tree.
#![forbid(unsafe_code)]

use rayon::prelude::*;

use super::sort::Sorted;
use crate::{
    curve::Curve,
    kernel::{Kernel, NEGATE, Operands, Pair},
};

/// Some entries of one bucket.
#[derive(Clone, Copy, Debug)]
struct Run {
    bucket: u32,
    length: u32,
}

/// Points with the bucket that each belongs to, ascending.
struct Partial<P> {
    buckets: Vec<u32>,
    points: Vec<P>,
}

/// What a thread keeps from chunk to chunk.
struct Workspace<P, S> {
    pairs: Vec<Pair>,
    runs: Vec<Run>,
    from: Vec<P>,
    to: Vec<P>,
    scratch: S,
}

/// Adds up every bucket of `sorted` over `points` into `sums`, which is as long as there are buckets
/// and holds infinity wherever a bucket is empty.
pub(crate) fn accumulate<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    points: &[K::Point],
    sorted: &Sorted,
    sums: &mut [K::Point],
) {
    let runs: Vec<Run> = (0u32..)
        .zip(sorted.starts.windows(2))
        .filter(|(_, w)| w[1] > w[0])
        .map(|(bucket, w)| Run {
            bucket,
            length: w[1] - w[0],
        })
        .collect();
    let mut left = round(kernel, points, &sorted.order, runs, Operands::Scattered);
    // Whatever is alone in its bucket is that bucket's sum; the rest goes round again.
    while let Some((order, runs)) = settle(&left, sums) {
        left = round(kernel, &left.points, &order, runs, Operands::Near);
    }
}

/// Puts the finished buckets into `sums`; of the others, the entries and the runs.
fn settle<P: Copy>(partial: &Partial<P>, sums: &mut [P]) -> Option<(Vec<u32>, Vec<Run>)> {
    let (mut order, mut runs) = (Vec::new(), Vec::new());
    let mut first = 0;
    for same in partial.buckets.chunk_by(|a, b| a == b) {
        let bucket = same[0];
        if same.len() == 1 {
            sums[bucket as usize] = partial.points[first];
        } else {
            #[allow(clippy::cast_possible_truncation)]
            {
                order.extend(first as u32..(first + same.len()) as u32);
                runs.push(Run {
                    bucket,
                    length: same.len() as u32,
                });
            }
        }
        first += same.len();
    }
    (!runs.is_empty()).then_some((order, runs))
}

/// One round over all entries.
fn round<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    points: &[K::Point],
    order: &[u32],
    runs: Vec<Run>,
    operands: Operands,
) -> Partial<K::Point> {
    let chunks = cut(runs, K::CHUNK);
    // A level with few pairs waits for the next round, unless this is the only chunk.
    let few = if chunks.len() == 1 { 1 } else { K::FEW };
    let parts: Vec<Partial<K::Point>> = chunks
        .par_iter()
        .map_init(
            || workspace(kernel),
            |work, (first, runs)| {
                chunk(kernel, points, &order[*first..], runs, operands, few, work)
            },
        )
        .collect();
    let count = parts.iter().map(|p| p.points.len()).sum();
    let mut all = Partial {
        buckets: Vec::with_capacity(count),
        points: Vec::with_capacity(count),
    };
    for part in parts {
        all.buckets.extend_from_slice(&part.buckets);
        all.points.extend_from_slice(&part.points);
    }
    all
}

fn workspace<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
) -> Workspace<K::Point, K::Scratch> {
    Workspace {
        pairs: Vec::with_capacity(K::CHUNK / 2 + 1),
        runs: Vec::new(),
        from: vec![K::INFINITY; K::CHUNK],
        to: vec![K::INFINITY; K::CHUNK],
        scratch: kernel.scratch(K::CHUNK / 2 + 1),
    }
}

/// Cuts runs into chunks of at most `size` entries, between buckets where that is possible. Each chunk
/// comes with the place of its first entry.
fn cut(runs: Vec<Run>, size: usize) -> Vec<(usize, Vec<Run>)> {
    let mut chunks = Vec::new();
    let (mut place, mut first, mut filled) = (0, 0, 0);
    let mut current = Vec::new();
    for run in runs {
        let mut left = run.length as usize;
        if filled > 0 && filled + left > size {
            chunks.push((first, core::mem::take(&mut current)));
            (first, filled) = (place, 0);
        }
        while left > 0 {
            let part = left.min(size - filled);
            #[allow(clippy::cast_possible_truncation)]
            current.push(Run {
                bucket: run.bucket,
                length: part as u32,
            });
            left -= part;
            place += part;
            filled += part;
            if left > 0 {
                chunks.push((first, core::mem::take(&mut current)));
                (first, filled) = (place, 0);
            }
        }
    }
    if !current.is_empty() {
        chunks.push((first, current));
    }
    chunks
}

/// Adds up inside each run until it is one point, or until a level has fewer than `few` pairs.
fn chunk<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    points: &[K::Point],
    order: &[u32],
    runs: &[Run],
    operands: Operands,
    few: usize,
    work: &mut Workspace<K::Point, K::Scratch>,
) -> Partial<K::Point> {
    work.runs.clear();
    work.runs.extend_from_slice(runs);
    // The first level fetches from all points, by index.
    let mut out = 0u32;
    work.pairs.clear();
    let mut entries = order;
    for run in &mut work.runs {
        let (own, rest) = entries.split_at(run.length as usize);
        entries = rest;
        let pairs = own.chunks_exact(2);
        if let [last] = pairs.remainder() {
            work.to[out as usize + own.len() / 2] = single(kernel, points, *last);
        }
        for pair in pairs {
            work.pairs.push(Pair {
                a: pair[0],
                b: pair[1],
                out,
            });
            out += 1;
        }
        out += run.length & 1;
        run.length = run.length.div_ceil(2);
    }
    kernel.add(
        points,
        points,
        &work.pairs,
        &mut work.to,
        &mut work.scratch,
        operands,
    );
    loop {
        core::mem::swap(&mut work.from, &mut work.to);
        let pairs: usize = work.runs.iter().map(|r| r.length as usize / 2).sum();
        if pairs < few {
            break;
        }
        level(kernel, work);
    }
    let mut partial = Partial {
        buckets: Vec::with_capacity(work.runs.len()),
        points: Vec::with_capacity(work.runs.len()),
    };
    let mut place = 0;
    for run in &work.runs {
        let length = run.length as usize;
        partial
            .buckets
            .extend(core::iter::repeat_n(run.bucket, length));
        partial
            .points
            .extend_from_slice(&work.from[place..place + length]);
        place += length;
    }
    partial
}

/// One level below the first, from `work.from` to `work.to`.
fn level<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    work: &mut Workspace<K::Point, K::Scratch>,
) {
    work.pairs.clear();
    let (mut place, mut out) = (0u32, 0u32);
    for run in &mut work.runs {
        let end = place + run.length;
        while place + 2 <= end {
            work.pairs.push(Pair {
                a: place,
                b: place + 1,
                out,
            });
            place += 2;
            out += 1;
        }
        if place < end {
            work.to[out as usize] = work.from[place as usize];
            place += 1;
            out += 1;
        }
        run.length = run.length.div_ceil(2);
    }
    kernel.add(
        &work.from,
        &work.from,
        &work.pairs,
        &mut work.to,
        &mut work.scratch,
        Operands::Near,
    );
}

fn single<K: Kernel<C, N>, C: Curve<N>, const N: usize>(
    kernel: K,
    points: &[K::Point],
    entry: u32,
) -> K::Point {
    let point = &points[(entry & !NEGATE) as usize];
    if entry & NEGATE != 0 {
        kernel.negate(point)
    } else {
        *point
    }
}
