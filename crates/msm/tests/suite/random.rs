//! Random MSMs, weighted to the edges.

use ark_ec::AffineRepr;
use fieldspar_msm::curve::{Bls12_377, Bls12_381, Bn254};
use rand::{RngExt, rngs::StdRng};

use crate::support::*;

/// A scalar: anywhere, or at an edge.
fn edge<C: Both<N>, const N: usize>(rng: &mut StdRng) -> [u64; 4] {
    let less = |k: u64| {
        let mut value = C::ORDER;
        value[0] -= k; // no borrow: the lowest limbs of the orders are larger
        value
    };
    let ones = |bits: usize| {
        let mut value = [0; 4];
        for bit in 0..bits {
            value[bit / 64] |= 1 << (bit % 64);
        }
        value
    };
    match rng.random_range(0..12) {
        0 => [0; 4],
        1 => [1, 0, 0, 0],
        2 => less(1),
        3 => less(rng.random_range(2..100)),
        4 => ones(rng.random_range(1..253)),
        // for windows of 12, 13, 16 bits: ones up to a window's edge, so that the next holds the carry
        5 => ones([12, 13, 16][rng.random_range(0..3)] * rng.random_range(1..15)),
        6 => {
            let mut value = [0; 4];
            let bit = rng.random_range(0..252);
            value[bit / 64] = 1 << (bit % 64);
            value
        }
        7 => [rng.random(), 0, 0, 0],
        8 => [rng.random_range(0..20), 0, 0, 0],
        _ => scalar::<C, N>(rng),
    }
}

/// One MSM: points with infinity, equal and opposite ones among them, scalars at edges or all alike.
fn one<C: Both<N>, const N: usize>(n: usize, pool: &[Ark<C, N>], rng: &mut StdRng) {
    let few = rng.random_range(1..=pool.len().min(n + 1));
    let offset = rng.random_range(0..=pool.len() - few);
    let points: Vec<_> = (0..n)
        .map(|_| {
            let point = pool[offset + rng.random_range(0..few)];
            match rng.random_range(0..8) {
                0 => Ark::<C, N>::zero(),
                1 | 2 => -point,
                _ => point,
            }
        })
        .collect();
    let same = rng.random_bool(0.2).then(|| edge::<C, N>(rng));
    let scalars: Vec<_> = (0..n)
        .map(|_| same.unwrap_or_else(|| edge::<C, N>(rng)))
        .collect();
    let want = expected::<C, N>(&points, &scalars);
    check::<C, N>(
        &points,
        &scalars,
        &want,
        &format!("{points:?} {scalars:x?}"),
    );
}

fn many<C: Both<N>, const N: usize>(count: u64, large: u64) {
    let rng = &mut rng(1);
    let pool = points::<C, N>(1 << 10, rng);
    for _ in 0..count {
        let n = rng.random_range(0..=64);
        one::<C, N>(n, &pool, rng);
    }
    for round in 0..large {
        // sizes around powers of two too
        let log: u32 = rng.random_range(7..=if round % 10 == 0 { 16 } else { 11 });
        let n = (1usize << log) + rng.random_range(0..3) - 1;
        one::<C, N>(n, &pool, rng);
    }
}

/// Counts: `FIELDSPAR_SOAK_MSM` small MSMs a curve, or a few thousand.
fn counts() -> (u64, u64) {
    let soak = std::env::var("FIELDSPAR_SOAK_MSM").ok();
    soak.and_then(|v| v.parse().ok())
        .map_or((1000, 6), |count: u64| (count, count / 500))
}

#[test]
fn soak_msm_bls12_377() {
    let (count, large) = counts();
    many::<Bls12_377, 6>(count, large);
}

#[test]
fn soak_msm_bls12_381() {
    let (count, large) = counts();
    many::<Bls12_381, 6>(count, large);
}

#[test]
fn soak_msm_bn254() {
    let (count, large) = counts();
    many::<Bn254, 4>(count, large);
}
