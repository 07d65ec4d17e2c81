//! On every adapter that is here; CI has llvmpipe.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use super::*;
use crate::cuda::FaultKind;
use crate::{Error, adapters_to_test};

/// Adds its number, the workgroup's and a parameter to each word.
const NUMBER: &str = "
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read> old: array<u32>;
@group(0) @binding(2) var<storage, read_write> fresh: array<u32>;
@compute @workgroup_size(4)
fn number(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = 4u * (group.x + params[0].x) + lane;
    if (i < params[0].z) { fresh[i] = old[i] + i + params[0].y; }
}";

/// Turns in a loop that the compiler cannot see through.
const SLOW: &str = "
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read_write> words: array<u32>;
@compute @workgroup_size(64)
fn slow(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    var x = words[lane] + group.x;
    for (var i = 0u; i < params[0].y; i++) { x = x * 1664525u + 1013904223u; }
    words[lane] = x;
}";

const WIDE: &str = "
@group(0) @binding(0) var<uniform> params: array<vec4<u32>, 4>;
@group(0) @binding(1) var<storage, read_write> words: array<u64>;
@compute @workgroup_size(1)
fn square(@builtin(workgroup_id) group: vec3<u32>) {
    words[group.x] = words[group.x] * words[group.x];
}";

/// The adapters, each opened by its own name and not shared: tests run beside each other.
fn gpus() -> Vec<Wgpu> {
    let infos = adapters_to_test().unwrap();
    infos
        .iter()
        .map(|info| Wgpu::open_alone(info.spec.strip_prefix("wgpu:")))
        .collect()
}

fn number(gpu: &Wgpu) -> Kernel {
    let source = Source {
        label: "test",
        text: NUMBER,
    };
    gpu.kernel(&source, "number", &[Access::Read, Access::Write])
        .unwrap()
}

fn fault(error: &Error) -> Fault {
    let Error::KernelFailed { source, .. } = error else {
        panic!("{error:?}");
    };
    source.downcast_ref::<Fault>().cloned().unwrap()
}

#[test]
fn adapters_say_what_they_are() {
    for gpu in gpus() {
        let info = gpu.info();
        assert!(gpu.spec().starts_with("wgpu:"));
        assert!(!info.name.is_empty() && !info.driver.is_empty(), "{info:?}");
        assert!(info.limits.workgroup_invocations >= 256);
        println!("{info:?}");
        let json = serde_json::to_value(info).unwrap();
        for key in ["spec", "backend", "driver", "arithmetic", "limits", "kind"] {
            assert!(!json[key].is_null(), "{key}");
        }
    }
}

#[test]
fn a_kernel_writes_what_it_should_and_waits_once() {
    for gpu in gpus() {
        let kernel = number(&gpu);
        let old: Vec<u32> = (0..61).map(|i| 1000 * i).collect();
        let from = gpu.upload("test", &old).unwrap();
        let to = gpu.buffer("test", 61 * 4).unwrap();
        let waits = gpu.waits();
        let mut batch = gpu.batch("test");
        let buffers = [from.all(), to.all()];
        batch.dispatch(&kernel, &buffers, &[7, 60], 16).unwrap();
        let all = batch.read(&to, 0..61 * 4).unwrap();
        let some = batch.read(&to, 8..16).unwrap();
        let reads = batch.run().unwrap();
        assert_eq!(gpu.waits(), waits + 1);
        let mut expected: Vec<u32> = (0..60).map(|i| 1001 * i + 7).collect();
        // The last was left as it was made.
        expected.push(0);
        assert_eq!(reads.get::<u32>(all).unwrap(), expected);
        assert_eq!(reads.get::<u32>(some).unwrap(), expected[2..4]);
        let wide = [u64::from(expected[2]) | (u64::from(expected[3]) << 32)];
        assert_eq!(reads.get::<u64>(some).unwrap(), wide);
        // Compiled once.
        assert!(std::sync::Arc::ptr_eq(
            &kernel.compiled,
            &number(&gpu).compiled
        ));
        // Nothing to do is no wait.
        gpu.batch("test").run().unwrap();
        assert_eq!(gpu.waits(), waits + 1);
    }
}

#[test]
fn a_long_dispatch_is_cut_and_covers_everything() {
    for gpu in gpus() {
        let kernel = number(&gpu);
        // More workgroups than one dispatch may have.
        let groups = u64::from(gpu.info().limits.workgroups) + 3;
        let words = groups as usize * 4;
        let old: Vec<u32> = (0..words as u32)
            .map(|i| i.wrapping_mul(2_654_435_761))
            .collect();
        let from = gpu.upload("test", &old).unwrap();
        let to = gpu.buffer("test", words as u64 * 4).unwrap();
        for _ in 0..2 {
            let mut batch = gpu.batch("test");
            let buffers = [from.all(), to.all()];
            let params = [3, words as u32];
            batch.dispatch(&kernel, &buffers, &params, groups).unwrap();
            let read = batch.read(&to, 0..to.bytes()).unwrap();
            let new = batch.run().unwrap().get::<u32>(read).unwrap();
            let wrong =
                (0..words).find(|&i| new[i] != old[i].wrapping_add(i as u32).wrapping_add(3));
            assert_eq!(wrong, None);
        }
    }
}

