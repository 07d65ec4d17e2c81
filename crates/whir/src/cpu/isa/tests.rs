//! Every variant's vector operations against Plonky3's scalar arithmetic, with values at the carry
//! edges in every lane.

use fieldspar_device::CpuVariant;
use p3_field::{PrimeCharacteristicRing, PrimeField32};

use super::{Isa, Kernel, Variant};
use crate::field::F;

pub(crate) fn variants() -> Vec<Variant> {
    CpuVariant::ALL
        .into_iter()
        .filter_map(Variant::new)
        .collect()
}

/// Elements whose Montgomery or canonical form sits at an edge, then pseudo-random ones.
pub(crate) fn edge_elements(count: usize) -> Vec<F> {
    let p = F::ORDER_U32;
    let mut out: Vec<F> = [
        0,
        1,
        2,
        p - 1,
        p - 2,
        p / 2,
        p / 2 + 1,
        1 << 27,
        (1 << 27) - 1,
    ]
    .into_iter()
    .map(F::from_u32)
    .collect();
    let mut x = 0x9e37_79b9_7f4a_7c15_u64;
    while out.len() < count {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        out.push(F::from_u64(x));
    }
    out.truncate(count);
    out
}

struct Ops<'a>(&'a [F], &'a [F]);

impl Kernel for Ops<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let w = I::LANES;
        let mut out = vec![F::ZERO; w];
        let mut out2 = vec![F::ZERO; w];
        for (a, b) in self.0.chunks_exact(w).zip(self.1.chunks_exact(w)) {
            let (va, vb) = (isa.load(a), isa.load(b));
            isa.store(isa.add(va, vb), &mut out);
            assert!((0..w).all(|i| out[i] == a[i] + b[i]), "add");
            isa.store(isa.sub(va, vb), &mut out);
            assert!((0..w).all(|i| out[i] == a[i] - b[i]), "sub");
            isa.store(isa.mul(va, vb), &mut out);
            assert!((0..w).all(|i| out[i] == a[i] * b[i]), "mul");
            let mut acc = isa.wide_zero();
            for n in 1..=4_u32 {
                acc = isa.wide_mul_add(acc, va, vb);
                isa.store(isa.wide_reduce(acc), &mut out);
                let n = F::from_u32(n);
                assert!((0..w).all(|i| out[i] == a[i] * b[i] * n), "wide");
            }
            for n in (6..=40_u32).step_by(2) {
                acc = isa.wide_mul_add(isa.wide_fold(acc), va, vb);
                acc = isa.wide_mul_add(acc, va, vb);
                isa.store(isa.wide_reduce(acc), &mut out);
                let n = F::from_u32(n);
                assert!((0..w).all(|i| out[i] == a[i] * b[i] * n), "fold");
            }
            let (e, o) = isa.unzip(va, vb);
            isa.store(e, &mut out);
            isa.store(o, &mut out2);
            let cat: Vec<F> = a.iter().chain(b).copied().collect();
            assert!(
                (0..w).all(|i| out[i] == cat[2 * i] && out2[i] == cat[2 * i + 1]),
                "unzip"
            );
            let (x, y) = isa.zip(e, o);
            isa.store(x, &mut out);
            isa.store(y, &mut out2);
            assert_eq!((&out[..], &out2[..]), (a, b), "zip");
            assert_eq!(isa.sum(va), a.iter().copied().sum::<F>(), "sum");
            let x = isa.factor(b[0]);
            isa.store(isa.mul_factor(va, x), &mut out);
            assert!((0..w).all(|i| out[i] == a[i] * b[0]), "mul_factor");
            isa.store(isa.sub_mul_factor(va, vb, x), &mut out);
            assert!(
                (0..w).all(|i| out[i] == (a[i] - b[i]) * b[0]),
                "sub_mul_factor"
            );
            // equal operands, opposite edges and any factor, all of which are independent here
            let f = [b[0], b[w - 1], a[0], a[w / 2], b[w / 2]];
            let (x, y, z, t) = (va, vb, isa.sub(vb, va), isa.add(va, vb));
            let [r0, r1, r2, r3] = isa.butterfly4([x, y, z, t], isa.quad(f));
            let [w1, iw1, w2, w3, iw3] = f;
            let scalar = |i: usize| {
                let (x, y, z, t) = (a[i], b[i], b[i] - a[i], a[i] + b[i]);
                (x + y + z + t, x + z - y - t, x - z, y - t)
            };
            isa.store(r0, &mut out);
            isa.store(r1, &mut out2);
            assert!((0..w).all(|i| out[i] == scalar(i).0 && out2[i] == scalar(i).1 * w2));
            isa.store(r2, &mut out);
            isa.store(r3, &mut out2);
            assert!((0..w).all(|i| out[i] == scalar(i).2 * w1 + scalar(i).3 * iw1));
            // one lane takes the fourth output from the third's factors
            assert!(w == 1 || (0..w).all(|i| out2[i] == scalar(i).2 * w3 - scalar(i).3 * iw3));
            isa.store(isa.splat(a[0]), &mut out);
            assert!(out.iter().all(|&x| x == a[0]), "splat");
        }
    }
}

