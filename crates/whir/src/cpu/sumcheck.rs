//! The rounds of the quadratic sumcheck over two planar tables.
//!
//! Prefix order pairs value `i` with `i + len / 2`, suffix order `2i` with `2i + 1`. A round's
//! message is `[h(0), h(inf)]` = `[sum f0 w0, sum (f1 - f0) (w1 - w0)]` over the pairs. Field sums
//! are exact, so every split into tasks gives the same message.
#![forbid(unsafe_code)]

use p3_sumcheck::strategy::VariableOrder;
use rayon::prelude::*;

use super::ext::{
    Dot, Ext, Multiplier, add, by_degree, coefficients, fitting, load, load_mut, store, sub, sum,
    unzip,
};
use super::isa::{Isa, Kernel, Variant};
use super::table::{ExtTable, chunks, chunks_mut, halves, halves_mut, total, views, views_mut};
use crate::field::{Extension, F};

/// Pairs (or pairs of pairs) in a task.
const TASK: usize = 1 << 10;
/// Values that a suffix fold halves in place; the halves are moved together afterwards. A second
/// table to fold into would cost more: its pages have to be faulted in.
const SUFFIX_CHUNK: usize = 4 * TASK;

/// Both sums of a message, as coefficients.
type Sums<const D: usize> = [[F; D]; 2];

/// Runs the tasks, on the calling thread if there is one only.
fn sums<EF: Extension, T: Send, const D: usize>(
    mut tasks: Vec<T>,
    run: impl Fn(T) -> Sums<D> + Sync + Send,
) -> [EF; 2] {
    let parts = if tasks.len() == 1 {
        tasks.pop().map(run).into_iter().collect()
    } else {
        tasks.into_par_iter().map(run).collect::<Vec<_>>()
    };
    [
        total(parts.iter().map(|p| p[0])),
        total(parts.iter().map(|p| p[1])),
    ]
}

/// The message of the next round: two sums over `f.len() / 2` pairs.
///
/// `f` and `w` have the same length, at least 2.
pub(crate) fn round_message<EF: Extension>(
    variant: Variant,
    f: &ExtTable<EF>,
    w: &ExtTable<EF>,
    order: VariableOrder,
) -> [EF; 2] {
    by_degree!(EF, D => {
        let half = f.len() / 2;
        let variant = fitting(variant, half);
        let (f, w) = (views::<D>(f.planes()), views::<D>(w.planes()));
        match order {
            VariableOrder::Prefix => {
                let ((f0, f1), (w0, w1)) = (halves(&f, half), halves(&w, half));
                let tasks = chunks(&f0, TASK)
                    .zip(chunks(&f1, TASK))
                    .zip(chunks(&w0, TASK).zip(chunks(&w1, TASK)))
                    .map(|((f0, f1), (w0, w1))| PrefixMessage::<D> { f0, f1, w0, w1, w: EF::W })
                    .collect();
                sums(tasks, |t| variant.run(t))
            }
            VariableOrder::Suffix => {
                let tasks = chunks(&f, 2 * TASK)
                    .zip(chunks(&w, 2 * TASK))
                    .map(|(f, w)| SuffixMessage::<D> { f, w, constant: EF::W })
                    .collect();
                sums(tasks, |t| variant.run(t))
            }
        }
    })
}

/// Binds the next variable of both tables to `r`: `v0 + r (v1 - v0)` for every pair.
///
/// `f` and `w` have the same length, at least 2.
pub(crate) fn fold<EF: Extension>(
    variant: Variant,
    f: &mut ExtTable<EF>,
    w: &mut ExtTable<EF>,
    order: VariableOrder,
    r: EF,
) {
    by_degree!(EF, D => {
        fold_table::<EF, D>(variant, f, order, r);
        fold_table::<EF, D>(variant, w, order, r);
    });
}

fn fold_table<EF: Extension, const D: usize>(
    variant: Variant,
    t: &mut ExtTable<EF>,
    order: VariableOrder,
    r: EF,
) {
    let half = t.len() / 2;
    let variant = fitting(variant, half);
    let (r, constant) = (coefficients::<EF, D>(r), EF::W);
    match order {
        VariableOrder::Prefix => {
            let (low, high) = halves_mut(views_mut::<D>(t.planes_mut()), half);
            let tasks: Vec<_> = chunks_mut(low, TASK)
                .zip(chunks::<D, _>(&high, TASK))
                .map(|(low, high)| PrefixFold::<D> {
                    low,
                    high,
                    r,
                    constant,
                })
                .collect();
            each(tasks, |task| variant.run(task));
            t.truncate(half);
        }
        VariableOrder::Suffix => {
            let tasks: Vec<_> = chunks_mut(views_mut::<D>(t.planes_mut()), SUFFIX_CHUNK)
                .map(|t| SuffixFold::<D> { t, r, constant })
                .collect();
            each(tasks, |task| variant.run(task));
            t.keep_first_halves(SUFFIX_CHUNK);
        }
    }
}