#[test]
fn the_wide_variant_has_64_bits() {
    for gpu in gpus() {
        let source = Source {
            label: "test",
            text: WIDE,
        };
        let kernel = gpu.kernel(&source, "square", &[Access::Write]);
        if gpu.arithmetic() == Arithmetic::U32 {
            assert!(matches!(fault(&kernel.unwrap_err()), Fault::Shader(_)));
            continue;
        }
        let values = [3_u64, 0xffff_ffff, 0xffff_ffff_0000_0001, u64::MAX];
        let buffer = gpu.upload("test", &values).unwrap();
        let mut batch = gpu.batch("test");
        let buffers = [buffer.all()];
        batch.dispatch(&kernel.unwrap(), &buffers, &[], 4).unwrap();
        let read = batch.read(&buffer, 0..32).unwrap();
        let squares = batch.run().unwrap().get::<u64>(read).unwrap();
        assert_eq!(squares, values.map(|x| x.wrapping_mul(x)));
    }
}

#[test]
fn a_kernel_that_does_not_compile_is_an_error_with_words() {
    for gpu in gpus() {
        for (text, entry) in [
            ("fn main( {", "main"),
            (
                "@compute @workgroup_size(1) fn main() { let x: u32 = 1.5; }",
                "main",
            ),
            ("@compute @workgroup_size(1) fn other() {}", "main"),
            ("@compute @workgroup_size(100000) fn main() {}", "main"),
        ] {
            let source = Source { label: "bad", text };
            let error = gpu.kernel(&source, entry, &[]).unwrap_err();
            let Fault::Shader(words) = fault(&error) else {
                panic!("{error:?}");
            };
            assert!(!words.is_empty());
        }
        // It goes on.
        number(&gpu);
    }
}

#[test]
fn a_wrong_use_is_an_error_and_never_zeros() {
    for gpu in gpus() {
        let kernel = number(&gpu);
        let words = gpu.upload("test", &[1_u32; 16]).unwrap();
        let mut batch = gpu.batch("test");
        let one = [words.all()];
        let error = batch.dispatch(&kernel, &one, &[], 1).unwrap_err();
        assert!(matches!(fault(&error), Fault::Validation(_)));
        // Both bindings are one buffer, and one of them writes: wgpu's own check.
        let twice = [words.all(), words.all()];
        batch.dispatch(&kernel, &twice, &[1, 16], 1).unwrap();
        let read = batch.read(&words, 0..64).unwrap();
        let error = batch.run().unwrap_err();
        assert!(matches!(fault(&error), Fault::Validation(_)), "{error:?}");
        let mut batch = gpu.batch("test");
        for range in [0..68, 60..68, 2..6, 0..3] {
            let error = batch.read(&words, range).unwrap_err();
            assert!(matches!(fault(&error), Fault::Validation(_)));
        }
        let other = gpu.buffer("test", 64).unwrap();
        let unaligned = [words.part(4..8), other.all()];
        if gpu.info().limits.binding_alignment > 4 {
            let error = batch.dispatch(&kernel, &unaligned, &[], 1).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }), "{error:?}");
        }
        assert!(words.write("test", 64, &[1_u32]).is_err());
        let huge = gpu.buffer("test", u64::MAX).unwrap_err();
        assert!(matches!(huge, Error::Unsupported { .. }), "{huge:?}");
        // It goes on, and nothing was written.
        let mut batch = gpu.batch("test");
        let again = batch.read(&words, 0..64).unwrap();
        assert_eq!(batch.run().unwrap().get::<u32>(again).unwrap(), [1; 16]);
        assert_eq!(read, again);
    }
}

#[test]
fn faults_strike_every_operation() {
    for gpu in gpus() {
        let work = || -> Result<Vec<u32>, Error> {
            let source = Source {
                label: "test",
                text: NUMBER,
            };
            let kernel = gpu.kernel(&source, "number", &[Access::Read, Access::Write])?;
            let from = gpu.upload("test", &[5_u32; 8])?;
            let (to, copy) = (gpu.buffer("test", 32)?, gpu.buffer("test", 32)?);
            let mut batch = gpu.batch("test");
            batch.dispatch(&kernel, &[from.all(), to.all()], &[0, 8], 2)?;
            batch.copy(&to, 0..32, &copy, 0)?;
            let read = batch.read(&copy, 0..32)?;
            batch.run()?.get(read)
        };
        let expected: Vec<u32> = (5..13).collect();
        let faults = gpu.faults();
        faults.fail_at(None, 0);
        assert_eq!(work().unwrap(), expected);
        let count = faults.count(None);
        for kind in FaultKind::ALL {
            assert!(faults.count(Some(kind)) > 0, "{kind:?}");
        }
        for k in 1..=count {
            faults.fail_at(None, k);
            assert!(work().is_err(), "{k} of {count}");
        }
        faults.reset();
        assert_eq!(work().unwrap(), expected);
        assert_eq!(gpu.live_bytes(), 0);
    }
}

