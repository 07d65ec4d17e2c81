//! One suite for every instruction set; each runs it from its own module.
#![allow(
    clippy::unwrap_used,
    clippy::needless_range_loop,
    clippy::cast_possible_truncation
)]

use core::marker::PhantomData;

use super::{
    LANES, Lanes, Task,
    add::Scratch,
    emulated::Emulated,
    field::{BITS, Element, Field, MASK},
    kernel::Vector,
    record::{Record, Record8, Record12, negate},
};
use crate::{
    curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve},
    field::{Fp, adc, sbb},
    kernel::{Kernel, NEGATE, Operands, Pair, conformance::conformance},
    reference,
};

/// A small generator; its quality is of no concern.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// A limb at an edge as often as not.
    fn limb(&mut self) -> u64 {
        match self.next() >> 61 {
            0 => 0,
            1 => MASK,
            2 => MASK - (self.next() >> 60),
            3 => self.next() >> 60,
            _ => self.next() & MASK,
        }
    }
}

/// The residue of limbs, as a plain value.
fn residue<C: Curve<W>, const W: usize, const L: usize>(limbs: &[u64; L]) -> Fp<C, W> {
    let radix = Fp::from_u64(1 << BITS);
    limbs.iter().rev().fold(Fp::ZERO, |sum, &limb| {
        sum.mul(&radix).add(&Fp::from_u64(limb))
    })
}

/// `times p`, plus `more`, as limbs.
fn multiple<const L: usize>(p: &[u64; L], times: u64, more: i64) -> [u64; L] {
    let mut limbs = [0; L];
    let mut carry = i128::from(more);
    for j in 0..L {
        let value = i128::from(p[j]) * i128::from(times) + carry;
        limbs[j] = value as u64 & MASK;
        carry = value >> BITS;
    }
    assert_eq!(carry, 0);
    limbs
}

struct FieldCases<C, const W: usize, const L: usize>(PhantomData<C>);

impl<C: Curve<W>, const W: usize, const L: usize> FieldCases<C, W, L> {
    /// Values below about `times p`, many with limbs at an edge.
    fn values(p: &[u64; L], times: u64, random: &mut Random) -> Vec<[u64; L]> {
        let mut values = vec![];
        for k in 0..times {
            values.push(multiple(p, k, 0));
            values.push(multiple(p, k, 1));
            values.push(multiple(p, k + 1, -1));
        }
        values.push(multiple(p, times, 0));
        let top = p[L - 1] * times - 1;
        let mut ones = [MASK; L];
        ones[L - 1] = top;
        values.push(ones);
        for j in 0..L {
            let mut one = [0; L];
            one[j] = if j + 1 < L { MASK } else { top };
            values.push(one);
        }
        while values.len() < 400 {
            let mut value = [0; L];
            for limb in &mut value {
                *limb = random.limb();
            }
            value[L - 1] %= top + 1;
            values.push(value);
        }
        values
    }
}

#[inline(always)]
fn gather<A: Lanes, const L: usize>(a: A, rows: &[[u64; L]; LANES]) -> Element<A, L> {
    let mut v = [a.splat(0); L];
    for j in 0..L {
        let mut column = [0; LANES];
        for lane in 0..LANES {
            column[lane] = rows[lane][j];
        }
        v[j] = a.load(&column);
    }
    v
}

#[inline(always)]
fn scatter<A: Lanes, const L: usize>(a: A, v: &Element<A, L>) -> [[u64; L]; LANES] {
    let mut rows = [[0; L]; LANES];
    for j in 0..L {
        let mut column = [0; LANES];
        a.store(v[j], &mut column);
        for lane in 0..LANES {
            rows[lane][j] = column[lane];
        }
    }
    rows
}

/// A reduced result: limbs in range, the value below `1.2 p`, the residue as expected.
#[inline(never)]
fn check<C: Curve<W>, const W: usize, const L: usize>(
    limbs: &[u64; L],
    p: &[u64; L],
    want: &Fp<C, W>,
    what: &str,
) {
    assert!(limbs.iter().all(|&limb| limb <= MASK), "{what}: {limbs:x?}");
    assert!(
        limbs[L - 1] <= p[L - 1] + p[L - 1] / 5,
        "{what}: {limbs:x?}"
    );
    assert_eq!(residue::<C, W, L>(limbs), *want, "{what}");
}

impl<C: Curve<W>, const W: usize, const L: usize> Task for FieldCases<C, W, L> {
    type Output = ();

