//! A driver for tests, in host memory, that puts everything off as long as it may: work is done when
//! somebody waits for it and not before. Whoever looks too early, or gives memory away too early,
//! sees the wrong bytes.
#![allow(unsafe_code)]
#![allow(clippy::expect_used)]

use core::ffi::{c_char, c_uint, c_ulonglong, c_void};
use core::{ptr, slice};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cudarc::driver::sys::{
    CUcontext, CUdevice, CUdeviceptr, CUevent, CUfunction, CUgraph, CUgraphExec, CUmemPoolProps,
    CUmemoryPool, CUmodule, CUstream,
};

use super::api::{Api, Code, code};
use super::context::{Cuda, Inner};
use super::info::CudaInfo;

/// Bytes of device memory.
pub(super) const TOTAL: usize = 8 << 20;

const INVALID_VALUE: Code = 1;
const LAUNCH_FAILED: Code = 719;

#[derive(Clone, Debug)]
enum Work {
    Copy {
        to: usize,
        from: usize,
        bytes: usize,
    },
    Fill {
        to: usize,
        bytes: usize,
    },
    Free(usize),
    Record(usize),
    /// Adds the second argument to as many words as the third says, from the first on.
    Add {
        to: usize,
        addend: u32,
        len: u32,
    },
    Fail,
}

#[derive(Default)]
struct Stream {
    queue: VecDeque<Work>,
    recording: Option<Vec<Work>>,
}

#[derive(Default)]
struct State {
    next: usize,
    device: HashMap<usize, Box<[u64]>>,
    host: HashMap<usize, Box<[u64]>>,
    streams: HashMap<usize, Stream>,
    /// Event: the stream with the work that records it, until that is done.
    events: HashMap<usize, Option<usize>>,
    graphs: HashMap<usize, Vec<Work>>,
    others: usize,
    lost: bool,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

fn with<R>(act: impl FnOnce(&mut State) -> R) -> R {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    act(state.get_or_insert_default())
}

impl State {
    fn handle(&mut self) -> usize {
        self.next += 16;
        self.next
    }

    fn used(&self) -> usize {
        self.device.values().map(|b| b.len() * 8).sum()
    }

    fn push(&mut self, stream: usize, work: Work) -> Code {
        let stream = self.streams.get_mut(&stream).expect("a stream that lives");
        match &mut stream.recording {
            Some(recording) => recording.push(work),
            None => stream.queue.push_back(work),
        }
        0
    }

    fn run(&mut self, stream: usize) -> Code {
        let queue = &mut self
            .streams
            .get_mut(&stream)
            .expect("a stream that lives")
            .queue;
        for work in core::mem::take(queue) {
            // SAFETY: the addresses are those of live memory, which is what the tests are about.
            unsafe {
                match work {
                    Work::Copy { to, from, bytes } if !self.lost => {
                        ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes);
                    }
                    Work::Fill { to, bytes } if !self.lost => {
                        ptr::write_bytes(to as *mut u8, 0, bytes);
                    }
                    Work::Add { to, addend, len } if !self.lost => {
                        let words = slice::from_raw_parts_mut(to as *mut u32, len as usize);
                        words.iter_mut().for_each(|w| *w = w.wrapping_add(addend));
                    }
                    Work::Free(address) => {
                        self.device.remove(&address).expect("memory that lives");
                    }
                    Work::Record(event) => {
                        if let Some(event) = self.events.get_mut(&event) {
                            *event = None;
                        }
                    }
                    Work::Fail => self.lost = true,
                    _ => {}
                }
            }
        }
        if self.lost { LAUNCH_FAILED } else { 0 }
    }
}

/// What is left in the driver: device blocks, host blocks, streams, events, graphs and the rest.
pub(super) fn leftovers() -> [usize; 6] {
    with(|s| {
        [
            s.device.len(),
            s.host.len(),
            s.streams.len(),
            s.events.len(),
            s.graphs.len(),
            s.others,
        ]
    })
}

/// A GPU of the fake driver, alone in it while the guard lives.
pub(super) fn gpu() -> (MutexGuard<'static, ()>, Cuda) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    with(|s| *s = State::default());
    (guard, open(0))
}

