//! The two passes over memory, one task at a time.
#![forbid(unsafe_code)]

use p3_field::{PrimeCharacteristicRing, TwoAdicField};

use super::super::isa::{Isa, Kernel};
use super::super::strided::ColumnBlock;
use super::MessageOrder;
use super::local::{Rest, last_layers, layers, powers, quad, reversed};
use super::plan::{Layout, Plan};
use crate::field::F;

/// The most lanes of any variant.
const MAX_LANES: usize = 16;
/// How many strided rows ahead memory is asked for. The rows may all fall into one set of a cache,
/// so it must stay below the associativity.
const AHEAD: usize = 4;
/// The same where four rows are in use at a time.
const AHEAD4: usize = 1;
/// Elements of a cache line.
const LINE: usize = 16;

/// Gathers columns i2, transforms them along i1, multiplies by w_h^(i2 k1) and writes each column's
/// results contiguously.
pub(super) struct FirstPass<'a> {
    pub(super) plan: &'a Plan,
    /// The whole message.
    pub(super) message: &'a [F],
    /// The task's first column i2.
    pub(super) first_column: usize,
    /// The task's columns of the codeword, each `plan.column_len()` long.
    pub(super) out: &'a mut [F],
    /// `plan.first_scratch()` elements.
    pub(super) scratch: &'a mut [F],
}

impl Kernel for FirstPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let plan = self.plan;
        let group = plan.first.group;
        let row = plan.first.columns * group;
        let log_message = plan.log_h1 - plan.log_inv_rate;
        let (local, factors) = self.scratch.split_at_mut(row << plan.log_h1);
        for group_start in (0..plan.width).step_by(group) {
            let source = Source {
                plan,
                message: self.message,
                first_column: self.first_column,
                group_start,
            };
            let (base, copies) = local.split_at_mut(row << log_message);
            for (i1, dst) in base.chunks_exact_mut(row).enumerate() {
                match (plan.first.layout, plan.order, plan.width) {
                    (Layout::Rows, ..) => source.copy_row(isa, i1, dst),
                    (_, MessageOrder::ColumnMajor, _) => source.copy_columns(isa, i1, dst),
                    (_, _, 1) => source.copy_row(isa, i1, dst),
                    (_, _, 2) => source.split_row::<I, 2>(isa, i1, dst),
                    (_, _, 4) => source.split_row::<I, 4>(isa, i1, dst),
                    _ => source.split_row::<I, 8>(isa, i1, dst),
                }
                extend(isa, plan, i1, dst, copies);
            }
            let fused = plan.first.layout == Layout::Rows && log_message >= 2 && plan.log_h2 > 0;
            let rest = if fused { Rest::LastTwo } else { Rest::Nothing };
            layers(isa, local, row, log_message, rest);
            let target = Target {
                plan,
                local,
                first_column: self.first_column,
                group_start,
            };
            match plan.first.layout {
                Layout::Rows if fused => target.finish_rows(isa, self.out, factors),
                Layout::Rows => target.write_rows(isa, self.out, factors),
                Layout::Planes => target.write_planes(isa, self.out),
            }
        }
    }
}

/// The zeros make the first `log_inv_rate` layers scalings: the input of the b-th sub-transform is
/// the message times w_h1^(i1 * reversed(b)). `copies` holds those of b = 1.. in order.
#[inline(always)]
fn extend<I: Isa>(isa: I, plan: &Plan, i1: usize, src: &[F], copies: &mut [F]) {
    let roots = powers(plan.log_h1);
    let block = src.len() << (plan.log_h1 - plan.log_inv_rate);
    for (b, copy) in copies.chunks_exact_mut(block).enumerate() {
        let w = isa.factor(roots[i1 * reversed(b + 1, plan.log_inv_rate)]);
        let dst = &mut copy[i1 * src.len()..][..src.len()];
        for (dst, src) in dst
            .chunks_exact_mut(I::LANES)
            .zip(src.chunks_exact(I::LANES))
        {
            isa.store(isa.mul_factor(isa.load(src), w), dst);
        }
    }
}

