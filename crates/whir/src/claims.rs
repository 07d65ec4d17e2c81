//! Opening claims, split at the first fold.
//!
//! The first fold binds `k` variables `lo`; the others are `hi`. Every weight of an opening claim
//! is a short sum of products `H(hi) L(lo)` (one for eq, up to three for the repeat-last
//! successor). With `P[lo] = sum_hi H(hi) f(hi, lo)` from the device, the claim's value and all of
//! the first `k` sumcheck rounds follow from tables of 2^k entries: no weight table over the whole
//! hypercube is ever made. This is the small-value idea of ePrint 2025/1117 taken to its end for
//! weights of product form.
#![forbid(unsafe_code)]

use std::collections::HashMap;

use p3_sumcheck::layout::Selector;
use p3_sumcheck::strategy::VariableOrder;

use crate::engine::{HiKind, HiWeight};
use crate::field::Extension;

/// Which view of a column is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The column itself.
    Current,
    /// The column moved up by one row, the last row repeated.
    Next,
}

/// One product `H(hi) L(lo)` of a weight.
#[derive(Clone, Debug)]
pub(crate) struct Term<EF> {
    /// The factor over the remaining variables.
    pub(crate) hi: HiWeight<EF>,
    /// The factor over the first fold's variables, 2^k entries.
    pub(crate) lo: Vec<EF>,
}

/// `eq(point, x)` for all x, coordinate 0 most significant; one entry for the empty point.
pub(crate) fn eq_table<EF: Extension>(point: &[EF]) -> Vec<EF> {
    let mut table = Vec::with_capacity(1 << point.len());
    table.push(EF::ONE);
    for &z in point {
        let mut next = Vec::with_capacity(table.len() * 2);
        for &t in &table {
            let high = t * z;
            next.push(t - high);
            next.push(high);
        }
        table = next;
    }
    table
}

/// `eq(point, x - 1)` for x >= 1, 0 at x = 0.
fn shift_table<EF: Extension>(point: &[EF]) -> Vec<EF> {
    let mut table = eq_table(point);
    table.pop();
    table.insert(0, EF::ZERO);
    table
}

fn bits(selector: &Selector) -> Vec<bool> {
    let s = selector.num_variables();
    (0..s)
        .map(|i| (selector.index() >> (s - 1 - i)) & 1 == 1)
        .collect()
}

/// The weight of opening one column's view at `point`, where `selector` addresses the column
/// inside the stacked polynomial.
///
/// p3's layouts put the selector at the end that is folded last: before the local variables in
/// suffix order, after them in prefix order. Tables are padded to the first fold, so that all of
/// its variables are local: `fold <= point.len()`.
pub(crate) fn split<EF: Extension>(
    order: VariableOrder,
    fold: usize,
    selector: &Selector,
    point: &[EF],
    view: View,
) -> Vec<Term<EF>> {
    let selector = bits(selector);
    let (leading, hi_point, lo_point, trailing) = match order {
        VariableOrder::Suffix => {
            let (hi, lo) = point.split_at(point.len() - fold);
            (selector, hi, lo, Vec::new())
        }
        VariableOrder::Prefix => {
            let (lo, hi) = point.split_at(fold);
            (Vec::new(), hi, lo, selector)
        }
    };
    let term = |kind, lo| Term {
        hi: HiWeight {
            leading: leading.clone(),
            point: hi_point.to_vec(),
            trailing: trailing.clone(),
            kind,
        },
        lo,
    };
    let scaled = |mut table: Vec<EF>, by: EF| {
        table.iter_mut().for_each(|v| *v *= by);
        table
    };
    let at = |position: usize, value: EF| {
        let mut table = EF::zero_vec(1 << fold);
        table[position] = value;
        table
    };
    if view == View::Current {
        return vec![term(HiKind::Eq, eq_table(lo_point))];
    }
    // Local row x = (hi, lo) weighs eq(point, x - 1), and the last row eq(point, last) besides.
    let (hi_last, lo_last) = ((1 << hi_point.len()) - 1, (1 << fold) - 1);
    let hi_ones: EF = hi_point.iter().copied().product();
    let lo_ones: EF = lo_point.iter().copied().product();
    let mut terms = match order {
        // hi is the more significant half: x - 1 borrows from it when lo = 0
        VariableOrder::Suffix => vec![
            term(HiKind::Eq, shift_table(lo_point)),
            term(HiKind::Shift, at(0, lo_ones)),
        ],
        // lo is the more significant half: x - 1 borrows from it when hi = 0
        VariableOrder::Prefix => vec![
            term(HiKind::Shift, eq_table(lo_point)),
            term(HiKind::Delta(0), scaled(shift_table(lo_point), hi_ones)),
        ],
    };
    terms.push(term(HiKind::Delta(hi_last), at(lo_last, hi_ones * lo_ones)));
    terms.retain(|t| t.lo.iter().any(|v| *v != EF::ZERO));
    terms
}

