//! Partial evaluations of a polynomial over the base field.
//!
//! The polynomial is a matrix `M[hi][lo]`, `lo` being the `k` index bits that the sumcheck binds
//! first: in suffix order `f[hi << k | lo]`, in prefix order `f[lo << (n - k) | hi]`. Either side
//! is summed out against extension weights. Whichever way the matrix lies, one of two inner loops
//! does it: [`column_sum`] where the summed index strides, [`LaneSums`] where it is contiguous.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;
use p3_sumcheck::strategy::VariableOrder;
use rayon::prelude::*;

use super::ext::{
    Ext, Multiplier, add, by_degree, coefficients, element, fitting, load_mut, reduce, store, sum,
    unroll,
};
use super::isa::{Isa, Kernel, Variant};
use super::table::{ExtTable, chunks_mut, views, views_mut};
use super::weights::{EqPair, HiWeight, Support, WeightKind, eq_table};
use crate::field::{Extension, F};

/// The most lanes of any variant.
const MAX_LANES: usize = 16;
/// Base elements in a task.
const TASK: usize = 1 << 15;

/// `sum_r s_r f[r * stride ..][..LANES]` over the rows `r` that have a weight.
#[inline(always)]
pub(super) fn column_sum<I: Isa, const D: usize>(
    isa: I,
    f: &[F],
    stride: usize,
    weights: &[[F; D]],
) -> Ext<I, D> {
    let mut acc = [isa.wide_zero(); D];
    let (pairs, rest) = weights.as_chunks::<2>();
    let mut at = 0;
    for [s, t] in pairs {
        let (a, b) = (isa.load(&f[at..]), isa.load(&f[at + stride..]));
        at += 2 * stride;
        unroll!(d < D, {
            acc[d] = isa.wide_mul_add(isa.wide_fold(acc[d]), a, isa.splat(s[d]));
            acc[d] = isa.wide_mul_add(acc[d], b, isa.splat(t[d]));
        });
    }
    for s in rest {
        let a = isa.load(&f[at..]);
        unroll!(d < D, {
            acc[d] = isa.wide_mul_add(isa.wide_fold(acc[d]), a, isa.splat(s[d]));
        });
    }
    reduce(isa, acc)
}

/// `P[lo] = sum_hi H(hi) M[hi][lo]`, `2^k` values. `f` has `2^n` elements, `n >= k`; the weight
/// has `n - k` index bits. Only its support is read.
pub(crate) fn partial_eval<EF: Extension>(
    variant: Variant,
    f: &[F],
    order: VariableOrder,
    k: usize,
    hi: &HiWeight<EF>,
) -> Vec<EF> {
    let hi_bits = f.len().ilog2() as usize - k;
    let support = hi.support(hi_bits);
    if let WeightKind::Delta(y) = hi.kind {
        let row = support.offset + (y << support.log_stride);
        return (0..1 << k)
            .map(|lo| {
                EF::from(match order {
                    VariableOrder::Suffix => f[(row << k) + lo],
                    VariableOrder::Prefix => f[(lo << hi_bits) + row],
                })
            })
            .collect();
    }
    let shift = usize::from(hi.kind == WeightKind::Shift);
    let span = Span {
        f,
        support,
        k,
        shift,
    };
    by_degree!(EF, D => match order {
        VariableOrder::Prefix => span.prefix::<EF, D>(variant, hi_bits, &hi.point),
        VariableOrder::Suffix => span.suffix::<EF, D>(variant, &hi.point),
    })
}

/// What an Eq or Shift weight meets of the polynomial. A shift is an equality weight over the rows
/// from the second on, whose last value meets no row.
#[derive(Clone, Copy)]
struct Span<'a> {
    f: &'a [F],
    support: Support,
    k: usize,
    shift: usize,
}

