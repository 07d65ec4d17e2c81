//! Chunks of page-locked memory that pageable memory is copied through.
//!
//! The bus reads page-locked memory at 55 GB/s and pageable memory at 7. So a transfer is cut into
//! chunks: threads copy one while the bus has the one before. A chunk carries an event that says
//! when the device has done with it, and is not touched before.
#![allow(unsafe_code)]

use core::ptr::NonNull;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use cudarc::driver::sys::{CUevent, CUevent_flags, CUstream};
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};

use super::api::code;
use super::context::Inner;
use super::fault::FaultKind;
use super::pinned::Block;
use crate::Error;

/// Copies from this size on are shared among threads, in pieces of it.
const PIECE: usize = 1 << 20;

/// Copies `from` to `to`, of one length, with several threads where it pays.
pub(super) fn copy(to: &mut [u8], from: &[u8]) {
    if to.len() < 2 * PIECE {
        to.copy_from_slice(from);
    } else {
        to.par_chunks_mut(PIECE)
            .zip(from.par_chunks(PIECE))
            .for_each(|(to, from)| to.copy_from_slice(from));
    }
}

struct Chunk {
    block: Block,
    event: CUevent,
    /// Whether the event stands for a transfer.
    recorded: bool,
}

// SAFETY: a chunk has one owner at a time, and its event may be used from any thread.
unsafe impl Send for Chunk {}

#[derive(Default)]
struct Idle {
    /// The one whose transfer is oldest comes first.
    chunks: VecDeque<Chunk>,
    /// Chunks in the world, idle or lent.
    made: usize,
}

/// The chunks of one size.
pub(super) struct Staging {
    bytes: usize,
    keep: usize,
    idle: Mutex<Idle>,
}

impl Staging {
    pub(super) fn new(bytes: usize, keep: usize) -> Self {
        Self {
            bytes,
            keep,
            idle: Mutex::default(),
        }
    }

    pub(super) const fn chunk_bytes(&self) -> usize {
        self.bytes
    }

    /// How many chunks one transfer should have in flight.
    pub(super) const fn depth(&self) -> usize {
        self.keep
    }

    /// A chunk that the device has done with. The context is current.
    pub(super) fn lend<'a>(
        &'a self,
        inner: &'a Inner,
        op: &'static str,
    ) -> Result<Lease<'a>, Error> {
        let chunk = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let room = idle.made < self.keep;
            let usable = idle.chunks.front().is_some_and(|c| {
                // SAFETY: the event lives as long as the chunk.
                !room
                    || !c.recorded
                    || unsafe { (inner.api.cuEventQuery)(c.event) } != code::NOT_READY
            });
            let chunk = if usable {
                idle.chunks.pop_front()
            } else {
                None
            };
            if chunk.is_none() {
                idle.made += 1;
            }
            chunk
        };
        let chunk = match chunk {
            Some(chunk) => chunk,
            None => self.make(inner, op).inspect_err(|_| {
                let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.made -= 1;
            })?,
        };
        let mut lease = Lease {
            inner,
            staging: self,
            chunk: Some(chunk),
            unmarked: None,
        };
        lease.wait(op)?;
        Ok(lease)
    }

    fn make(&self, inner: &Inner, op: &'static str) -> Result<Chunk, Error> {
        let block = Block::new(inner, op, self.bytes)?;
        let mut event = core::ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the event is written on success.
        let code = unsafe { (inner.api.cuEventCreate)(&raw mut event, flags) };
        if let Err(error) = inner.check(op, code) {
            block.free(inner);
            return Err(error);
        }
        Ok(Chunk {
            block,
            event,
            recorded: false,
        })
    }

    fn put_back(&self, inner: &Inner, chunk: Chunk) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.made <= self.keep {
            idle.chunks.push_back(chunk);
        } else {
            idle.made -= 1;
            drop(idle);
            chunk.free(inner);
        }
    }

    /// Frees the idle ones. The context is current.
    pub(super) fn clear(&self, inner: &Inner) {
        let chunks = {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.made -= idle.chunks.len();
            core::mem::take(&mut idle.chunks)
        };
        chunks.into_iter().for_each(|chunk| chunk.free(inner));
    }
}

impl Chunk {
    fn free(self, inner: &Inner) {
        // SAFETY: the event is ours and goes with the chunk; its transfer ends before the memory is
        // given up.
        unsafe {
            if self.recorded {
                inner.log(
                    "waiting for a transfer",
                    (inner.api.cuEventSynchronize)(self.event),
                );
            }
            inner.log(
                "freeing an event",
                (inner.api.cuEventDestroy_v2)(self.event),
            );
        }
        self.block.free(inner);
    }
}

/// A chunk in use; it goes back when dropped.
pub(super) struct Lease<'a> {
    inner: &'a Inner,
    staging: &'a Staging,
    chunk: Option<Chunk>,
    /// A stream with a transfer on the chunk that the event does not stand for yet.
    unmarked: Option<CUstream>,
}

impl Lease<'_> {
    /// Waits until the device has done with the chunk.
    pub(super) fn wait(&mut self, op: &'static str) -> Result<(), Error> {
        let Some(chunk) = self.chunk.as_mut().filter(|c| c.recorded) else {
            return Ok(());
        };
        self.inner.begin(op, FaultKind::Sync)?;
        // SAFETY: the event lives as long as the chunk.
        let code = unsafe { (self.inner.api.cuEventSynchronize)(chunk.event) };
        self.inner.check(op, code)?;
        chunk.recorded = false;
        Ok(())
    }

    /// The first `len` bytes of the chunk, once [`Self::wait`] has succeeded; empty before that.
    pub(super) fn bytes(&mut self, len: usize) -> &mut [u8] {
        match &mut self.chunk {
            Some(chunk) if !chunk.recorded && self.unmarked.is_none() => {
                let bytes = chunk.block.bytes_mut();
                let len = len.min(bytes.len());
                &mut bytes[..len]
            }
            _ => &mut [],
        }
    }

    /// Starts a transfer between the first bytes of the chunk and the device.
    ///
    /// # Safety
    ///
    /// `start` is given the chunk's address and enqueues nothing but one transfer of at most the
    /// chunk's size, on `stream`.
    pub(super) unsafe fn transfer(
        &mut self,
        op: &'static str,
        stream: CUstream,
        start: impl FnOnce(NonNull<u8>) -> u32,
    ) -> Result<(), Error> {
        let Some(chunk) = &mut self.chunk else {
            return Ok(());
        };
        self.inner.begin(op, FaultKind::Copy)?;
        self.unmarked = Some(stream);
        let code = start(chunk.block.address());
        self.inner.check(op, code)?;
        // SAFETY: the event and the stream are alive.
        let code = unsafe { (self.inner.api.cuEventRecord)(chunk.event, stream) };
        self.inner.check(op, code)?;
        chunk.recorded = true;
        self.unmarked = None;
        Ok(())
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let Some(chunk) = self.chunk.take() else {
            return;
        };
        if let Some(stream) = self.unmarked {
            // SAFETY: whoever lent the chunk holds the stream.
            let code = unsafe { (self.inner.api.cuStreamSynchronize)(stream) };
            self.inner.log("waiting for a transfer", code);
        }
        self.staging.put_back(self.inner, chunk);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_by_threads_is_a_copy() {
        for len in [0, 1, PIECE, 2 * PIECE, 3 * PIECE + 7] {
            let from: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut to = vec![255; len];
            copy(&mut to, &from);
            assert!(to == from, "{len}");
        }
    }
}
