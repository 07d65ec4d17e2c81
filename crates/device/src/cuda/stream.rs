//! Work in order: memory, transfers, launches.
#![allow(unsafe_code)]

use core::ffi::c_uint;
use core::ops::Range;
use core::{fmt, ptr};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUstream, CUstream_flags};

use super::buffer::{Buffer, check_range};
use super::context::{Cuda, Handle, SMALL, is_out_of_memory};
use super::fault::FaultKind;
use super::mailbox::Mailbox;
use super::module::Loaded;
use super::pinned::Pinned;
use super::pod::{Pod, bytes_of, bytes_of_mut, size, zeroed};
use super::staging::{Lease, Staging, copy};
use super::timeline::Timeline;
use crate::Error;

/// What piles up while a stream records.
#[derive(Default)]
pub(super) struct Recording {
    /// Memory to free when the recording ends: address and bytes.
    freed: Vec<(u64, u64)>,
    /// What the recorded functions belong to.
    pub(super) modules: Vec<Arc<Loaded>>,
}

pub(super) struct StreamInner {
    cuda: Cuda,
    raw: Handle<CUstream>,
    /// Transfers that page-locked memory was lent to, and those of them that have ended for sure.
    lent: AtomicU64,
    passed: AtomicU64,
    capturing: AtomicBool,
    recording: Mutex<Option<Recording>>,
    timeline: Timeline,
}

impl StreamInner {
    /// Where the times of launches are kept.
    pub(super) const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

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

    /// Whether a recording is under way.
    pub(super) fn is_recording(&self) -> bool {
        self.capturing.load(Ordering::Acquire)
    }

    /// Sets up for a recording; `false` if one is under way.
    pub(super) fn begin_recording(&self) -> bool {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let free = recording.is_none();
        if free {
            *recording = Some(Recording::default());
            self.capturing.store(true, Ordering::Release);
        }
        free
    }

    /// A function of `module` is recorded.
    pub(super) fn record(&self, module: &Arc<Loaded>) {
        let mut recording = self
            .recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(recording) = &mut *recording
            && !recording.modules.iter().any(|m| Arc::ptr_eq(m, module))
        {
            recording.modules.push(Arc::clone(module));
        }
    }

    /// Clears up after a recording, and frees what was dropped during it.
    pub(super) fn end_recording(&self) -> Recording {
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
    pub(super) inner: Arc<StreamInner>,
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
                timeline: Timeline::default(),
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
    pub(super) fn not_recording(&self, op: &'static str) -> Result<(), Error> {
        if self.inner.is_recording() {
            let why = "a graph is being recorded, which takes launches, fills and copies on the \
                       device only";
            return Err(self.cuda().0.unsupported(op, why));
        }
        Ok(())
    }

    /// What belongs to another GPU is refused.
    pub(super) fn of_this_gpu(&self, op: &'static str, cuda: &Cuda) -> Result<(), Error> {
        let (here, there) = (&self.cuda().0, &cuda.0);
        if Arc::ptr_eq(here, there) {
            return Ok(());
        }
        Err(here.unsupported(op, format!("it was made on {}", there.name)))
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

    /// Page-locked memory for the small results of this stream's kernels, `words` of them.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] if there is no page-locked memory.
    pub fn mailbox(&self, words: usize) -> Result<Mailbox, Error> {
        Mailbox::new(self, words)
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
}

/// Copies the oldest chunk under way to where it belongs.
fn land(op: &'static str, under_way: &mut VecDeque<(Lease<'_>, &mut [u8])>) -> Result<(), Error> {
    if let Some((mut lease, part)) = under_way.pop_front() {
        lease.wait(op)?;
        copy(part, lease.bytes(part.len()));
    }
    Ok(())
}
