//! Sums on a GPU against the known logarithms of their points, and against the processor.
//!
//! Without a GPU the tests say so and pass, unless `FIELDSPAR_EXPECT` lists `cuda`.
#![allow(clippy::unwrap_used, missing_docs)]

use fieldspar_device::Error as DeviceError;
use fieldspar_device::cuda::FaultKind;
use fieldspar_msm::cuda::{Budget, CudaEngine};
use fieldspar_msm::curve::{Affine, Bls12_377, Bls12_381, Bn254, Curve};
use fieldspar_msm::field::Fp;
use fieldspar_msm::inputs::{self, Distribution};
use fieldspar_msm::{
    Bases, Engine, Error, InSubgroup, Level, OnCurve, Scalars, Trusted, msm, msm_many, msm_pinned,
};

fn gpu() -> Option<Engine> {
    match Engine::open(&"cuda".parse().unwrap()) {
        Ok(engine) => Some(engine),
        Err(error) => {
            let expected = std::env::var("FIELDSPAR_EXPECT").unwrap_or_default();
            assert!(!expected.contains("cuda"), "{error}");
            eprintln!("no GPU: {error}");
            None
        }
    }
}

fn cpu() -> Engine {
    Engine::open(&"cpu".parse().unwrap()).unwrap()
}

/// How often, in a soak and otherwise.
fn count(part: &str, otherwise: usize) -> usize {
    let set = std::env::var(format!("FIELDSPAR_SOAK_{part}"));
    set.map_or(otherwise, |count| count.parse().unwrap())
}

/// The sum on the device must be what the logarithms say.
fn right<C: Curve<N>, const N: usize, L: Level>(
    gpu: &Engine,
    bases: &Bases<C, N, L>,
    skew: Distribution,
) {
    let scalars = skew.scalars(2, bases.len(), &C::ORDER);
    let want = inputs::expected::<C, N>(5, &scalars);
    let got = msm(gpu, bases, &scalars).unwrap();
    assert_eq!(got, want, "{} {} {skew}", C::NAME, bases.len());
}

fn sizes<C: Curve<N>, const N: usize>() {
    let Some(gpu) = gpu() else { return };
    let all = inputs::points::<C, N>(5, (1 << 16) + 1);
    let mut sizes: Vec<usize> = (1..=300).collect();
    for log in 9..=16 {
        sizes.extend([(1 << log) - 1, 1 << log, (1 << log) + 1]);
    }
    for size in sizes {
        let points = all[..size].to_vec();
        let on_curve = Bases::<C, N, OnCurve>::new(points.clone()).unwrap();
        right(&gpu, &on_curve, Distribution::Uniform);
        let bases = Bases::<C, N, Trusted>::prepare(&gpu, points.clone(), Budget::Points).unwrap();
        right(&gpu, &bases, Distribution::Uniform);
        right(&gpu, &bases, Distribution::Zipf);
        if size % 16 == 0 {
            let more = Budget::Bytes(256 << 20);
            let bases = Bases::<C, N, Trusted>::prepare(&gpu, points, more).unwrap();
            assert!(bases.on_device().unwrap().1 > 1);
            right(&gpu, &bases, Distribution::Uniform);
        }
    }
}

#[test]
fn bls12_377_of_many_sizes() {
    sizes::<Bls12_377, 6>();
}

#[test]
fn bls12_381_of_many_sizes() {
    sizes::<Bls12_381, 6>();
}

#[test]
fn bn254_of_many_sizes() {
    sizes::<Bn254, 4>();
}

fn skews<C: Curve<N>, const N: usize>() {
    let Some(gpu) = gpu() else { return };
    let points = inputs::points::<C, N>(5, 100_003);
    for budget in [Budget::Points, Budget::Bytes(1 << 30)] {
        let bases = Bases::<C, N, InSubgroup>::prepare(&gpu, points.clone(), budget).unwrap();
        for skew in Distribution::ALL {
            right(&gpu, &bases, skew);
        }
    }
}