/// The part of the message that a task transforms at a time.
struct Source<'a> {
    plan: &'a Plan,
    message: &'a [F],
    first_column: usize,
    group_start: usize,
}

impl Source<'_> {
    /// Where row i1's elements start in a row-major message.
    #[inline(always)]
    const fn start(&self, i1: usize) -> usize {
        ((i1 << self.plan.log_h2) + self.first_column) * self.plan.width + self.group_start
    }

    /// The task's part of row i1 of a row-major message; asks for a later row.
    #[inline(always)]
    fn row<I: Isa>(&self, isa: I, i1: usize, len: usize) -> &[F] {
        for line in (0..len).step_by(LINE) {
            isa.prefetch(self.message, self.start(i1 + AHEAD) + line);
        }
        &self.message[self.start(i1)..][..len]
    }

    /// Row i1 of a row-major message, as it lies.
    #[inline(always)]
    fn copy_row<I: Isa>(&self, isa: I, i1: usize, dst: &mut [F]) {
        let src = self.row(isa, i1, dst.len());
        for (dst, src) in dst
            .chunks_exact_mut(I::LANES)
            .zip(src.chunks_exact(I::LANES))
        {
            isa.store(isa.load(src), dst);
        }
    }

    /// Row i1 of a row-major message of width `W`, as `W` planes.
    #[inline(always)]
    fn split_row<I: Isa, const W: usize>(&self, isa: I, i1: usize, dst: &mut [F]) {
        let src = self.row(isa, i1, dst.len());
        let columns = self.plan.first.columns;
        for (at, src) in src.chunks_exact(W * I::LANES).enumerate() {
            let mut v = [isa.splat(F::ZERO); W];
            for (v, src) in v.iter_mut().zip(src.chunks_exact(I::LANES)) {
                *v = isa.load(src);
            }
            // each round moves the lowest bit of the position among the W * LANES to the top; after
            // log2 W rounds the vector's number is the column j
            for _ in 0..W.ilog2() {
                let u = v;
                for i in 0..W / 2 {
                    (v[i], v[i + W / 2]) = isa.unzip(u[2 * i], u[2 * i + 1]);
                }
            }
            for (j, v) in v.into_iter().enumerate() {
                isa.store(v, &mut dst[j * columns + at * I::LANES..]);
            }
        }
    }

    /// Row i1 of a column-major message, as it lies.
    #[inline(always)]
    fn copy_columns<I: Isa>(&self, isa: I, i1: usize, dst: &mut [F]) {
        let columns = self.plan.first.columns;
        let at = |i1: usize| (i1 << self.plan.log_h2) + self.first_column;
        for (j, dst) in dst.chunks_exact_mut(columns).enumerate() {
            let plane = &self.message[(self.group_start + j) * self.plan.rows..][..self.plan.rows];
            isa.prefetch(plane, at(i1 + AHEAD));
            let src = &plane[at(i1)..][..columns];
            for (dst, src) in dst
                .chunks_exact_mut(I::LANES)
                .zip(src.chunks_exact(I::LANES))
            {
                isa.store(isa.load(src), dst);
            }
        }
    }
}

/// A transformed local matrix, rows in bit-reversed order, and where it goes.
struct Target<'a> {
    plan: &'a Plan,
    local: &'a [F],
    first_column: usize,
    group_start: usize,
}

