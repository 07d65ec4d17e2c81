//! The host side over the fake driver.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use super::context::LARGE;
use super::fake::{TOTAL, gpu, leftovers, open};
use super::{Arg, Cuda, FaultKind, Function, Pinned, Stream};
use crate::Error;

/// The fake driver knows these kernels by name; a real one compiles the text.
const IMAGE: &[u8] = include_bytes!("tests.ptx");
/// More than all chunks together, so that they are used again within one transfer, in words.
const MANY: usize = 5 * LARGE / 4 + 5;

fn words(len: usize) -> Vec<u32> {
    (0..len as u32)
        .map(|i| i.wrapping_mul(0x9e37_79b9))
        .collect()
}

fn add(stream: &Stream, function: &Function, to: u64, addend: u32, len: u32) -> Result<(), Error> {
    let args = [Arg::Ptr(to), Arg::U32(addend), Arg::U32(len)];
    stream.launch(function, (1, 1, 1), (32, 1, 1), 0, &args)
}

/// Uses one of everything, and says whether all of it is right.
fn tour(gpu: &Cuda) -> Result<bool, Error> {
    let stream = gpu.stream()?;
    let function = gpu.load_module(IMAGE)?.function("add")?;
    let (large, small) = (words(MANY), words(100));
    let device = stream.upload(&large)?;
    let mut right = stream.download(&device, 0..large.len())? == large;
    drop(device);
    let mut device = stream.zeros::<u32>(100)?;
    add(&stream, &function, device.as_ptr(), 7, 100)?;
    let (graph, ()) = stream.capture(|| add(&stream, &function, device.ptr_at(1), 1, 98))?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    let mut expected = vec![9; 100];
    (expected[0], expected[99]) = (7, 7);
    let mut pinned = gpu.pinned::<u32>(100)?;
    stream.download_into(&device, 0..100, &mut pinned, 0)?;
    right &= *pinned == expected;
    pinned.copy_from_slice(&small);
    stream.copy_pinned(&pinned, 10..20, &mut device, 0)?;
    pinned.fill(0);
    let other = gpu.stream()?;
    other.wait_for(&stream)?;
    let mut copy = other.alloc::<u32>(12)?;
    other.copy(&device, 0..12, &mut copy, 0)?;
    right &= other.download(&copy, 0..10)? == small[10..20];
    stream.synchronize()?;
    Ok(right)
}

#[test]
fn one_of_everything_is_right_and_leaves_nothing() {
    let (_alone, gpu) = gpu();
    assert!(tour(&gpu).unwrap());
    let pool = gpu.pool();
    assert_eq!(pool.live_bytes, 0);
    assert_eq!(pool.high_water_bytes, MANY as u64 * 4);
    gpu.reset_high_water();
    assert_eq!(gpu.pool().high_water_bytes, 0);
    assert!(tour(&gpu).unwrap(), "with memory that was used before");
    drop(gpu);
    assert_eq!(leftovers(), [0; 6]);
}

/// Makes every operation of a [`tour`] fail, one at a time.
fn every_fault(gpu: &Cuda) {
    let faults = gpu.faults();
    faults.fail_at(None, 0);
    assert!(tour(gpu).unwrap());
    let counts = FaultKind::ALL.map(|kind| faults.count(Some(kind)));
    assert!(counts.iter().all(|&n| n > 2), "{counts:?}");
    for (kind, count) in FaultKind::ALL.into_iter().zip(counts) {
        // With the cache warm there are fewer allocations, so the last may not strike.
        for k in 1..=count {
            faults.fail_at(Some(kind), k);
            let result = tour(gpu);
            let struck = faults.count(Some(kind)) >= k;
            match result {
                Ok(right) => assert!(right && !struck, "{kind:?} {k}"),
                Err(Error::OutOfMemory(_)) => assert!(struck && kind == FaultKind::Alloc),
                Err(error) => {
                    let source = std::error::Error::source(&error).unwrap().to_string();
                    assert_eq!(source, "injected", "{kind:?} {k}: {error}");
                    assert!(struck && kind != FaultKind::Alloc);
                }
            }
            faults.reset();
            assert_eq!(gpu.pool().live_bytes, 0, "{kind:?} {k}");
            assert!(tour(gpu).unwrap(), "after {kind:?} {k}");
        }
    }
}