/// One more GPU, for who has the guard.
pub(super) fn open(ordinal: usize) -> Cuda {
    let info = CudaInfo {
        ordinal,
        name: "fake".into(),
        capability: (9, 0),
        multiprocessors: 1,
        cuda: (12, 4),
        driver: None,
        total_bytes: TOTAL as u64,
        max_shared_bytes: 48 << 10,
        cooperative: true,
    };
    let inner = Inner::new(&FAKE, 0, info, format!("cuda:{ordinal}"));
    Cuda(Arc::new(inner.expect("the fake driver opens")))
}

static FAKE: Api = Api {
    cuDevicePrimaryCtxRetain: retain,
    cuDevicePrimaryCtxRelease_v2: release,
    cuCtxSetCurrent: set_current,
    cuCtxSynchronize: nothing,
    cuMemGetInfo_v2: mem_info,
    cuMemPoolCreate: pool_create,
    cuMemPoolDestroy: pool_destroy,
    cuMemPoolSetAttribute: pool_set,
    cuMemPoolTrimTo: pool_trim,
    cuMemAllocFromPoolAsync: alloc,
    cuMemFreeAsync: free,
    cuMemHostAlloc: host_alloc,
    cuMemFreeHost: host_free,
    cuMemcpyHtoDAsync_v2: h_to_d,
    cuMemcpyDtoHAsync_v2: d_to_h,
    cuMemcpyDtoDAsync_v2: d_to_d,
    cuMemsetD8Async: fill,
    cuStreamCreate: stream_create,
    cuStreamDestroy_v2: stream_destroy,
    cuStreamSynchronize: stream_synchronize,
    cuStreamQuery: stream_synchronize,
    cuStreamWaitEvent: stream_wait,
    cuStreamBeginCapture_v2: begin_capture,
    cuStreamEndCapture: end_capture,
    cuEventCreate: event_create,
    cuEventDestroy_v2: event_destroy,
    cuEventRecord: event_record,
    cuEventQuery: event_query,
    cuEventSynchronize: event_synchronize,
    cuGraphInstantiateWithFlags: instantiate,
    cuGraphUpload: graph_upload,
    cuGraphLaunch: graph_launch,
    cuGraphExecDestroy: graph_exec_destroy,
    cuGraphDestroy: graph_destroy,
    cuModuleLoadDataEx: module_load,
    cuModuleUnload: module_unload,
    cuModuleGetFunction: function,
    cuFuncGetParamInfo: param_info,
    cuLaunchKernel: launch,
    ..Api::incapable()
};

// SAFETY (all of them): called through the table only, with the arguments of the driver's functions.

unsafe extern "C" fn retain(context: *mut CUcontext, _: CUdevice) -> Code {
    with(|s| s.others += 1);
    // SAFETY: the caller's pointer.
    unsafe { *context = ptr::without_provenance_mut(8) };
    0
}

unsafe extern "C" fn release(_: CUdevice) -> Code {
    with(|s| s.others -= 1);
    0
}

unsafe extern "C" fn set_current(_: CUcontext) -> Code {
    0
}

unsafe extern "C" fn nothing() -> Code {
    0
}

unsafe extern "C" fn mem_info(free: *mut usize, total: *mut usize) -> Code {
    // SAFETY: the caller's pointers.
    unsafe {
        *free = TOTAL - with(|s| s.used());
        *total = TOTAL;
    }
    0
}

unsafe extern "C" fn pool_create(pool: *mut CUmemoryPool, _: *const CUmemPoolProps) -> Code {
    with(|s| s.others += 1);
    // SAFETY: the caller's pointer.
    unsafe { *pool = ptr::without_provenance_mut(8) };
    0
}

unsafe extern "C" fn pool_destroy(_: CUmemoryPool) -> Code {
    with(|s| s.others -= 1);
    0
}

unsafe extern "C" fn pool_set(_: CUmemoryPool, _: c_uint, _: *mut c_void) -> Code {
    0
}

unsafe extern "C" fn pool_trim(_: CUmemoryPool, _: usize) -> Code {
    0
}

/// Memory with rubbish in it.
fn block(bytes: usize) -> (usize, Box<[u64]>) {
    let mut block = vec![0xa5a5_a5a5_a5a5_a5a5; bytes.div_ceil(8)].into_boxed_slice();
    (block.as_mut_ptr().expose_provenance(), block)
}

