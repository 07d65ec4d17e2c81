//! Which windows, and how the work is cut.
#![forbid(unsafe_code)]

use core::fmt;

use super::engine::Tuning;
use super::form::Form;
use crate::digits::{Lengths, Windows};

/// Threads of a block of most kernels; as they are compiled.
pub(super) const SORT_THREADS: usize = 256;
/// Digits that a block sorts at once; as the kernels are compiled.
pub(super) const TILE: usize = 4096;
/// Bits of a pass of the sort, at most.
const PASS_BITS: u32 = 8;
/// Threads of a block of the kernels that add.
pub(super) const ADD_THREADS: usize = 128;
/// The widest window.
pub(super) const WIDEST: u32 = 23;
/// The longest segment.
const LONGEST: usize = 256;
/// From so many scalars on the first chunk is small, so that the others come while it is worked on.
pub(super) const OVERLAP: usize = 1 << 21;

/// How scalars are cut into windows, and windows shared out to columns: window `k columns + q` goes to
/// column `q` with the bases' multiple `2^(width columns k)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Columns {
    pub(crate) windows: Windows,
    pub(crate) columns: u32,
}

impl Columns {
    /// Windows of `width` bits with `columns` columns, or with as many as there are windows.
    pub(super) fn new(width: u32, columns: Option<u32>, lengths: &Lengths) -> Self {
        let windows = Windows::new(width, lengths);
        let columns = columns.unwrap_or(windows.count).clamp(1, windows.count);
        Self { windows, columns }
    }

    /// Multiples of each base that are needed.
    pub(super) fn multiples(&self) -> u32 {
        self.windows.count.div_ceil(self.columns)
    }

    /// Buckets of a column.
    pub(super) fn buckets(&self) -> u32 {
        let below = if self.windows.count > 1 {
            1 << (self.windows.width - 1)
        } else {
            1
        };
        self.windows.top.max(below)
    }

    /// Bits that the sort looks at, pass by pass: from where, and how many.
    pub(super) fn passes(&self) -> Vec<(u32, u32)> {
        let bits = (u32::BITS - (self.buckets() - 1).leading_zeros()).max(1);
        let passes = bits.div_ceil(PASS_BITS);
        let each = bits.div_ceil(passes);
        (0..passes)
            .map(|p| (p * each, each.min(bits - p * each)))
            .collect()
    }

    /// Nanoseconds for `count` scalars, as an H200 was measured to take them.
    pub(super) fn cost(&self, form: Form, count: usize) -> f64 {
        let entries = count as f64 * f64::from(self.windows.count);
        let buckets = f64::from(self.buckets()) * f64::from(self.columns);
        let (add, bucket, merge) = form.costs();
        let bucket = bucket + if count >= OVERLAP { merge } else { 0.0 };
        let sort = 0.02 * self.passes().len() as f64 + 0.008;
        entries * (add + sort) + buckets * bucket
    }
}

/// The cheapest windows for `count` scalars, each base on its own.
pub(super) fn best(form: Form, count: usize, lengths: &Lengths, tuning: &Tuning) -> Columns {
    if let Some(width) = tuning.width {
        return Columns::new(width.clamp(1, WIDEST), None, lengths);
    }
    cheapest(form, count, lengths, |_| None)
}

/// The cheapest windows of those for which `columns` says how many columns there are.
pub(super) fn cheapest(
    form: Form,
    count: usize,
    lengths: &Lengths,
    columns: impl Fn(&Windows) -> Option<u32>,
) -> Columns {
    let of = |width| {
        let windows = Windows::new(width, lengths);
        Columns::new(width, columns(&windows), lengths)
    };
    let mut best = of(1);
    for width in 2..=WIDEST.min(lengths.bits().max(1)) {
        let candidate = of(width);
        if candidate.cost(form, count) < best.cost(form, count) {
            best = candidate;
        }
    }
    best
}

impl fmt::Display for Columns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Windows { width, count, .. } = self.windows;
        let (columns, buckets) = (self.columns, self.buckets());
        write!(
            f,
            "{count} windows of {width} bits in {columns} columns of {buckets} buckets"
        )
    }
}

/// How a chunk of bases is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Scalars of a chunk, at most.
    pub(super) count: usize,
    /// Entries of a column, at most.
    pub(super) items: usize,
    pub(super) columns: usize,
    pub(super) buckets: usize,
    /// Entries that a thread adds up.
    pub(super) length: usize,
    pub(super) segments: usize,
    /// Buckets that a thread reduces: a power of two.
    pub(super) group: usize,
    pub(super) groups: usize,
    /// Bits of a group's number.
    pub(super) bits: u32,
    /// Blocks that share a sum over groups.
    pub(super) parts: usize,
    pub(super) tiles: usize,
    /// Values of the widest pass of the sort.
    bins: usize,
}

/// Blocks for a sum over groups: an addition that waits for the one before takes 12 us on the device, and
/// one more part of each sum 0.5 us on the host.
fn parts(groups: usize, columns: usize) -> usize {
    let waiting = groups as f64 / 256.0 * 12.0;
    let sums = columns as f64 * (groups as f64).log2().max(1.0);
    let best = (waiting / (0.5 * sums)).sqrt();
    // Small and positive.
    (best as usize).clamp(1, 32)
}

/// Entries of a segment: for as few full rounds of all threads as the longest segment allows.
fn length(entries: usize, threads: usize, tuning: &Tuning) -> usize {
    let rounds = entries.div_ceil(threads * LONGEST).max(1);
    let length = match tuning.length {
        Some(length) => length as usize,
        None => entries.div_ceil(threads * rounds),
    };
    length.clamp(8, 1 << 16)
}