impl Span<'_> {
    fn prefix<EF: Extension, const D: usize>(
        self,
        variant: Variant,
        hi_bits: usize,
        point: &[EF],
    ) -> Vec<EF> {
        let Support {
            offset,
            log_stride,
            bits,
        } = self.support;
        let len = (((1 << bits) - 1) << log_stride) + 1;
        let mut rows: Vec<&[F]> = self
            .f
            .chunks_exact(1 << hi_bits)
            .map(|row| &row[offset..][..len])
            .collect();
        let gathered: Vec<Vec<F>>;
        if log_stride > 0 {
            gathered = rows
                .into_par_iter()
                .map(|row| row.iter().step_by(1 << log_stride).copied().collect())
                .collect();
            rows = gathered.iter().map(Vec::as_slice).collect();
        }
        contiguous::<EF, D>(variant, &rows, point, 1, self.shift)
            .into_iter()
            .map(|lanes| element(&lanes.map(|l| l.into_iter().sum())))
            .collect()
    }

    fn suffix<EF: Extension, const D: usize>(self, variant: Variant, point: &[EF]) -> Vec<EF> {
        let Support {
            offset,
            log_stride,
            bits,
        } = self.support;
        let row = 1_usize << self.k;
        let variant = fitting(variant, row << bits);
        let f = &self.f[offset * row..];
        if row >= variant.lanes() {
            return strided::<EF, D>(variant, f, row, row << log_stride, bits, point, self.shift);
        }
        // rows shorter than a vector: neighbouring rows share one, and the lanes are parted last
        let gathered: Vec<F>;
        let f = if log_stride == 0 {
            &f[..row << bits]
        } else {
            gathered = f
                .chunks(row << log_stride)
                .take(1 << bits)
                .flat_map(|c| &c[..row])
                .copied()
                .collect();
            &gathered
        };
        let lanes = contiguous::<EF, D>(variant, &[f], point, row, self.shift);
        (0..row)
            .map(|lo| {
                let of = |l: &[F; MAX_LANES]| l.iter().skip(lo).step_by(row).copied().sum();
                element(&core::array::from_fn::<F, D, _>(|d| of(&lanes[0][d])))
            })
            .collect()
    }
}

/// For every row the sums, lane by lane, of its elements times the equality weights of the
/// elements' indices; each weight counts for `repeat` neighbours. A shift of 1 starts `repeat`
/// elements into the row.
fn contiguous<EF: Extension, const D: usize>(
    variant: Variant,
    rows: &[&[F]],
    point: &[EF],
    repeat: usize,
    shift: usize,
) -> Vec<[[F; MAX_LANES]; D]> {
    let inner_bits = point.len().min(10 - repeat.ilog2() as usize);
    let (outer, inner) = point.split_at(point.len() - inner_bits);
    let outer = EqPair::new(outer, EF::ONE);
    let inner: Vec<EF> = eq_table(inner, EF::ONE)
        .into_iter()
        .flat_map(|x| core::iter::repeat_n(x, repeat))
        .collect();
    let inner = ExtTable::from_evaluations(&inner);
    let inner = views::<D>(inner.planes());
    let block = inner[0].len();
    let variant = fitting(variant, block);

    let blocks = rows[0].len() / block;
    let blocks_per_task = (TASK / block).clamp(1, blocks);
    let tasks_per_row = blocks.div_ceil(blocks_per_task);
    let run = |task: usize| {
        let (row, first) = (
            rows[task / tasks_per_row],
            task % tasks_per_row * blocks_per_task,
        );
        let count = blocks_per_task.min(blocks - first);
        let start = first * block + shift * repeat;
        let end = (start + count * block).min(row.len());
        let outer: Vec<_> = (first..first + count)
            .map(|b| coefficients::<EF, D>(outer.get(b)))
            .collect();
        variant.run(LaneSums {
            f: &row[start..end],
            inner: &inner,
            outer: &outer,
            constant: EF::W,
        })
    };
    let tasks = rows.len() * tasks_per_row;
    let parts: Vec<_> = if tasks * blocks_per_task * block <= TASK {
        (0..tasks).map(run).collect()
    } else {
        (0..tasks).into_par_iter().map(run).collect()
    };
    parts
        .chunks_exact(tasks_per_row)
        .map(|parts| {
            let mut sums = [[F::ZERO; MAX_LANES]; D];
            for part in parts {
                for (sum, part) in sums.iter_mut().flatten().zip(part.iter().flatten()) {
                    *sum += *part;
                }
            }
            sums
        })
        .collect()
}

