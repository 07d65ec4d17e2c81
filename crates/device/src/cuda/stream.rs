//! Work in order: memory, transfers, launches.
#![allow(unsafe_code)]

use core::ffi::c_uint;
use core::ops::Range;
use core::{fmt, ptr};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream, CUstream_flags, CUstreamCaptureMode};

use super::buffer::{Buffer, check_range};
use super::context::{Cuda, Handle, SMALL, is_out_of_memory};
use super::fault::FaultKind;
use super::graph::Graph;
use super::module::{Arg, Function, Loaded, Packed};
use super::pinned::Pinned;
use super::pod::{Pod, bytes_of, bytes_of_mut, size, zeroed};
use super::staging::{Staging, copy};
use crate::Error;

/// What piles up while a stream records.
#[derive(Default)]
struct Recording {
    /// Memory to free when the recording ends: address and bytes.
    freed: Vec<(u64, u64)>,
    /// What the recorded functions belong to.
    modules: Vec<Arc<Loaded>>,
}

pub(super) struct StreamInner {
    cuda: Cuda,
    raw: Handle<CUstream>,
    /// Transfers that page-locked memory was lent to, and those of them that have ended for sure.
    lent: AtomicU64,
    passed: AtomicU64,
    capturing: AtomicBool,
    recording: Mutex<Option<Recording>>,
}

impl StreamInner {
    /// Whether the transfer of this ticket has ended.
    pub(super) fn has_passed(&self, ticket: u64) -> bool {
        self.passed.load(Ordering::Acquire) >= ticket
    }

    /// Waits for all that was given to the stream.
    pub(super) fn finish(&self, op: &'static str) -> Result<(), Error> {
        let inner = &*self.cuda.0;
        inner.enter(op)?;
        let ticket = self.lent.load(Ordering::Acquire);
        // SAFETY: the stream lives as long as `self`.
        let code = unsafe { (inner.api.cuStreamSynchronize)(self.raw.0) };
        inner.check(op, code)?;
        self.passed.fetch_max(ticket, Ordering::AcqRel);
        Ok(())
    }

    /// Frees device memory once the stream has come that far.
    pub(super) fn free(&self, address: u64, bytes: u64) {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(recording) = &mut *recording {
            recording.freed.push((address, bytes));
            return;
        }
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("free") {
            tracing::warn!(%error, "freeing device memory");
        }
        // SAFETY: the memory came from `cuMemAllocFromPoolAsync` and its owner is gone.
        let code = unsafe { (inner.api.cuMemFreeAsync)(address, self.raw.0) };
        inner.log("freeing device memory", code);
        inner.count_free(bytes);
    }

    fn end_recording(&self) -> Recording {
        let recording = {
            let mut recording = self
                .recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            recording.take().unwrap_or_default()
        };
        self.capturing.store(false, Ordering::Release);
        for &(address, bytes) in &recording.freed {
            self.free(address, bytes);
        }
        recording
    }
}

impl Drop for StreamInner {
    fn drop(&mut self) {
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("stream") {
            tracing::warn!(%error, "closing");
        }
        // SAFETY: the stream is ours; the driver keeps it until its work has ended.
        let code = unsafe { (inner.api.cuStreamDestroy_v2)(self.raw.0) };
        inner.log("closing a stream", code);
    }
}

/// A queue of work on one GPU, done in the order of the calls. Clones are the same queue.
#[derive(Clone)]
pub struct Stream {
    inner: Arc<StreamInner>,
    label: Option<&'static str>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.cuda().name()).finish()
    }
}

impl Stream {
    pub(super) fn new(cuda: &Cuda) -> Result<Self, Error> {
        let op = "stream";
        let inner = &*cuda.0;
        inner.enter(op)?;
        let mut raw = ptr::null_mut();
        let flags = CUstream_flags::CU_STREAM_NON_BLOCKING as c_uint;
        // SAFETY: the stream is written on success.
        let code = unsafe { (inner.api.cuStreamCreate)(&raw mut raw, flags) };
        inner.check(op, code)?;
        Ok(Self {
            inner: Arc::new(StreamInner {
                cuda: cuda.clone(),
                raw: Handle(raw),
                lent: AtomicU64::new(0),
                passed: AtomicU64::new(0),
                capturing: AtomicBool::new(false),
                recording: Mutex::new(None),
            }),
            label: None,
        })
    }