/// Bytes of a plan's buffers.
pub(super) type Bytes = [(&'static str, u64); 9];

impl Shape {
    /// For `count` scalars on a GPU that runs `threads` of the accumulation at once.
    pub(super) fn new(columns: &Columns, count: usize, threads: usize, tuning: &Tuning) -> Self {
        let sets = columns.columns as usize;
        let items = count * columns.multiples() as usize;
        let buckets = columns.buckets() as usize;
        let length = length(items * sets, threads, tuning);
        let group = tuning
            .group
            .map_or_else(|| buckets * sets / threads, |g| g as usize)
            .next_power_of_two()
            .clamp(4, 256);
        let groups = buckets.div_ceil(group);
        let passes = columns.passes();
        Self {
            count,
            items,
            columns: sets,
            buckets,
            length,
            segments: items.div_ceil(length).max(1),
            group,
            groups,
            bits: usize::BITS - (groups - 1).leading_zeros(),
            parts: parts(groups, sets),
            tiles: items.div_ceil(TILE).max(1),
            bins: 1 << passes.iter().map(|p| p.1).max().unwrap_or(1),
        }
    }

    /// Counts of the sort.
    pub(super) fn counts(&self) -> usize {
        self.columns * self.bins * self.tiles
    }

    /// Sums of chunks of the counts.
    pub(super) fn chunks(&self) -> usize {
        self.columns * (self.bins * self.tiles).div_ceil(TILE)
    }

    /// The same buffers for a chunk of `count` scalars, which may be fewer: its entries, and segments of a
    /// length of its own, no more of them than there is place for.
    pub(super) fn chunk(
        &self,
        columns: &Columns,
        count: usize,
        threads: usize,
        tuning: &Tuning,
    ) -> Chunk {
        let items = count * columns.multiples() as usize;
        let length = length(items * self.columns, threads, tuning);
        let length = length.max(items.div_ceil(self.segments));
        Chunk {
            items,
            length,
            segments: items.div_ceil(length),
        }
    }

    /// What each buffer takes; `merged` if there are several chunks.
    pub(super) fn bytes(&self, form: Form, merged: bool) -> Bytes {
        let sum = 8 * form.sum_limbs() as u64;
        let (columns, items) = (self.columns as u64, self.items as u64);
        let buckets = columns * self.buckets as u64;
        [
            ("digits", 4 * columns * items),
            ("entries", 16 * columns * items),
            ("counts", 4 * (self.counts() + self.chunks()) as u64),
            ("ranges", 8 * buckets),
            ("buckets", sum * buckets),
            ("parts of buckets", 2 * sum * columns * self.segments as u64),
            ("groups", 2 * sum * columns * self.groups as u64),
            ("sums", sum * self.sums() as u64),
            ("merged buckets", if merged { sum * buckets } else { 0 }),
        ]
    }

    /// Sums that go to the host.
    pub(super) fn sums(&self) -> usize {
        self.columns * (self.bits as usize + 1) * self.parts
    }

    /// The kernels' argument for a chunk.
    pub(super) fn words(&self, chunk: &Chunk) -> [u32; 4] {
        [
            chunk.items as u32,
            self.buckets as u32,
            self.segments as u32,
            chunk.length as u32,
        ]
    }
}

/// How a chunk's entries are cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Entries of a column, at most.
    pub(super) items: usize,
    /// Entries that a thread adds up.
    pub(super) length: usize,
    pub(super) segments: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            segments,
            length,
            groups,
            group,
            parts,
            ..
        } = self;
        write!(
            f,
            "{segments} segments of {length}, {groups} groups of {group} in {parts} parts"
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn passes_cover_the_buckets() {
        for bits in [1u32, 8, 64, 252, 253] {
            let mut max = [0u64; 4];
            max[((bits - 1) / 64) as usize] = 1 << ((bits - 1) % 64);
            let lengths = Lengths::of(&[max]);
            for width in 1..=WIDEST {
                for columns in [None, Some(1), Some(3)] {
                    let columns = Columns::new(width, columns, &lengths);
                    let passes = columns.passes();
                    let all: u32 = passes.iter().map(|p| p.1).sum();
                    assert!(u64::from(columns.buckets()) <= 1 << all);
                    assert!(passes.iter().all(|p| (1..=PASS_BITS).contains(&p.1)));
                    assert_eq!(passes[0].0, 0);
                    assert!(passes.windows(2).all(|p| p[0].0 + p[0].1 == p[1].0));
                    assert!(columns.multiples() * columns.columns >= columns.windows.count);
                }
            }
        }
    }

    #[test]
    fn shapes_cover_the_entries() {
        let lengths = Lengths::of(&[[u64::MAX, u64::MAX, u64::MAX, 1 << 59]]);
        for count in [1usize, 2, 300, 4096, 4097, 1 << 16, 1 << 22, 1 << 26] {
            for columns in [None, Some(1), Some(2)] {
                let best = cheapest(Form::Edwards377, count, &lengths, |_| columns);
                let shape = Shape::new(&best, count, 132 * 384, &Tuning::default());
                assert!(shape.segments * shape.length >= shape.items);
                assert!(shape.groups * shape.group >= shape.buckets);
                assert!(shape.groups <= 1 << shape.bits);
                assert!(shape.tiles * TILE >= shape.items);
            }
        }
    }
}
