//! Weights over the hypercube: their description, and their sum into a dense table.
//!
//! Every weight is a product of a factor per block of indices and a factor within the block, so
//! only two short tables of it ever exist.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use super::columns::accumulate_families;
use super::ext::{
    Multiplier, add, by_degree, coefficients, fitting, load, load_mut, reduce, store, unroll,
};
use super::isa::{Isa, Kernel, Variant};
use super::partial::column_sum;
use super::table::{ExtTable, chunks_mut, views, views_mut};
pub(crate) use crate::engine::{HiKind as WeightKind, HiWeight};
use crate::field::{Extension, F};

/// Where a weight is not zero by its outer bits: `offset + (y << log_stride)`, `y < 1 << bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Support {
    pub(super) offset: usize,
    pub(super) log_stride: usize,
    pub(super) bits: usize,
}

impl<EF> HiWeight<EF> {
    /// The support in an index of `bits` bits.
    pub(super) fn support(&self, bits: usize) -> Support {
        let number = |b: &[bool]| b.iter().fold(0_usize, |a, &b| 2 * a + usize::from(b));
        let middle = bits - self.leading.len() - self.trailing.len();
        debug_assert!(
            matches!(self.kind, WeightKind::Delta(_)) || middle == self.point.len(),
            "one coordinate per index bit"
        );
        Support {
            offset: (number(&self.leading) << (middle + self.trailing.len()))
                + number(&self.trailing),
            log_stride: self.trailing.len(),
            bits: middle,
        }
    }
}

/// `eq(point, y)` for every `y`, times `scale`.
pub(super) fn eq_table<EF: Extension>(point: &[EF], scale: EF) -> Vec<EF> {
    let mut table = Vec::with_capacity(1 << point.len());
    table.push(scale);
    // the least significant coordinate first, so that each step doubles in place
    for &z in point.iter().rev() {
        for i in 0..table.len() {
            let high = table[i] * z;
            table[i] -= high;
            table.push(high);
        }
    }
    table
}

/// `eq(point, y)` as a product over the two halves of the point, for random access.
pub(super) struct EqPair<EF> {
    high: Vec<EF>,
    low: Vec<EF>,
}

impl<EF: Extension> EqPair<EF> {
    pub(super) fn new(point: &[EF], scale: EF) -> Self {
        let (high, low) = point.split_at(point.len() / 2);
        Self {
            high: eq_table(high, scale),
            low: eq_table(low, EF::ONE),
        }
    }

    pub(super) fn get(&self, y: usize) -> EF {
        self.high[y / self.low.len()] * self.low[y % self.low.len()]
    }
}

/// `w[x] += c H(x)` for every term `(c, H)`.
///
/// Terms with the same support share one pass over it, and so do columns of one point.
pub(crate) fn accumulate<EF: Extension>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    terms: &[(EF, &HiWeight<EF>)],
) {
    let bits = w.num_variables();
    let mut groups: Vec<(Support, Vec<Term<'_, EF>>)> = Vec::new();
    for place in accumulate_families(variant, w, terms) {
        let (scale, weight) = terms[place];
        let support = weight.support(bits);
        if let WeightKind::Delta(y) = weight.kind {
            w.add_at(support.offset + (y << support.log_stride), scale);
            continue;
        }
        let term = Term {
            scale,
            point: &weight.point,
            shift: weight.kind == WeightKind::Shift,
        };
        match groups.iter_mut().find(|(s, _)| *s == support) {
            Some((_, group)) => group.push(term),
            None => groups.push((support, vec![term])),
        }
    }
    for (support, group) in groups {
        by_degree!(EF, D => accumulate_group::<EF, D>(variant, w, support, &group));
    }
}

/// A scaled Eq or Shift weight without its support.
struct Term<'a, EF> {
    scale: EF,
    point: &'a [EF],
    shift: bool,
}

/// Bytes of inner tables that a task keeps near.
const INNER_BYTES: usize = 24 << 10;
/// Elements of the accumulated table in a task.
const TASK: usize = 1 << 12;

fn accumulate_group<EF: Extension, const D: usize>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    support: Support,
    terms: &[Term<'_, EF>],
) {
    if support.log_stride > 0 {
        // a strided span is gathered, so that the kernels see neighbours
        let mut span = ExtTable::zeros(1 << support.bits);
        let compact = Support {
            offset: 0,
            log_stride: 0,
            bits: support.bits,
        };
        accumulate_group::<EF, D>(variant, &mut span, compact, terms);
        for (to, from) in w.planes_mut().iter_mut().zip(span.planes()) {
            let to = to[support.offset..].iter_mut();
            for (to, &from) in to.step_by(1 << support.log_stride).zip(from) {
                *to += from;
            }
        }
        return;
    }

    let fit = INNER_BYTES / (terms.len() * D * size_of::<F>());
    let inner_bits = support.bits.min(fit.max(32).ilog2() as usize);
    let block = 1_usize << inner_bits;
    let prepared: Vec<Prepared<EF>> = terms
        .iter()
        .map(|term| {
            let (outer, inner) = term.point.split_at(support.bits - inner_bits);
            let mut inner = eq_table(inner, EF::ONE);
            let carried = inner[block - 1];
            if term.shift {
                inner.rotate_right(1);
                inner[0] = EF::ZERO;
            }
            Prepared {
                outer: EqPair::new(outer, term.scale),
                inner: ExtTable::from_evaluations(&inner),
                carried: term.shift.then_some(carried),
            }
        })
        .collect();
    let inner: Vec<[&[F]; D]> = prepared.iter().map(|p| views(p.inner.planes())).collect();

    let variant = fitting(variant, block);
    let blocks_per_task = (TASK / block).max(1);
    let span =
        views_mut::<D>(w.planes_mut()).map(|p| &mut p[support.offset..][..1 << support.bits]);
    let run = |(task, mut out): (usize, [&mut [F]; D])| {
        let first = task * blocks_per_task;
        let blocks = out[0].len() / block;
        let mut outer = Vec::with_capacity(blocks * terms.len());
        for b in first..first + blocks {
            for p in &prepared {
                outer.push(coefficients::<EF, D>(p.outer.get(b)));
                // a shifted block begins with the end of the one before
                if let (Some(carried), Some(before)) = (p.carried, b.checked_sub(1)) {
                    let x = coefficients::<EF, D>(p.outer.get(before) * carried);
                    for (plane, x) in out.iter_mut().zip(x) {
                        plane[(b - first) * block] += x;
                    }
                }
            }
        }
        variant.run(Accumulate {
            out,
            inner: &inner,
            outer: &outer,
            constant: EF::W,
        });
    };
    if support.bits < 10 {
        run((0, span));
    } else {
        chunks_mut(span, blocks_per_task * block)
            .enumerate()
            .collect::<Vec<_>>()
            .into_par_iter()
            .for_each(run);
    }
}