impl Target<'_> {
    /// From `[i1][i2][j]` to `[i2][k1][j]`. `factors` holds 2^log_h1 elements.
    #[inline(always)]
    fn write_rows<I: Isa>(&self, isa: I, out: &mut [F], factors: &mut [F]) {
        let Plan {
            width,
            log_h1,
            log_h2,
            ..
        } = *self.plan;
        let group = self.plan.first.group;
        let row = self.plan.first.columns * group;
        let g = F::two_adic_generator(log_h1 + log_h2);
        let mut root = g.exp_u64(self.first_column as u64);
        for (i2, out) in out.chunks_exact_mut(self.plan.column_len()).enumerate() {
            fill_powers(isa, factors, root);
            root *= g;
            for (k1, (out, &w)) in out.chunks_exact_mut(width).zip(factors.iter()).enumerate() {
                let src = &self.local[reversed(k1, log_h1) * row + i2 * group..][..group];
                let dst = &mut out[self.group_start..][..group];
                let cells = dst
                    .chunks_exact_mut(I::LANES)
                    .zip(src.chunks_exact(I::LANES));
                if log_h2 == 0 {
                    for (dst, src) in cells {
                        isa.store(isa.load(src), dst);
                    }
                } else {
                    let w = isa.factor(w);
                    for (dst, src) in cells {
                        isa.store(isa.mul_factor(isa.load(src), w), dst);
                    }
                }
            }
        }
    }

    /// `write_rows` of a matrix that lacks the last two layers.
    #[inline(always)]
    fn finish_rows<I: Isa>(&self, isa: I, out: &mut [F], factors: &mut [F]) {
        let Plan {
            width,
            log_h1,
            log_h2,
            ..
        } = *self.plan;
        let group = self.plan.first.group;
        let row = self.plan.first.columns * group;
        let g = F::two_adic_generator(log_h1 + log_h2);
        let fourth = isa.factor(F::two_adic_generator(2));
        let mut root = g.exp_u64(self.first_column as u64);
        for (i2, out) in out.chunks_exact_mut(self.plan.column_len()).enumerate() {
            fill_powers(isa, factors, root);
            root *= g;
            let (o01, o23) = out.split_at_mut(out.len() / 2);
            let (o0, o1) = o01.split_at_mut(o01.len() / 2);
            let (o2, o3) = o23.split_at_mut(o23.len() / 2);
            let (w01, w23) = factors.split_at(factors.len() / 2);
            let (w0, w1) = w01.split_at(w01.len() / 2);
            let (w2, w3) = w23.split_at(w23.len() / 2);
            let outs = o0
                .chunks_exact_mut(width)
                .zip(o1.chunks_exact_mut(width))
                .zip(o2.chunks_exact_mut(width).zip(o3.chunks_exact_mut(width)));
            let factors = w0.iter().zip(w1).zip(w2.iter().zip(w3));
            for (k, (((o0, o1), (o2, o3)), ((&w0, &w1), (&w2, &w3)))) in
                outs.zip(factors).enumerate()
            {
                let src = &self.local[reversed(k, log_h1 - 2) * 4 * row..][..4 * row];
                let (s01, s23) = src.split_at(2 * row);
                let (s0, s1) = s01.split_at(row);
                let (s2, s3) = s23.split_at(row);
                let at = i2 * group;
                let cells = s0[at..][..group]
                    .chunks_exact(I::LANES)
                    .zip(s1[at..][..group].chunks_exact(I::LANES))
                    .zip(
                        (s2[at..][..group].chunks_exact(I::LANES))
                            .zip(s3[at..][..group].chunks_exact(I::LANES)),
                    );
                let at = self.group_start;
                let outs = o0[at..][..group]
                    .chunks_exact_mut(I::LANES)
                    .zip(o1[at..][..group].chunks_exact_mut(I::LANES))
                    .zip(
                        (o2[at..][..group].chunks_exact_mut(I::LANES))
                            .zip(o3[at..][..group].chunks_exact_mut(I::LANES)),
                    );
                let (w0, w1) = (isa.factor(w0), isa.factor(w1));
                let (w2, w3) = (isa.factor(w2), isa.factor(w3));
                for (((a, b), (c, d)), ((o0, o1), (o2, o3))) in cells.zip(outs) {
                    let v = [isa.load(a), isa.load(b), isa.load(c), isa.load(d)];
                    let [s, t, u, v] = last_layers(isa, v, fourth);
                    isa.store(isa.mul_factor(s, w0), o0);
                    isa.store(isa.mul_factor(u, w1), o1);
                    isa.store(isa.mul_factor(t, w2), o2);
                    isa.store(isa.mul_factor(v, w3), o3);
                }
            }
        }
    }

    /// From `[i1][j][i2]` to `[i2][k1][j]`.
    #[inline(always)]
    fn write_planes<I: Isa>(&self, isa: I, out: &mut [F]) {
        let Plan {
            width,
            log_h1,
            log_h2,
            ..
        } = *self.plan;
        let (columns, group) = (self.plan.first.columns, self.plan.first.group);
        let column_len = self.plan.column_len();
        let g = F::two_adic_generator(log_h1 + log_h2);
        // rows k1 that a square of LANES x LANES elements spans, and planes j of each
        let square_k1 = (I::LANES / group).max(1);
        let square_j = group.min(I::LANES);
        let blocks = out.chunks_exact_mut(column_len * I::LANES).enumerate();
        for (block, out) in blocks {
            let column = block * I::LANES;
            let mut step = [F::ONE; MAX_LANES];
            fill_powers(isa, &mut step[..I::LANES], g);
            let base = isa.splat(g.exp_u64((self.first_column + column) as u64));
            // w_h^i2 in the lanes, and its powers up to the number of rows in a square
            let base = isa.mul(base, isa.load(&step));
            let mut ahead = [isa.splat(F::ONE); MAX_LANES];
            for x in 1..square_k1 {
                ahead[x] = isa.mul(ahead[x - 1], base);
            }
            let stride = isa.mul(ahead[square_k1 - 1], base);
            let mut w = isa.splat(F::ONE);
            for k1 in (0..1_usize << log_h1).step_by(square_k1) {
                for j in (0..group).step_by(square_j) {
                    let mut v = [w; MAX_LANES];
                    for x in 0..square_k1 {
                        let src = (reversed(k1 + x, log_h1) * group + j) * columns + column;
                        let w = isa.mul(w, ahead[x]);
                        for y in 0..square_j {
                            let src = isa.load(&self.local[src + y * columns..]);
                            v[x * square_j + y] = isa.mul(src, w);
                        }
                    }
                    transpose(isa, &mut v);
                    let at = k1 * width + self.group_start + j;
                    for (v, out) in v.iter().zip(out.chunks_exact_mut(column_len)) {
                        isa.store(*v, &mut out[at..]);
                    }
                }
                w = isa.mul(w, stride);
            }
        }
    }
}