unsafe extern "C" fn alloc(
    address: *mut CUdeviceptr,
    bytes: usize,
    _: CUmemoryPool,
    _: CUstream,
) -> Code {
    with(|s| {
        if s.used() + bytes > TOTAL {
            return code::OUT_OF_MEMORY;
        }
        let (at, block) = block(bytes);
        s.device.insert(at, block);
        // SAFETY: the caller's pointer.
        unsafe { *address = at as u64 };
        0
    })
}

unsafe extern "C" fn free(address: CUdeviceptr, stream: CUstream) -> Code {
    with(|s| s.push(stream.addr(), Work::Free(address as usize)))
}

unsafe extern "C" fn host_alloc(address: *mut *mut c_void, bytes: usize, _: c_uint) -> Code {
    let (at, block) = block(bytes);
    with(|s| s.host.insert(at, block));
    // SAFETY: the caller's pointer.
    unsafe { *address = ptr::with_exposed_provenance_mut(at) };
    0
}

unsafe extern "C" fn host_free(address: *mut c_void) -> Code {
    match with(|s| s.host.remove(&address.addr())) {
        Some(_) => 0,
        None => INVALID_VALUE,
    }
}

fn copy(to: usize, from: usize, bytes: usize, stream: CUstream) -> Code {
    with(|s| s.push(stream.addr(), Work::Copy { to, from, bytes }))
}

unsafe extern "C" fn h_to_d(to: CUdeviceptr, from: *const c_void, n: usize, s: CUstream) -> Code {
    copy(to as usize, from.expose_provenance(), n, s)
}

unsafe extern "C" fn d_to_h(to: *mut c_void, from: CUdeviceptr, n: usize, s: CUstream) -> Code {
    copy(to.expose_provenance(), from as usize, n, s)
}

unsafe extern "C" fn d_to_d(to: CUdeviceptr, from: CUdeviceptr, n: usize, s: CUstream) -> Code {
    copy(to as usize, from as usize, n, s)
}

unsafe extern "C" fn fill(to: CUdeviceptr, value: u8, bytes: usize, stream: CUstream) -> Code {
    assert_eq!(value, 0);
    let to = to as usize;
    with(|s| s.push(stream.addr(), Work::Fill { to, bytes }))
}

unsafe extern "C" fn stream_create(stream: *mut CUstream, _: c_uint) -> Code {
    let handle = with(|s| {
        let handle = s.handle();
        s.streams.insert(handle, Stream::default());
        handle
    });
    // SAFETY: the caller's pointer.
    unsafe { *stream = ptr::without_provenance_mut(handle) };
    0
}

unsafe extern "C" fn stream_destroy(stream: CUstream) -> Code {
    with(|s| {
        s.run(stream.addr());
        s.streams.remove(&stream.addr());
    });
    0
}

unsafe extern "C" fn stream_synchronize(stream: CUstream) -> Code {
    with(|s| s.run(stream.addr()))
}

unsafe extern "C" fn stream_wait(_: CUstream, event: CUevent, _: c_uint) -> Code {
    // Sooner than it must be, and in order.
    // SAFETY: the caller's event.
    unsafe { event_synchronize(event) }
}

unsafe extern "C" fn begin_capture(stream: CUstream, _: c_uint) -> Code {
    with(|s| {
        let stream = s
            .streams
            .get_mut(&stream.addr())
            .expect("a stream that lives");
        stream.recording = Some(Vec::new());
    });
    0
}

unsafe extern "C" fn end_capture(stream: CUstream, graph: *mut CUgraph) -> Code {
    with(|s| {
        let stream = s
            .streams
            .get_mut(&stream.addr())
            .expect("a stream that lives");
        let recording = stream.recording.take().expect("a recording");
        let handle = s.handle();
        s.graphs.insert(handle, recording);
        // SAFETY: the caller's pointer.
        unsafe { *graph = ptr::without_provenance_mut(handle) };
    });
    0
}

unsafe extern "C" fn event_create(event: *mut CUevent, _: c_uint) -> Code {
    let handle = with(|s| {
        let handle = s.handle();
        s.events.insert(handle, None);
        handle
    });
    // SAFETY: the caller's pointer.
    unsafe { *event = ptr::without_provenance_mut(handle) };
    0
}