#[test]
fn every_fault_is_an_error_and_leaves_nothing() {
    let (_alone, gpu) = gpu();
    every_fault(&gpu);
    drop(gpu);
    assert_eq!(leftovers(), [0; 6]);
}

#[test]
fn a_real_gpu_does_the_same() {
    match Cuda::open(0) {
        Ok(gpu) => {
            assert!(tour(&gpu).unwrap());
            every_fault(&gpu);
            assert!(gpu.free_bytes().unwrap() <= gpu.info().total_bytes);
            let stream = gpu.stream().unwrap();
            let (start, data) = (stream.event().unwrap(), words(16 << 20));
            let device = stream.upload(&data).unwrap();
            let end = stream.event().unwrap();
            assert!(stream.elapsed(&start, &end).unwrap() > 0.0);
            assert!(stream.download(&device, 0..data.len()).unwrap() == data);
            let beyond = usize::try_from(gpu.info().total_bytes).unwrap() + 1;
            let refused = stream.alloc::<u8>(beyond);
            assert!(matches!(refused, Err(Error::OutOfMemory(e)) if e.have > 0));
            let function = gpu.load_module(IMAGE).unwrap().function("add").unwrap();
            assert!(function.max_active_blocks(256, 0).unwrap() > 0);
            assert!(function.registers().unwrap() > 0);
            function.set_max_dynamic_shared(48 << 10).unwrap();
        }
        Err(error) => assert!(error.reason.contains("NVIDIA"), "{error}"),
    }
}

#[test]
fn too_much_is_told_with_need_and_have() {
    let (_alone, gpu) = gpu();
    let stream = gpu.stream().unwrap();
    let half = stream.alloc::<u8>(TOTAL / 2).unwrap();
    let label = stream.labelled("whir commit");
    let Err(Error::OutOfMemory(error)) = label.alloc::<u64>(TOTAL / 8) else {
        panic!("it fits");
    };
    assert_eq!((error.need, error.have), (TOTAL as u64, TOTAL as u64 / 2));
    assert!(error.what.starts_with("whir commit"), "{error}");
    assert!(stream.alloc::<u64>(usize::MAX).is_err());
    // What is freed in the stream's order is waited for.
    drop(half);
    let all = stream.alloc::<u8>(TOTAL).unwrap();
    assert_eq!(gpu.pool().live_bytes, TOTAL as u64);
    drop(all);
    assert_eq!(gpu.pool().live_bytes, 0);
    assert_eq!(stream.zeros::<u32>(0).unwrap().as_ptr(), 0);
}

#[test]
fn page_locked_memory_outlives_its_transfers() {
    let (_alone, gpu) = gpu();
    let stream = gpu.stream().unwrap();
    let data = words(5000);
    let mut host = gpu.pinned::<u32>(data.len()).unwrap();
    host.copy_from_slice(&data);
    let device = stream.upload_pinned(&host).unwrap();
    // Dropped and made again before the device has read it: the block must not be given away.
    drop(host);
    let mut again = gpu.pinned::<u32>(data.len()).unwrap();
    again.fill(0);
    let mut parts: Pinned<u32> = gpu.pinned(data.len()).unwrap();
    stream
        .download_into(&device, 0..1000, &mut parts, 4000)
        .unwrap();
    stream
        .download_into(&device, 1000..5000, &mut parts, 0)
        .unwrap();
    assert_eq!(parts[..4000], data[1000..]);
    assert_eq!(parts[4000..], data[..1000]);
    assert!(
        stream
            .download_into(&device, 0..1001, &mut parts, 4000)
            .is_err()
    );
    assert!(stream.download(&device, 4999..5001).is_err());
}

