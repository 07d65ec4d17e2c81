//! The CUDA engine against the CPU's, operation by operation, and against p3-whir, proof by proof.
//!
//! Without a GPU the tests say so and pass, unless `FIELDSPAR_EXPECT` lists `cuda`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::time::{Duration, Instant};

use common::files::{elements, input};
use common::operations::{same, same_witness};
use common::sets::{agree_on, set};
use common::{all_kinds, count};
use fieldspar_device::cuda::{Cuda, FaultKind};
use fieldspar_device::{CpuVariant, Error as DeviceError};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::CudaEngine;
use fieldspar_whir::driver::Error;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, F};
use fieldspar_whir::params::{Folds, Params};
use fieldspar_whir::statement::{ProveError, prove, random_point};
use p3_sumcheck::layout::{PrefixProver, SuffixProver};
use p3_sumcheck::strategy::VariableOrder::{Prefix, Suffix};

fn gpu() -> Option<CudaEngine> {
    match Cuda::open(0) {
        Ok(cuda) => Some(CudaEngine::new(&cuda).unwrap()),
        Err(error) => {
            let expected = std::env::var("FIELDSPAR_EXPECT").unwrap_or_default();
            assert!(!expected.contains("cuda"), "{error}");
            eprintln!("no GPU: {error}");
            None
        }
    }
}

fn cpu() -> CpuEngine {
    CpuEngine::new(CpuVariant::best()).unwrap()
}

#[test]
fn every_operation_equals_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    same_witness::<EF4, _, _>(&gpu, &cpu);
    for order in [Suffix, Prefix] {
        for n in 1..=12 {
            for fold in 0..=n.min(6) {
                for rate in [1, 2, 3, 6] {
                    same::<EF4, _, _>(&gpu, &cpu, order, n, fold, rate);
                    same::<EF5, _, _>(&gpu, &cpu, order, n, fold, rate);
                }
            }
        }
    }
}

#[test]
fn every_operation_equals_the_cpu_at_size() {
    let Some(gpu) = gpu() else { return };
    let cpu = cpu();
    for order in [Suffix, Prefix] {
        for (n, fold, rate) in [
            (15, 8, 1),
            (16, 1, 9),
            (17, 3, 2),
            (18, 4, 1),
            (19, 1, 1),
            (20, 1, 5),
            (21, 2, 1),
            (22, 4, 3),
        ] {
            same::<EF4, _, _>(&gpu, &cpu, order, n, fold, rate);
            same::<EF5, _, _>(&gpu, &cpu, order, n, fold, rate);
        }
    }
}

#[test]
fn proofs_equal_plonky3() {
    let Some(gpu) = gpu() else { return };
    for fold in 1..=4 {
        all_kinds::<EF4, SuffixProver<F, EF4>, _>(|| gpu.clone(), fold, 70);
        all_kinds::<EF4, PrefixProver<F, EF4>, _>(|| gpu.clone(), fold, 70);
        all_kinds::<EF5, SuffixProver<F, EF5>, _>(|| gpu.clone(), fold, 90);
        all_kinds::<EF5, PrefixProver<F, EF5>, _>(|| gpu.clone(), fold, 90);
    }
}

#[test]
fn soak_cuda_params() {
    let Some(gpu) = gpu() else { return };
    for seed in 0..count("CUDA_PARAMS", 40) {
        let set = set(1_000_000 + seed);
        println!("{set:?}");
        agree_on(&set, gpu.clone());
    }
}

/// Level, folds and size of the proof that the tests below make.
fn small() -> (Params, usize) {
    let params = Params {
        security_level: 80,
        pow_bits: 10,
        folds: Folds::Constant(3),
        ..Params::default()
    };
    (params, (1 << 14) - 5)
}

fn bytes<E: Engine<EF5>>(engine: &E, params: &Params, values: &[F]) -> Result<Vec<u8>, ProveError> {
    let point = |n| random_point::<EF5>(1, n);
    let proved = prove(engine, params, input(values.to_vec()), point)?;
    Ok(proved.file.encode().unwrap())
}

