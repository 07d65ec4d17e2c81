//! Where the time of one proof goes: `phases N FOLD RATE [RUNS] [VARIANT|cuda]`.
//!
//! Degree 4, capacity, level 90, 16 bits of proof of work and the `article` rate schedule: the
//! setting of the published comparison. `cargo run --release --example phases -- 22 4 1`.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fieldspar_device::CpuVariant;
use fieldspar_device::cuda::Cuda;
use fieldspar_whir::cpu::CpuEngine;
use fieldspar_whir::cuda::CudaEngine;
use fieldspar_whir::engine::Engine;
use fieldspar_whir::field::{EF4, F};
use fieldspar_whir::input::{Encoding, Input};
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params, RateSchedule};
use fieldspar_whir::profile::Span;
use fieldspar_whir::statement::{prove, random_point, verify};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |i: usize, default: usize| -> Result<usize, std::num::ParseIntError> {
        args.get(i).map_or(Ok(default), |a| a.parse())
    };
    let (n, fold, rate, runs) = (number(0, 20)?, number(1, 4)?, number(2, 1)?, number(3, 5)?);
    let mut params = Params {
        security_level: 90,
        assumption: Assumption::Capacity,
        folds: Folds::Constant(fold),
        log_inv_rate: rate,
        rates: RateSchedule::Article,
        degree: ExtensionDegree::Four,
        ..Params::default()
    };
    if let Some(level) = params.max_security_level(n) {
        params.security_level = level.min(90);
    }
    match args.get(4).map(String::as_str) {
        Some("cuda") => {
            let cuda = Cuda::open(0)?;
            let engine = CudaEngine::new(&cuda)?;
            measure(&engine, cuda.name(), &params, (n, fold, rate), runs)
        }
        name => {
            let variant = match name {
                Some(name) => CpuVariant::ALL
                    .into_iter()
                    .find(|v| v.name() == name)
                    .ok_or("no such variant")?,
                None => CpuVariant::best(),
            };
            let engine = CpuEngine::new(variant)?;
            measure(
                &engine,
                &format!("cpu:{variant}"),
                &params,
                (n, fold, rate),
                runs,
            )
        }
    }
}

fn measure<E: Engine<EF4>>(
    engine: &E,
    device: &str,
    params: &Params,
    (n, fold, rate): (usize, usize, usize),
    runs: usize,
) -> Result<(), Box<dyn std::error::Error>> {
    let profile = engine.profile().clone();
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    // the last one with the device's own times, if it has any, and not counted
    for run in 0..=runs + 1 {
        let timed = run == runs + 1;
        let mut x = 0x9e37_79b9_7f4a_7c15_u64 ^ (run as u64 + 1);
        let elements = (0..1_usize << n)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                F::new(x as u32 >> 2)
            })
            .collect();
        let input = Input {
            elements,
            true_len: 1 << n,
            encoding: Encoding::U32,
        };
        if timed {
            engine.start_timeline()?;
        }
        profile.clear();
        let begin = Instant::now();
        // inside the pool, so that the main thread works too
        let proved = rayon::scope(|_| {
            prove::<EF4, _>(engine, params, input, |n| random_point(run as u64, n))
        })?;
        let timeline = engine.take_timeline()?;
        verify(&proved.file)?;
        if let Some((origin, kernels)) = timeline {
            let since = begin.saturating_duration_since(origin);
            print_timeline(since, &profile.spans(), &kernels);
        }
        if run == 0 || timed {
            continue;
        }
        let ms = |d: Duration| d.as_secs_f64() * 1e3;
        let mut rest = proved.commit + proved.open;
        for (name, total) in profile.totals() {
            all.entry(name).or_default().push(ms(total));
            rest = rest.saturating_sub(total);
        }
        all.entry("other").or_default().push(ms(rest));
        all.entry("= commit").or_default().push(ms(proved.commit));
        all.entry("= open").or_default().push(ms(proved.open));
        all.entry("= prove")
            .or_default()
            .push(ms(proved.commit + proved.open));
    }
    println!(
        "n {n} fold {fold} rate {rate} level {} {device} {} threads",
        params.security_level,
        rayon::current_num_threads()
    );
    for (name, mut times) in all {
        times.sort_by(f64::total_cmp);
        println!("{name:>10} {:9.3} ms", times[times.len() / 2]);
    }
    Ok(())
}

/// The host's phases and the device's kernels, as they began; the phases began to count `since` after
/// the kernels.
fn print_timeline(since: Duration, phases: &[Span], kernels: &[Span]) {
    let mut all: Vec<_> = phases
        .iter()
        .map(|s| (s.start + since, s.length, "", s.name))
        .chain(kernels.iter().map(|s| (s.start, s.length, "    ", s.name)))
        .collect();
    all.sort_by_key(|&(start, ..)| start);
    for (start, length, indent, name) in all {
        let us = |d: Duration| d.as_secs_f64() * 1e6;
        println!("{:9.1} us {:8.1} us {indent}{name}", us(start), us(length));
    }
}