#[test]
fn no_skew_is_wrong() {
    skews::<Bls12_377, 6>();
    skews::<Bls12_381, 6>();
    skews::<Bn254, 4>();
}

/// Infinity, equal and opposite points, and scalars at the ends, which meet in one bucket.
fn edges<C: Curve<N>, const N: usize>() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    let mut least = C::ORDER;
    least[0] -= 1;
    for seed in 0..20 {
        let mut points = inputs::points::<C, N>(seed, 600);
        let mut scalars = Distribution::Uniform.scalars(seed, 600, &C::ORDER);
        for i in (0..600).step_by(6) {
            points[i] = Affine::INFINITY;
            points[i + 1] = points[1];
            points[i + 2] = points[1].neg();
            let of = [[0; 4], [1, 0, 0, 0], least, [2, 0, 0, 0], scalars[0]];
            for k in 0..4 {
                scalars[i + k] = of[(i / 6 + k * seed as usize) % 5];
            }
        }
        let trusted = Bases::<C, N, Trusted>::new(points.clone()).unwrap();
        let want = msm(&cpu, &trusted, &scalars).unwrap();
        assert_eq!(msm(&gpu, &trusted, &scalars).unwrap(), want, "{seed}");
        let on_curve = Bases::<C, N, OnCurve>::new(points.clone()).unwrap();
        assert_eq!(msm(&gpu, &on_curve, &scalars).unwrap(), want, "{seed}");
        let budget = Budget::Bytes(1 << 30);
        let more = Bases::<C, N, Trusted>::prepare(&gpu, points, budget).unwrap();
        assert_eq!(msm(&gpu, &more, &scalars).unwrap(), want, "{seed}");
    }
    // all the same point, and all of it cancelled
    let points = vec![Affine::<C, N>::generator(); 5000];
    let scalars = Distribution::Same.scalars(3, 5000, &C::ORDER);
    let bases = Bases::<C, N, Trusted>::new(points.clone()).unwrap();
    let want = msm(&cpu, &bases, &scalars).unwrap();
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
    let half: Vec<_> = (0..5000)
        .map(|i| {
            if i % 2 == 0 {
                points[i]
            } else {
                points[i].neg()
            }
        })
        .collect();
    let bases = Bases::<C, N, Trusted>::new(half).unwrap();
    assert!(msm(&gpu, &bases, &scalars).unwrap().is_infinity());
}

#[test]
fn exceptional_additions_are_exact() {
    edges::<Bls12_377, 6>();
    edges::<Bls12_381, 6>();
    edges::<Bn254, 4>();
}

/// Points of order 2, which have no image on the Edwards curve, and others outside the subgroup.
#[test]
fn points_outside_the_subgroup() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    let mut points = inputs::points::<Bls12_377, 6>(5, 500);
    points[77] = Affine {
        x: Fp::ONE.neg(),
        y: Fp::ZERO,
    };
    let mut x = 2;
    for i in (0..500).step_by(9) {
        while Affine::<Bls12_377, 6>::from_x(Fp::from_u64(x), false).is_none() {
            x += 1;
        }
        points[i] = Affine::from_x(Fp::from_u64(x), i % 2 == 0).unwrap();
        x += 1;
    }
    let scalars = Distribution::Uniform.scalars(1, 500, &Bls12_377::ORDER);
    let bases = Bases::<_, 6, OnCurve>::new(points.clone()).unwrap();
    let want = msm(&cpu, &bases, &scalars).unwrap();
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
    let bases = Bases::<_, 6, OnCurve>::prepare(&gpu, points, Budget::Bytes(1 << 30)).unwrap();
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
    // a trusted point without an image: the sum is that of the Weierstrass curve
    let mut points = inputs::points::<Bls12_377, 6>(5, 100);
    points[50] = Affine {
        x: Fp::ONE.neg(),
        y: Fp::ZERO,
    };
    let bases = Bases::<_, 6, Trusted>::new(points.clone()).unwrap();
    let scalars = vec![3u64; 100];
    let want = msm(&cpu, &bases, &scalars).unwrap();
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
    let bases = Bases::<_, 6, Trusted>::prepare(&gpu, points, Budget::Points).unwrap();
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
}

