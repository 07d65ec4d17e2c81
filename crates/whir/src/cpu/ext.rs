//! Vectors of extension elements: D vectors, one per basis coefficient.
//!
//! A product of two elements has D products of base elements per coefficient, with the constant W
//! of x^D = W folded into one factor beforehand; the D sums are each reduced once. A long sum of
//! products keeps the 2D - 1 coefficients of the polynomial product unreduced and meets W once, at
//! its end.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;
use p3_field::PrimeCharacteristicRing;

use super::isa::{Isa, Variant};
use crate::field::{Extension, F};

/// Runs the block with `$D` = the degree of `$EF` as a constant.
macro_rules! by_degree {
    ($EF:ident, $D:ident => $body:expr) => {
        match <$EF as crate::field::Extension>::D {
            4 => {
                const $D: usize = 4;
                $body
            }
            5 => {
                const $D: usize = 5;
                $body
            }
            d => unreachable!("no kernels for degree {d}"),
        }
    };
}
pub(super) use by_degree;

/// Repeats the block for `$i` = 0..`$n`, `$n` at most 5, as text: an index that is a constant
/// keeps the vectors in registers whatever the optimizer thinks of the loop.
macro_rules! unroll {
    ($i:ident < $n:expr, $body:block) => {
        unroll!(@ $i, $n, $body, 0, 1, 2, 3, 4)
    };
    (@ $i:ident, $n:expr, $body:block, $($k:literal),*) => {
        $(
            if $k < $n {
                let $i: usize = $k;
                $body
            }
        )*
    };
}
pub(super) use unroll;

/// The coefficients of an element.
#[inline]
pub(super) fn coefficients<EF: Extension, const D: usize>(x: EF) -> [F; D] {
    let c = x.as_basis_coefficients_slice();
    core::array::from_fn(|d| c[d])
}

/// The element with these coefficients.
#[inline]
pub(super) fn element<EF: Extension>(c: &[F]) -> EF {
    EF::from_basis_coefficients_fn(|d| c[d])
}

/// `variant`, or the portable one where `len` elements do not fill one of its vectors.
#[inline]
pub(super) fn fitting(variant: Variant, len: usize) -> Variant {
    if len < variant.lanes() {
        Variant::new(CpuVariant::Portable).unwrap_or(variant)
    } else {
        variant
    }
}

/// `LANES` elements.
pub(super) type Ext<I, const D: usize> = [<I as Isa>::V; D];

/// `LANES` elements of a planar table, from index `i`.
#[inline(always)]
pub(super) fn load<I: Isa, const D: usize>(isa: I, planes: &[&[F]; D], i: usize) -> Ext<I, D> {
    let mut v = [isa.splat(F::ZERO); D];
    unroll!(d < D, {
        v[d] = isa.load(&planes[d][i..]);
    });
    v
}

/// [`load`] from planes that are being written.
#[inline(always)]
pub(super) fn load_mut<I: Isa, const D: usize>(
    isa: I,
    planes: &[&mut [F]; D],
    i: usize,
) -> Ext<I, D> {
    let mut v = [isa.splat(F::ZERO); D];
    unroll!(d < D, {
        v[d] = isa.load(&planes[d][i..]);
    });
    v
}

/// Writes `LANES` elements of a planar table, from index `i`.
#[inline(always)]
pub(super) fn store<I: Isa, const D: usize>(
    isa: I,
    v: Ext<I, D>,
    planes: &mut [&mut [F]; D],
    i: usize,
) {
    unroll!(d < D, {
        isa.store(v[d], &mut planes[d][i..]);
    });
}

/// Lane-wise sum.
#[inline(always)]
pub(super) fn add<I: Isa, const D: usize>(isa: I, a: Ext<I, D>, b: Ext<I, D>) -> Ext<I, D> {
    let mut v = a;
    unroll!(d < D, {
        v[d] = isa.add(a[d], b[d]);
    });
    v
}

/// Lane-wise difference.
#[inline(always)]
pub(super) fn sub<I: Isa, const D: usize>(isa: I, a: Ext<I, D>, b: Ext<I, D>) -> Ext<I, D> {
    let mut v = a;
    unroll!(d < D, {
        v[d] = isa.sub(a[d], b[d]);
    });
    v
}

/// [`Isa::unzip`] of every coefficient.
#[inline(always)]
pub(super) fn unzip<I: Isa, const D: usize>(
    isa: I,
    a: Ext<I, D>,
    b: Ext<I, D>,
) -> (Ext<I, D>, Ext<I, D>) {
    let (mut even, mut odd) = (a, b);
    unroll!(d < D, {
        (even[d], odd[d]) = isa.unzip(a[d], b[d]);
    });
    (even, odd)
}