/// Runs the tasks, on the calling thread if there is one only.
fn each<T: Send>(mut tasks: Vec<T>, run: impl Fn(T) + Sync + Send) {
    if tasks.len() == 1 {
        if let Some(task) = tasks.pop() {
            run(task);
        }
    } else {
        tasks.into_par_iter().for_each(run);
    }
}

/// [`fold`] and the [`round_message`] of the folded tables, in one pass.
///
/// `f` and `w` have the same length, at least 4.
pub(crate) fn fold_and_message<EF: Extension>(
    variant: Variant,
    f: &mut ExtTable<EF>,
    w: &mut ExtTable<EF>,
    order: VariableOrder,
    r: EF,
) -> [EF; 2] {
    by_degree!(EF, D => fold_and_message_d::<EF, D>(variant, f, w, order, r))
}

fn fold_and_message_d<EF: Extension, const D: usize>(
    variant: Variant,
    f: &mut ExtTable<EF>,
    w: &mut ExtTable<EF>,
    order: VariableOrder,
    r: EF,
) -> [EF; 2] {
    let half = f.len() / 2;
    let quarter = half / 2;
    let variant = fitting(variant, quarter);
    let (r, constant) = (coefficients::<EF, D>(r), EF::W);
    match order {
        VariableOrder::Prefix => {
            let quarters = |t| {
                let (low, high) = halves_mut(t, half);
                let (a, b) = halves_mut(low, quarter);
                let (c, d) = halves_mut(high, quarter);
                chunks_mut(a, TASK)
                    .zip(chunks_mut(b, TASK))
                    .zip(chunks_mut(c, TASK).zip(chunks_mut(d, TASK)))
                    .map(|((a, b), (c, d))| Quarters { a, b, c, d })
            };
            let tasks = quarters(views_mut::<D>(f.planes_mut()))
                .zip(quarters(views_mut::<D>(w.planes_mut())))
                .map(|(f, w)| PrefixFoldMessage { f, w, r, constant })
                .collect();
            let message = sums(tasks, |t| variant.run(t));
            f.truncate(half);
            w.truncate(half);
            message
        }
        VariableOrder::Suffix => {
            let tasks = chunks_mut(views_mut::<D>(f.planes_mut()), SUFFIX_CHUNK)
                .zip(chunks_mut(views_mut::<D>(w.planes_mut()), SUFFIX_CHUNK))
                .map(|(f, w)| SuffixFoldMessage { f, w, r, constant })
                .collect();
            let message = sums(tasks, |t| variant.run(t));
            f.keep_first_halves(SUFFIX_CHUNK);
            w.keep_first_halves(SUFFIX_CHUNK);
            message
        }
    }
}

/// `v0 + r (v1 - v0)`.
#[inline(always)]
fn bind<I: Isa, const D: usize>(
    isa: I,
    v0: Ext<I, D>,
    v1: Ext<I, D>,
    r: &Multiplier<I, D>,
) -> Ext<I, D> {
    add(isa, v0, r.mul(isa, sub(isa, v1, v0)))
}

/// The two running sums of a message.
struct Message<I: Isa, const D: usize>(Dot<I, D>, Dot<I, D>);

impl<I: Isa, const D: usize> Message<I, D> {
    #[inline(always)]
    fn zero(isa: I) -> Self {
        Self(Dot::zero(isa), Dot::zero(isa))
    }

    /// Adds the pairs `(f0, f1)`, `(w0, w1)`.
    #[inline(always)]
    fn add(&mut self, isa: I, f: (Ext<I, D>, Ext<I, D>), w: (Ext<I, D>, Ext<I, D>)) {
        self.0.add(isa, f.0, w.0);
        self.1.add(isa, sub(isa, f.1, f.0), sub(isa, w.1, w.0));
    }

    #[inline(always)]
    fn finish(self, isa: I, constant: F) -> Sums<D> {
        [
            sum(isa, self.0.finish(isa, constant)),
            sum(isa, self.1.finish(isa, constant)),
        ]
    }
}

/// Neighbours at `i`, parted into even and odd.
#[inline(always)]
fn load_pairs<I: Isa, const D: usize>(isa: I, t: &[&[F]; D], i: usize) -> (Ext<I, D>, Ext<I, D>) {
    unzip(isa, load(isa, t, i), load(isa, t, i + I::LANES))
}