#[test]
fn a_recording_takes_launches_and_no_host() {
    let (_alone, gpu) = gpu();
    let stream = gpu.stream().unwrap();
    let function = gpu.load_module(IMAGE).unwrap().function("add").unwrap();
    let target = stream.zeros::<u32>(4).unwrap();
    let refused = |error: Error| matches!(error, Error::Unsupported { .. });
    let live = gpu.pool().live_bytes;
    let dropped = stream.zeros::<u32>(1000).unwrap();
    let recorded = stream.capture(|| {
        assert!(refused(stream.alloc::<u32>(1).unwrap_err()));
        assert!(refused(stream.download(&target, 0..1).unwrap_err()));
        assert!(refused(stream.synchronize().unwrap_err()));
        assert!(refused(stream.capture(|| Ok(())).unwrap_err()));
        drop(dropped);
        add(&stream, &function, target.as_ptr(), 5, 4)
    });
    let (graph, ()) = recorded.unwrap();
    assert_eq!(gpu.pool().live_bytes, live, "what was dropped is freed");
    assert_eq!(
        stream.download(&target, 0..4).unwrap(),
        [0; 4],
        "recorded, not done"
    );
    drop(function);
    graph.launch(&stream).unwrap();
    assert_eq!(stream.download(&target, 0..4).unwrap(), [5; 4]);
    // Work that fails, or panics, ends the recording.
    let error = stream.capture::<()>(|| Err(gpu.0.failed("test", super::Injected)));
    assert!(matches!(error, Err(Error::KernelFailed { op: "test", .. })));
    let panics = std::panic::AssertUnwindSafe(|| stream.capture::<()>(|| panic!("on purpose")));
    assert!(std::panic::catch_unwind(panics).is_err());
    stream.synchronize().unwrap();
    drop((graph, target, stream, gpu));
    assert_eq!(leftovers(), [0; 6]);
}

#[test]
fn a_failed_kernel_is_an_error_of_whoever_waits() {
    let (_alone, gpu) = gpu();
    let stream = gpu.stream().unwrap();
    let module = gpu.load_module(IMAGE).unwrap();
    let device = stream.zeros::<u32>(64).unwrap();
    let mut host = gpu.pinned::<u32>(64).unwrap();
    let error = add(&stream, &module.function("fail").unwrap(), 0, 0, 0).unwrap_err();
    assert!(
        error.to_string().starts_with("fail failed on cuda:0"),
        "arguments it has not"
    );
    assert!(module.function("absent").is_err());
    let fail = module.function("fail").unwrap();
    stream.launch(&fail, (1, 1, 1), (1, 1, 1), 0, &[]).unwrap();
    stream.download_into(&device, 0..64, &mut host, 0).unwrap();
    let error = stream.labelled("whir open").synchronize().unwrap_err();
    let Error::KernelFailed {
        op,
        device: on,
        source,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((op, on.as_str()), ("whir open", "cuda:0"));
    assert!(source.to_string().contains("(719)"), "{source}");
    assert_eq!(host.len(), 64, "and nobody waits for ever");
    drop((device, host, fail, module, stream, gpu));
    assert_eq!(leftovers(), [0; 6]);
}

#[test]
fn threads_share_a_gpu() {
    let (_alone, gpu) = gpu();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..3).for_each(|_| assert!(tour(&gpu).unwrap())));
        }
    });
    assert_eq!(gpu.pool().live_bytes, 0);
    gpu.trim().unwrap();
    drop(gpu);
    assert_eq!(leftovers(), [0; 6]);
}

#[test]
fn kernels_and_recordings_stay_on_their_gpu() {
    let (_alone, gpu) = gpu();
    let (stream, function) = (
        gpu.stream().unwrap(),
        gpu.load_module(IMAGE).unwrap().function("fail").unwrap(),
    );
    let (graph, ()) = stream.capture(|| Ok(())).unwrap();
    let other = open(1).stream().unwrap();
    let launched = other.launch(&function, (1, 1, 1), (1, 1, 1), 0, &[]);
    for error in [launched.unwrap_err(), graph.launch(&other).unwrap_err()] {
        let said = error.to_string();
        assert!(
            said.ends_with("not supported on cuda:1: it was made on cuda:0"),
            "{said}"
        );
    }
}
