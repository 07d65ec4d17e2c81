//! Launches of the digits and of the sort.
#![forbid(unsafe_code)]

use core::ops::Range;

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};

use super::kernels::SortKernels;
use super::plan::{Columns, SORT_THREADS, Shape, TILE};
use crate::digits::Wide;

/// Where the scalars of a chunk are, and which bases they go with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scalars {
    /// Address of the chunk's first scalar.
    pub(super) address: u64,
    /// Bytes of a scalar.
    pub(super) bytes: u32,
}

/// The buffers of a sort.
#[derive(Debug)]
pub(super) struct Sorter {
    digits: Buffer<u32>,
    entries: [Buffer<[u32; 2]>; 2],
    counts: Buffer<u32>,
    chunks: Buffer<u32>,
    pub(super) totals: Buffer<u32>,
    pub(super) ranges: Buffer<[u32; 2]>,
}

/// The kernels' description of the digits, see `Recoding` in sort.cu.
fn recoding(columns: &Columns, order: &Wide, signs: bool, bytes: u32) -> Vec<u32> {
    let words = |wide: &Wide| -> Vec<u32> {
        let halves = |l: &u64| [*l as u32, (*l >> 32) as u32];
        wide.iter().flat_map(halves).collect()
    };
    let mut all = words(order);
    all.extend(words(&columns.windows.offset()));
    all.extend([
        u32::from(signs),
        bytes,
        columns.windows.width,
        columns.windows.count,
        columns.columns,
    ]);
    all
}

fn blocks(count: usize, each: usize) -> u32 {
    u32::try_from(count.div_ceil(each)).unwrap_or(u32::MAX)
}

impl Sorter {
    pub(super) fn new(stream: &Stream, shape: &Shape) -> Result<Self, Error> {
        let entries = shape.columns * shape.items;
        Ok(Self {
            digits: stream.alloc(entries)?,
            entries: [stream.alloc(entries)?, stream.alloc(entries)?],
            counts: stream.alloc(shape.counts())?,
            chunks: stream.alloc(shape.chunks())?,
            totals: stream.alloc(shape.columns)?,
            ranges: stream.alloc(shape.columns * shape.buckets)?,
        })
    }

    /// Digits of a chunk's scalars, sorted: the address of the entries. `chunk` are the indices among
    /// `bases` bases; `bad` gets the first scalar that is not below the order.
    #[allow(clippy::too_many_arguments, reason = "one kernel's arguments")]
    pub(super) fn run(
        &mut self,
        stream: &Stream,
        kernels: &SortKernels,
        (shape, columns): (&Shape, &Columns),
        (order, signs): (&Wide, bool),
        scalars: Scalars,
        chunk: Range<usize>,
        bases: (usize, usize),
        bad: &Buffer<u32>,
    ) -> Result<u64, Error> {
        let count = chunk.len();
        let items = count * columns.multiples() as usize;
        let block = (SORT_THREADS as u32, 1, 1);
        let recoding = recoding(columns, order, signs, scalars.bytes);
        stream.launch(
            &kernels.digits,
            (blocks(count, SORT_THREADS), 1, 1),
            block,
            0,
            &[
                Arg::Ptr(scalars.address),
                Arg::U32(count as u32),
                Arg::U32(chunk.start as u32),
                Arg::Words(&recoding),
                Arg::Ptr(self.digits.as_ptr()),
                Arg::Ptr(bad.as_ptr()),
            ],
        )?;
        let sets = shape.columns as u32;
        let tiles = blocks(items, TILE);
        let place = [count as u32, bases.0 as u32, bases.1 as u32];
        let (items, digits) = (Arg::U32(items as u32), Arg::Ptr(self.digits.as_ptr()));
        let (counts, totals) = (
            Arg::Ptr(self.counts.as_ptr()),
            Arg::Ptr(self.totals.as_ptr()),
        );
        let mut from = 1;
        for (pass, (shift, bits)) in columns.passes().into_iter().enumerate() {
            let to = 1 - from;
            let (input, output) = (
                Arg::Ptr(self.entries[from].as_ptr()),
                Arg::Ptr(self.entries[to].as_ptr()),
            );
            let (shift, wide) = (Arg::U32(shift), Arg::U32(bits));
            let grid = (tiles, sets, 1);
            if pass == 0 {
                let args = [digits, items, shift, wide, counts];
                stream.launch(&kernels.count_first, grid, block, 0, &args)?;
            } else {
                let args = [input, items, totals, shift, wide, counts];
                stream.launch(&kernels.count_again, grid, block, 0, &args)?;
            }
            self.scan(stream, kernels, (tiles as usize) << bits, sets)?;
            if pass == 0 {
                let place = Arg::Words(&place);
                let args = [digits, items, place, shift, wide, counts, output];
                stream.launch(&kernels.move_first, grid, block, 0, &args)?;
            } else {
                let args = [input, items, totals, shift, wide, counts, output];
                stream.launch(&kernels.move_again, grid, block, 0, &args)?;
            }
            from = to;
        }
        let sorted = self.entries[from].as_ptr();
        let all = 0..self.ranges.len();
        stream.clear(&mut self.ranges, all)?;
        let args = [
            Arg::Ptr(sorted),
            items,
            totals,
            Arg::U32(shape.buckets as u32),
            Arg::Ptr(self.ranges.as_ptr()),
        ];
        let grid = (
            blocks(count * columns.multiples() as usize, SORT_THREADS),
            sets,
            1,
        );
        stream.launch(&kernels.find_ranges, grid, block, 0, &args)?;
        Ok(sorted)
    }

    /// Sums of the counts before each, column by column.
    fn scan(
        &self,
        stream: &Stream,
        kernels: &SortKernels,
        length: usize,
        columns: u32,
    ) -> Result<(), Error> {
        let block = (SORT_THREADS as u32, 1, 1);
        let chunks = blocks(length, TILE);
        let (counts, sums) = (
            Arg::Ptr(self.counts.as_ptr()),
            Arg::Ptr(self.chunks.as_ptr()),
        );
        let length = Arg::U64(length as u64);
        let grid = (chunks, columns, 1);
        let args = [counts, length, sums];
        stream.launch(&kernels.scan_chunks, grid, block, 0, &args)?;
        let args = [sums, Arg::U32(chunks), Arg::Ptr(self.totals.as_ptr())];
        stream.launch(&kernels.scan_top, (columns, 1, 1), block, 0, &args)?;
        let args = [counts, length, sums];
        stream.launch(&kernels.scan_apply, grid, block, 0, &args)
    }
}
