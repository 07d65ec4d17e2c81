//! Page-locked host memory.
#![allow(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::context::{Cuda, Inner, is_out_of_memory};
use super::fault::FaultKind;
use super::pod::{Pod, size};
use super::stream::StreamInner;
use crate::{Error, OutOfMemory, available_memory};

/// Every GPU of the process reads it at full speed.
const PORTABLE: u32 = 1;
/// The cache keeps at most this many bytes.
const KEEP: usize = 1 << 30;
/// Sizes are rounded up to this.
const PAGE: usize = 4096;

fn no_memory(op: &str, bytes: usize) -> Error {
    let have = available_memory().unwrap_or(0);
    OutOfMemory::new(format!("{op} (page-locked)"), bytes as u64, have).into()
}

/// A stretch of page-locked memory, initialised.
pub(super) struct Block {
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: plain memory with one owner.
unsafe impl Send for Block {}
// SAFETY: a shared block is only read.
unsafe impl Sync for Block {}

impl Block {
    /// `bytes` zeros, at least one page. The context is current.
    pub(super) fn new(inner: &Inner, op: &'static str, bytes: usize) -> Result<Self, Error> {
        let bytes = bytes.max(1).next_multiple_of(PAGE);
        let none = || no_memory(op, bytes);
        if inner.faults.strikes(FaultKind::Alloc) {
            return Err(none());
        }
        let mut address = ptr::null_mut();
        // SAFETY: the address is written on success.
        let code = unsafe { (inner.api.cuMemHostAlloc)(&raw mut address, bytes, PORTABLE) };
        if is_out_of_memory(code) {
            return Err(none());
        }
        inner.check(op, code)?;
        let address = NonNull::new(address.cast::<u8>()).ok_or_else(none)?;
        // SAFETY: the driver gave `bytes` bytes at this address; it does not promise zeros.
        unsafe { ptr::write_bytes(address.as_ptr(), 0, bytes) };
        Ok(Self { address, bytes })
    }

    pub(super) const fn address(&self) -> NonNull<u8> {
        self.address
    }

    pub(super) const fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block is ours, and `new` wrote all of it.
        unsafe { core::slice::from_raw_parts_mut(self.address.as_ptr(), self.bytes) }
    }

    /// Gives the memory back. The context is current, and no transfer is under way.
    pub(super) fn free(self, inner: &Inner) {
        // SAFETY: it came from `cuMemHostAlloc`, and this is the only place that frees.
        let code = unsafe { (inner.api.cuMemFreeHost)(self.address.as_ptr().cast()) };
        inner.log("freeing page-locked memory", code);
    }
}

/// Blocks to use again: locking pages costs a quarter of a millisecond a MiB.
#[derive(Default)]
pub(super) struct Blocks(Mutex<Vec<Block>>);

impl Blocks {
    /// The smallest that fits and is not more than twice as large.
    fn take(&self, bytes: usize) -> Option<Block> {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = bytes.saturating_mul(2).max(PAGE);
        let fits = |b: &&Block| b.bytes >= bytes && b.bytes <= most;
        let best = blocks.iter().filter(fits).map(|b| b.bytes).min()?;
        let index = blocks.iter().position(|b| b.bytes == best)?;
        Some(blocks.swap_remove(index))
    }

    fn put(&self, inner: &Inner, block: Block) {
        let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let held: usize = blocks.iter().map(|b| b.bytes).sum();
        if held.saturating_add(block.bytes) <= KEEP {
            blocks.push(block);
        } else {
            drop(blocks);
            block.free(inner);
        }
    }

    /// Frees all of them. The context is current.
    pub(super) fn clear(&self, inner: &Inner) {
        let blocks = {
            let mut blocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            core::mem::take(&mut *blocks)
        };
        blocks.into_iter().for_each(|block| block.free(inner));
    }
}

/// A transfer that may still be under way.
struct Transfer {
    stream: Arc<StreamInner>,
    ticket: u64,
    /// Whether the device writes to the host memory.
    writes: bool,
}