fn narrow<C: Curve<N>, const N: usize>() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    let n = 3000;
    let points = inputs::points::<C, N>(5, n);
    let mut stream = inputs::Stream::new(9, 9);
    let wide: Vec<u64> = (0..n).map(|_| stream.next_u64()).collect();
    let (u32s, u16s): (Vec<u32>, Vec<u16>) = wide.iter().map(|&v| (v as u32, v as u16)).unzip();
    let (u8s, bools): (Vec<u8>, Vec<bool>) = wide.iter().map(|&v| (v as u8, v & 1 == 1)).unzip();
    let vectors: [Scalars<'_>; 5] = [
        (&wide).into(),
        (&u32s).into(),
        (&u16s).into(),
        (&u8s).into(),
        (&bools).into(),
    ];
    let bases = Bases::<C, N, Trusted>::new(points.clone()).unwrap();
    let want = msm_many(&cpu, &bases, &vectors).unwrap();
    assert_eq!(msm_many(&gpu, &bases, &vectors).unwrap(), want);
    let budget = Budget::Bytes(1 << 30);
    let bases = Bases::<C, N, Trusted>::prepare(&gpu, points, budget).unwrap();
    assert_eq!(msm_many(&gpu, &bases, &vectors).unwrap(), want);
}

#[test]
fn narrow_scalars() {
    narrow::<Bls12_377, 6>();
    narrow::<Bls12_381, 6>();
    narrow::<Bn254, 4>();
}

#[test]
fn a_scalar_that_is_the_order_is_named() {
    let Some(gpu) = gpu() else { return };
    let points = inputs::points::<Bn254, 4>(5, 1000);
    let bases = Bases::<_, 4, Trusted>::new(points).unwrap();
    let mut scalars = vec![[1, 0, 0, 0]; 1000];
    scalars[901] = [u64::MAX; 4];
    scalars[617] = Bn254::ORDER;
    let error = msm(&gpu, &bases, &scalars).unwrap_err();
    assert!(matches!(error, Error::Scalar { index: 617, .. }), "{error}");
    let error = msm(&gpu, &bases, &scalars[1..]).unwrap_err();
    assert!(matches!(error, Error::Length { .. }), "{error}");
}

#[test]
fn soak_cuda_msm_repeats() {
    let Some(gpu) = gpu() else { return };
    let points = inputs::points::<Bls12_377, 6>(5, 1 << 14);
    let bases = Bases::<_, 6, Trusted>::prepare(&gpu, points, Budget::Points).unwrap();
    let scalars = Distribution::Zipf.scalars(2, bases.len(), &Bls12_377::ORDER);
    let want = inputs::expected::<Bls12_377, 6>(5, &scalars);
    let repeats = count("CUDA_MSM_REPEATS", 100);
    for i in 0..repeats {
        assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want, "run {i}");
    }
    // two threads on one engine, and two engines on one GPU
    let other = Engine::open(&"cuda".parse().unwrap()).unwrap();
    std::thread::scope(|s| {
        for engine in [&gpu, &gpu, &other, &other] {
            s.spawn(|| {
                for _ in 0..repeats / 5 {
                    assert_eq!(msm(engine, &bases, &scalars).unwrap(), want);
                }
            });
        }
    });
}

fn failed(error: &Error, kind: FaultKind) {
    let Error::Device(error) = error else {
        panic!("{kind:?}: {error}");
    };
    match kind {
        FaultKind::Alloc => assert!(matches!(error, DeviceError::OutOfMemory(_)), "{error}"),
        _ => assert!(matches!(error, DeviceError::KernelFailed { .. }), "{error}"),
    }
}

