//! How a transform is cut into cache-sized pieces.
#![forbid(unsafe_code)]

use super::MessageOrder;

/// Elements of a local buffer: 256 KiB, half of a small second-level cache.
const LOCAL: usize = 1 << 16;
/// Elements that one task reads contiguously, if the local buffer allows: four cache lines.
const RUN: usize = 64;
/// Elements of a cache line.
const LINE: usize = 16;
/// Up to this many elements one task does everything in one pass.
const SINGLE: usize = 1 << 12;

/// Layout of the first pass's local buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// `[i1][i2][j]`: rows are at least a vector wide, and a vector has one i2.
    Rows,
    /// `[i1][j][i2]`: a vector has consecutive i2.
    Planes,
}

/// What a task of the first pass works on.
#[derive(Clone, Copy, Debug)]
pub(super) struct FirstShape {
    pub(super) layout: Layout,
    /// Columns i2 of a task.
    pub(super) columns: usize,
    /// Message columns j in the local buffer at a time.
    pub(super) group: usize,
}

/// A transform cut into pieces. All sizes are powers of two.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) order: MessageOrder,
    pub(super) width: usize,
    pub(super) rows: usize,
    pub(super) log_inv_rate: usize,
    pub(super) log_h1: usize,
    pub(super) log_h2: usize,
    pub(super) first: FirstShape,
    /// Elements of a row that a task of the second pass takes.
    pub(super) second_block: usize,
}

impl Plan {
    /// `None` if the transform is too small for vectors of `lanes` elements; never for one lane.
    pub(super) fn new(
        lanes: usize,
        rows: usize,
        width: usize,
        order: MessageOrder,
        log_inv_rate: usize,
    ) -> Option<Self> {
        let log = |n: usize| n.ilog2() as usize;
        // a single column is the same in both orders
        let order = if width == 1 {
            MessageOrder::RowMajor
        } else {
            order
        };
        let layout = if order == MessageOrder::ColumnMajor || width < lanes {
            Layout::Planes
        } else {
            Layout::Rows
        };
        let log_h = log(rows) + log_inv_rate;
        // the first pass takes a vector of columns i2, the second a vector of a row (k1, j), and
        // the zeros must all lie in the first pass
        let min_h2 = match layout {
            Layout::Planes => log(lanes),
            Layout::Rows => 0,
        };
        let min_h1 = log_inv_rate.max(log(lanes).saturating_sub(log(width)));
        if min_h2 + min_h1 > log_h {
            return None;
        }
        let single = (width << log_h) <= SINGLE;
        let log_h2 = if single { 0 } else { log_h / 2 }.clamp(min_h2, log_h - min_h1);
        let log_h1 = log_h - log_h2;
        let (h1, h2) = (1 << log_h1, 1 << log_h2);

        let run = (LOCAL / h1).clamp(LINE, RUN);
        let (columns, group) = match (layout, order) {
            (Layout::Rows, _) => ((run / width).clamp(1, h2), width.min(run)),
            (Layout::Planes, MessageOrder::RowMajor) => ((run / width).max(lanes).min(h2), width),
            (Layout::Planes, MessageOrder::ColumnMajor) => {
                let columns = LINE.max(lanes).min(h2);
                // the transposed squares are stored as they are, so their rows of a group must be
                // whole rows or a vector
                let group = (LOCAL / (h1 * columns)).clamp(lanes.min(width), LINE.min(width));
                (columns, group)
            }
        };
        Some(Self {
            order,
            width,
            rows,
            log_inv_rate,
            log_h1,
            log_h2,
            first: FirstShape {
                layout,
                columns,
                group,
            },
            second_block: (LOCAL / h2).clamp(LINE, RUN).min(h1 * width),
        })
    }

    /// Elements of the codeword between two columns i2 after the first pass, which is a row of the
    /// second: `h1 * width`.
    pub(super) const fn column_len(&self) -> usize {
        self.width << self.log_h1
    }

    /// Elements of the first pass's buffer: the local matrix and the factors of one column i2.
    pub(super) const fn first_scratch(&self) -> usize {
        ((self.first.columns * self.first.group) << self.log_h1) + (1 << self.log_h1)
    }

    /// Elements of the second pass's buffer.
    pub(super) const fn second_scratch(&self) -> usize {
        self.second_block << self.log_h2
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{LINE, LOCAL, MessageOrder, Plan};

    /// The most elements in a row of planes: 16 lanes of 16 columns.
    const WIDEST: usize = 256;

    /// An upper bound of the elements of a thread's buffer, for any width and variant.
    const fn scratch_bound(rows: usize, log_inv_rate: usize) -> usize {
        let log_h = rows.ilog2() as usize + log_inv_rate;
        // h1 is half of the height, unless the zeros or the vectors ask for more
        let half = log_h.div_ceil(2);
        let least = if log_inv_rate > 4 { log_inv_rate } else { 4 };
        let h1 = 1_usize << if half > least { half } else { least };
        LOCAL + h1 * (WIDEST + 1) + LINE
    }

    #[test]
    fn every_shape_has_a_plan_whose_pieces_fit() {
        for lanes in [1, 4, 8, 16] {
            for log_rows in 0..=24 {
                for log_width in 0..=8 {
                    for rate in 0..=10.min(27 - log_rows) {
                        for order in [MessageOrder::RowMajor, MessageOrder::ColumnMajor] {
                            let (rows, width) = (1 << log_rows, 1 << log_width);
                            let Some(plan) = Plan::new(lanes, rows, width, order, rate) else {
                                assert!(lanes > 1);
                                assert!(rows < lanes * lanes);
                                continue;
                            };
                            assert_eq!(plan.log_h1 + plan.log_h2, log_rows + rate);
                            assert!(plan.log_h1 >= rate);
                            assert_eq!((plan.first.columns * plan.first.group) % lanes, 0);
                            assert!(plan.log_h2 == 0 || plan.second_block % lanes == 0);
                            let bound = scratch_bound(rows, rate);
                            assert!(plan.first_scratch() <= bound, "{plan:?} {bound}");
                            assert!(plan.second_scratch() <= bound, "{plan:?} {bound}");
                        }
                    }
                }
            }
        }
    }
}
