//! What every kernel must do, whatever it is made of.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use super::{Kernel, NEGATE, Operands, Pair};
use crate::{
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve, Format, Subgroup},
    field::{Fp, Modulus},
    reference,
};

/// `y^2 = x^3 + 1` over a field of 103 elements: points of every kind, few enough to add each to each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Toy;

impl Modulus<1> for Toy {
    const P: [u64; 1] = [103];
}

impl crate::compute::VectorSums<1> for Toy {}

impl Curve<1> for Toy {
    const NAME: &'static str = "toy";
    const B: u64 = 1;
    const GENERATOR: ([u64; 1], [u64; 1]) = ([0], [1]);
    const ORDER: [u64; 4] = [3, 0, 0, 0];
    const SUBGROUP: Subgroup<1> = Subgroup::Order;
    const FORMAT: Format = Format::Little;
}

impl Toy {
    /// Every point of the curve.
    pub(crate) fn points() -> Vec<Affine<Self, 1>> {
        let mut points = vec![Affine::INFINITY];
        for x in 0..103 {
            for y in 0..103 {
                let point = Affine {
                    x: Fp::from_u64(x),
                    y: Fp::from_u64(y),
                };
                if point.is_on_curve() {
                    points.push(point);
                }
            }
        }
        points
    }
}

/// Everything, for one of the three curves.
pub(crate) fn conformance<C: Curve<N>, const N: usize, K: Kernel<C, N>>(kernel: K) {
    every_kind_of_pair::<C, N, K>(kernel);
    carry_edges::<C, N, K>(kernel);
    every_length::<C, N, K>(kernel);
}

/// Each point to each, with each sign, as one call and as the reference says.
pub(crate) fn all_pairs<C: Curve<N>, const N: usize, K: Kernel<C, N>>(
    kernel: K,
    points: &[Affine<C, N>],
) {
    let count = u32::try_from(points.len()).unwrap();
    let mut pairs = Vec::new();
    for a in 0..count {
        for b in 0..count {
            for signs in 0..4 {
                pairs.push(Pair {
                    a: if signs & 1 == 1 { a | NEGATE } else { a },
                    b: if signs & 2 == 2 { b | NEGATE } else { b },
                    out: u32::try_from(pairs.len()).unwrap(),
                });
            }
        }
    }
    let sums = run(kernel, points, &pairs, Operands::Scattered);
    for (pair, sum) in pairs.iter().zip(&sums) {
        let want = expected(points, *pair);
        assert_eq!(*sum, want, "{pair:?} of {points:?}");
    }
    // without signs, in a call of their own, and backwards
    let near: Vec<Pair> = pairs
        .iter()
        .filter(|p| (p.a | p.b) & NEGATE == 0)
        .rev()
        .zip(0..)
        .map(|(p, out)| Pair { out, ..*p })
        .collect();
    for (pair, sum) in near.iter().zip(run(kernel, points, &near, Operands::Near)) {
        assert_eq!(sum, expected(points, *pair), "{pair:?}");
    }
}

fn expected<C: Curve<N>, const N: usize>(points: &[Affine<C, N>], pair: Pair) -> Affine<C, N> {
    let operand = |index: u32| {
        let point = points[(index & !NEGATE) as usize];
        if index & NEGATE == 0 {
            point
        } else {
            point.neg()
        }
    };
    reference::add(&operand(pair.a), &operand(pair.b))
}

fn run<C: Curve<N>, const N: usize, K: Kernel<C, N>>(
    kernel: K,
    points: &[Affine<C, N>],
    pairs: &[Pair],
    operands: Operands,
) -> Vec<Affine<C, N>> {
    let mut own = vec![K::INFINITY; points.len()];
    kernel.load(points, &mut own);
    let mut out = vec![K::INFINITY; pairs.len()];
    let mut scratch = kernel.scratch(pairs.len());
    // twice with one scratch: what a call leaves there must not count
    kernel.add(&own, &own, pairs, &mut out, &mut scratch, operands);
    out.fill(K::INFINITY);
    kernel.add(&own, &own, pairs, &mut out, &mut scratch, operands);
    let mut sums = vec![Affine::INFINITY; pairs.len()];
    kernel.store(&out, &mut sums);
    sums
}

fn every_kind_of_pair<C: Curve<N>, const N: usize, K: Kernel<C, N>>(kernel: K) {
    let g = Affine::<C, N>::generator();
    let mut points = vec![Affine::INFINITY, g];
    for _ in 0..6 {
        points.push(reference::add(points.last().unwrap(), &g));
    }
    points.push(g.neg());
    points.push(Affine::INFINITY);
    // x = 0, a point of order 3, where the curve has one
    points.extend(Affine::from_x(Fp::ZERO, true));
    all_pairs(kernel, &points);
}

