//! One proof again and again, over thread counts and CPU variants: one hash.

use crate::common::files::{elements, input};
use crate::common::{count, on_threads};
use fieldspar_device::variants_to_test;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::field::EF5;
use fieldspar_whir::params::{Folds, Params};
use fieldspar_whir::statement::{prove, random_point, verify};
use sha2::{Digest, Sha256};

#[test]
fn soak_repeats() {
    let params = Params {
        security_level: 80,
        pow_bits: 10,
        folds: Folds::Constant(3),
        ..Params::default()
    };
    let elements = elements((1 << 11) - 5);
    let variants = variants_to_test().unwrap();
    let kinds: Vec<_> = variants
        .iter()
        .flat_map(|&variant| [1, 2, 3, 7].map(|threads| (variant, threads)))
        .collect();
    let mut first: Option<[u8; 32]> = None;
    for i in 0..count("REPEATS", 20) {
        let (variant, threads) = kinds[i as usize % kinds.len()];
        let file = on_threads(threads, || {
            let engine = CpuEngine::new(variant).unwrap();
            let point = |n| random_point::<EF5>(1, n);
            prove(&engine, &params, input(elements.clone()), point)
        });
        let file = file.unwrap().file;
        let hash: [u8; 32] = Sha256::digest(file.encode().unwrap()).into();
        match first {
            None => {
                verify(&file).unwrap();
                first = Some(hash);
            }
            Some(first) => assert_eq!(first, hash, "run {i}: {variant:?}, {threads} threads"),
        }
    }
}