struct PrefixMessage<'a, const D: usize> {
    f0: [&'a [F]; D],
    f1: [&'a [F]; D],
    w0: [&'a [F]; D],
    w1: [&'a [F]; D],
    w: F,
}

impl<const D: usize> Kernel for PrefixMessage<'_, D> {
    type Output = Sums<D>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Sums<D> {
        let mut message = Message::zero(isa);
        for i in (0..self.f0[0].len()).step_by(I::LANES) {
            message.add(
                isa,
                (load(isa, &self.f0, i), load(isa, &self.f1, i)),
                (load(isa, &self.w0, i), load(isa, &self.w1, i)),
            );
        }
        message.finish(isa, self.w)
    }
}

struct SuffixMessage<'a, const D: usize> {
    f: [&'a [F]; D],
    w: [&'a [F]; D],
    constant: F,
}

impl<const D: usize> Kernel for SuffixMessage<'_, D> {
    type Output = Sums<D>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Sums<D> {
        let mut message = Message::zero(isa);
        for i in (0..self.f[0].len()).step_by(2 * I::LANES) {
            message.add(
                isa,
                load_pairs(isa, &self.f, i),
                load_pairs(isa, &self.w, i),
            );
        }
        message.finish(isa, self.constant)
    }
}

struct PrefixFold<'a, const D: usize> {
    low: [&'a mut [F]; D],
    high: [&'a [F]; D],
    r: [F; D],
    constant: F,
}

impl<const D: usize> Kernel for PrefixFold<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let r = Multiplier::new(isa, &self.r, self.constant);
        for i in (0..self.high[0].len()).step_by(I::LANES) {
            let v = bind(
                isa,
                load_mut(isa, &self.low, i),
                load(isa, &self.high, i),
                &r,
            );
            store(isa, v, &mut self.low, i);
        }
    }
}

struct SuffixFold<'a, const D: usize> {
    t: [&'a mut [F]; D],
    r: [F; D],
    constant: F,
}

impl<const D: usize> Kernel for SuffixFold<'_, D> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) {
        let r = Multiplier::new(isa, &self.r, self.constant);
        for i in (0..self.t[0].len() / 2).step_by(I::LANES) {
            fold_pairs(isa, &mut self.t, i, &r);
        }
    }
}

/// Folds two vectors of `t` at `2 i` into one at `i`; in ascending order of `i` it overwrites only
/// what has been folded.
#[inline(always)]
fn fold_pairs<I: Isa, const D: usize>(
    isa: I,
    t: &mut [&mut [F]; D],
    i: usize,
    r: &Multiplier<I, D>,
) -> Ext<I, D> {
    let (a, b) = (load_mut(isa, t, 2 * i), load_mut(isa, t, 2 * i + I::LANES));
    let (v0, v1) = unzip(isa, a, b);
    let v = bind(isa, v0, v1, r);
    store(isa, v, t, i);
    v
}

/// Equal spans of a table's four quarters: `(a, c)` and `(b, d)` are pairs of this round, what
/// they fold to is one of the next.
struct Quarters<'a, const D: usize> {
    a: [&'a mut [F]; D],
    b: [&'a mut [F]; D],
    c: [&'a mut [F]; D],
    d: [&'a mut [F]; D],
}

impl<const D: usize> Quarters<'_, D> {
    /// Folds at `i`, in place.
    #[inline(always)]
    fn fold<I: Isa>(&mut self, isa: I, i: usize, r: &Multiplier<I, D>) -> (Ext<I, D>, Ext<I, D>) {
        let v0 = bind(isa, load_mut(isa, &self.a, i), load_mut(isa, &self.c, i), r);
        store(isa, v0, &mut self.a, i);
        let v1 = bind(isa, load_mut(isa, &self.b, i), load_mut(isa, &self.d, i), r);
        store(isa, v1, &mut self.b, i);
        (v0, v1)
    }
}

struct PrefixFoldMessage<'a, const D: usize> {
    f: Quarters<'a, D>,
    w: Quarters<'a, D>,
    r: [F; D],
    constant: F,
}

impl<const D: usize> Kernel for PrefixFoldMessage<'_, D> {
    type Output = Sums<D>;
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> Sums<D> {
        let r = Multiplier::new(isa, &self.r, self.constant);
        let mut message = Message::zero(isa);
        for i in (0..self.f.a[0].len()).step_by(I::LANES) {
            let f = self.f.fold(isa, i, &r);
            let w = self.w.fold(isa, i, &r);
            message.add(isa, f, w);
        }
        message.finish(isa, self.constant)
    }
}

struct SuffixFoldMessage<'a, const D: usize> {
    f: [&'a mut [F]; D],
    w: [&'a mut [F]; D],
    r: [F; D],
    constant: F,
}

impl<const D: usize> Kernel for SuffixFoldMessage<'_, D> {
    type Output = Sums<D>;
    #[inline(always)]
    fn run<I: Isa>(mut self, isa: I) -> Sums<D> {
        let r = Multiplier::new(isa, &self.r, self.constant);
        let mut message = Message::zero(isa);
        for i in (0..self.f[0].len() / 2).step_by(2 * I::LANES) {
            let a = fold_pairs(isa, &mut self.f, i, &r);
            let b = fold_pairs(isa, &mut self.f, i + I::LANES, &r);
            let f = unzip(isa, a, b);
            let a = fold_pairs(isa, &mut self.w, i, &r);
            let b = fold_pairs(isa, &mut self.w, i + I::LANES, &r);
            message.add(isa, f, unzip(isa, a, b));
        }
        message.finish(isa, self.constant)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
