//! The transform of a matrix that lies in cache: decimation in frequency, columns side by side.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use p3_field::{PrimeCharacteristicRing, TwoAdicField};

use super::super::isa::Isa;
use crate::field::F;

/// Elements of a piece that the inner layers finish before the next: 16 KiB, half of a small
/// first-level cache.
const INNER: usize = 1 << 12;

/// The powers 0..2^log_n of `F::two_adic_generator(log_n)`, computed once per process and size.
pub(super) fn powers(log_n: usize) -> &'static [F] {
    static TABLES: [OnceLock<Vec<F>>; F::TWO_ADICITY + 1] =
        [const { OnceLock::new() }; F::TWO_ADICITY + 1];
    TABLES[log_n].get_or_init(|| {
        F::two_adic_generator(log_n)
            .powers()
            .take(1 << log_n)
            .collect()
    })
}

/// The place of natural index `k` in a bit-reversed sequence of 2^log_n.
#[inline(always)]
pub(super) const fn reversed(k: usize, log_n: usize) -> usize {
    if log_n == 0 {
        0
    } else {
        k.reverse_bits() >> (usize::BITS as usize - log_n)
    }
}

/// Which layers of a transform [`layers`] leaves to the pass that writes the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// None: the result is the transform, its rows in bit-reversed order.
    Nothing,
    /// The last two, for [`last_layers`]; only if there are two.
    LastTwo,
}

/// Transforms every column of each sub-matrix of 2^log_n rows of the row-major matrix `buf`, whose
/// rows have `row` elements, a multiple of `LANES`. The rows come in natural order.
#[inline(always)]
pub(super) fn layers<I: Isa>(isa: I, buf: &mut [F], row: usize, log_n: usize, rest: Rest) {
    let mut k = log_n;
    while k >= 4 && row << k > INNER {
        layer4_all(isa, buf, row, k);
        k -= 2;
    }
    for piece in buf.chunks_exact_mut(row << k) {
        let mut k = k;
        while k >= 4 {
            layer4_all(isa, piece, row, k);
            k -= 2;
        }
        if k % 2 == 1 {
            layer2_all(isa, piece, row, k);
        }
        if k >= 2 && rest == Rest::Nothing {
            layer4_all(isa, piece, row, 2);
        }
    }
}

/// The last two layers: from rows 4 m to 4 m + 3 to those of natural index k, k + n / 2, k + n / 4
/// and k + 3 n / 4, where k is m bit-reversed. `fourth` is the fourth root of unity.
#[inline(always)]
pub(super) fn last_layers<I: Isa>(isa: I, v: [I::V; 4], fourth: I::Factor) -> [I::V; 4] {
    let [x, y, z, t] = v;
    let (s, u) = (isa.add(x, z), isa.sub(x, z));
    let (r, v) = (isa.add(y, t), isa.sub_mul_factor(y, t, fourth));
    [isa.add(s, r), isa.sub(s, r), isa.add(u, v), isa.sub(u, v)]
}

/// One radix-2 layer of all sub-transforms of size 2^k.
#[inline(always)]
fn layer2_all<I: Isa>(isa: I, buf: &mut [F], row: usize, k: usize) {
    let roots = powers(k);
    for block in buf.chunks_exact_mut(row << k) {
        let (a, b) = block.split_at_mut(block.len() / 2);
        for ((a, b), &w) in a
            .chunks_exact_mut(row)
            .zip(b.chunks_exact_mut(row))
            .zip(roots)
        {
            let w = isa.factor(w);
            for (a, b) in a
                .chunks_exact_mut(I::LANES)
                .zip(b.chunks_exact_mut(I::LANES))
            {
                let (x, y) = (isa.load(a), isa.load(b));
                isa.store(isa.add(x, y), a);
                isa.store(isa.sub_mul_factor(x, y, w), b);
            }
        }
    }
}

/// Two radix-2 layers at once, of all sub-transforms of size 2^k, k >= 2.
#[inline(always)]
fn layer4_all<I: Isa>(isa: I, buf: &mut [F], row: usize, k: usize) {
    let roots = powers(k);
    let quarter = 1 << (k - 2);
    let fourth = isa.factor(roots[quarter]);
    for block in buf.chunks_exact_mut(row << k) {
        let (ab, cd) = block.split_at_mut(block.len() / 2);
        let (a, b) = ab.split_at_mut(ab.len() / 2);
        let (c, d) = cd.split_at_mut(cd.len() / 2);
        let mut rows = a
            .chunks_exact_mut(row)
            .zip(b.chunks_exact_mut(row))
            .zip(c.chunks_exact_mut(row).zip(d.chunks_exact_mut(row)));
        // the first row's factors are 1, 1 and the fourth root of unity
        if let Some(((a, b), (c, d))) = rows.next() {
            let cells = a
                .chunks_exact_mut(I::LANES)
                .zip(b.chunks_exact_mut(I::LANES))
                .zip(
                    c.chunks_exact_mut(I::LANES)
                        .zip(d.chunks_exact_mut(I::LANES)),
                );
            for ((a, b), (c, d)) in cells {
                let v = [isa.load(a), isa.load(b), isa.load(c), isa.load(d)];
                let [s, t, u, v] = last_layers(isa, v, fourth);
                isa.store(s, a);
                isa.store(t, b);
                isa.store(u, c);
                isa.store(v, d);
            }
        }
        for (r, ((a, b), (c, d))) in (1..quarter).zip(rows) {
            let factors = quad(isa, roots, r);
            let cells = a
                .chunks_exact_mut(I::LANES)
                .zip(b.chunks_exact_mut(I::LANES))
                .zip(
                    c.chunks_exact_mut(I::LANES)
                        .zip(d.chunks_exact_mut(I::LANES)),
                );
            for ((a, b), (c, d)) in cells {
                let v = [isa.load(a), isa.load(b), isa.load(c), isa.load(d)];
                let [s, t, u, v] = isa.butterfly4(v, factors);
                isa.store(s, a);
                isa.store(t, b);
                isa.store(u, c);
                isa.store(v, d);
            }
        }
    }
}

/// The factors of row `r` of two layers whose root's powers are `roots`.
#[inline(always)]
pub(super) fn quad<I: Isa>(isa: I, roots: &[F], r: usize) -> I::Quad {
    let quarter = roots.len() / 4;
    isa.quad([
        roots[r],
        roots[quarter + r],
        roots[2 * r],
        roots[3 * r],
        roots[quarter + 3 * r],
    ])
}