    /// The same queue, whose errors name `op` as their operation, save for those of launches, which
    /// name the kernel.
    #[must_use]
    pub fn labelled(&self, op: &'static str) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
            label: Some(op),
        }
    }

    pub(super) fn op(&self, default: &'static str) -> &'static str {
        self.label.unwrap_or(default)
    }

    pub(super) fn raw(&self) -> CUstream {
        self.inner.raw.0
    }

    /// The GPU that it works on.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.inner.cuda
    }

    /// What cannot be recorded.
    fn not_recording(&self, op: &'static str) -> Result<(), Error> {
        if self.inner.capturing.load(Ordering::Acquire) {
            let why = "a graph is being recorded, which takes launches, fills and copies on the \
                       device only";
            return Err(self.cuda().0.unsupported(op, why));
        }
        Ok(())
    }

    fn in_range(
        &self,
        op: &'static str,
        start: usize,
        len: usize,
        buffer: usize,
    ) -> Result<(), Error> {
        let range = start..start.saturating_add(len);
        check_range(&range, buffer).map_err(|e| self.cuda().0.failed(op, e))
    }

    /// Device memory for `len` values, not initialised. Ordered like any work: it may be what was
    /// freed just before on this stream.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] with what was needed and what is free, after the pool has given back
    /// what it holds unused; [`Error::KernelFailed`] with the driver's words.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let op = self.op("alloc");
        let bytes = size::<T>(op, len)?;
        self.not_recording(op)?;
        let inner = &*self.cuda().0;
        if bytes == 0 {
            return Ok(Buffer::new(Arc::clone(&self.inner), 0, len));
        }
        if inner.faults.strikes(FaultKind::Alloc) {
            return Err(inner.out_of_memory(op, bytes as u64));
        }
        inner.enter(op)?;
        let take = || {
            let mut address = 0;
            // SAFETY: pool and stream are alive; the address is written on success.
            let code = unsafe {
                let (pool, stream) = (inner.pool.0, self.raw());
                (inner.api.cuMemAllocFromPoolAsync)(&raw mut address, bytes, pool, stream)
            };
            (code, address)
        };
        let (mut code, mut address) = take();
        if is_out_of_memory(code) {
            // The pool may hold enough in pieces, or in frees that the stream has not come to.
            self.inner.finish(op)?;
            inner.trim_pool(op)?;
            (code, address) = take();
        }
        if is_out_of_memory(code) {
            return Err(inner.out_of_memory(op, bytes as u64));
        }
        inner.check(op, code)?;
        inner.count_alloc(bytes as u64);
        Ok(Buffer::new(Arc::clone(&self.inner), address, len))
    }

    /// Device memory with `len` values of zero bytes.
    ///
    /// # Errors
    ///
    /// Those of [`Self::alloc`] and [`Self::clear`].
    pub fn zeros<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(len)?;
        self.clear(&mut buffer, 0..len)?;
        Ok(buffer)
    }

    /// Fills a range with zero bytes.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if the range does not lie in the buffer, or with the driver's words.
    pub fn clear<T: Pod>(&self, buffer: &mut Buffer<T>, range: Range<usize>) -> Result<(), Error> {
        let op = self.op("clear");
        let inner = &*self.cuda().0;
        check_range(&range, buffer.len()).map_err(|e| inner.failed(op, e))?;
        let bytes = range.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        inner.begin(op, FaultKind::Copy)?;
        let address = buffer.ptr_at(range.start);
        // SAFETY: the range lies in memory that is allocated in this or an ordered stream.
        let code = unsafe { (inner.api.cuMemsetD8Async)(address, 0, bytes, self.raw()) };
        inner.check(op, code)
    }

    /// Device memory with a copy of `host`, see [`Self::copy_to_device`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::alloc`] and [`Self::copy_to_device`].
    pub fn upload<T: Pod>(&self, host: &[T]) -> Result<Buffer<T>, Error> {
        let mut buffer = self.alloc(host.len())?;
        self.copy_to_device(host, &mut buffer, 0)?;
        Ok(buffer)
    }

    /// Copies `host` to the values of `buffer` from `at` on. `host` is free again on return; the
    /// transfer goes through page-locked chunks, which several threads fill while the bus empties
    /// others.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if `buffer` is too short, or with the driver's words;
    /// [`Error::OutOfMemory`] if there is no page-locked memory.
    pub fn copy_to_device<T: Pod>(
        &self,
        host: &[T],
        buffer: &mut Buffer<T>,
        at: usize,
    ) -> Result<(), Error> {
        let op = self.op("upload");
        self.in_range(op, at, host.len(), buffer.len())?;
        self.not_recording(op)?;
        let inner = &*self.cuda().0;
        inner.enter(op)?;
        let (bytes, raw) = (bytes_of(host), self.raw());
        let staging = self.staging(bytes.len());
        let mut address = buffer.ptr_at(at);
        for part in bytes.chunks(staging.chunk_bytes()) {
            let mut lease = staging.lend(inner, op)?;
            copy(lease.bytes(part.len()), part);
            // SAFETY: `part` fits the chunk, and the range checked above holds it on the device.
            unsafe {
                lease.transfer(op, raw, |chunk| {
                    let from = chunk.as_ptr().cast_const().cast();
                    (inner.api.cuMemcpyHtoDAsync_v2)(address, from, part.len(), raw)
                })?;
            }
            address += part.len() as u64;
        }
        Ok(())
    }

    fn staging(&self, bytes: usize) -> &Staging {
        let inner = &*self.cuda().0;
        if bytes <= SMALL {
            &inner.small
        } else {
            &inner.large
        }
    }

    /// Device memory with a copy of page-locked memory, see [`Self::copy_pinned`].
    ///
    /// # Errors
    ///
    /// Those of [`Self::alloc`] and [`Self::copy_pinned`].
    pub fn upload_pinned<T: Pod>(&self, host: &Pinned<T>) -> Result<Buffer<T>, Error> {
        let len = host.values();
        let mut buffer = self.alloc(len)?;
        self.copy_pinned(host, 0..len, &mut buffer, 0)?;
        Ok(buffer)
    }

    /// Starts to copy a range of `host` to the values of `buffer` from `at` on, and does not wait.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if a range does not lie in its memory, or with the driver's words.
    pub fn copy_pinned<T: Pod>(
        &self,
        host: &Pinned<T>,
        range: Range<usize>,
        buffer: &mut Buffer<T>,
        at: usize,
    ) -> Result<(), Error> {
        let op = self.op("upload");
        let inner = &*self.cuda().0;
        check_range(&range, host.values()).map_err(|e| inner.failed(op, e))?;
        self.in_range(op, at, range.len(), buffer.len())?;
        self.not_recording(op)?;
        let bytes = range.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        inner.begin(op, FaultKind::Copy)?;
        let from = host.address_of(range.start).cast_const().cast();
        // SAFETY: both ranges were checked, and the host memory is lent below, before anything of
        // ours can write to it or free it.
        let code =
            unsafe { (inner.api.cuMemcpyHtoDAsync_v2)(buffer.ptr_at(at), from, bytes, self.raw()) };
        host.lend(&self.inner, self.ticket(), false);
        inner.check(op, code)
    }

    /// A ticket for a transfer that has just been given to the stream.
    fn ticket(&self) -> u64 {
        self.inner.lent.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Copies a range of `buffer` to the host, and waits for it and all before it.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if the range does not lie in the buffer, or with the driver's words
    /// for any work of the stream before it; [`Error::OutOfMemory`] if there is no page-locked
    /// memory.
    pub fn download<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        range: Range<usize>,
    ) -> Result<Vec<T>, Error> {
        let op = self.op("download");
        let inner = &*self.cuda().0;
        check_range(&range, buffer.len()).map_err(|e| inner.failed(op, e))?;
        self.not_recording(op)?;
        inner.enter(op)?;
        let mut values = zeroed::<T>(range.len());
        let bytes = bytes_of_mut(&mut values);
        let staging = self.staging(bytes.len());
        let raw = self.raw();
        let mut address = buffer.ptr_at(range.start);
        let mut under_way = VecDeque::new();
        for part in bytes.chunks_mut(staging.chunk_bytes()) {
            if under_way.len() == staging.depth() {
                land(op, &mut under_way)?;
            }
            let mut lease = staging.lend(inner, op)?;
            let len = part.len();
            // SAFETY: `part` fits the chunk, and the range checked above holds it on the device.
            unsafe {
                lease.transfer(op, raw, |chunk| {
                    (inner.api.cuMemcpyDtoHAsync_v2)(chunk.as_ptr().cast(), address, len, raw)
                })?;
            }
            address += len as u64;
            under_way.push_back((lease, part));
        }
        while !under_way.is_empty() {
            land(op, &mut under_way)?;
        }
        Ok(values)
    }

    /// Starts to copy a range of `buffer` to the values of `host` from `at` on, and does not wait:
    /// reading `host` does, and [`Self::synchronize`] brings the errors.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if a range does not lie in its memory, or with the driver's words.
    pub fn download_into<T: Pod>(
        &self,
        buffer: &Buffer<T>,
        range: Range<usize>,
        host: &mut Pinned<T>,
        at: usize,
    ) -> Result<(), Error> {
        let op = self.op("download");
        let inner = &*self.cuda().0;
        check_range(&range, buffer.len()).map_err(|e| inner.failed(op, e))?;
        self.in_range(op, at, range.len(), host.values())?;
        self.not_recording(op)?;
        let bytes = range.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        inner.begin(op, FaultKind::Copy)?;
        let (from, to) = (buffer.ptr_at(range.start), host.address_of(at).cast());
        // SAFETY: both ranges were checked. The host memory is borrowed here, and lent below before
        // anything of ours can look at it or free it.
        let code = unsafe { (inner.api.cuMemcpyDtoHAsync_v2)(to, from, bytes, self.raw()) };
        host.lend(&self.inner, self.ticket(), true);
        inner.check(op, code)
    }

    /// Copies a range of `from` to the values of `to` from `at` on, on the device.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] if a range does not lie in its buffer, or with the driver's words.
    pub fn copy<T: Pod>(
        &self,
        from: &Buffer<T>,
        range: Range<usize>,
        to: &mut Buffer<T>,
        at: usize,
    ) -> Result<(), Error> {
        let op = self.op("copy");
        let inner = &*self.cuda().0;
        check_range(&range, from.len()).map_err(|e| inner.failed(op, e))?;
        self.in_range(op, at, range.len(), to.len())?;
        let bytes = range.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        inner.begin(op, FaultKind::Copy)?;
        let (from, to) = (from.ptr_at(range.start), to.ptr_at(at));
        // SAFETY: both ranges were checked, and two buffers do not overlap.
        let code = unsafe { (inner.api.cuMemcpyDtoDAsync_v2)(to, from, bytes, self.raw()) };
        inner.check(op, code)
    }

    /// Launches a kernel: `grid` blocks of `block` threads, each block with `shared` bytes of
    /// dynamic shared memory. The errors of the kernel itself come with the next wait.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`], named after the kernel: arguments that are not those it has, or the
    /// driver's words.
    pub fn launch(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        self.start(function, grid, block, shared, args, false)
    }

    /// [`Self::launch`] with all blocks running at once, so that they may wait for one another. At
    /// most [`Function::max_active_blocks`] times the number of multiprocessors.
    ///
    /// # Errors
    ///
    /// Those of [`Self::launch`]; too many blocks are one.
    pub fn launch_cooperative(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        self.start(function, grid, block, shared, args, true)
    }

    fn start(
        &self,
        function: &Function,
        grid: (u32, u32, u32),
        block: (u32, u32, u32),
        shared: u32,
        args: &[Arg<'_>],
        cooperative: bool,
    ) -> Result<(), Error> {
        let op = function.name;
        let inner = &*self.cuda().0;
        let mut packed = Packed::new(args, &function.sizes).map_err(|why| inner.failed(op, why))?;
        inner.begin(op, FaultKind::Launch)?;
        if self.inner.capturing.load(Ordering::Acquire) {
            self.record(&function.module);
        }
        let ((gx, gy, gz), (bx, by, bz)) = (grid, block);
        let (raw, stream) = (function.raw.0, self.raw());
        let addresses = packed.addresses().as_mut_ptr();
        // SAFETY: function and stream are alive; each argument has the size that the kernel has for
        // it, and the driver copies them before it returns.
        let code = unsafe {
            if cooperative {
                (inner.api.cuLaunchCooperativeKernel)(
                    raw, gx, gy, gz, bx, by, bz, shared, stream, addresses,
                )
            } else {
                let extra = ptr::null_mut();
                (inner.api.cuLaunchKernel)(
                    raw, gx, gy, gz, bx, by, bz, shared, stream, addresses, extra,
                )
            }
        };
        inner.check(op, code)
    }

    fn record(&self, module: &Arc<Loaded>) {
        let mut recording = self
            .inner
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(recording) = &mut *recording
            && !recording.modules.iter().any(|m| Arc::ptr_eq(m, module))
        {
            recording.modules.push(Arc::clone(module));
        }
    }

    /// Waits until all of the stream's work has been done.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`]: some of the work has failed, or the device is lost. No result of the
    /// stream may be used.
    pub fn synchronize(&self) -> Result<(), Error> {
        let op = self.op("synchronize");
        self.not_recording(op)?;
        self.cuda().0.begin(op, FaultKind::Sync)?;
        self.inner.finish(op)
    }

    /// Orders the stream's further work after what `other`, a stream of the same GPU, was given.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn wait_for(&self, other: &Self) -> Result<(), Error> {
        let op = self.op("wait");
        self.not_recording(op)?;
        other.not_recording(op)?;
        let event = other.mark(op, CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        let inner = &*self.cuda().0;
        // SAFETY: event and stream are alive; the driver keeps what it needs of the event.
        let code = unsafe { (inner.api.cuStreamWaitEvent)(self.raw(), event.raw.0, 0) };
        inner.check(op, code)
    }

    /// A point in the stream's work, with its time.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn event(&self) -> Result<Event, Error> {
        let op = self.op("event");
        self.not_recording(op)?;
        self.mark(op, CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn mark(&self, op: &'static str, flags: CUevent_flags) -> Result<Event, Error> {
        let inner = &*self.cuda().0;
        inner.enter(op)?;
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: the event is written on success.
        let code = unsafe { (inner.api.cuEventCreate)(&raw mut raw, flags as c_uint) };
        inner.check(op, code)?;
        let event = Event {
            cuda: self.cuda().clone(),
            raw: Handle(raw),
        };
        // SAFETY: event and stream are alive.
        let code = unsafe { (inner.api.cuEventRecord)(raw, self.raw()) };
        inner.check(op, code)?;
        Ok(event)
    }

    /// Milliseconds from `start` to `end`, once `end` has come.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words for the work before `end`.
    pub fn elapsed(&self, start: &Event, end: &Event) -> Result<f32, Error> {
        let op = self.op("elapsed");
        let inner = &*self.cuda().0;
        inner.begin(op, FaultKind::Sync)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive; a figure is written.
        let code = unsafe {
            match (inner.api.cuEventSynchronize)(end.raw.0) {
                0 => {
                    let (start, end) = (start.raw.0, end.raw.0);
                    (inner.api.cuEventElapsedTime)(&raw mut milliseconds, start, end)
                }
                code => code,
            }
        };
        inner.check(op, code)?;
        Ok(milliseconds)
    }

    /// Records the launches, fills and copies on the device that `work` gives to this stream, in
    /// place of doing them. Memory must be there before: what `work` takes or moves from or to the
    /// host is refused, and what it drops is freed afterwards.
    ///
    /// # Errors
    ///
    /// Those of `work`; [`Error::Unsupported`] inside another recording; [`Error::KernelFailed`]
    /// with the driver's words.
    pub fn capture<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(Graph, R), Error> {
        let op = self.op("capture");
        self.not_recording(op)?;
        let inner = &*self.cuda().0;
        // Page-locked memory that is still lent could not be waited for during the recording.
        self.inner.finish(op)?;
        let capture = Capture::begin(self, op)?;
        let result = work();
        let (graph, modules) = capture.end();
        let result = result.inspect_err(|_| {
            if let Ok(graph) = graph {
                // SAFETY: the graph is ours and nobody else has it.
                inner.log("freeing a graph", unsafe {
                    (inner.api.cuGraphDestroy)(graph)
                });
            }
        })?;
        inner.enter(op)?;
        let graph = graph.map_err(|code| inner.failed(op, inner.api.error(code)))?;
        Ok((Graph::new(self, graph, modules)?, result))
    }
}

/// A recording that ends even if the work panics.
struct Capture<'a> {
    stream: &'a Stream,
    ended: bool,
}