#[test]
fn soak_cuda_repeats() {
    let Some(gpu) = gpu() else { return };
    let (params, len) = small();
    let values = elements(len);
    let expected = bytes(&cpu(), &params, &values).unwrap();
    for i in 0..count("CUDA_REPEATS", 100) {
        assert!(
            bytes(&gpu, &params, &values).unwrap() == expected,
            "run {i}"
        );
    }
    // two threads on one engine, and two engines on one GPU
    let other = CudaEngine::new(gpu.cuda()).unwrap();
    std::thread::scope(|s| {
        for engine in [&gpu, &gpu, &other, &other] {
            s.spawn(|| {
                for _ in 0..20 {
                    assert!(bytes(engine, &params, &values).unwrap() == expected);
                }
            });
        }
    });
}

/// Two GPUs at once, each from a thread of its own.
#[test]
fn two_gpus_work_side_by_side() {
    let Some(gpu) = gpu() else { return };
    let Ok(second) = Cuda::open(1) else {
        println!("one GPU only");
        return;
    };
    let second = CudaEngine::new(&second).unwrap();
    let (params, len) = small();
    let values = elements(len);
    let expected = bytes(&cpu(), &params, &values).unwrap();
    std::thread::scope(|s| {
        for engine in [&gpu, &second] {
            s.spawn(|| {
                for _ in 0..20 {
                    assert!(bytes(engine, &params, &values).unwrap() == expected);
                }
            });
        }
    });
}

/// Every allocation, transfer, launch and wait of a proof fails once: an error of that kind, nothing
/// left behind, and the next proof is right.
#[test]
fn soak_cuda_faults() {
    let Some(gpu) = gpu() else { return };
    let (params, len) = small();
    let values = elements(len);
    let expected = bytes(&gpu, &params, &values).unwrap();
    let (cuda, start) = (gpu.cuda(), gpu.cuda().pool().live_bytes);
    for kind in FaultKind::ALL {
        cuda.faults().fail_at(Some(kind), 0);
        bytes(&gpu, &params, &values).unwrap();
        let operations = cuda.faults().count(Some(kind));
        cuda.faults().reset();
        println!("{kind:?}: {operations} operations");
        assert!(operations > 0);
        for k in 1..=operations {
            cuda.faults().fail_at(Some(kind), k);
            let begin = Instant::now();
            let failed = bytes(&gpu, &params, &values).unwrap_err();
            assert!(begin.elapsed() < Duration::from_secs(2), "{kind:?} {k}");
            cuda.faults().reset();
            let ProveError::Prover(Error::Device(error)) = failed else {
                panic!("{kind:?} {k}: {failed}");
            };
            match kind {
                FaultKind::Alloc => assert!(matches!(error, DeviceError::OutOfMemory(_))),
                _ => assert!(matches!(error, DeviceError::KernelFailed { .. }), "{error}"),
            }
            assert_eq!(cuda.pool().live_bytes, start, "{kind:?} {k}");
            if k % 16 == 0 {
                assert!(bytes(&gpu, &params, &values).unwrap() == expected, "{k}");
            }
        }
        assert!(
            bytes(&gpu, &params, &values).unwrap() == expected,
            "{kind:?}"
        );
    }
}

/// With little memory left a proof has the right bytes or is refused.
#[test]
fn soak_cuda_balloon() {
    let Some(gpu) = gpu() else { return };
    let cuda = gpu.cuda();
    let params = Params {
        folds: Folds::Constant(2),
        ..small().0
    };
    let mut refused = 0;
    for n in [20, 23, 25] {
        let values = elements(1 << n);
        let expected = bytes(&gpu, &params, &values).unwrap();
        for mebibytes in [128, 512, 1024, 2048, 4096] {
            cuda.trim().unwrap();
            let stream = cuda.stream().unwrap();
            let free = cuda.free_bytes().unwrap();
            let take = free.saturating_sub(mebibytes << 20) as usize / 4;
            let balloon = stream.alloc::<u32>(take).unwrap();
            match bytes(&gpu, &params, &values) {
                Ok(made) => assert!(made == expected, "n {n}, {mebibytes} MiB"),
                Err(ProveError::Prover(Error::Device(DeviceError::OutOfMemory(error)))) => {
                    println!("n {n}, {mebibytes} MiB left: {error}");
                    refused += 1;
                }
                Err(error) => panic!("n {n}, {mebibytes} MiB: {error}"),
            }
            drop(balloon);
            stream.synchronize().unwrap();
        }
    }
    assert!(refused > 0, "no proof was too large");
}