/// `factors[k] = root^k`, for a power of two of them.
#[inline(always)]
fn fill_powers<I: Isa>(isa: I, factors: &mut [F], root: F) {
    let mut len = 1;
    let mut step = root;
    factors[0] = F::ONE;
    while len < factors.len() {
        let (done, rest) = factors.split_at_mut(len);
        if len < I::LANES {
            for (x, &y) in rest.iter_mut().zip(done.iter()) {
                *x = y * step;
            }
        } else {
            let w = isa.factor(step);
            for (x, y) in rest
                .chunks_exact_mut(I::LANES)
                .zip(done.chunks_exact(I::LANES))
            {
                isa.store(isa.mul_factor(isa.load(y), w), x);
            }
        }
        step = step.square();
        len *= 2;
    }
}

/// Transposes the first `LANES` vectors: each round rotates the position among all elements by one
/// bit, until lane and vector have changed places.
#[inline(always)]
fn transpose<I: Isa>(isa: I, v: &mut [I::V; MAX_LANES]) {
    for _ in 0..I::LANES.ilog2() {
        let u = *v;
        for i in 0..I::LANES / 2 {
            (v[2 * i], v[2 * i + 1]) = isa.zip(u[i], u[i + I::LANES / 2]);
        }
    }
}

/// Transforms some elements of every row i2 along i2, in place.
pub(super) struct SecondPass<'a, 'b> {
    pub(super) log_h2: usize,
    /// The task's columns of the codeword as 2^log_h2 rows of (k1, j).
    pub(super) block: &'a mut ColumnBlock<'b, F>,
    /// A local matrix of the block's size.
    pub(super) scratch: &'a mut [F],
}