/// Every allocation, transfer, launch and wait of a sum and of a preparation fails once: an error of that
/// kind, nothing left behind, and the next sum is right.
#[test]
fn soak_cuda_msm_faults() {
    let Some(gpu) = gpu() else { return };
    let cuda: &CudaEngine = gpu.cuda().unwrap();
    let points = inputs::points::<Bls12_377, 6>(5, 5000);
    let scalars = Distribution::Uniform.scalars(2, 5000, &Bls12_377::ORDER);
    let want = inputs::expected::<Bls12_377, 6>(5, &scalars);
    let host = Bases::<_, 6, Trusted>::new(points.clone()).unwrap();
    let prepared = || {
        let budget = Budget::Bytes(64 << 20);
        Bases::<_, 6, Trusted>::prepare(&gpu, points.clone(), budget)
    };
    let sums: [&dyn Fn() -> Result<Affine<Bls12_377, 6>, Error>; 2] =
        [&|| msm(&gpu, &host, &scalars), &|| {
            msm(&gpu, &prepared()?, &scalars)
        }];
    for sum in sums {
        assert_eq!(sum().unwrap(), want);
        let (faults, start) = (cuda.cuda().faults(), cuda.cuda().pool().live_bytes);
        for kind in FaultKind::ALL {
            faults.fail_at(Some(kind), 0);
            sum().unwrap();
            let operations = faults.count(Some(kind));
            faults.reset();
            println!("{kind:?}: {operations} operations");
            assert!(operations > 0);
            for k in 1..=operations {
                faults.fail_at(Some(kind), k);
                let error = sum().unwrap_err();
                faults.reset();
                failed(&error, kind);
                assert_eq!(cuda.cuda().pool().live_bytes, start, "{kind:?} {k}");
            }
            assert_eq!(sum().unwrap(), want, "{kind:?}");
        }
    }
}

/// With little memory left a sum is right, in chunks, or refused. The driver itself needs some for a stream.
#[test]
fn soak_cuda_msm_balloon() {
    let Some(gpu) = gpu() else { return };
    let cuda = gpu.cuda().unwrap().cuda();
    let points = inputs::points::<Bn254, 4>(5, 1 << 20);
    let bases = Bases::<_, 4, Trusted>::new(points).unwrap();
    let (mut refused, mut made) = (0, 0);
    for mebibytes in [64, 96, 128, 192, 256, 512, 1024] {
        cuda.trim().unwrap();
        let stream = cuda.stream().unwrap();
        let free = cuda.free_bytes().unwrap();
        let take = free.saturating_sub(mebibytes << 20) as usize / 4;
        let balloon = stream.alloc::<u32>(take).unwrap();
        let scalars = Distribution::Uniform.scalars(2, bases.len(), &Bn254::ORDER);
        let want = inputs::expected::<Bn254, 4>(5, &scalars);
        match msm(&gpu, &bases, &scalars) {
            Ok(sum) => {
                assert_eq!(sum, want, "{mebibytes} MiB");
                made += 1;
            }
            Err(Error::Device(DeviceError::OutOfMemory(error))) => {
                println!("{mebibytes} MiB left: {error}");
                refused += 1;
            }
            Err(error) => panic!("{mebibytes} MiB: {error}"),
        }
        drop(balloon);
        stream.synchronize().unwrap();
    }
    assert!(refused > 0 && made > 0, "{refused} refused, {made} made");
}

/// A size of no shape at all, of which another library ran out of memory.
#[test]
fn ten_million_points() {
    let Some(gpu) = gpu() else { return };
    let cuda = gpu.cuda().unwrap();
    let n = 10_615_314;
    let points = inputs::points::<Bn254, 4>(5, n);
    let scalars = Distribution::Uniform.scalars(2, n, &Bn254::ORDER);
    let want = inputs::expected::<Bn254, 4>(5, &scalars);
    let bases = Bases::<_, 4, Trusted>::prepare(&gpu, points, Budget::Points).unwrap();
    let mut pinned = cuda.cuda().pinned(n).unwrap();
    pinned.copy_from_slice(&scalars);
    assert_eq!(msm_pinned(cuda, &bases, &pinned).unwrap(), want);
    assert_eq!(msm(&gpu, &bases, &scalars).unwrap(), want);
}
