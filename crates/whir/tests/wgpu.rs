//! The wgpu engine against the CPU's, operation by operation, and against p3-whir, proof by proof, on every
//! adapter that is here and in both arithmetic variants.
//!
//! Without an adapter the tests say so and pass, unless `FIELDSPAR_EXPECT` lists one. A software adapter
//! permutes half a million states a second, so what CI does is little; `soak_` has the rest.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use common::count;
use common::files::{elements, input};
use common::operations::{same, same_witness};
use common::sets::{agree_on, set};
use fieldspar_device::cuda::FaultKind;
use fieldspar_device::wgpu::{Arithmetic, Wgpu};
use fieldspar_device::{CpuVariant, Error as DeviceError, adapters_to_test};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::driver::Error;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, EF5, F};
use fieldspar_whir::params::{Folds, Params};
use fieldspar_whir::statement::{ProveError, prove, random_point};
use fieldspar_whir::wgpu::{WgpuEngine, selftest};
use p3_sumcheck::strategy::VariableOrder::{Prefix, Suffix};

fn cpu() -> CpuEngine {
    CpuEngine::new(CpuVariant::best()).unwrap()
}

/// Bindings so small that codewords and trees of a few thousand words lie in pieces.
const SMALL: u64 = 1 << 15;

/// Every adapter, opened: once, since a driver on the processor takes seconds to compile the kernels.
static ADAPTERS: LazyLock<Vec<Wgpu>> = LazyLock::new(open_all);

/// One test at a time: one of them has operations fail on the devices that all share, and wgpu gives a
/// thread up that waits 6 s for OpenGL's context, as long as a slow machine may compile a kernel in another.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn adapters() -> &'static [Wgpu] {
    &ADAPTERS
}

fn open_all() -> Vec<Wgpu> {
    let found = adapters_to_test().unwrap();
    if found.is_empty() {
        eprintln!("no adapter here");
    }
    let open = |spec: &str| Wgpu::open(spec.strip_prefix("wgpu:")).unwrap();
    found.iter().map(|info| open(&info.spec)).collect()
}

fn variants(gpu: &Wgpu) -> Vec<Arithmetic> {
    let mut variants = vec![Arithmetic::U32];
    if gpu.arithmetic() == Arithmetic::U64 {
        variants.push(Arithmetic::U64);
    }
    variants
}

/// Every adapter in every variant; the second number limits the bindings.
fn engines(binding_bytes: u64) -> Vec<WgpuEngine> {
    let mut engines = Vec::new();
    for gpu in adapters() {
        for arithmetic in variants(gpu) {
            println!("{} {arithmetic}", gpu.spec());
            engines.push(WgpuEngine::with_options(gpu, arithmetic, binding_bytes).unwrap());
        }
    }
    engines
}

fn best() -> Vec<WgpuEngine> {
    let engine = |gpu: &Wgpu| WgpuEngine::new(gpu).unwrap();
    adapters().iter().map(engine).collect()
}

#[test]
fn the_self_test_passes() {
    let _alone = alone();
    for engine in engines(u64::MAX) {
        selftest::selftest(&engine).unwrap();
    }
}

#[test]
fn every_operation_equals_the_cpu() {
    let _alone = alone();
    let cpu = cpu();
    for engine in engines(u64::MAX) {
        same_witness::<EF4, _, _>(&engine, &cpu);
        for order in [Suffix, Prefix] {
            for (n, fold, rate) in [
                (1, 0, 1),
                (3, 1, 1),
                (5, 3, 2),
                (7, 0, 1),
                (8, 4, 1),
                (9, 2, 3),
                (10, 6, 1),
            ] {
                same::<EF4, _, _>(&engine, &cpu, order, n, fold, rate);
                same::<EF5, _, _>(&engine, &cpu, order, n, fold, rate);
            }
        }
    }
}

/// All radices of the transform, and tables larger than a workgroup.
#[test]
fn every_operation_equals_the_cpu_at_size() {
    let _alone = alone();
    let cpu = cpu();
    for engine in best() {
        for (order, n, fold, rate) in [(Suffix, 13, 3, 1), (Prefix, 14, 1, 1), (Suffix, 12, 4, 3)] {
            same::<EF5, _, _>(&engine, &cpu, order, n, fold, rate);
        }
        same::<EF4, _, _>(&engine, &cpu, Suffix, 11, 1, 3);
    }
}