/// `len` values of `T` in page-locked host memory, which the bus moves at its full speed and without
/// the processor. It may be lent to a transfer and let go of: reading waits for transfers into it,
/// and writing and dropping wait for all.
pub struct Pinned<T: Pod> {
    cuda: Cuda,
    /// `None` only while dropping.
    block: Option<Block>,
    len: usize,
    /// Whether the list below may hold a transfer into this memory, or any.
    written: AtomicBool,
    lent: AtomicBool,
    transfers: Mutex<Vec<Transfer>>,
    values: PhantomData<T>,
}

impl<T: Pod> Pinned<T> {
    pub(super) fn new(cuda: &Cuda, len: usize) -> Result<Self, Error> {
        let op = "page-locked memory";
        let bytes = size::<T>(op, len)?;
        let inner = &*cuda.0;
        inner.enter(op)?;
        let block = match inner.blocks.take(bytes) {
            Some(block) if inner.faults.strikes(FaultKind::Alloc) => {
                inner.blocks.put(inner, block);
                return Err(no_memory(op, bytes));
            }
            Some(block) => block,
            None => Block::new(inner, op, bytes)?,
        };
        Ok(Self {
            cuda: cuda.clone(),
            block: Some(block),
            len,
            written: AtomicBool::new(false),
            lent: AtomicBool::new(false),
            transfers: Mutex::default(),
            values: PhantomData,
        })
    }

    /// The GPU that it was made for.
    #[must_use]
    pub const fn cuda(&self) -> &Cuda {
        &self.cuda
    }

    /// Values in it, without waiting for a transfer as `len` of the slice would.
    pub(super) const fn values(&self) -> usize {
        self.len
    }

    fn address(&self) -> *mut T {
        match &self.block {
            Some(block) => block.address().as_ptr().cast(),
            None => NonNull::dangling().as_ptr(),
        }
    }

    /// The address of value `index`, for a transfer; the caller has checked it.
    pub(super) fn address_of(&self, index: usize) -> *mut T {
        self.address().wrapping_add(index)
    }

    /// A transfer was handed to `stream`, which may have come as far as `ticket` says.
    pub(super) fn lend(&self, stream: &Arc<StreamInner>, ticket: u64, writes: bool) {
        let mut transfers = self
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        transfers.retain(|t| !t.stream.has_passed(t.ticket));
        transfers.push(Transfer {
            stream: Arc::clone(stream),
            ticket,
            writes,
        });
        self.lent.store(true, Ordering::Release);
        if writes {
            self.written.store(true, Ordering::Release);
        }
    }

    /// Waits for the transfers into this memory, or for all.
    #[cold]
    fn settle(&self, only_writes: bool) {
        let mut transfers = self
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        transfers.retain(|t| {
            let settle = t.writes || !only_writes;
            if settle && !t.stream.has_passed(t.ticket) {
                // A stream that has failed moves nothing any more; the error comes to whoever
                // synchronises it.
                if let Err(error) = t.stream.finish("page-locked memory") {
                    tracing::warn!(%error, "waiting for a transfer");
                }
            }
            !settle
        });
        self.written.store(false, Ordering::Release);
        if transfers.is_empty() {
            self.lent.store(false, Ordering::Release);
        }
    }
}

impl<T: Pod> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.written.load(Ordering::Acquire) {
            self.settle(true);
        }
        // SAFETY: the block holds `len` values, initialised, page-aligned; no transfer writes there.
        unsafe { core::slice::from_raw_parts(self.address(), self.len) }
    }
}

impl<T: Pod> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        if self.lent.load(Ordering::Acquire) {
            self.settle(false);
        }
        // SAFETY: as for `deref`, and no transfer reads there either.
        unsafe { core::slice::from_raw_parts_mut(self.address(), self.len) }
    }
}

impl<T: Pod> fmt::Debug for Pinned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<T: Pod> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.lent.load(Ordering::Acquire) {
            self.settle(false);
        }
        if let Some(block) = self.block.take() {
            let inner = &*self.cuda.0;
            if let Err(error) = inner.enter("page-locked memory") {
                tracing::warn!(%error, "freeing");
            }
            inner.blocks.put(inner, block);
        }
    }
}
