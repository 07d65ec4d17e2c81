//! The counting sort of digits by bucket.
#![forbid(unsafe_code)]

use crate::{cpu::pages, digits::Digits, kernel::NEGATE};

/// A window of one vector of scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    /// Which vector.
    pub(crate) vector: usize,
    /// Which of its windows.
    pub(crate) window: u32,
    /// Its number of buckets.
    pub(crate) buckets: u32,
}

/// The digits of some columns, sorted by bucket. The buckets of all columns are counted through.
#[derive(Debug)]
pub(crate) struct Sorted {
    /// Indices of points, with [`NEGATE`] for a minus.
    pub(crate) order: Vec<u32>,
    /// Where each bucket begins in `order`, and at the end its length.
    pub(crate) starts: Vec<u32>,
}

/// Sorts the digits of `columns`. At most 2^31 points; the digits of all columns are fewer than 2^32.
pub(crate) fn sort(columns: &[Column], digits: &[Digits]) -> Sorted {
    let buckets: usize = columns.iter().map(|c| c.buckets as usize).sum();
    // One place more, so that after the scatter `ends[b]` is where bucket b + 1 began.
    let mut ends = vec![0u32; buckets + 1];
    let mut first = 0;
    for column in columns {
        let counts = &mut ends[first..first + column.buckets as usize];
        digits[column.vector].for_each(column.window, |_, bucket, _| counts[bucket as usize] += 1);
        first += column.buckets as usize;
    }
    let mut total = 0;
    for end in &mut ends {
        let count = *end;
        *end = total;
        total += count;
    }
    let mut order = pages::filled(total as usize, 0u32);
    let starts = ends.clone();
    first = 0;
    for column in columns {
        let next = &mut ends[first..first + column.buckets as usize];
        digits[column.vector].for_each(column.window, |index, bucket, negative| {
            let place = &mut next[bucket as usize];
            #[allow(clippy::cast_possible_truncation)]
            let entry = index as u32 | if negative { NEGATE } else { 0 };
            order[*place as usize] = entry;
            *place += 1;
        });
        first += column.buckets as usize;
    }
    Sorted { order, starts }
}