#[test]
fn pieces_change_nothing() {
    let _alone = alone();
    let cpu = cpu();
    for gpu in adapters() {
        let engine = WgpuEngine::with_options(gpu, gpu.arithmetic(), SMALL).unwrap();
        for order in [Suffix, Prefix] {
            same::<EF5, _, _>(&engine, &cpu, order, 10, 2, 1);
            same::<EF4, _, _>(&engine, &cpu, order, 10, 3, 1);
        }
        // more than the pieces of one kernel
        let shape = fieldspar_whir::engine::CodeShape {
            order: Suffix,
            fold: 3,
            log_inv_rate: 3,
            cap_height: 0,
        };
        let f = Engine::<EF5>::load(&engine, elements(1 << 14)).unwrap();
        let refused = Engine::<EF5>::commit(&engine, &f, shape).unwrap_err();
        assert!(
            matches!(refused, Error::Device(DeviceError::Unsupported { .. })),
            "{refused}"
        );
    }
}

/// Random parameter sets.
#[test]
fn soak_wgpu_params() {
    let _alone = alone();
    for engine in best() {
        for seed in 0..count("WGPU_PARAMS", 6) {
            let set = set(2_000_000 + seed);
            println!("{set:?}");
            agree_on(&set, engine.clone());
        }
    }
}

/// Level, folds and size of the proof that the tests below make.
fn small() -> (Params, usize) {
    let params = Params {
        security_level: 80,
        pow_bits: 6,
        folds: Folds::Constant(3),
        ..Params::default()
    };
    (params, (1 << 10) - 5)
}

fn bytes<E: Engine<EF5>>(engine: &E, params: &Params, values: &[F]) -> Result<Vec<u8>, ProveError> {
    let point = |n| random_point::<EF5>(1, n);
    let proved = prove(engine, params, input(values.to_vec()), point)?;
    Ok(proved.file.encode().unwrap())
}

#[test]
fn a_large_proof_equals_the_cpus() {
    let _alone = alone();
    let n = 18;
    let values = elements(1 << n);
    let params = Params::default();
    let expected = bytes(&cpu(), &params, &values).unwrap();
    for engine in best() {
        let begin = Instant::now();
        assert!(bytes(&engine, &params, &values).unwrap() == expected);
        println!("{}: n = {n}, {:?}", engine.gpu().spec(), begin.elapsed());
    }
}

#[test]
fn soak_wgpu_repeats() {
    let _alone = alone();
    let (params, len) = small();
    let values = elements(len);
    let expected = bytes(&cpu(), &params, &values).unwrap();
    for engine in best() {
        for i in 0..count("WGPU_REPEATS", 2) {
            let waits = engine.waits();
            let made = bytes(&engine, &params, &values).unwrap();
            assert!(made == expected, "run {i}");
            println!("{} waits", engine.waits() - waits);
        }
        // two threads on one engine, and another engine on the adapter
        let other = WgpuEngine::new(engine.gpu()).unwrap();
        std::thread::scope(|s| {
            for engine in [&engine, &engine, &other] {
                s.spawn(|| assert!(bytes(engine, &params, &values).unwrap() == expected));
            }
        });
    }
}

/// Every allocation, transfer, launch and wait of a proof fails once: an error of that kind, nothing
/// left behind, and the next proof is right. CI takes a few of each kind.
#[test]
fn soak_wgpu_faults() {
    let _alone = alone();
    let (params, len) = small();
    let values = elements(len);
    let most = count("WGPU_FAULTS", 5);
    for engine in best() {
        let expected = bytes(&engine, &params, &values).unwrap();
        let gpu = engine.gpu();
        let start = gpu.live_bytes();
        for kind in FaultKind::ALL {
            gpu.faults().fail_at(Some(kind), 0);
            bytes(&engine, &params, &values).unwrap();
            let operations = gpu.faults().count(Some(kind));
            gpu.faults().reset();
            println!("{kind:?}: {operations} operations");
            assert!(operations > 0);
            let every = operations.div_ceil(most).max(1) as usize;
            for k in (1..=operations).step_by(every) {
                gpu.faults().fail_at(Some(kind), k);
                let begin = Instant::now();
                let failed = bytes(&engine, &params, &values).unwrap_err();
                assert!(begin.elapsed() < Duration::from_secs(5), "{kind:?} {k}");
                gpu.faults().reset();
                let ProveError::Prover(Error::Device(error)) = failed else {
                    panic!("{kind:?} {k}: {failed}");
                };
                assert!(matches!(error, DeviceError::KernelFailed { .. }), "{error}");
                assert_eq!(gpu.live_bytes(), start, "{kind:?} {k}");
            }
            assert!(
                bytes(&engine, &params, &values).unwrap() == expected,
                "{kind:?}"
            );
        }
    }
}