unsafe extern "C" fn event_destroy(event: CUevent) -> Code {
    with(|s| s.events.remove(&event.addr()).expect("an event that lives"));
    0
}

unsafe extern "C" fn event_record(event: CUevent, stream: CUstream) -> Code {
    with(|s| {
        s.events.insert(event.addr(), Some(stream.addr()));
        s.push(stream.addr(), Work::Record(event.addr()))
    })
}

unsafe extern "C" fn event_query(event: CUevent) -> Code {
    match with(|s| s.events[&event.addr()]) {
        Some(_) => code::NOT_READY,
        None => 0,
    }
}

unsafe extern "C" fn event_synchronize(event: CUevent) -> Code {
    with(|s| match s.events[&event.addr()] {
        Some(stream) => s.run(stream),
        None => 0,
    })
}

unsafe extern "C" fn instantiate(exec: *mut CUgraphExec, graph: CUgraph, _: c_ulonglong) -> Code {
    with(|s| {
        let handle = s.handle();
        let work = s.graphs[&graph.addr()].clone();
        s.graphs.insert(handle, work);
        // SAFETY: the caller's pointer.
        unsafe { *exec = ptr::without_provenance_mut(handle) };
    });
    0
}

unsafe extern "C" fn graph_upload(_: CUgraphExec, _: CUstream) -> Code {
    0
}

unsafe extern "C" fn graph_launch(exec: CUgraphExec, stream: CUstream) -> Code {
    with(|s| {
        let work = s.graphs[&exec.addr()].clone();
        work.into_iter().for_each(|work| {
            s.push(stream.addr(), work);
        });
    });
    0
}

unsafe extern "C" fn graph_exec_destroy(exec: CUgraphExec) -> Code {
    with(|s| s.graphs.remove(&exec.addr()).expect("a graph that lives"));
    0
}

unsafe extern "C" fn graph_destroy(graph: CUgraph) -> Code {
    with(|s| s.graphs.remove(&graph.addr()).expect("a graph that lives"));
    0
}

unsafe extern "C" fn module_load(
    module: *mut CUmodule,
    _: *const c_void,
    _: c_uint,
    _: *mut c_uint,
    _: *mut *mut c_void,
) -> Code {
    with(|s| s.others += 1);
    // SAFETY: the caller's pointer.
    unsafe { *module = ptr::without_provenance_mut(8) };
    0
}

unsafe extern "C" fn module_unload(_: CUmodule) -> Code {
    with(|s| s.others -= 1);
    0
}

/// `add`, and `fail`, which takes the device with it.
unsafe extern "C" fn function(function: *mut CUfunction, _: CUmodule, name: *const c_char) -> Code {
    // SAFETY: the caller's pointers; the name ends with a zero byte.
    unsafe {
        let handle = match core::ffi::CStr::from_ptr(name).to_bytes() {
            b"add" => 1,
            b"fail" => 2,
            _ => return 500,
        };
        *function = ptr::without_provenance_mut(handle);
    }
    0
}

unsafe extern "C" fn param_info(
    function: CUfunction,
    index: usize,
    _: *mut usize,
    size: *mut usize,
) -> Code {
    let sizes: &[usize] = if function.addr() == 1 {
        &[8, 4, 4]
    } else {
        &[]
    };
    match sizes.get(index) {
        // SAFETY: the caller's pointer.
        Some(&bytes) => unsafe {
            *size = bytes;
            0
        },
        None => INVALID_VALUE,
    }
}

unsafe extern "C" fn launch(
    function: CUfunction,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    stream: CUstream,
    args: *mut *mut c_void,
    _: *mut *mut c_void,
) -> Code {
    let work = match function.addr() {
        // SAFETY: the sizes of the arguments were checked against `param_info`.
        1 => unsafe {
            Work::Add {
                to: (*args).cast::<u64>().read() as usize,
                addend: (*args.add(1)).cast::<u32>().read(),
                len: (*args.add(2)).cast::<u32>().read(),
            }
        },
        _ => Work::Fail,
    };
    with(|s| s.push(stream.addr(), work))
}