/// Sums of `f[i] inner[i mod block] outer[i / block]`, one per lane `i mod LANES`; lanes that the
/// variant does not have stay zero.
struct LaneSums<'a, const D: usize> {
    f: &'a [F],
    inner: &'a [&'a [F]; D],
    outer: &'a [[F; D]],
    constant: F,
}

impl<const D: usize> Kernel for LaneSums<'_, D> {
    type Output = [[F; MAX_LANES]; D];
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let zero = isa.splat(F::ZERO);
        let mut total = [zero; D];
        for (f, outer) in self.f.chunks(self.inner[0].len()).zip(self.outer) {
            let acc = lane_sum(isa, f, self.inner);
            let outer = Multiplier::new(isa, outer, self.constant);
            total = add(isa, total, outer.mul(isa, acc));
        }
        let mut lanes = [[F::ZERO; MAX_LANES]; D];
        unroll!(d < D, {
            isa.store(total[d], &mut lanes[d]);
        });
        lanes
    }
}

/// `sum f[i] weights[i]` over each lane `i mod LANES`; `f` may end early.
#[inline(always)]
fn lane_sum<I: Isa, const D: usize>(isa: I, f: &[F], weights: &[&[F]; D]) -> Ext<I, D> {
    let mut acc = [isa.wide_zero(); D];
    let whole = f.len() & !(2 * I::LANES - 1);
    for i in (0..whole).step_by(2 * I::LANES) {
        let (a, b) = (isa.load(&f[i..]), isa.load(&f[i + I::LANES..]));
        unroll!(d < D, {
            acc[d] = isa.wide_mul_add(isa.wide_fold(acc[d]), a, isa.load(&weights[d][i..]));
            acc[d] = isa.wide_mul_add(acc[d], b, isa.load(&weights[d][i + I::LANES..]));
        });
    }
    for i in (whole..f.len()).step_by(I::LANES) {
        let mut padded = [F::ZERO; MAX_LANES];
        let here = &f[i..f.len().min(i + I::LANES)];
        padded[..here.len()].copy_from_slice(here);
        let a = isa.load(&padded);
        unroll!(d < D, {
            acc[d] = isa.wide_mul_add(isa.wide_fold(acc[d]), a, isa.load(&weights[d][i..]));
        });
    }
    reduce(isa, acc)
}

/// Columns of the matrix in a task.
const COLUMNS: usize = 1 << 9;

/// `sum_y eq(point, y) f[(y + shift) * stride + column]` for `columns` columns.
pub(super) fn strided<EF: Extension, const D: usize>(
    variant: Variant,
    f: &[F],
    columns: usize,
    stride: usize,
    bits: usize,
    point: &[EF],
    shift: usize,
) -> Vec<EF> {
    // a block of the matrix should stay in the first cache for all its columns
    let inner_bits = bits.min(
        12_usize
            .saturating_sub(columns.ilog2() as usize)
            .clamp(5, 9),
    );
    let (outer, inner) = point.split_at(bits - inner_bits);
    let outer = EqPair::new(outer, EF::ONE);
    let inner: Vec<[F; D]> = eq_table(inner, EF::ONE)
        .into_iter()
        .map(coefficients)
        .collect();
    let (rows, blocks) = (1 << bits, 1_usize << (bits - inner_bits));

    let width = columns.min(COLUMNS);
    let groups = columns / width;
    let blocks_per_task = (TASK / width / inner.len()).clamp(1, blocks);
    let tasks_per_group = blocks.div_ceil(blocks_per_task);
    let run = |task: usize| {
        let first = task % tasks_per_group * blocks_per_task;
        let count = blocks_per_task.min(blocks - first);
        let outer: Vec<_> = (first..first + count)
            .map(|b| coefficients::<EF, D>(outer.get(b)))
            .collect();
        let mut out = ExtTable::<EF>::zeros(width);
        variant.run(Columns {
            f: &f[task / tasks_per_group * width..],
            stride,
            first: first * inner.len() + shift,
            rows,
            inner: &inner,
            outer: &outer,
            constant: EF::W,
            out: views_mut::<D>(out.planes_mut()),
        });
        out
    };
    let tasks = groups * tasks_per_group;
    let parts: Vec<_> = if columns << bits <= TASK {
        (0..tasks).map(run).collect()
    } else {
        (0..tasks).into_par_iter().map(run).collect()
    };
    parts
        .chunks_exact(tasks_per_group)
        .flat_map(|parts| (0..width).map(|i| parts.iter().map(|p| p.get(i)).sum()))
        .collect()
}

