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