impl<'a> Capture<'a> {
    fn begin(stream: &'a Stream, op: &'static str) -> Result<Self, Error> {
        let inner = &*stream.cuda().0;
        {
            let mut recording = stream
                .inner
                .recording
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if recording.is_some() {
                return Err(inner.unsupported(op, "a graph is being recorded"));
            }
            *recording = Some(Recording::default());
            stream.inner.capturing.store(true, Ordering::Release);
        }
        let mut capture = Self {
            stream,
            ended: true,
        };
        // Relaxed: other threads and other streams may do as they like.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED as c_uint;
        // SAFETY: the stream is alive and records nothing yet.
        let code = unsafe { (inner.api.cuStreamBeginCapture_v2)(stream.raw(), mode) };
        inner.check(op, code).inspect_err(|_| {
            stream.inner.end_recording();
        })?;
        capture.ended = false;
        Ok(capture)
    }

    /// The graph, or the driver's code; and what its functions belong to.
    fn end(mut self) -> (Result<cudarc::driver::sys::CUgraph, u32>, Vec<Arc<Loaded>>) {
        self.ended = true;
        self.stop()
    }

    fn stop(&self) -> (Result<cudarc::driver::sys::CUgraph, u32>, Vec<Arc<Loaded>>) {
        let inner = &*self.stream.cuda().0;
        if let Err(error) = inner.enter("capture") {
            tracing::warn!(%error, "ending a recording");
        }
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is alive; the graph is written, null if the recording has failed.
        let code = unsafe { (inner.api.cuStreamEndCapture)(self.stream.raw(), &raw mut graph) };
        let recording = self.stream.inner.end_recording();
        let graph = if code == 0 { Ok(graph) } else { Err(code) };
        (graph, recording.modules)
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if !self.ended
            && let (Ok(graph), _) = self.stop()
        {
            let inner = &*self.stream.cuda().0;
            // SAFETY: the graph is ours and nobody else has it.
            inner.log("freeing a graph", unsafe {
                (inner.api.cuGraphDestroy)(graph)
            });
        }
    }
}

/// Copies the oldest chunk under way to where it belongs.
fn land(
    op: &'static str,
    under_way: &mut VecDeque<(super::staging::Lease<'_>, &mut [u8])>,
) -> Result<(), Error> {
    if let Some((mut lease, part)) = under_way.pop_front() {
        lease.wait(op)?;
        copy(part, lease.bytes(part.len()));
    }
    Ok(())
}

/// A point in the work of a stream.
pub struct Event {
    cuda: Cuda,
    raw: Handle<CUevent>,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.cuda.name()).finish()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("event") {
            tracing::warn!(%error, "freeing");
        }
        // SAFETY: the event is ours; the driver keeps it until it has come.
        let code = unsafe { (inner.api.cuEventDestroy_v2)(self.raw.0) };
        inner.log("freeing an event", code);
    }
}
