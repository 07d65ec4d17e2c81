//! One suite, one line per device.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::all_kinds;
use fieldspar_device::wgpu::Wgpu;
use fieldspar_device::{CpuVariant, adapters_to_test, variants_to_test};
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::field::{EF4, EF5, F};
use fieldspar_whir::wgpu::WgpuEngine;
use p3_sumcheck::layout::{PrefixProver, SuffixProver};

fn suite(variant: CpuVariant) {
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let engine = || CpuEngine::new(variant).unwrap();
            for fold in 1..=4 {
                all_kinds::<EF4, SuffixProver<F, EF4>, _>(engine, fold, 70);
                all_kinds::<EF4, PrefixProver<F, EF4>, _>(engine, fold, 70);
                all_kinds::<EF5, SuffixProver<F, EF5>, _>(engine, fold, 90);
                all_kinds::<EF5, PrefixProver<F, EF5>, _>(engine, fold, 90);
            }
        });
    }
}

#[test]
fn every_cpu_variant() {
    for variant in variants_to_test().unwrap() {
        suite(variant);
    }
}

/// Fewer folds: an adapter that runs on the processor is slow.
#[test]
fn every_adapter() {
    for info in adapters_to_test().unwrap() {
        let gpu = Wgpu::open(info.spec.strip_prefix("wgpu:")).unwrap();
        let engine = WgpuEngine::new(&gpu).unwrap();
        let engine = || engine.clone();
        all_kinds::<EF4, SuffixProver<F, EF4>, _>(engine, 2, 70);
        all_kinds::<EF5, PrefixProver<F, EF5>, _>(engine, 3, 90);
    }
}