impl Kernel for SecondPass<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Self {
            log_h2,
            block,
            scratch,
        } = self;
        if log_h2 < 4 {
            return second_pass_small(isa, log_h2, block, scratch);
        }
        let (row, quarter) = (block.width(), 1 << (log_h2 - 2));
        let rows = |r: usize| [r, r + quarter, r + 2 * quarter, r + 3 * quarter];

        // the first two layers on the way in
        let roots = powers(log_h2);
        let (ab, cd) = scratch.split_at_mut(2 * quarter * row);
        let (a, b) = ab.split_at_mut(quarter * row);
        let (c, d) = cd.split_at_mut(quarter * row);
        let targets = a
            .chunks_exact_mut(row)
            .zip(b.chunks_exact_mut(row))
            .zip(c.chunks_exact_mut(row).zip(d.chunks_exact_mut(row)));
        for (r, ((a, b), (c, d))) in targets.enumerate() {
            ask_for(isa, block, rows((r + AHEAD4).min(quarter - 1)));
            let factors = quad(isa, roots, r);
            let [s0, s1, s2, s3] = rows(r).map(|r| block.row(r).chunks_exact(I::LANES));
            let targets = a
                .chunks_exact_mut(I::LANES)
                .zip(b.chunks_exact_mut(I::LANES))
                .zip(
                    c.chunks_exact_mut(I::LANES)
                        .zip(d.chunks_exact_mut(I::LANES)),
                );
            for (((s0, s1), (s2, s3)), ((a, b), (c, d))) in s0.zip(s1).zip(s2.zip(s3)).zip(targets)
            {
                let v = [isa.load(s0), isa.load(s1), isa.load(s2), isa.load(s3)];
                let [s, t, u, v] = isa.butterfly4(v, factors);
                isa.store(s, a);
                isa.store(t, b);
                isa.store(u, c);
                isa.store(v, d);
            }
        }

        layers(isa, scratch, row, log_h2 - 2, Rest::LastTwo);

        // and the last two on the way out
        let fourth = isa.factor(roots[quarter]);
        for k in 0..quarter {
            ask_for(isa, block, rows((k + AHEAD4).min(quarter - 1)));
            let src = &scratch[reversed(k, log_h2 - 2) * 4 * row..][..4 * row];
            let (s01, s23) = src.split_at(2 * row);
            let (s0, s1) = s01.split_at(row);
            let (s2, s3) = s23.split_at(row);
            let sources = s0
                .chunks_exact(I::LANES)
                .zip(s1.chunks_exact(I::LANES))
                .zip(s2.chunks_exact(I::LANES).zip(s3.chunks_exact(I::LANES)));
            let [o0, o1, o2, o3] = block
                .rows_mut(rows(k))
                .map(|row| row.chunks_exact_mut(I::LANES));
            for (((s0, s1), (s2, s3)), ((o0, o1), (o2, o3))) in
                sources.zip(o0.zip(o1).zip(o2.zip(o3)))
            {
                let v = [isa.load(s0), isa.load(s1), isa.load(s2), isa.load(s3)];
                let [s, t, u, v] = last_layers(isa, v, fourth);
                isa.store(s, o0);
                isa.store(u, o1);
                isa.store(t, o2);
                isa.store(v, o3);
            }
        }
    }
}

/// Asks for four rows of a block.
#[inline(always)]
fn ask_for<I: Isa>(isa: I, block: &ColumnBlock<'_, F>, rows: [usize; 4]) {
    for r in rows {
        let next = block.row(r);
        for line in (0..next.len()).step_by(LINE) {
            isa.prefetch(next, line);
        }
    }
}

/// The second pass of a transform that lacks the layers to join with reading and writing.
#[inline(always)]
fn second_pass_small<I: Isa>(
    isa: I,
    log_h2: usize,
    block: &mut ColumnBlock<'_, F>,
    scratch: &mut [F],
) {
    let row = block.width();
    for (i2, dst) in scratch.chunks_exact_mut(row).enumerate() {
        for (dst, src) in (dst.chunks_exact_mut(I::LANES)).zip(block.row(i2).chunks_exact(I::LANES))
        {
            isa.store(isa.load(src), dst);
        }
    }
    layers(isa, scratch, row, log_h2, Rest::Nothing);
    for k2 in 0..block.rows() {
        let src = &scratch[reversed(k2, log_h2) * row..][..row];
        let dst = block.row_mut(k2);
        for (dst, src) in (dst.chunks_exact_mut(I::LANES)).zip(src.chunks_exact(I::LANES)) {
            isa.store(isa.load(src), dst);
        }
    }
}
