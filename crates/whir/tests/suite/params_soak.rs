//! Random parameter sets: our proof has p3-whir's bytes, and each verifier takes the other's proof.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::common::sets::{agree_on, set};
use crate::common::{count, on_threads};
use fieldspar_device::variants_to_test;
use fieldspar_whir::cpu::CpuEngine;

const THREADS: [usize; 5] = [1, 2, 3, 7, 5];

#[test]
fn soak_params() {
    let variants = variants_to_test().unwrap();
    for seed in 0..count("PARAMS", 30) {
        let set = set(seed);
        let variant = variants[seed as usize % variants.len()];
        let threads = THREADS[seed as usize % THREADS.len()];
        let run = || on_threads(threads, || agree_on(&set, CpuEngine::new(variant).unwrap()));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(run)) {
            println!("set {seed}, {variant:?}, {threads} threads: {set:#?}");
            resume_unwind(panic);
        }
    }
}