/// Of its own process-wide device: losing the shared one would disturb the other tests.
#[test]
fn a_lost_device_refuses_and_another_can_be_opened() {
    for info in adapters_to_test().unwrap() {
        let name = info.spec.strip_prefix("wgpu:");
        let gpu = Wgpu::open_alone(name);
        let kernel = number(&gpu);
        let words = gpu.upload("test", &[1_u32; 16]).unwrap();
        let to = gpu.buffer("test", 64).unwrap();
        let mut batch = gpu.batch("test");
        let buffers = [words.all(), to.all()];
        batch.dispatch(&kernel, &buffers, &[0, 16], 4).unwrap();
        batch.read(&to, 0..64).unwrap();
        gpu.lose();
        let error = batch.run().unwrap_err();
        assert!(matches!(fault(&error), Fault::Lost(_)), "{error:?}");
        assert!(matches!(
            fault(&gpu.buffer("test", 4).unwrap_err()),
            Fault::Lost(_)
        ));
        assert!(gpu.batch("test").run().is_err());
        drop((words, to));
        Wgpu::open(name).unwrap().buffer("test", 4).unwrap();
    }
}

#[test]
fn a_device_that_hangs_is_an_error() {
    for info in adapters_to_test().unwrap() {
        let gpu = Wgpu::open_alone(info.spec.strip_prefix("wgpu:"));
        let source = Source {
            label: "test",
            text: SLOW,
        };
        let kernel = gpu.kernel(&source, "slow", &[Access::Write]).unwrap();
        let words = gpu.upload("test", &[1_u32; 64]).unwrap();
        gpu.set_patience(Duration::from_nanos(1));
        let mut batch = gpu.batch("test");
        batch
            .dispatch(&kernel, &[words.all()], &[1 << 22], 2)
            .unwrap();
        let read = batch.read(&words, 0..256).unwrap();
        let error = match batch.run() {
            Err(error) => error,
            // A program may have done the work before it is asked.
            Ok(reads) => {
                assert_ne!(reads.get::<u32>(read).unwrap(), [1; 64]);
                continue;
            }
        };
        assert!(matches!(fault(&error), Fault::Timeout(_)), "{error:?}");
        gpu.set_patience(Duration::from_secs(60));
        let after = gpu.buffer("test", 4).unwrap_err();
        assert!(matches!(fault(&after), Fault::Timeout(_)), "{after:?}");
    }
}

/// What recorded work reads is not given to anyone before it is submitted, and used again after.
#[test]
fn a_pool_gives_what_no_work_holds() {
    for gpu in gpus() {
        let results = gpu.buffer("test", 32).unwrap();
        let start = gpu.live_bytes();
        let mut batch = gpu.batch("test");
        for i in 0..2_u32 {
            let words = gpu.upload("test", &[i, i + 10, i + 20, i + 30]).unwrap();
            batch
                .copy(&words, 0..16, &results, 16 * u64::from(i))
                .unwrap();
        }
        let read = batch.read(&results, 0..32).unwrap();
        let found = batch.run().unwrap().get::<u32>(read).unwrap();
        assert_eq!(found, [0, 10, 20, 30, 1, 11, 21, 31]);
        assert_eq!(gpu.live_bytes(), start);

        // from memory of the host, again and again
        let host = gpu.host_buffer("test", &[7_u32, 8, 9]).unwrap();
        assert_eq!(gpu.live_bytes(), start);
        for _ in 0..2 {
            let words = gpu.scratch("test", 12).unwrap();
            let mut batch = gpu.batch("test");
            batch.copy(&host, 0..12, &words, 0).unwrap();
            let read = batch.read(&words, 0..12).unwrap();
            assert_eq!(batch.run().unwrap().get::<u32>(read).unwrap(), [7, 8, 9]);
        }
        // zeros, whatever the pool holds
        let zeros = gpu.buffer("test", 12).unwrap();
        let mut batch = gpu.batch("test");
        let read = batch.read(&zeros, 0..12).unwrap();
        assert_eq!(batch.run().unwrap().get::<u32>(read).unwrap(), [0; 3]);
        gpu.trim();
    }
}