/// The sum of the lanes.
#[inline(always)]
pub(super) fn sum<I: Isa, const D: usize>(isa: I, v: Ext<I, D>) -> [F; D] {
    let mut s = [F::ZERO; D];
    unroll!(d < D, {
        s[d] = isa.sum(v[d]);
    });
    s
}

/// Reduces `D` accumulators.
#[inline(always)]
pub(super) fn reduce<I: Isa, const D: usize>(isa: I, acc: [I::Wide; D]) -> Ext<I, D> {
    let mut v = [isa.splat(F::ZERO); D];
    unroll!(d < D, {
        v[d] = isa.wide_reduce(acc[d]);
    });
    v
}

/// One element in all lanes, prepared as a factor.
#[derive(Clone, Copy)]
pub(super) struct Multiplier<I: Isa, const D: usize> {
    /// The coefficients.
    b: Ext<I, D>,
    /// W times the coefficients.
    wb: Ext<I, D>,
}

impl<I: Isa, const D: usize> Multiplier<I, D> {
    /// The element with coefficients `b` over x^D = `w`.
    #[inline(always)]
    pub(super) fn new(isa: I, b: &[F; D], w: F) -> Self {
        let zero = isa.splat(F::ZERO);
        let mut m = Self {
            b: [zero; D],
            wb: [zero; D],
        };
        unroll!(d < D, {
            m.b[d] = isa.splat(b[d]);
            m.wb[d] = isa.splat(b[d] * w);
        });
        m
    }

    /// The factor that meets coefficient `i` in coefficient `k` of the product.
    #[inline(always)]
    fn factor(&self, k: usize, i: usize) -> I::V {
        if i <= k {
            self.b[k - i]
        } else {
            self.wb[k + D - i]
        }
    }

    /// `a` times this.
    #[inline(always)]
    pub(super) fn mul(&self, isa: I, a: Ext<I, D>) -> Ext<I, D> {
        let mut v = a;
        unroll!(k < D, {
            let mut acc = isa.wide_zero();
            unroll!(i < D, {
                if i == 4 {
                    acc = isa.wide_fold(acc);
                }
                acc = isa.wide_mul_add(acc, a[i], self.factor(k, i));
            });
            v[k] = isa.wide_reduce(acc);
        });
        v
    }

    /// `acc + a` times this, for sums of any length.
    #[inline(always)]
    pub(super) fn mul_add(&self, isa: I, acc: [I::Wide; D], a: Ext<I, D>) -> [I::Wide; D] {
        let mut out = acc;
        unroll!(k < D, {
            unroll!(i < D, {
                if i.is_multiple_of(2) {
                    out[k] = isa.wide_fold(out[k]);
                }
                out[k] = isa.wide_mul_add(out[k], a[i], self.factor(k, i));
            });
        });
        out
    }
}

/// A sum of products of extension elements: the coefficients of x^0..x^(2D-2), unreduced.
#[derive(Clone, Copy)]
pub(super) struct Dot<I: Isa, const D: usize> {
    low: [I::Wide; D],
    /// x^(D+k); the last one stays empty.
    high: [I::Wide; D],
}

impl<I: Isa, const D: usize> Dot<I, D> {
    /// The empty sum.
    #[inline(always)]
    pub(super) fn zero(isa: I) -> Self {
        Self {
            low: [isa.wide_zero(); D],
            high: [isa.wide_zero(); D],
        }
    }

    /// Adds `a * b`.
    #[inline(always)]
    pub(super) fn add(&mut self, isa: I, a: Ext<I, D>, b: Ext<I, D>) {
        unroll!(i < D, {
            unroll!(j < D, {
                let k = i + j;
                let acc = if k < D {
                    &mut self.low[k]
                } else {
                    &mut self.high[k - D]
                };
                // the products of coefficient k come in the order of i, and two fit after a fold
                let nth = i - (k + 1).saturating_sub(D);
                if nth.is_multiple_of(2) {
                    *acc = isa.wide_fold(*acc);
                }
                *acc = isa.wide_mul_add(*acc, a[i], b[j]);
            });
        });
    }

    /// The sum, lane by lane, over x^D = `w`.
    #[inline(always)]
    pub(super) fn finish(self, isa: I, w: F) -> Ext<I, D> {
        let w = isa.splat(w);
        let mut v = [w; D];
        unroll!(d < D, {
            let high = isa.mul(isa.wide_reduce(self.high[d]), w);
            v[d] = isa.add(isa.wide_reduce(self.low[d]), high);
        });
        v
    }
}