    #[inline(always)]
    fn run<A: Lanes>(self, a: A) {
        let f = Field::<A, C, W, L>::new(a);
        let p = Field::<A, C, W, L>::P;
        let mut random = Random(0x1234_5678_9abc_def1);
        let radix = Fp::<C, W>::from_u64(1 << BITS).pow(&[L as u64]);
        let wide = Self::values(&p, 8, &mut random);
        let narrow = Self::values(&p, 1, &mut random);
        let twice = Self::values(&p, 2, &mut random);
        // products: each wide value with changing narrow ones
        for round in 0..40 {
            for i in 0..wide.len() / LANES {
                let (mut x, mut y) = ([[0; L]; LANES], [[0; L]; LANES]);
                for lane in 0..LANES {
                    x[lane] = wide[LANES * i + lane];
                    y[lane] = narrow[(LANES * i + lane * 7 + round * 31) % narrow.len()];
                }
                let product = scatter(a, &f.mul(&gather(a, &x), &gather(a, &y)));
                let square = scatter(a, &f.square(&gather(a, &y)));
                for lane in 0..LANES {
                    let (x, y) = (residue::<C, W, L>(&x[lane]), residue(&y[lane]));
                    let back = |limbs| residue::<C, W, L>(limbs).mul(&radix);
                    assert_eq!(back(&product[lane]), x.mul(&y), "product");
                    assert_eq!(back(&square[lane]), y.square(), "square");
                    check(
                        &product[lane],
                        &p,
                        &residue::<C, W, L>(&product[lane]),
                        "product",
                    );
                    check(
                        &square[lane],
                        &p,
                        &residue::<C, W, L>(&square[lane]),
                        "square",
                    );
                }
            }
        }
        // differences, signed sums, zero tests, packing
        for round in 0..20 {
            for i in 0..twice.len() / LANES {
                let (mut x, mut y) = ([[0; L]; LANES], [[0; L]; LANES]);
                for lane in 0..LANES {
                    x[lane] = twice[LANES * i + lane];
                    y[lane] = twice[(LANES * i + lane * 5 + round * 29) % twice.len()];
                }
                let (vx, vy) = (gather(a, &x), gather(a, &y));
                let minus_x = random.next() as u8;
                let minus_y = random.next() as u8;
                let difference = f.sub(&vx, &vy);
                let sum = f.add_signed(&vx, minus_x, &vy, minus_y);
                let zeros = f.zeros::<4>(&difference);
                let sum_zeros = f.zeros::<8>(&sum);
                let mut packed = f.pack(&vx);
                packed.rotate_right(LANES - W);
                assert_eq!(scatter(a, &f.unpack(&packed, LANES - W)), x, "packing");
                let (difference, sum) = (scatter(a, &difference), scatter(a, &sum));
                for lane in 0..LANES {
                    let (x, y) = (residue::<C, W, L>(&x[lane]), residue(&y[lane]));
                    let want = x.sub(&y);
                    assert_eq!(residue::<C, W, L>(&difference[lane]), want, "difference");
                    assert_eq!(zeros >> lane & 1 == 1, want.is_zero(), "zero");
                    let x = if minus_x >> lane & 1 == 1 { x.neg() } else { x };
                    let y = if minus_y >> lane & 1 == 1 { y.neg() } else { y };
                    let want = x.add(&y);
                    assert_eq!(residue::<C, W, L>(&sum[lane]), want, "sum");
                    assert_eq!(sum_zeros >> lane & 1 == 1, want.is_zero(), "zero sum");
                    assert!(sum[lane].iter().all(|&limb| limb <= MASK));
                }
            }
        }
        // every multiple of p and its neighbours, for the zero test
        for k in 0..=8 {
            for more in [-1, 0, 1] {
                if k == 0 && more < 0 {
                    continue;
                }
                let zeros = f.zeros::<8>(&f.splat(&multiple(&p, k, more)));
                assert_eq!(zeros, if more == 0 { 0xff } else { 0 }, "{k} p + {more}");
            }
        }
        // folding: values of p to 8 p with carries that have not been taken
        for i in 0..wide.len() / LANES {
            let mut rows = [[0; L]; LANES];
            for lane in 0..LANES {
                let mut value = wide[LANES * i + lane];
                if value[L - 1] <= p[L - 1] {
                    value[L - 1] += p[L - 1] + 1;
                }
                for j in 0..L - 1 {
                    let lent = (random.next() % 60).min(value[j + 1]);
                    value[j] += lent << BITS;
                    value[j + 1] -= lent;
                }
                rows[lane] = value;
            }
            let folded = scatter(a, &f.fold(gather(a, &rows)));
            for lane in 0..LANES {
                check(
                    &folded[lane],
                    &p,
                    &residue::<C, W, L>(&rows[lane].map(|l| l & MASK))
                        .add(&carried::<C, W, L>(&rows[lane])),
                    "fold",
                );
            }
        }
    }
}

/// What the limbs of a column hold above 52 bits.
fn carried<C: Curve<W>, const W: usize, const L: usize>(columns: &[u64; L]) -> Fp<C, W> {
    let high = columns.map(|column| column >> BITS);
    residue::<C, W, L>(&high).mul(&Fp::from_u64(1 << BITS))
}

