//! Evaluations of multilinear polynomials at a point of the extension field.
#![forbid(unsafe_code)]

use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use super::ext::{Dot, Multiplier, add, by_degree, coefficients, fitting, load, sum};
use super::isa::{Isa, Kernel, Variant};
use super::table::{ExtTable, chunks, total, views};
use super::weights::{EqPair, eq_table};
use crate::field::{Extension, F};

/// Values in a block, and in a task.
const LOG_BLOCK: usize = 9;
const TASK: usize = 1 << 12;

/// The value at `point` of the polynomial with this table.
pub(crate) fn eval_table<EF: Extension>(variant: Variant, t: &ExtTable<EF>, point: &[EF]) -> EF {
    by_degree!(EF, D => eval_table_d::<EF, D>(variant, t, point))
}

fn eval_table_d<EF: Extension, const D: usize>(
    variant: Variant,
    t: &ExtTable<EF>,
    point: &[EF],
) -> EF {
    let (outer, inner) = point.split_at(point.len().saturating_sub(LOG_BLOCK));
    let outer = EqPair::new(outer, EF::ONE);
    let inner = ExtTable::from_evaluations(&eq_table(inner, EF::ONE));
    let inner = views::<D>(inner.planes());
    let block = inner[0].len();
    let variant = fitting(variant, block);
    let blocks_per_task = (TASK / block).max(1);
    let run = |(task, t): (usize, [&[F]; D])| {
        let first = task * blocks_per_task;
        let outer: Vec<_> = (first..first + t[0].len() / block)
            .map(|b| coefficients::<EF, D>(outer.get(b)))
            .collect();
        variant.run(BlockDots {
            t,
            inner: &inner,
            outer: &outer,
            constant: EF::W,
        })
    };
    let tasks = chunks::<D, _>(t.planes(), blocks_per_task * block).enumerate();
    if t.len() <= TASK {
        total(tasks.map(run))
    } else {
        let tasks: Vec<_> = tasks.collect();
        let parts: Vec<_> = tasks.into_par_iter().map(run).collect();
        total(parts)
    }
}

/// `sum t[i] inner[i mod block] outer[i / block]`.
struct BlockDots<'a, const D: usize> {
    t: [&'a [F]; D],
    inner: &'a [&'a [F]; D],
    outer: &'a [[F; D]],
    constant: F,
}

impl<const D: usize> Kernel for BlockDots<'_, D> {
    type Output = [F; D];
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> [F; D] {
        let block = self.inner[0].len();
        let mut total = [isa.splat(F::ZERO); D];
        for (b, outer) in self.outer.iter().enumerate() {
            let mut dot = Dot::zero(isa);
            for i in (0..block).step_by(I::LANES) {
                dot.add(
                    isa,
                    load(isa, &self.t, b * block + i),
                    load(isa, self.inner, i),
                );
            }
            let outer = Multiplier::new(isa, outer, self.constant);
            total = add(isa, total, outer.mul(isa, dot.finish(isa, self.constant)));
        }
        sum(isa, total)
    }
}
