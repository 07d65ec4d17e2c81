//! Measures the GPU engines: `gpu cuda [IMAGE...]`, `gpu wgpu [NAME]`. Compares results with the
//! processor's. Other builds of the CUDA kernels are given as files.
#![allow(clippy::unwrap_used, missing_docs)]

use std::time::Instant;

use fieldspar_device::cuda::Cuda;
use fieldspar_device::wgpu::{Arithmetic, Wgpu};
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::cuda::{CudaEngine, measure};
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::wgpu::WgpuEngine;
use fieldspar_rpo::{Digest, Sponge, State};

fn states(count: usize) -> Vec<State> {
    let mut x = 0x1234_5678_9ABC_DEF1_u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..count)
        .map(|_| std::array::from_fn(|_| next()))
        .collect()
}

fn leaves(count: usize) -> Vec<Digest> {
    let digest = |s: State| Digest::new([0, 1, 2, 3].map(|i| s[i] >> 1)).unwrap();
    states(count).into_iter().map(digest).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Wall-clock milliseconds, median of `runs`.
fn wall(runs: usize, mut work: impl FnMut()) -> f64 {
    work();
    let times = (0..runs).map(|_| {
        let begin = Instant::now();
        work();
        begin.elapsed().as_secs_f64() * 1e3
    });
    median(times.collect())
}

/// Everything against the processor.
fn compare(gpu: &dyn Engine, log: u32) {
    let cpu = CpuEngine::best();
    let mut ours = states(1 << log);
    let mut theirs = ours.clone();
    gpu.permute_many(&mut ours).unwrap();
    cpu.permute_many(&mut theirs).unwrap();
    assert_eq!(ours, theirs);
    let elements: Vec<u64> = theirs.as_flattened().to_vec();
    for sponge in Sponge::ALL {
        for width in [1, 7, 8, 9, 12] {
            let input = &elements[..elements.len() / width * width];
            let ours = gpu.hash_rows(sponge, input, width).unwrap();
            assert_eq!(ours, cpu.hash_rows(sponge, input, width).unwrap());
        }
        let inputs: Vec<&[u64]> = (0..500).map(|n| &elements[n..n + n % 41]).collect();
        let ours = gpu.hash_many(sponge, &inputs).unwrap();
        assert_eq!(ours, cpu.hash_many(sponge, &inputs).unwrap());
        for log in 0..=log {
            let leaves = leaves(1 << log);
            let ours = gpu.levels(sponge, leaves.clone()).unwrap();
            assert_eq!(ours, cpu.levels(sponge, leaves).unwrap());
        }
    }
    println!(
        "{}: every operation equals the processor's, up to 2^{log}",
        gpu.device()
    );
}

fn cuda(images: &[String]) {
    let gpu = Cuda::open(0).unwrap();
    println!("{:?}", gpu.info());
    let begin = Instant::now();
    let engine = CudaEngine::new(&gpu).unwrap();
    println!("load: {:?}", begin.elapsed());
    let begin = Instant::now();
    engine.self_test().unwrap();
    println!("self-test: {:?}", begin.elapsed());
    let count = 1 << 21;
    let input = states(count);
    let rate = |engine: &CudaEngine, what: &str| {
        let ms = median(measure::permutations(engine, &input, 9).unwrap());
        println!(
            "{what}: {:.1} M permutations/s ({ms:.3} ms for 2^21)",
            count as f64 / ms / 1e3
        );
    };
    rate(&engine, "permute_many");
    for path in images {
        let image = std::fs::read(path).unwrap();
        let other = CudaEngine::with_image(&gpu, &image).unwrap();
        rate(&other, path);
    }
    for log in [10, 16, 20, 22] {
        let leaves = leaves(1 << log);
        let mut pinned = gpu.pinned::<Digest>(leaves.len()).unwrap();
        pinned.copy_from_slice(&leaves);
        let expected = engine.levels(Sponge::Miden022, leaves.clone()).unwrap();
        let root = || engine.root_pinned(Sponge::Miden022, &pinned).unwrap();
        assert_eq!(root(), expected[log as usize][0]);
        let ms = wall(9, || {
            root();
        });
        let whole = wall(5, || {
            engine.levels(Sponge::Miden022, leaves.clone()).unwrap();
        });
        println!(
            "merkle 2^{log}: root from page-locked memory {ms:.3} ms, all levels to a vector {whole:.3} ms"
        );
    }
    compare(&engine, 14);
    let mut many = states(1 << 20);
    let ms = wall(5, || engine.permute_many(&mut many).unwrap());
    println!("permute_many of 2^20 over the bus: {ms:.3} ms");
}

fn wgpu(name: Option<&str>, log: u32) {
    let gpu = Wgpu::open(name).unwrap();
    println!("{:?}", gpu.info());
    for arithmetic in [Arithmetic::U64, Arithmetic::U32] {
        let begin = Instant::now();
        let engine = match WgpuEngine::with_arithmetic(&gpu, arithmetic) {
            Ok(engine) => engine,
            Err(error) => {
                println!("{arithmetic}: {error}");
                continue;
            }
        };
        println!("{arithmetic}: compile {:?}", begin.elapsed());
        let begin = Instant::now();
        engine.self_test().unwrap();
        println!("{arithmetic}: self-test {:?}", begin.elapsed());
        let mut many = states(1 << log);
        let waits = gpu.waits();
        engine.permute_many(&mut many).unwrap();
        println!(
            "{arithmetic}: waits of the first run {}",
            gpu.waits() - waits
        );
        let waits = gpu.waits();
        let ms = wall(3, || engine.permute_many(&mut many).unwrap());
        let rate = f64::from(1_u32 << log) / ms / 1e3;
        println!(
            "{arithmetic}: 2^{log} permutations over the bus {ms:.2} ms, {rate:.3} M/s, waits {}",
            (gpu.waits() - waits) / 4
        );
        let leaves = leaves(1 << log);
        let ms = wall(3, || {
            engine.levels(Sponge::Miden022, leaves.clone()).unwrap();
        });
        println!("{arithmetic}: merkle 2^{log}, all levels {ms:.2} ms");
        compare(&engine, log.min(12));
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.first().map(String::as_str) {
        Some("cuda") => cuda(&args[1..]),
        Some("wgpu") => {
            let log = args.get(2).map_or(10, |l| l.parse().unwrap());
            wgpu(args.get(1).map(String::as_str), log);
        }
        _ => eprintln!("gpu cuda [IMAGE...] | gpu wgpu NAME [LOG]"),
    }
}