/// One distinct hi-weight with its partial evaluations and everything the claims put on it.
#[derive(Clone, Debug)]
pub(crate) struct Group<EF> {
    hi: HiWeight<EF>,
    partial: Vec<EF>,
    lo: Vec<EF>,
}

/// The contribution of one claim to one group.
#[derive(Clone, Debug)]
struct Contribution<EF> {
    group: usize,
    lo: Vec<EF>,
}

/// All claims of an opening, as products over the first fold's variables.
#[derive(Clone, Debug)]
pub(crate) struct Claims<EF> {
    fold: usize,
    groups: Vec<Group<EF>>,
    claims: Vec<Vec<Contribution<EF>>>,
}

impl<EF: Extension> Claims<EF> {
    pub(crate) const fn new(fold: usize) -> Self {
        Self {
            fold,
            groups: Vec::new(),
            claims: Vec::new(),
        }
    }

    /// Records claims at one point, each with the terms of its weight, and returns the number of the
    /// first and the value of each. `partials` asks the device for the partial evaluations of
    /// hi-weights: all distinct ones of these claims at once.
    pub(crate) fn add<Error>(
        &mut self,
        claims: Vec<Vec<Term<EF>>>,
        partials: impl FnOnce(&[HiWeight<EF>]) -> Result<Vec<Vec<EF>>, Error>,
    ) -> Result<(usize, Vec<EF>), Error> {
        let (first_group, first_claim) = (self.groups.len(), self.claims.len());
        // At one point a hi-weight is its kind and its bits; the map is only looked up.
        let mut known = HashMap::new();
        let mut fresh: Vec<HiWeight<EF>> = Vec::new();
        for terms in claims {
            let contributions = terms.into_iter().map(|Term { hi, lo }| {
                let key = (hi.kind, hi.leading.clone(), hi.trailing.clone());
                let group = *known.entry(key).or_insert_with(|| {
                    fresh.push(hi);
                    first_group + fresh.len() - 1
                });
                Contribution { group, lo }
            });
            self.claims.push(contributions.collect());
        }
        let partials = partials(&fresh)?;
        let groups = fresh.into_iter().zip(partials).map(|(hi, partial)| Group {
            hi,
            partial,
            lo: EF::zero_vec(1 << self.fold),
        });
        self.groups.extend(groups);
        let value = |contributions: &Vec<Contribution<EF>>| {
            let parts = contributions.iter();
            parts
                .map(|c| dot(&self.groups[c.group].partial, &c.lo))
                .sum()
        };
        let values = self.claims[first_claim..].iter().map(value).collect();
        Ok((first_claim, values))
    }

    /// Fixes the coefficient of every claim: `coefficients[i]` weighs claim number i.
    pub(crate) fn batch(self, order: VariableOrder, coefficients: &[EF]) -> FirstFold<EF> {
        let mut groups = self.groups;
        for (claim, &coefficient) in self.claims.iter().zip(coefficients) {
            for contribution in claim {
                let group = &mut groups[contribution.group];
                for (acc, &lo) in group.lo.iter_mut().zip(&contribution.lo) {
                    if lo != EF::ZERO {
                        *acc += coefficient * lo;
                    }
                }
            }
        }
        FirstFold { order, groups }
    }
}

/// The first fold's sumcheck over the small tables.
#[derive(Clone, Debug)]
pub(crate) struct FirstFold<EF> {
    order: VariableOrder,
    groups: Vec<Group<EF>>,
}

impl<EF: Extension> FirstFold<EF> {
    /// `[h(0), h(inf)]` of the next variable.
    pub(crate) fn message(&self) -> [EF; 2] {
        let mut sums = [EF::ZERO; 2];
        for group in &self.groups {
            let half = group.lo.len() / 2;
            for i in 0..half {
                let (a, b) = self.pair(half, i);
                let (p, l) = (&group.partial, &group.lo);
                sums[0] += p[a] * l[a];
                sums[1] += (p[b] - p[a]) * (l[b] - l[a]);
            }
        }
        sums
    }

