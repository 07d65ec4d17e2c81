//! Column blocks of a row-major matrix, handed to rayon tasks as disjoint mutable views.
//!
//! `par_chunks_mut` splits a matrix by rows. A transform along the columns needs the other split,
//! which safe slices cannot express; this module is that one abstraction.
#![allow(unsafe_code)]

use core::marker::PhantomData;
use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};

/// Mutable access to a contiguous range of columns in every row of a row-major matrix.
///
/// Blocks alive at the same time never share an element: they are only made by
/// [`for_each_column_block`], over ranges that do not overlap.
pub(crate) struct ColumnBlock<'a, T> {
    /// Element (0, first column) of the block.
    start: *mut T,
    rows: usize,
    /// Elements between the starts of two rows.
    stride: usize,
    width: usize,
    matrix: PhantomData<&'a mut [T]>,
}

impl<T> ColumnBlock<'_, T> {
    /// Rows of the matrix.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// Columns of the block.
    pub(crate) const fn width(&self) -> usize {
        self.width
    }

    /// The block's part of row `r`; panics if there is no such row.
    #[inline(always)]
    pub(crate) fn row(&self, r: usize) -> &[T] {
        assert!(r < self.rows, "row index out of range");
        // SAFETY: `for_each_column_block` checked that the matrix holds `rows` rows of `stride`
        // elements and that the block's columns lie inside a row; `r < rows`. The elements belong
        // to this block alone, and `&self` forbids a mutable reference to them meanwhile.
        unsafe { core::slice::from_raw_parts(self.start.add(r * self.stride), self.width) }
    }

    /// The block's part of row `r`, mutable; panics if there is no such row.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, r: usize) -> &mut [T] {
        assert!(r < self.rows, "row index out of range");
        // SAFETY: as in `row`; `&mut self` makes this the only reference into the block.
        unsafe { core::slice::from_raw_parts_mut(self.start.add(r * self.stride), self.width) }
    }

    /// The block's parts of several different rows at once, mutable; panics if a row does not exist
    /// or is named twice.
    #[inline(always)]
    pub(crate) fn rows_mut<const N: usize>(&mut self, rows: [usize; N]) -> [&mut [T]; N] {
        for (i, &r) in rows.iter().enumerate() {
            assert!(r < self.rows, "row index out of range");
            assert!(!rows[..i].contains(&r), "a row is named twice");
        }
        // SAFETY: as in `row_mut`; the rows differ, and the parts of different rows are disjoint
        // because the block is no wider than the stride.
        rows.map(|r| unsafe {
            core::slice::from_raw_parts_mut(self.start.add(r * self.stride), self.width)
        })
    }
}

/// The base pointer of a matrix that is borrowed mutably while its blocks are out.
struct Base<T>(*mut T);

// SAFETY: the pointer is only used to build blocks, each of which gives one task exclusive access
// to its own elements: sharing it moves `&mut T` between threads, which `T: Send` allows.
unsafe impl<T: Send> Sync for Base<T> {}

impl<T> Base<T> {
    /// The block of `columns` in `rows` rows of `stride` elements.
    ///
    /// # Safety
    /// The base must point to `rows * stride` elements that are borrowed mutably for `'a`,
    /// `columns` must lie in `0..stride`, and no other block that overlaps may be alive.
    unsafe fn block<'a>(
        &self,
        rows: usize,
        stride: usize,
        columns: Range<usize>,
    ) -> ColumnBlock<'a, T> {
        ColumnBlock {
            // SAFETY: the first column lies in the first row; for an empty matrix there are no
            // blocks at all.
            start: unsafe { self.0.add(columns.start) },
            rows,
            stride,
            width: columns.len(),
            matrix: PhantomData,
        }
    }
}

/// Splits a row-major matrix of rows of `row_len` elements into blocks of `block_width` columns
/// (the last may be narrower) and runs `f(index, block)` for each, in parallel.
///
/// Panics if `row_len` or `block_width` is zero or `row_len` does not divide the matrix.
pub(crate) fn for_each_column_block<T: Send>(
    matrix: &mut [T],
    row_len: usize,
    block_width: usize,
    f: impl Fn(usize, ColumnBlock<'_, T>) + Send + Sync,
) {
    assert!(row_len > 0 && block_width > 0, "empty rows or blocks");
    assert!(
        matrix.len().is_multiple_of(row_len),
        "the rows do not fill the matrix"
    );
    let rows = matrix.len() / row_len;
    if rows == 0 {
        return;
    }
    let base = Base(matrix.as_mut_ptr());
    (0..row_len.div_ceil(block_width))
        .into_par_iter()
        .for_each(|index| {
            let start = index * block_width;
            let end = row_len.min(start + block_width);
            // a method call, so that the closure borrows `Base` as a whole
            // SAFETY: `matrix` is borrowed mutably until this function returns and holds `rows *
            // row_len` elements. Rayon runs the closure once per index, and the ranges of
            // different indices are disjoint. The block cannot outlive the call of `f`, which
            // must accept every lifetime.
            let block = unsafe { base.block(rows, row_len, start..end) };
            f(index, block);
        });
}

#[cfg(test)]
mod tests {
    use super::for_each_column_block;

    #[test]
    fn every_element_is_reached_once() {
        for (rows, row_len, block_width) in [(1, 1, 1), (3, 8, 2), (4, 7, 3), (5, 4, 9)] {
            let mut matrix = vec![0_u32; rows * row_len];
            for_each_column_block(&mut matrix, row_len, block_width, |index, mut block| {
                assert_eq!(block.rows(), rows);
                for r in 0..rows {
                    let width = block.width();
                    for (c, x) in block.row_mut(r).iter_mut().enumerate() {
                        assert!(c < width);
                        *x += u32::try_from(r * 100 + index * block_width + c).unwrap_or(0) + 1;
                    }
                    assert_eq!(block.row(r).len(), width);
                }
            });
            for (i, &x) in matrix.iter().enumerate() {
                let (r, c) = (i / row_len, i % row_len);
                assert_eq!(x as usize, r * 100 + c + 1);
            }
        }
    }

    #[test]
    fn several_rows_at_once() {
        let mut matrix: Vec<u32> = (0..32).collect();
        for_each_column_block(&mut matrix, 8, 4, |_, mut block| {
            let [a, b] = block.rows_mut([3, 1]);
            a.swap_with_slice(b);
        });
        let row = |r: u32| r * 8..r * 8 + 8;
        let want: Vec<u32> = row(0).chain(row(3)).chain(row(2)).chain(row(1)).collect();
        assert_eq!(matrix, want);
    }

    #[test]
    fn a_row_cannot_be_taken_twice() {
        let result = std::panic::catch_unwind(|| {
            for_each_column_block(&mut [0_u8; 6], 2, 2, |_, mut block| {
                let _ = block.rows_mut([1, 2, 1]);
            });
        });
        assert!(result.is_err());
    }

    #[test]
    fn an_empty_matrix_has_no_blocks() {
        for_each_column_block(&mut [0_u8; 0], 4, 2, |_, _| panic!("no block expected"));
    }

    #[test]
    #[should_panic(expected = "row index out of range")]
    fn rows_are_checked() {
        rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map(|pool| {
                pool.install(|| {
                    for_each_column_block(&mut [0_u8; 4], 2, 1, |_, block| {
                        let _ = block.row(2);
                    });
                });
            })
            .unwrap_or_default();
    }
}