/// Coordinates with limbs of all ones, and around powers of two that kernels cut limbs at. They are on
/// no curve; the formulas do not ask.
fn carry_edges<C: Curve<N>, const N: usize, K: Kernel<C, N>>(kernel: K) {
    let mut values = vec![[0; N], [1; N], C::P, C::R];
    values[1] = Fp::<C, N>::from_u64(1).to_canonical();
    values[2][0] -= 1;
    for bits in [26, 32, 52, 64, 104, 128, 156, 208, 248] {
        if bits < C::BITS as usize {
            let mut ones = [0; N];
            for bit in 0..bits {
                ones[bit / 64] |= 1 << (bit % 64);
            }
            values.push(ones);
            // the modulus less it: the same edge from above
            let negative = Fp::<C, N>::from_canonical(ones).unwrap().neg();
            values.push(negative.to_canonical());
            let mut power = [0; N];
            power[bits / 64] = 1 << (bits % 64);
            values.push(power);
        }
    }
    let mut ones = [u64::MAX; N];
    ones[N - 1] = C::P[N - 1] - 1;
    values.push(ones);
    // once as plain values, once as the limbs of the Montgomery form
    for montgomery in [false, true] {
        let fields: Vec<Fp<C, N>> = values
            .iter()
            .map(|v| {
                let field = if montgomery {
                    Fp::from_montgomery(*v)
                } else {
                    Fp::from_canonical(*v)
                };
                field.unwrap()
            })
            .collect();
        let points: Vec<_> = fields
            .iter()
            .zip(fields.iter().cycle().skip(5))
            .map(|(&x, &y)| Affine { x, y })
            .collect();
        all_pairs(kernel, &points);
    }
}

/// Lengths around the number of lanes, with the exceptional pair at each place.
fn every_length<C: Curve<N>, const N: usize, K: Kernel<C, N>>(kernel: K) {
    let g = Affine::<C, N>::generator();
    let mut points = vec![g];
    for _ in 0..80 {
        points.push(reference::add(points.last().unwrap(), &g));
    }
    for length in 0..=40 {
        for special in 0..=length.min(20) {
            let pairs: Vec<Pair> = (0..length)
                .map(|i| Pair {
                    a: 2 * i,
                    // equal, opposite, or the next
                    b: match (i == special, i % 2) {
                        (true, 0) => 2 * i,
                        (true, _) => (2 * i) | NEGATE,
                        (false, _) => 2 * i + 1,
                    },
                    out: length - 1 - i,
                })
                .collect();
            let sums = run(kernel, &points, &pairs, Operands::Scattered);
            for pair in &pairs {
                let sum = &sums[pair.out as usize];
                assert_eq!(
                    *sum,
                    expected(&points, *pair),
                    "{length} {special} {pair:?}"
                );
            }
        }
    }
}

/// The kernels over 64-bit limbs.
mod scalar {
    use super::*;
    use crate::cpu::{Arithmetic, Portable, Scalar};

    fn all<A: Arithmetic>(arithmetic: A) {
        let kernel = Scalar(arithmetic);
        conformance::<Bls12_377, 6, _>(kernel);
        conformance::<Bls12_381, 6, _>(kernel);
        conformance::<Bn254, 4, _>(kernel);
        all_pairs::<Toy, 1, _>(kernel, &Toy::points());
    }

    #[test]
    fn portable() {
        all(Portable);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn adx() {
        match crate::cpu::x86_64::adx::Adx::new() {
            Some(adx) => all(adx),
            None => println!("skipped: no ADX"),
        }
    }

    /// The formulas of the few additions that are not batched.
    #[test]
    fn xyzz_on_every_pair_of_the_toy_curve() {
        use crate::curve::Xyzz;
        let points = Toy::points();
        let a = Portable;
        // the same point with other ZZ, ZZZ: (P + Q) - Q
        let forms = |p: &Affine<Toy, 1>| {
            let q = &points[7];
            let moved = Xyzz::from_affine(p)
                .add_affine(a, q)
                .add_affine(a, &q.neg());
            [Xyzz::from_affine(p), moved]
        };
        for p in &points {
            for form in forms(p) {
                assert_eq!(form.to_affine(a), *p);
                assert_eq!(form.double(a).to_affine(a), reference::add(p, p));
            }
            for q in &points {
                let want = reference::add(p, q);
                for p in forms(p) {
                    assert_eq!(p.add_affine(a, q).to_affine(a), want);
                    for q in forms(q) {
                        assert_eq!(p.add(a, &q).to_affine(a), want);
                    }
                }
            }
        }
        let all: Vec<_> = points.iter().flat_map(forms).collect();
        let affine = Xyzz::batch_to_affine(a, &all);
        assert!(affine.chunks(2).zip(&points).all(|(c, p)| c == [*p, *p]));
    }
}