    /// Binds the next variable.
    pub(crate) fn bind(&mut self, r: EF) {
        let order = self.order;
        for group in &mut self.groups {
            for table in [&mut group.partial, &mut group.lo] {
                let half = table.len() / 2;
                *table = (0..half)
                    .map(|i| {
                        let (a, b) = pair(order, half, i);
                        table[a] + r * (table[b] - table[a])
                    })
                    .collect();
            }
        }
    }

    /// After the last variable: each hi-weight with its coefficient.
    pub(crate) fn weights(self) -> Vec<(EF, HiWeight<EF>)> {
        self.groups
            .into_iter()
            .map(|group| (group.lo[0], group.hi))
            .collect()
    }

    const fn pair(&self, half: usize, i: usize) -> (usize, usize) {
        pair(self.order, half, i)
    }
}

const fn pair(order: VariableOrder, half: usize, i: usize) -> (usize, usize) {
    match order {
        VariableOrder::Suffix => (2 * i, 2 * i + 1),
        VariableOrder::Prefix => (i, i + half),
    }
}

fn dot<EF: Extension>(a: &[EF], b: &[EF]) -> EF {
    a.iter().zip(b).map(|(&x, &y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use p3_field::{BasedVectorSpace, PrimeCharacteristicRing};
    use p3_sumcheck::layout::Selector;
    use p3_sumcheck::strategy::VariableOrder;

    use super::{View, eq_table, split};
    use crate::engine::{HiKind, HiWeight};
    use crate::field::{EF4, F};

    fn index(bits: &[bool]) -> usize {
        bits.iter().fold(0, |acc, &b| acc << 1 | usize::from(b))
    }

    fn weight(weight: &HiWeight<EF4>, hi: usize) -> EF4 {
        let m = weight.point.len();
        let t = weight.trailing.len();
        let y = (hi >> t) & ((1 << m) - 1);
        if hi & ((1 << t) - 1) != index(&weight.trailing) || hi >> (t + m) != index(&weight.leading)
        {
            return EF4::ZERO;
        }
        let eq = eq_table(&weight.point);
        match weight.kind {
            HiKind::Eq => eq[y],
            HiKind::Shift => y.checked_sub(1).map_or(EF4::ZERO, |y| eq[y]),
            HiKind::Delta(at) => EF4::from_bool(at == y),
        }
    }

    /// The weight table of an opening, straight from its meaning.
    fn expected(order: VariableOrder, selector: &Selector, point: &[EF4], view: View) -> Vec<EF4> {
        let (s, m) = (selector.num_variables(), point.len());
        let eq = eq_table(point);
        let mut local = vec![EF4::ZERO; 1 << m];
        for (y, &e) in eq.iter().enumerate() {
            match view {
                View::Current => local[y] += e,
                View::Next => local[(y + 1).min((1 << m) - 1)] += e,
            }
        }
        let mut table = vec![EF4::ZERO; 1 << (s + m)];
        for (x, &w) in local.iter().enumerate() {
            match order {
                VariableOrder::Suffix => table[selector.index() << m | x] = w,
                VariableOrder::Prefix => table[x << s | selector.index()] = w,
            }
        }
        table
    }

    #[test]
    fn products_rebuild_the_weight_of_every_opening() {
        let z = EF4::from_basis_coefficients_fn(|i| F::from_usize(3 + 7 * i));
        for m in 0..5 {
            let point: Vec<EF4> = (0..m).map(|i| z.exp_u64(1000 + i as u64)).collect();
            for s in 0..4 {
                for index in 0..1 << s {
                    let selector = Selector::new(s, index);
                    for (order, view) in [
                        (VariableOrder::Suffix, View::Current),
                        (VariableOrder::Suffix, View::Next),
                        (VariableOrder::Prefix, View::Current),
                        (VariableOrder::Prefix, View::Next),
                    ] {
                        let expected = expected(order, &selector, &point, view);
                        for fold in 0..=m {
                            let (hi_len, lo_len) = (1 << (m + s - fold), 1 << fold);
                            let terms = split(order, fold, &selector, &point, view);
                            for hi in 0..hi_len {
                                for lo in 0..lo_len {
                                    let found: EF4 =
                                        terms.iter().map(|t| weight(&t.hi, hi) * t.lo[lo]).sum();
                                    let x = match order {
                                        VariableOrder::Suffix => hi * lo_len + lo,
                                        VariableOrder::Prefix => lo * hi_len + hi,
                                    };
                                    assert!(
                                        found == expected[x],
                                        "{order:?} {view:?} m {m} s {s} fold {fold} x {x}"
                                    );
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