/// Adds `sum_y outer inner f[y]` to every column, over blocks of rows from `first` on.
struct Columns<'a, const D: usize> {
    f: &'a [F],
    stride: usize,
    first: usize,
    /// The number of rows of the matrix; weights beyond meet nothing.
    rows: usize,
    inner: &'a [[F; D]],
    outer: &'a [[F; D]],
    constant: F,
    out: [&'a mut [F]; D],
}

impl<const D: usize> Kernel for Columns<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        for (b, outer) in self.outer.iter().enumerate() {
            let outer = Multiplier::new(isa, outer, self.constant);
            let row = self.first + b * self.inner.len();
            let inner = &self.inner[..self.inner.len().min(self.rows - row)];
            for column in (0..self.out[0].len()).step_by(I::LANES) {
                if inner.is_empty() {
                    continue;
                }
                let v = column_sum(
                    isa,
                    &self.f[row * self.stride + column..],
                    self.stride,
                    inner,
                );
                let v = add(isa, load_mut(isa, &self.out, column), outer.mul(isa, v));
                store(isa, v, &mut self.out, column);
            }
        }
    }
}

/// `out[hi] = sum_lo weights[lo] M[hi][lo]`, `2^(n - k)` values; there are `2^k` weights.
pub(crate) fn fold_base<EF: Extension>(
    variant: Variant,
    f: &[F],
    order: VariableOrder,
    k: usize,
    weights: &[EF],
) -> ExtTable<EF> {
    debug_assert_eq!(weights.len(), 1 << k);
    by_degree!(EF, D => {
        let len = f.len() >> k;
        let mut out = ExtTable::zeros(len);
        match order {
            VariableOrder::Prefix => fold_prefix::<EF, D>(variant, f, weights, &mut out),
            VariableOrder::Suffix if k <= MAX_UNZIP => {
                fold_suffix::<EF, D>(variant, f, k, weights, &mut out);
            }
            VariableOrder::Suffix => fold_suffix_rows::<EF, D>(variant, f, weights, &mut out),
        }
        out
    })
}

/// Runs `kernel` on chunks of `out`, `size` values each, with the chunk's index.
fn on_chunks<EF: Extension, const D: usize>(
    out: &mut ExtTable<EF>,
    size: usize,
    run: impl Fn((usize, [&mut [F]; D])) + Sync + Send,
) {
    let tasks = chunks_mut(views_mut::<D>(out.planes_mut()), size).enumerate();
    let mut tasks: Vec<_> = tasks.collect();
    if tasks.len() == 1 {
        if let Some(task) = tasks.pop() {
            run(task);
        }
    } else {
        tasks.into_par_iter().for_each(run);
    }
}

/// Columns that a prefix fold copies together, and rows of them. Rows of a large polynomial lie
/// a power of two apart, in the same few cache sets; the copies do not.
const TILE_COLUMNS: usize = 128;
const TILE_ROWS: usize = 16;
const TILE_STRIDE: usize = TILE_COLUMNS + 16;

fn fold_prefix<EF: Extension, const D: usize>(
    variant: Variant,
    f: &[F],
    weights: &[EF],
    out: &mut ExtTable<EF>,
) {
    let len = out.len();
    let variant = fitting(variant, len);
    let weights: Vec<[F; D]> = weights.iter().map(|&x| coefficients(x)).collect();
    let size = (TASK / weights.len()).max(TILE_COLUMNS);
    on_chunks::<EF, D>(out, size, |(task, out)| {
        variant.run(FoldPrefix {
            f: &f[task * size..],
            stride: len,
            weights: &weights,
            out,
        });
    });
}

struct FoldPrefix<'a, const D: usize> {
    f: &'a [F],
    stride: usize,
    weights: &'a [[F; D]],
    /// Zeros.
    out: [&'a mut [F]; D],
}

