//! One suite, one line per device.

use fieldspar_device::cuda::{Cuda, FaultKind, Faults};
use fieldspar_device::wgpu::{Arithmetic, Wgpu};
use fieldspar_device::{Error as DeviceError, adapters_to_test};
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::cuda::CudaEngine;
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::wgpu::WgpuEngine;
use fieldspar_rpo::{Digest, Error, MODULUS, RATE, Sponge, reference};

use crate::Random;

/// An engine against the processor's and the reference, on up to `count` states.
fn suite(engine: &dyn Engine, count: usize) {
    let cpu = CpuEngine::best();
    let mut random = Random::new();
    for n in [0, 1, 2, 63, 64, 65, 127, 129, count] {
        let states = random.states(n);
        let (mut ours, mut theirs) = (states.clone(), states.clone());
        engine.permute_many(&mut ours).unwrap();
        cpu.permute_many(&mut theirs).unwrap();
        assert_eq!(ours, theirs, "{n} states");
        if let (Some(first), Some(found)) = (states.first(), ours.first()) {
            let mut expected = *first;
            reference::permute(&mut expected);
            assert_eq!(*found, expected);
        }
        // The same again.
        let mut again = states;
        engine.permute_many(&mut again).unwrap();
        assert_eq!(again, ours);
    }
    let elements: Vec<u64> = (0..count * 3).map(|_| random.word() % MODULUS).collect();
    for sponge in Sponge::ALL {
        for width in (1..=2 * RATE + 1).chain([40]) {
            let input = &elements[..elements.len().min(70 * width) / width * width];
            let ours = engine.hash_rows(sponge, input, width).unwrap();
            assert_eq!(
                ours,
                cpu.hash_rows(sponge, input, width).unwrap(),
                "{width}"
            );
        }
        let inputs: Vec<&[u64]> = (0..90).map(|n| &elements[n..n + (n * 7) % 41]).collect();
        let ours = engine.hash_many(sponge, &inputs).unwrap();
        assert_eq!(ours, cpu.hash_many(sponge, &inputs).unwrap());
        assert_eq!(engine.hash_many(sponge, &[]).unwrap(), []);
        assert_eq!(engine.hash_many(sponge, &[&[]]).unwrap(), [Digest::ZERO]);

        let digest = |e: &[u64]| Digest::new([e[0], e[1], e[2], e[3]]).unwrap();
        let leaves: Vec<Digest> = elements.chunks_exact(4).map(digest).collect();
        let most = leaves.len().ilog2();
        for log in [0, 1, 2, 6, most] {
            let leaves = leaves[..1 << log].to_vec();
            let ours = engine.levels(sponge, leaves.clone()).unwrap();
            assert_eq!(ours, cpu.levels(sponge, leaves).unwrap(), "2^{log}");
        }
        for parents in [0, 1, 3, 65] {
            let (mut ours, mut theirs) = (vec![Digest::ZERO; parents], vec![Digest::ZERO; parents]);
            let children = &leaves[..2 * parents];
            engine.merge_level(sponge, children, &mut ours).unwrap();
            cpu.merge_level(sponge, children, &mut theirs).unwrap();
            assert_eq!(ours, theirs);
        }
    }
    refusals(engine);
}

/// What is no input.
fn refusals(engine: &dyn Engine) {
    let sponge = Sponge::Miden022;
    let mut elements = vec![1_u64; 60];
    elements[41] = MODULUS;
    elements[50] = u64::MAX;
    let not_canonical = |result: Result<Vec<Digest>, Error>| match result {
        Err(Error::NotCanonical { index, value }) => (index, value),
        other => panic!("{other:?}"),
    };
    let rows = engine.hash_rows(sponge, &elements, 5);
    assert_eq!(not_canonical(rows), (41, MODULUS));
    let inputs = [&elements[..3], &[], &elements[3..45], &elements[45..]];
    let many = engine.hash_many(sponge, &inputs);
    assert_eq!(not_canonical(many), (41, MODULUS));
    for (len, width) in [(60, 0), (60, 7), (59, 60)] {
        let error = engine.hash_rows(sponge, &vec![0; len], width).unwrap_err();
        assert!(matches!(error, Error::Length { .. }), "{error}");
    }
    let digests = [Digest::ZERO; 3];
    let mut parents = [Digest::ZERO];
    assert!(engine.merge_level(sponge, &digests, &mut parents).is_err());
    assert!(engine.levels(sponge, digests.to_vec()).is_err());
    assert!(engine.levels(sponge, Vec::new()).is_err());
}

/// Each operation of a short piece of work fails in turn.
fn faults(engine: &dyn Engine, faults: &Faults) {
    let leaves = vec![Digest::ZERO; 8];
    let work = || engine.levels(Sponge::Miden013, leaves.clone());
    let expected = work().unwrap();
    faults.fail_at(None, 0);
    work().unwrap();
    let count = faults.count(None);
    assert!(faults.count(Some(FaultKind::Launch)) > 0);
    for k in 1..=count {
        faults.fail_at(None, k);
        let error = work().unwrap_err();
        assert!(
            matches!(
                error,
                Error::Device(DeviceError::KernelFailed { .. } | DeviceError::OutOfMemory(_))
            ),
            "{k} of {count}: {error:?}"
        );
    }
    faults.reset();
    assert_eq!(work().unwrap(), expected);
}

#[test]
fn every_adapter_in_both_variants() {
    for info in adapters_to_test().unwrap() {
        for arithmetic in [Arithmetic::U64, Arithmetic::U32] {
            if arithmetic == Arithmetic::U64 && info.arithmetic == Arithmetic::U32 {
                continue;
            }
            let gpu = Wgpu::open(info.spec.strip_prefix("wgpu:")).unwrap();
            let engine = WgpuEngine::with_arithmetic(&gpu, arithmetic).unwrap();
            suite(&engine, 300);
            faults(&engine, gpu.faults());
            println!("{} {arithmetic}", engine.device());
        }
    }
}

#[test]
fn cuda() {
    let gpu = match Cuda::open(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            let expected = std::env::var("FIELDSPAR_EXPECT").unwrap_or_default();
            assert!(!expected.contains("cuda"), "{error}");
            eprintln!("no GPU: {error}");
            return;
        }
    };
    let engine = CudaEngine::new(&gpu).unwrap();
    suite(&engine, 40_000);
    faults(&engine, gpu.faults());
    let mut random = Random::new();
    for log in [0, 1, 7, 13, 17, 18] {
        let leaf = |_| Digest::new([0; 4].map(|_| random.next() >> 1)).unwrap();
        let leaves: Vec<Digest> = (0..1 << log).map(leaf).collect();
        let mut pinned = gpu.pinned::<Digest>(leaves.len()).unwrap();
        pinned.copy_from_slice(&leaves);
        for sponge in Sponge::ALL {
            let root = engine.root_pinned(sponge, &pinned).unwrap();
            let levels = engine.levels(sponge, leaves.clone()).unwrap();
            assert_eq!([root], levels[log][..]);
        }
    }
}
