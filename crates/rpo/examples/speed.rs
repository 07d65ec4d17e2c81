//! Nanoseconds per permutation of each variant, one thread.
use std::hint::black_box;
use std::time::Instant;

use fieldspar_device::CpuVariant;
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::{MODULUS, State, reference};

fn best_of(runs: usize, per: usize, mut f: impl FnMut()) -> f64 {
    let time = |f: &mut dyn FnMut()| {
        let start = Instant::now();
        f();
        start.elapsed().as_secs_f64() * 1e9 / per as f64
    };
    (0..runs).map(|_| time(&mut f)).fold(f64::MAX, f64::min)
}

fn main() {
    let mut seed = 12345u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let mut states: Vec<State> = (0..360)
        .map(|_| core::array::from_fn(|_| next() % MODULUS))
        .collect();
    let mut want = states.clone();
    want.iter_mut().for_each(reference::permute);
    for variant in CpuVariant::ALL {
        let Ok(engine) = CpuEngine::new(variant) else {
            continue;
        };
        let mut got = states.clone();
        engine.permute_batch(&mut got);
        let mut one = states.clone();
        one.iter_mut().for_each(|s| engine.permute_one(s));
        assert!(got == want && one == want, "{variant}");
        let many = best_of(200, states.len(), || {
            engine.permute_batch(black_box(&mut states));
        });
        let mut state = states[0];
        let single = best_of(200, 200, || {
            for _ in 0..200 {
                engine.permute_one(black_box(&mut state));
            }
        });
        println!("{variant:10} many {many:8.1} ns   one {single:8.1} ns");
    }
}
