//! Many columns at one point: weights that differ in their trailing bits alone.
//!
//! In prefix order the columns of a table lie side by side, and element `y` of one is a whole row of
//! the table away from element `y + 1`. One column at a time would read a cache line for every
//! element; all of them together read the table once, row by row.
#![forbid(unsafe_code)]

use p3_sumcheck::strategy::VariableOrder;
use rayon::prelude::*;

use super::ext::{Multiplier, add, by_degree, coefficients, fitting, load, load_mut, store};
use super::isa::{Isa, Kernel, Variant};
use super::partial::{partial_eval, strided};
use super::table::{ExtTable, chunks_mut, views, views_mut};
use super::weights::{EqPair, HiWeight, WeightKind};
use crate::field::{Extension, F};

/// Fewest columns worth a pass of their own.
const FEWEST: usize = 2;
/// Elements of a cache line: a pass over neighbours costs no more than one that reads a column alone.
const LINE: usize = 16;
/// Elements of the accumulated table in a task.
const TASK: usize = 1 << 14;

/// Weights of one kind and point over neighbouring columns.
struct Family<'a, EF> {
    weight: &'a HiWeight<EF>,
    /// Places in the list of weights, and which column each means.
    members: Vec<(usize, usize)>,
}

/// The columns that a pass covers: `first..first + width` of `1 << log_stride`.
#[derive(Clone, Copy)]
struct Window {
    /// Where column 0 of row 0 lies.
    base: usize,
    first: usize,
    width: usize,
    log_stride: usize,
    /// log2 of the rows.
    bits: usize,
    /// Rows that the weights are moved up by.
    shift: usize,
}

impl<EF: Extension> Family<'_, EF> {
    /// The least aligned power of two of columns that holds all members, if a pass over it pays.
    fn window(&self, lanes: usize) -> Option<Window> {
        let support = self.weight.support(
            self.weight.leading.len() + self.weight.point.len() + self.weight.trailing.len(),
        );
        let columns = self.members.iter().map(|&(_, column)| column);
        let (low, high) = (columns.clone().min()?, columns.max()?);
        let span = usize::BITS - (low ^ high).leading_zeros();
        let width = (1 << span).max(lanes).min(1 << support.log_stride);
        let pays = self.members.len() >= FEWEST && width <= LINE * self.members.len();
        pays.then_some(Window {
            base: support.offset & !((1 << support.log_stride) - 1),
            first: low & !(width - 1),
            width,
            log_stride: support.log_stride,
            bits: support.bits,
            shift: usize::from(self.weight.kind == WeightKind::Shift),
        })
    }
}

/// Parts the weights into families and the places of those that stand alone.
fn families<'a, EF: Extension>(
    weights: impl Iterator<Item = &'a HiWeight<EF>>,
) -> (Vec<Family<'a, EF>>, Vec<usize>) {
    let (mut found, mut alone) = (Vec::<Family<'a, EF>>::new(), Vec::new());
    for (place, weight) in weights.enumerate() {
        if weight.trailing.is_empty() || matches!(weight.kind, WeightKind::Delta(_)) {
            alone.push(place);
            continue;
        }
        let column = weight
            .trailing
            .iter()
            .fold(0, |a, &b| 2 * a + usize::from(b));
        let same = |f: &&mut Family<'a, EF>| {
            let w = f.weight;
            w.kind == weight.kind
                && w.trailing.len() == weight.trailing.len()
                && w.leading == weight.leading
                && w.point == weight.point
        };
        match found.iter_mut().find(same) {
            Some(family) => family.members.push((place, column)),
            None => found.push(Family {
                weight,
                members: vec![(place, column)],
            }),
        }
    }
    (found, alone)
}

/// [`partial_eval`] of several weights.
pub(crate) fn partial_evals<EF: Extension>(
    variant: Variant,
    f: &[F],
    order: VariableOrder,
    k: usize,
    weights: &[HiWeight<EF>],
) -> Vec<Vec<EF>> {
    let one = |place: usize| partial_eval(variant, f, order, k, &weights[place]);
    if order == VariableOrder::Suffix {
        // a column lies in one run already
        return (0..weights.len()).map(one).collect();
    }
    let mut out = vec![Vec::new(); weights.len()];
    let (families, alone) = families(weights.iter());
    for place in alone {
        out[place] = one(place);
    }
    for family in families {
        let Some(window) = family.window(variant.lanes()) else {
            for (place, _) in family.members {
                out[place] = one(place);
            }
            continue;
        };
        let variant = fitting(variant, window.width);
        for row in f.chunks_exact(f.len() >> k) {
            let sums = by_degree!(EF, D => strided::<EF, D>(
                variant,
                &row[window.base + window.first..],
                window.width,
                1 << window.log_stride,
                window.bits,
                &family.weight.point,
                window.shift,
            ));
            for &(place, column) in &family.members {
                out[place].push(sums[column - window.first]);
            }
        }
    }
    out
}

/// Adds the families among the terms to the table and gives the places of the terms that are left.
pub(super) fn accumulate_families<EF: Extension>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    terms: &[(EF, &HiWeight<EF>)],
) -> Vec<usize> {
    let (families, mut left) = families(terms.iter().map(|&(_, weight)| weight));
    for family in families {
        let Some(window) = family.window(variant.lanes()) else {
            left.extend(family.members.iter().map(|&(place, _)| place));
            continue;
        };
        let mut scales = EF::zero_vec(window.width);
        for &(place, column) in &family.members {
            scales[column - window.first] += terms[place].0;
        }
        let (point, scales) = (&family.weight.point, ExtTable::from_evaluations(&scales));
        by_degree!(EF, D => accumulate_window::<EF, D>(variant, w, window, point, &scales));
    }
    left
}