/// `n / d` of little-endian words, and the remainder.
fn divide<const W: usize>(n: &[u64; W], d: u64) -> ([u64; W], u64) {
    let mut quotient = [0; W];
    let mut rest = 0u128;
    for i in (0..W).rev() {
        let value = rest << 64 | u128::from(n[i]);
        quotient[i] = (value / u128::from(d)) as u64;
        rest = value % u128::from(d);
    }
    (quotient, rest as u64)
}

/// A point of prime order on the curve, which has `number` points.
fn point_of_order<C: Curve<W>, const W: usize>(number: &[u64; W], order: u64) -> Affine<C, W> {
    let mut cofactor = *number;
    while let (quotient, 0) = divide(&cofactor, order) {
        cofactor = quotient;
    }
    (1..)
        .filter_map(|x| Affine::<C, W>::from_x(Fp::from_u64(x), false))
        .map(|point| reference::multiply(&point, &cofactor))
        .find(|point| !point.is_infinity())
        .map(|mut point| {
            loop {
                let next = reference::multiply(&point, &[order]);
                if next.is_infinity() {
                    return point;
                }
                point = next;
            }
        })
        .unwrap()
}

/// The cyclic group of the product of some primes on the curve with parameter `z`, a few multiples
/// of the generator with their inverses, and infinity.
fn small_group<C: Curve<W>, const W: usize>(z: i128, primes: &[u64]) -> Vec<Affine<C, W>> {
    let mut group = vec![Affine::INFINITY];
    let mut multiple = Affine::generator();
    for _ in 0..4 {
        group.extend([multiple, multiple.neg()]);
        multiple = reference::add(&multiple, &Affine::generator());
    }
    // p - z points
    let mut number = C::P;
    let (mut borrow, mut carry) = (0, 0);
    let low = z.unsigned_abs() as u64;
    if z > 0 {
        (number[0], borrow) = sbb(number[0], low, 0);
    } else {
        (number[0], carry) = adc(number[0], low, 0);
    }
    for limb in &mut number[1..] {
        (*limb, borrow) = sbb(*limb, 0, borrow);
        (*limb, carry) = adc(*limb, 0, carry);
    }
    let small = primes
        .iter()
        .map(|&prime| point_of_order(&number, prime))
        .fold(Affine::INFINITY, |sum, point| reference::add(&sum, &point));
    let mut next = small;
    while !next.is_infinity() {
        group.push(next);
        next = reference::add(&next, &small);
    }
    assert_eq!(group.len() as u64, 8 + primes.iter().product::<u64>());
    group
}

/// Every sum of two elements of [`small_group`], with every sign and every representative of the
/// coordinates up to `2 p`, in batches of 16 pairs.
fn additions<A: Lanes, C: Curve<W>, P: Record, const W: usize, const L: usize>(
    group: &[Affine<C, W>],
) where
    Vector<A>: Kernel<C, W, Point = P, Scratch = Scratch<L>>,
{
    let kernel = Vector::<A>::new().unwrap();
    let mut records = vec![P::ZERO; group.len()];
    kernel.load(group, &mut records);
    let mut back = vec![Affine::generator(); group.len()];
    kernel.store(&records, &mut back);
    assert_eq!(back, group);
    // other representatives
    let (mut table, mut which) = (vec![], vec![]);
    for (i, record) in records.iter().enumerate() {
        for form in 0..4 {
            if group[i].is_infinity() && form > 0 {
                continue;
            }
            let mut other = *record;
            for (bit, part) in other.words_mut().chunks_mut(W).enumerate() {
                let mut carry = 0;
                for (word, &p) in part.iter_mut().zip(&C::P) {
                    (*word, carry) = adc(*word, if form >> bit & 1 == 1 { p } else { 0 }, carry);
                }
            }
            table.push(other);
            which.push(i);
            let negative = negate::<C, P, W>(&negate::<C, P, W>(&other));
            let mut same = [Affine::INFINITY];
            kernel.store(&[negative], &mut same);
            assert_eq!(same[0], group[i]);
        }
    }
    let sums: Vec<Vec<_>> = (0..2 * group.len())
        .map(|i| {
            (0..2 * group.len())
                .map(|j| {
                    let signed = |k: usize| {
                        let point = group[k / 2];
                        if k % 2 == 1 { point.neg() } else { point }
                    };
                    reference::add(&signed(i), &signed(j))
                })
                .collect()
        })
        .collect();
    for scattered in [true, false] {
        let signs = if scattered { 2 } else { 1 };
        let (mut pairs, mut want) = (vec![], vec![]);
        for a in 0..table.len() {
            for b in 0..table.len() {
                for sign in 0..signs * signs {
                    let (s, t) = (sign & 1, sign >> 1);
                    let negate = |s| if s == 1 { NEGATE } else { 0 };
                    pairs.push(Pair {
                        a: a as u32 | negate(s),
                        b: b as u32 | negate(t),
                        out: pairs.len() as u32,
                    });
                    want.push(sums[2 * which[a] + s][2 * which[b] + t]);
                }
            }
        }
        let mut out = vec![table[1]; pairs.len()];
        // The batch's size does not divide the number of pairs.
        let mut scratch = Scratch::new(pairs.len(), 200);
        let operands = if scattered {
            Operands::Scattered
        } else {
            Operands::Near
        };
        kernel.add(&table, &table, &pairs, &mut out, &mut scratch, operands);
        let mut sums = vec![Affine::INFINITY; out.len()];
        kernel.store(&out, &mut sums);
        for (k, pair) in pairs.iter().enumerate() {
            assert_eq!(sums[k], want[k], "{pair:?} {scattered}");
            // Infinity is known by its words alone.
            let zero = out[k].words().iter().all(|&word| word == 0);
            assert_eq!(zero, want[k].is_infinity(), "{pair:?} {scattered}");
        }
    }
}

