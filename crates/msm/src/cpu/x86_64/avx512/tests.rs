//! The suite of the lanes on the real instructions, and their speed.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation)]

use std::{hint::black_box, time::Instant};

use super::Avx512;
use crate::{
    cpu::lanes::{
        Lanes, Task,
        add::Scratch,
        field::Field,
        kernel::Vector,
        record::{Record, Record8, Record12},
        tests,
    },
    curve::{Bls12_377, Bls12_381, Bn254, Curve},
    kernel::{Kernel, NEGATE, Operands, Pair},
};

/// Whether the processor has the instructions; says so where it has not.
fn available() -> bool {
    if Avx512::detect().is_none() {
        eprintln!("skipped: no AVX-512 IFMA");
    }
    Avx512::detect().is_some()
}

#[test]
fn field() {
    if let Some(lanes) = Avx512::detect() {
        tests::field_suite(lanes);
    } else {
        available();
    }
}

#[test]
fn additions_377() {
    if available() {
        tests::additions_377::<Avx512>();
    }
}

#[test]
fn additions_381() {
    if available() {
        tests::additions_381::<Avx512>();
    }
}

#[test]
fn additions_254() {
    if available() {
        tests::additions_254::<Avx512>();
    }
}

struct Products<C, const W: usize, const L: usize>(core::marker::PhantomData<C>);

impl<C: Curve<W>, const W: usize, const L: usize> Task for Products<C, W, L> {
    type Output = ();
    #[inline(always)]
    fn run<A: Lanes>(self, a: A) {
        const N: u32 = 400_000;
        let f = Field::<A, C, W, L>::new(a);
        let mut v = [f.splat_words(&Field::<A, C, W, L>::ONE); 16];
        let y = v[3];
        let start = Instant::now();
        for _ in 0..N / 16 {
            for x in &mut v {
                *x = f.mul(x, &y);
            }
        }
        let mul = start.elapsed() / N;
        let start = Instant::now();
        for _ in 0..N / 16 {
            for x in &mut v {
                *x = f.square(x);
            }
        }
        let square = start.elapsed() / N;
        let mut x = v[3];
        let start = Instant::now();
        for _ in 0..N {
            x = f.mul(&x, &y);
        }
        let chain = start.elapsed() / N;
        let start = Instant::now();
        for _ in 0..2000 {
            x = f.invert(&x);
        }
        let invert = start.elapsed() / 2000;
        let mut sum = [0; 8];
        a.store(x[0], &mut sum);
        a.store(v[1][0], &mut sum);
        black_box(sum);
        println!(
            "8 products {mul:?}, in a chain {chain:?}, 8 squares {square:?}, 8 inverses {invert:?}"
        );
    }
}

/// Pairs of a table of `2^log` points, in batches of several sizes.
fn speed<C: Curve<W>, P: Record, const W: usize, const L: usize>(log: u32)
where
    Vector<Avx512>: Kernel<C, W, Point = P, Scratch = Scratch<L>>,
{
    let (Some(kernel), Some(lanes)) = (Vector::<Avx512>::new(), Avx512::detect()) else {
        return;
    };
    lanes.enter(Products::<C, W, L>(core::marker::PhantomData));
    let n = 1usize << log;
    let mut state = 1u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state >> 20
    };
    // Any numbers below p will do for the time.
    let mut table = crate::cpu::pages::filled(n, P::ZERO);
    for record in &mut table {
        for part in record.words_mut().chunks_mut(W) {
            for word in part.iter_mut() {
                *word = (random() << 20) ^ random();
            }
            part[W - 1] %= C::P[W - 1];
        }
    }
    let far: Vec<Pair> = (0..131_072)
        .map(|i| Pair {
            a: (random() as u32 % n as u32) | if random() & 1 == 1 { NEGATE } else { 0 },
            b: (random() as u32 % n as u32) | if random() & 1 == 1 { NEGATE } else { 0 },
            out: i & 8191,
        })
        .collect();
    let near: Vec<Pair> = (0..8192)
        .map(|i| Pair {
            a: 2 * i,
            b: 2 * i + 1,
            out: i,
        })
        .collect();
    let mut out = vec![P::ZERO; 8192];
    for batch in [256, 512, 1024, 2048, 4096] {
        let mut scratch = Scratch::<L>::new(8192, batch);
        let mut times = [f64::MAX; 2];
        for _ in 0..4 {
            let start = Instant::now();
            for pairs in far.chunks(8192) {
                kernel.add(
                    &table,
                    &table,
                    pairs,
                    &mut out,
                    &mut scratch,
                    Operands::Scattered,
                );
            }
            times[0] = times[0].min(start.elapsed().as_secs_f64() * 1e9 / far.len() as f64);
            let start = Instant::now();
            for _ in 0..8 {
                kernel.add(
                    &table,
                    &table,
                    &near,
                    &mut out,
                    &mut scratch,
                    Operands::Near,
                );
            }
            times[1] = times[1].min(start.elapsed().as_secs_f64() * 1e9 / 65_536.0);
        }
        let [far, near] = times;
        println!(
            "{} 2^{log} batch {batch}: {far:.1} ns scattered, {near:.1} near",
            C::NAME
        );
    }
}

