//! The CUDA engine against the CPU's, operation by operation, and against p3-whir, proof by proof.
//!
//! Without a GPU the tests say so and pass, unless `FIELDSPAR_EXPECT` lists `cuda`.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::all_kinds;
use common::operations::{same, same_witness};
use fieldspar_device::CpuVariant;
use fieldspar_device::cuda::Cuda;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::CudaEngine;
use fieldspar_whir::field::{EF4, EF5, F};
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