/// Calls of every small length, with and without a batch to spare.
fn lengths<A: Lanes, C: Curve<W>, P: Record, const W: usize>()
where
    Vector<A>: Kernel<C, W, Point = P>,
{
    let kernel = Vector::<A>::new().unwrap();
    let mut points = vec![Affine::generator()];
    for i in 0..90 {
        points.push(reference::add(&points[i], &points[0]));
    }
    let mut table = vec![P::ZERO; points.len()];
    kernel.load(&points, &mut table);
    for n in (0..42).chain([89]) {
        let pairs: Vec<Pair> = (0..n)
            .map(|i| Pair {
                a: i,
                b: n - i,
                out: n - 1 - i,
            })
            .collect();
        for operands in [Operands::Near, Operands::Scattered] {
            let mut out = vec![P::ZERO; n as usize + 1];
            let mut scratch = kernel.scratch(pairs.len());
            kernel.add(&table, &table, &pairs, &mut out, &mut scratch, operands);
            let mut sums = vec![Affine::INFINITY; out.len()];
            kernel.store(&out, &mut sums);
            for sum in &sums[..n as usize] {
                // i + 1 and n - i + 1 times the generator
                let want = reference::multiply(&points[0], &[u64::from(n) + 2]);
                assert_eq!(*sum, want);
            }
            assert!(sums[n as usize].is_infinity(), "not written");
        }
    }
}

/// Everything, on the three curves.
pub(crate) fn field_suite<A: Lanes>(lanes: A) {
    lanes.enter(FieldCases::<Bls12_377, 6, 8>(PhantomData));
    lanes.enter(FieldCases::<Bls12_381, 6, 8>(PhantomData));
    lanes.enter(FieldCases::<Bn254, 4, 5>(PhantomData));
}

/// Additions on BLS12-377: points of order 2, 3 and 7 besides the generator's.
pub(crate) fn additions_377<A: Lanes>() {
    let group = small_group(0x8508_c000_0000_0001, &[2, 3, 7]);
    assert!(group.iter().any(|p| p.y.is_zero() && !p.x.is_zero()));
    assert!(group.iter().any(|p| p.x.is_zero() && !p.y.is_zero()));
    additions::<A, Bls12_377, Record12, 6, 8>(&group);
    lengths::<A, Bls12_377, Record12, 6>();
    conformance::<Bls12_377, 6, _>(Vector::<A>::new().unwrap());
}

/// Additions on BLS12-381: points of order 3 and 11.
pub(crate) fn additions_381<A: Lanes>() {
    let group = small_group(-0xd201_0000_0001_0000, &[3, 11]);
    assert!(group.iter().any(|p| p.x.is_zero() && !p.y.is_zero()));
    additions::<A, Bls12_381, Record12, 6, 8>(&group);
    lengths::<A, Bls12_381, Record12, 6>();
    conformance::<Bls12_381, 6, _>(Vector::<A>::new().unwrap());
}

/// Additions on BN254, whose cofactor is 1.
pub(crate) fn additions_254<A: Lanes>() {
    additions::<A, Bn254, Record8, 4, 5>(&small_group(0, &[]));
    lengths::<A, Bn254, Record8, 4>();
    conformance::<Bn254, 4, _>(Vector::<A>::new().unwrap());
}

#[test]
fn field_emulated() {
    field_suite(Emulated);
}

#[test]
fn additions_377_emulated() {
    additions_377::<Emulated>();
}

#[test]
fn additions_381_emulated() {
    additions_381::<Emulated>();
}

#[test]
fn additions_254_emulated() {
    additions_254::<Emulated>();
}