/// Not a test of anything but the clock: `--ignored --nocapture` prints it.
#[test]
#[ignore = "prints times"]
fn times() {
    for log in [15, 20] {
        speed::<Bls12_377, Record12, 6, 8>(log);
        speed::<Bls12_381, Record12, 6, 8>(log);
        speed::<Bn254, Record8, 4, 5>(log);
    }
}

/// The whole sum over `2^log` multiples of the generator, on one and two threads, against the known
/// logarithm.
fn whole<C: Curve<N>, const N: usize>(logs: &[u32]) {
    use crate::{Bases, Engine, Trusted, curve::Affine, msm, reference};
    let largest = *logs.iter().max().unwrap();
    let Some(kernel) = crate::cpu::x86_64::adx::Adx::new().map(crate::cpu::Scalar) else {
        return;
    };
    // 1 to n times the generator, by doubling the list
    let mut points = vec![Affine::<C, N>::generator()];
    while points.len() < 1 << largest {
        let n = points.len();
        let pairs: Vec<Pair> = (0..n as u32)
            .map(|i| Pair {
                a: i,
                b: n as u32 - 1,
                out: i,
            })
            .collect();
        let mut next = vec![Affine::INFINITY; n];
        for (pairs, next) in pairs.chunks(4096).zip(next.chunks_mut(4096)) {
            let first = pairs[0].out;
            let pairs: Vec<Pair> = pairs
                .iter()
                .map(|p| Pair {
                    out: p.out - first,
                    ..*p
                })
                .collect();
            let mut scratch = Kernel::<C, N>::scratch(kernel, pairs.len());
            kernel.add(&points, &points, &pairs, next, &mut scratch, Operands::Near);
        }
        points.extend(next);
    }
    let mut state = 7u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let scalars: Vec<[u64; 4]> = (0..points.len())
        .map(|_| [random(), random(), random(), random() >> 4])
        .collect();
    for &log in logs {
        let n = 1usize << log;
        let mut wide = [0u64; 5];
        for (i, scalar) in scalars[..n].iter().enumerate() {
            let (mut high, mut carry) = (0, 0);
            for k in 0..5 {
                let limb = if k < 4 { scalar[k] } else { 0 };
                let low;
                (low, high) = crate::field::mac(0, limb, i as u64 + 1, high);
                (wide[k], carry) = crate::field::adc(wide[k], low, carry);
            }
        }
        let want = reference::multiply(&Affine::<C, N>::generator(), &wide);
        let bases = Bases::<C, N, Trusted>::new(points[..n].to_vec()).unwrap();
        for threads in [1, 2] {
            for name in ["cpu:avx512", "cpu:adx"] {
                let engine = Engine::open(&name.parse().unwrap()).unwrap();
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let mut times = vec![];
                for _ in 0..if log >= 20 { 2 } else { 4 } {
                    let start = Instant::now();
                    let sum = pool
                        .install(|| msm(&engine, &bases, &scalars[..n]))
                        .unwrap();
                    times.push(start.elapsed().as_secs_f64() * 1e3);
                    assert_eq!(sum, want, "{name} {log}");
                }
                println!(
                    "{} 2^{log} {threads} threads {name}: {times:.2?} ms",
                    C::NAME
                );
            }
        }
    }
}

#[test]
#[ignore = "prints times"]
fn whole_times() {
    if available() {
        let logs: Vec<u32> = std::env::var("LOGS").map_or(vec![10, 13, 16, 18, 20], |list| {
            list.split(',').map(|l| l.parse().unwrap()).collect()
        });
        whole::<Bls12_377, 6>(&logs);
        whole::<Bls12_381, 6>(&logs);
        whole::<Bn254, 4>(&logs);
    }
}