impl<const D: usize> Kernel for FoldPrefix<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let mut tile = [F::ZERO; TILE_ROWS * TILE_STRIDE];
        let len = self.out[0].len();
        for start in (0..len).step_by(TILE_COLUMNS) {
            let width = TILE_COLUMNS.min(len - start);
            for (group, weights) in self.weights.chunks(TILE_ROWS).enumerate() {
                for r in 0..weights.len() {
                    let row = (group * TILE_ROWS + r) * self.stride + start;
                    tile[r * TILE_STRIDE..][..width].copy_from_slice(&self.f[row..][..width]);
                }
                for column in (0..width).step_by(I::LANES) {
                    let v = column_sum(isa, &tile[column..], TILE_STRIDE, weights);
                    let at = start + column;
                    let v = add(isa, load_mut(isa, &self.out, at), v);
                    store(isa, v, &mut self.out, at);
                }
            }
        }
    }
}

/// Rows of up to `2^MAX_UNZIP` are transposed in registers; longer ones are summed lane by lane.
const MAX_UNZIP: usize = 5;

fn fold_suffix<EF: Extension, const D: usize>(
    variant: Variant,
    f: &[F],
    k: usize,
    weights: &[EF],
    out: &mut ExtTable<EF>,
) {
    let variant = fitting(variant, out.len());
    // the transposition leaves the columns in bit-reversed order
    let weights: Vec<[F; D]> = (0..weights.len())
        .map(|i| coefficients(weights[i.reverse_bits().unbounded_shr(usize::BITS - k as u32)]))
        .collect();
    let size = TASK >> k;
    on_chunks::<EF, D>(out, size, |(task, out)| {
        variant.run(FoldSuffix {
            f: &f[(task * size) << k..],
            weights: &weights,
            out,
        });
    });
}

struct FoldSuffix<'a, const D: usize> {
    f: &'a [F],
    weights: &'a [[F; D]],
    out: [&'a mut [F]; D],
}

impl<const D: usize> Kernel for FoldSuffix<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let row = self.weights.len();
        let mut tile = [F::ZERO; MAX_LANES << MAX_UNZIP];
        let mut next = tile;
        let mut tile = &mut tile[..row * I::LANES];
        let mut next = &mut next[..row * I::LANES];
        for at in (0..self.out[0].len()).step_by(I::LANES) {
            tile.copy_from_slice(&self.f[at * row..][..row * I::LANES]);
            let mut span = row;
            while span > 1 {
                for (from, to) in tile
                    .chunks_exact(span * I::LANES)
                    .zip(next.chunks_exact_mut(span * I::LANES))
                {
                    let (even, odd) = to.split_at_mut(span / 2 * I::LANES);
                    for ((pair, even), odd) in from
                        .chunks_exact(2 * I::LANES)
                        .zip(even.chunks_exact_mut(I::LANES))
                        .zip(odd.chunks_exact_mut(I::LANES))
                    {
                        let (e, o) = isa.unzip(isa.load(pair), isa.load(&pair[I::LANES..]));
                        isa.store(e, even);
                        isa.store(o, odd);
                    }
                }
                core::mem::swap(&mut tile, &mut next);
                span /= 2;
            }
            let v = column_sum(isa, tile, I::LANES, self.weights);
            store(isa, v, &mut self.out, at);
        }
    }
}

fn fold_suffix_rows<EF: Extension, const D: usize>(
    variant: Variant,
    f: &[F],
    weights: &[EF],
    out: &mut ExtTable<EF>,
) {
    let row = weights.len();
    let variant = fitting(variant, row);
    let weights = ExtTable::from_evaluations(weights);
    let weights = views::<D>(weights.planes());
    let size = (TASK / row).max(1);
    on_chunks::<EF, D>(out, size, |(task, out)| {
        variant.run(FoldSuffixRows {
            f: &f[task * size * row..],
            weights: &weights,
            out,
        });
    });
}

struct FoldSuffixRows<'a, const D: usize> {
    f: &'a [F],
    weights: &'a [&'a [F]; D],
    out: [&'a mut [F]; D],
}

impl<const D: usize> Kernel for FoldSuffixRows<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let rows = self.f.chunks_exact(self.weights[0].len());
        for (i, f) in rows.take(self.out[0].len()).enumerate() {
            let s = sum(isa, lane_sum(isa, f, self.weights));
            unroll!(d < D, {
                self.out[d][i] = s[d];
            });
        }
    }
}