/// `w[y, column] += eq(point, y - shift) scales[column]`.
fn accumulate_window<EF: Extension, const D: usize>(
    variant: Variant,
    w: &mut ExtTable<EF>,
    window: Window,
    point: &[EF],
    scales: &ExtTable<EF>,
) {
    let variant = fitting(variant, window.width);
    let eq = EqPair::new(point, EF::ONE);
    let scales = views::<D>(scales.planes());
    let rows = (TASK / window.width).clamp(1, 1 << window.bits);
    let span = views_mut::<D>(w.planes_mut())
        .map(|p| &mut p[window.base..][..1 << (window.bits + window.log_stride)]);
    let tasks: Vec<_> = chunks_mut(span, rows << window.log_stride)
        .enumerate()
        .collect();
    tasks.into_par_iter().for_each(|(task, out)| {
        let factors: Vec<_> = (task * rows..(task + 1) * rows)
            .map(|y| y.checked_sub(window.shift).map_or(EF::ZERO, |y| eq.get(y)))
            .map(coefficients::<EF, D>)
            .collect();
        variant.run(Products {
            out,
            window,
            factors: &factors,
            scales: &scales,
            constant: EF::W,
        });
    });
}

/// Adds `factors[y] scales[column]` to rows of the table.
struct Products<'a, const D: usize> {
    out: [&'a mut [F]; D],
    window: Window,
    factors: &'a [[F; D]],
    scales: &'a [&'a [F]; D],
    constant: F,
}

impl<const D: usize> Kernel for Products<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        for (y, factor) in self.factors.iter().enumerate() {
            let factor = Multiplier::new(isa, factor, self.constant);
            let row = (y << self.window.log_stride) + self.window.first;
            for column in (0..self.window.width).step_by(I::LANES) {
                let v = factor.mul(isa, load(isa, self.scales, column));
                let v = add(isa, load_mut(isa, &self.out, row + column), v);
                store(isa, v, &mut self.out, row + column);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use fieldspar_device::variants_to_test;
    use p3_field::{BasedVectorSpace, PrimeCharacteristicRing};

    use super::*;
    use crate::cpu::weights::accumulate;
    use crate::field::{EF4, EF5};

    fn elements<EF: Extension>(count: usize, seed: u64) -> Vec<EF> {
        let words = (0..count as u64 * EF::D as u64)
            .map(|i| F::from_u64((i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 17));
        let words: Vec<F> = words.collect();
        words
            .chunks_exact(EF::D)
            .map(|c| EF::from_basis_coefficients_fn(|d| c[d]))
            .collect()
    }

    /// Columns of two tables of different heights at one point each, current and next row, and
    /// others that stand alone.
    fn opened<EF: Extension>(hi_bits: usize) -> Vec<HiWeight<EF>> {
        let bits = |x: usize, count: usize| (0..count).rev().map(|i| x >> i & 1 == 1).collect();
        let mut all = Vec::new();
        for (trailing, chosen) in [
            (hi_bits / 2, vec![0, 1, 2, 5, 6]),
            (hi_bits.min(5), vec![30, 3, 17, 17, 18, 19, 20]),
            (hi_bits.min(1), vec![0, 1]),
        ] {
            let point = elements(hi_bits - trailing, 3);
            let kinds = [WeightKind::Eq, WeightKind::Shift, WeightKind::Delta(0)];
            for kind in kinds {
                for column in &chosen {
                    all.push(HiWeight {
                        leading: Vec::new(),
                        point: point.clone(),
                        trailing: bits(column % (1 << trailing), trailing),
                        kind,
                    });
                }
            }
        }
        all
    }

    fn together_as_alone<EF: Extension>() {
        for variant in variants_to_test().unwrap() {
            let variant = Variant::new(variant).unwrap();
            for (hi_bits, k) in [(0, 2), (1, 0), (3, 1), (6, 2), (9, 4), (12, 1)] {
                let weights = opened::<EF>(hi_bits);
                let f: Vec<F> = elements::<EF4>(1 << (hi_bits + k), 5)
                    .iter()
                    .map(|x| x.as_basis_coefficients_slice()[1])
                    .collect();
                for order in [VariableOrder::Prefix, VariableOrder::Suffix] {
                    let together = partial_evals(variant, &f, order, k, &weights);
                    for (weight, found) in weights.iter().zip(&together) {
                        let alone = partial_eval(variant, &f, order, k, weight);
                        assert!(*found == alone, "{variant:?} {hi_bits} {k} {weight:?}");
                    }
                }
                let start = elements::<EF>(1 << hi_bits, 11);
                let scales: Vec<EF> = elements(weights.len(), 13);
                let terms: Vec<_> = scales.into_iter().zip(&weights).collect();
                let (mut together, mut alone) = (
                    ExtTable::from_evaluations(&start),
                    ExtTable::from_evaluations(&start),
                );
                accumulate(variant, &mut together, &terms);
                for term in terms {
                    accumulate(variant, &mut alone, &[term]);
                }
                assert!(together.to_vec() == alone.to_vec(), "{variant:?} {hi_bits}");
            }
        }
    }

    #[test]
    fn columns_together_equal_columns_alone() {
        together_as_alone::<EF4>();
        together_as_alone::<EF5>();
    }

    #[test]
    fn neighbours_are_one_window() {
        let weights = opened::<EF4>(12);
        let (families, alone) = families(weights.iter());
        assert_eq!(families.len(), 6);
        assert_eq!(alone.len(), weights.len() / 3);
        let window = families[0].window(8).unwrap();
        assert_eq!((window.first, window.width, window.bits), (0, 8, 6));
        let window = families[3].window(8).unwrap();
        assert_eq!((window.first, window.width, window.shift), (0, 32, 1));
    }
}