#[test]
fn operations_equal_scalar_arithmetic_on_every_variant() {
    let a = edge_elements(64);
    for variant in variants() {
        // every pairing of edges meets in some lane
        for rot in 0..a.len() {
            let mut b = a.clone();
            b.rotate_left(rot);
            variant.run(Ops(&a, &b));
        }
    }
}

/// Elements whose Montgomery words lie around the multiples of 2^27, then others.
fn word_edges(count: usize) -> Vec<F> {
    let p = F::ORDER_U32;
    let mut out: Vec<F> = (0..16_u32)
        .flat_map(|k| [k << 27, (k << 27) + 1, (k << 27).wrapping_sub(1)])
        .filter(|&w| w < p)
        .map(|w| F::from_u32(w).div_2exp_u64(32))
        .collect();
    out.extend(edge_elements(count - out.len()));
    out
}

struct Poseidon2Ops<'a>(&'a [F]);

impl Kernel for Poseidon2Ops<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let x = self.0;
        let mut out = vec![F::ZERO; I::LANES];
        for (at, a) in x.chunks_exact(I::LANES).enumerate() {
            let mut equals = |v: I::V, expected: &dyn Fn(F) -> F, what: &str| {
                isa.store(v, &mut out);
                for (&y, &x) in out.iter().zip(a) {
                    assert_eq!(y, expected(x), "{what}");
                }
            };
            let v = isa.load(a);
            equals(isa.mul_small::<2>(v), &|x| x * F::from_u32(2), "2 x");
            equals(isa.mul_small::<3>(v), &|x| x * F::from_u32(3), "3 x");
            equals(isa.mul_small::<4>(v), &|x| x * F::from_u32(4), "4 x");
            equals(isa.mul_small::<9>(v), &|x| x * F::from_u32(9), "9 x");
            equals(isa.mul_small::<15>(v), &|x| x * F::from_u32(15), "15 x");
            equals(isa.mul_small::<16>(v), &|x| x * F::from_u32(16), "16 x");
            let seventh = |x: F| x * (x * x * x).square();
            equals(isa.pow7([v])[0], &seventh, "x^7");
            // the order of the lanes is restored
            let twice = isa.pow7_swapped(isa.pow7_swapped([v]));
            equals(twice[0], &|x| seventh(seventh(x)), "(x^7)^7");
            // sums of one element, then of different ones
            let fifteen = |x| x * F::from_u32(15);
            equals(isa.sum_and_double([v; 5], [v; 5]), &fifteen, "15 x");
            let b: Vec<F> = (0..10).map(|i| x[(7 * at + 3 * i) % x.len()]).collect();
            let w: Vec<I::V> = b.iter().map(|&x| isa.splat(x)).collect();
            let (single, double) = ([v, w[1], w[2], w[3], w[4]], [w[5], w[6], w[7], w[8], w[9]]);
            let sum = |x| {
                x + b[1..5].iter().copied().sum::<F>() + b[5..].iter().copied().sum::<F>().double()
            };
            equals(isa.sum_and_double(single, double), &sum, "sum");
        }
        transposes::<I, 2>(isa, x);
        transposes::<I, 8>(isa, x);
        transposes::<I, 16>(isa, x);
    }
}

#[inline(always)]
fn transposes<I: Isa, const N: usize>(isa: I, x: &[F]) {
    let mut v = [isa.splat(F::ZERO); N];
    let mut out = vec![F::ZERO; I::LANES];
    for (v, x) in v.iter_mut().zip(x.chunks_exact(I::LANES)) {
        *v = isa.load(x);
    }
    isa.rows_to_columns(&mut v);
    for (c, &v) in v.iter().enumerate() {
        isa.store(v, &mut out);
        assert!((0..I::LANES).all(|r| out[r] == x[r * N + c]), "columns");
    }
    isa.columns_to_rows(&mut v);
    for (&v, x) in v.iter().zip(x.chunks_exact(I::LANES)) {
        isa.store(v, &mut out);
        assert_eq!(out, x, "rows");
    }
}

#[test]
fn poseidon2_operations_equal_scalar_arithmetic_on_every_variant() {
    let x = word_edges(1024);
    for variant in variants() {
        variant.run(Poseidon2Ops(&x));
    }
}
