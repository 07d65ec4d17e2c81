//! Where the time of a sum goes: prints the phases and the calls of the kernel by size.

use std::{
    borrow::Cow,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

use super::{Column, bucket_sums, horner, reduce, segment_length};
use crate::{
    cpu::{Arithmetic, Portable},
    curve::{Affine, Bls12_377, Bn254, Curve},
    digits::{Digits, Lengths, Windows},
    kernel::{Kernel, Operands, Pair},
};

/// Calls, pairs and nanoseconds, by the bits of the number of pairs.
static NEAR: [[AtomicU64; 3]; 20] = [const { [const { AtomicU64::new(0) }; 3] }; 20];
static FAR: [[AtomicU64; 3]; 20] = [const { [const { AtomicU64::new(0) }; 3] }; 20];

/// A kernel that counts its calls. Chunks are those of the vectors.
#[derive(Clone, Copy, Debug)]
struct Counted<K>(K);

impl<K: Kernel<C, N>, C: Curve<N>, const N: usize> Kernel<C, N> for Counted<K> {
    type Point = K::Point;
    const INFINITY: K::Point = K::INFINITY;
    type Scratch = K::Scratch;
    const CHUNK: usize = 16_384;
    const FEW: usize = 256;

    fn scratch(self, pairs: usize) -> K::Scratch {
        self.0.scratch(pairs)
    }
    fn load(self, from: &[Affine<C, N>], to: &mut [K::Point]) {
        self.0.load(from, to);
    }
    fn table(self, points: &[Affine<C, N>]) -> Cow<'_, [K::Point]> {
        self.0.table(points)
    }
    fn store(self, from: &[K::Point], to: &mut [Affine<C, N>]) {
        self.0.store(from, to);
    }
    fn negate(self, point: &K::Point) -> K::Point {
        self.0.negate(point)
    }
    fn add(
        self,
        left: &[K::Point],
        right: &[K::Point],
        pairs: &[Pair],
        out: &mut [K::Point],
        scratch: &mut K::Scratch,
        operands: Operands,
    ) {
        let start = Instant::now();
        self.0.add(left, right, pairs, out, scratch, operands);
        let time = start.elapsed().as_nanos() as u64;
        let table = match operands {
            Operands::Near => &NEAR,
            Operands::Scattered => &FAR,
        };
        let [calls, all, ns] =
            &table[pairs.len().checked_ilog2().map_or(0, |bits| bits + 1) as usize];
        calls.fetch_add(1, Relaxed);
        all.fetch_add(pairs.len() as u64, Relaxed);
        ns.fetch_add(time, Relaxed);
    }
}

fn print_calls(what: &str) {
    for (name, table) in [("near", &NEAR), ("scattered", &FAR)] {
        for (bits, counts) in table.iter().enumerate() {
            let [calls, pairs, ns] = counts.each_ref().map(|count| count.swap(0, Relaxed));
            if calls > 0 {
                println!(
                    "  {what} {name} < 2^{bits}: {calls} calls, {pairs} pairs, {:.2} ms, {:.0} ns a pair",
                    ns as f64 / 1e6,
                    ns as f64 / pairs as f64
                );
            }
        }
    }
}

fn profile<K: Kernel<C, N>, A: Arithmetic, C: Curve<N>, const N: usize>(
    kernel: K,
    arithmetic: A,
    log: u32,
    width: u32,
) {
    let kernel = Counted(kernel);
    let n = 1usize << log;
    let mut state = 7u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    let points = crate::inputs::points::<C, N>(1, n);
    let values: Vec<[u64; 4]> = (0..n)
        .map(|_| [random(), random(), random(), random() >> 4])
        .collect();
    for _ in 0..2 {
        let mut marks = vec![("start", Instant::now())];
        let mut mark = |name| marks.push((name, Instant::now()));
        let lengths = Lengths::of(&values);
        let digits = [Digits::new(
            values.clone(),
            false,
            Windows::new(width, &lengths),
        )];
        mark("digits");
        let table = kernel.table(&points);
        mark("table");
        let windows = digits[0].windows();
        let mut columns: Vec<Column> = (0..windows.count)
            .map(|window| Column {
                vector: 0,
                window,
                buckets: windows.buckets(window),
            })
            .collect();
        let length = segment_length(&columns, 16_384);
        for column in &mut columns {
            column.buckets = column.buckets.next_multiple_of(length as u32);
        }
        for column in &columns {
            std::hint::black_box(super::sort::sort(std::slice::from_ref(column), &digits));
        }
        mark("sort (done once more in accumulate)");
        let sums = bucket_sums(kernel, &table, &digits, &columns);
        mark("accumulate");
        print_calls("accumulate");
        let sums = reduce::reduce(kernel, arithmetic, &sums, &columns, length);
        mark("reduce");
        print_calls("reduce");
        std::hint::black_box(horner(arithmetic, &sums, width).to_affine(arithmetic));
        mark("horner");
        println!("{} 2^{log} width {width}, segments of {length}:", C::NAME);
        for pair in marks.windows(2) {
            println!("  {}: {:.2?}", pair[1].0, pair[1].1 - pair[0].1);
        }
    }
}

fn both<C: Curve<N>, const N: usize>(log: u32, width: u32) {
    #[cfg(target_arch = "x86_64")]
    if let Some(adx) = crate::cpu::x86_64::adx::Adx::new() {
        profile::<_, _, C, N>(crate::cpu::Scalar(adx), adx, log, width);
        return;
    }
    profile::<_, _, C, N>(crate::cpu::Scalar(Portable), Portable, log, width);
}

/// `--ignored --nocapture`, with `PROFILE=log,width`.
#[test]
#[ignore = "prints times"]
fn phases() {
    let of = std::env::var("PROFILE").unwrap_or("16,13".into());
    let (log, width) = of.split_once(',').unwrap();
    let (log, width) = (log.parse().unwrap(), width.parse().unwrap());
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    pool.install(|| {
        #[cfg(target_arch = "x86_64")]
        if let (Some(ifma), Some(adx)) = (
            crate::cpu::x86_64::avx512::Ifma::new(),
            crate::cpu::x86_64::adx::Adx::new(),
        ) {
            profile::<_, _, Bls12_377, 6>(ifma, adx, log, width);
            profile::<_, _, Bn254, 4>(ifma, adx, log, width);
            return;
        }
        both::<Bls12_377, 6>(log, width);
        both::<Bn254, 4>(log, width);
    });
}