/// A term's two tables.
struct Prepared<EF> {
    /// The factor of a block, with the scale.
    outer: EqPair<EF>,
    /// The factors within a block; moved up by one place for a shift.
    inner: ExtTable<EF>,
    /// For a shift, the factor that the last place of a block hands to the next block.
    carried: Option<EF>,
}

struct Accumulate<'a, const D: usize> {
    out: [&'a mut [F]; D],
    /// A table per term.
    inner: &'a [[&'a [F]; D]],
    /// A factor per block and term.
    outer: &'a [[F; D]],
    constant: F,
}

impl<const D: usize> Kernel for Accumulate<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let block = self.inner[0][0].len();
        let mut factors = Vec::with_capacity(self.inner.len());
        for (b, outer) in self.outer.chunks_exact(self.inner.len()).enumerate() {
            factors.clear();
            for c in outer {
                factors.push(Multiplier::new(isa, c, self.constant));
            }
            for i in (0..block).step_by(I::LANES) {
                let mut acc = [isa.wide_zero(); D];
                for (inner, factor) in self.inner.iter().zip(&factors) {
                    acc = factor.mul_add(isa, acc, load(isa, inner, i));
                }
                let at = b * block + i;
                let v = add(isa, load_mut(isa, &self.out, at), reduce(isa, acc));
                store(isa, v, &mut self.out, at);
            }
        }
    }
}

/// Indices that share the powers of one short table.
const SELECT_BLOCK: usize = 1 << 8;

/// `w[x] += sum_j c_j z_j^x` for the terms `(c_j, z_j)`.
pub(crate) fn accumulate_select<EF: Extension>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    terms: &[(EF, F)],
) {
    if !terms.is_empty() {
        by_degree!(EF, D => accumulate_select_d::<EF, D>(variant, w, terms));
    }
}

fn accumulate_select_d<EF: Extension, const D: usize>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    terms: &[(EF, F)],
) {
    let len = w.len();
    let block = len.min(SELECT_BLOCK);
    let variant = fitting(variant, block);
    let lanes = variant.lanes();
    // powers[column][term][lane]: a column of vectors lies in one run
    let mut powers = F::zero_vec(block * terms.len());
    let mut steps = Vec::with_capacity(terms.len());
    for (j, &(_, z)) in terms.iter().enumerate() {
        let mut power = F::ONE;
        for x in 0..block {
            powers[(x / lanes * terms.len() + j) * lanes + x % lanes] = power;
            power *= z;
        }
        steps.push(power);
    }

    let task_len = TASK.max(block).min(len);
    let run = |(task, out): (usize, [&mut [F]; D])| {
        let scales = terms
            .iter()
            .zip(&steps)
            .map(|(&(c, _), step)| {
                let start = step.exp_u64((task * (task_len / block)) as u64);
                coefficients::<EF, D>(c * start)
            })
            .collect();
        variant.run(Select {
            out,
            powers: &powers,
            scales,
            steps: &steps,
            block,
        });
    };
    let tasks = chunks_mut(views_mut::<D>(w.planes_mut()), task_len).enumerate();
    if len <= task_len {
        tasks.for_each(run);
    } else {
        tasks.collect::<Vec<_>>().into_par_iter().for_each(run);
    }
}

struct Select<'a, const D: usize> {
    out: [&'a mut [F]; D],
    powers: &'a [F],
    /// `c_j z_j^x` at the first index of the block at hand.
    scales: Vec<[F; D]>,
    /// `z_j^block`.
    steps: &'a [F],
    block: usize,
}

impl<const D: usize> Kernel for Select<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let column = self.steps.len() * I::LANES;
        for start in (0..self.out[0].len()).step_by(self.block) {
            if start > 0 {
                for (scale, &step) in self.scales.iter_mut().zip(self.steps) {
                    unroll!(d < D, {
                        scale[d] *= step;
                    });
                }
            }
            for (c, powers) in self.powers.chunks_exact(column).enumerate() {
                let v = column_sum(isa, powers, I::LANES, &self.scales);
                let at = start + c * I::LANES;
                let v = add(isa, load_mut(isa, &self.out, at), v);
                store(isa, v, &mut self.out, at);
            }
        }
    }
}
