//! Small results without a copy: words in page-locked memory that a kernel writes and the host
//! watches.
//!
//! A copy of a few bytes and the wait for it cost more than the kernels that made them. Here the
//! last block of a kernel writes its results to host memory, and then a number that the host waits
//! to see.
#![allow(unsafe_code)]

use core::sync::atomic::{AtomicU32, Ordering, fence};
use core::{fmt, ptr};

use super::api::code;
use super::fault::FaultKind;
use super::pinned::Block;
use super::stream::Stream;
use crate::Error;

/// Looks at the flag between two questions to the driver whether the stream is still alive.
const LOOKS: u32 = 20_000;
/// The results begin here, a line of the cache after the flag.
const RESULTS: usize = 64;

/// Words that kernels of one stream write and the host waits for, one kernel at a time.
///
/// A kernel is given [`Self::results`], [`Self::flag`] and the number of [`Self::expect`]. Once all
/// its results are written, one thread orders them (`__threadfence_system`) and stores the number.
pub struct Mailbox {
    stream: Stream,
    /// `None` only while dropping.
    block: Option<Block>,
    words: usize,
    number: u32,
}

impl fmt::Debug for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox")
            .field("words", &self.words)
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Mailbox {
    pub(super) fn new(stream: &Stream, words: usize) -> Result<Self, Error> {
        let op = stream.op("mailbox");
        let inner = &*stream.cuda().0;
        inner.enter(op)?;
        let block = Block::new(inner, op, words * size_of::<u32>() + RESULTS)?;
        Ok(Self {
            stream: stream.clone(),
            block: Some(block),
            words,
            number: 0,
        })
    }

    /// Results that fit.
    #[must_use]
    pub const fn words(&self) -> usize {
        self.words
    }

    fn address(&self) -> *mut u8 {
        match &self.block {
            Some(block) => block.address().as_ptr(),
            None => ptr::null_mut(),
        }
    }

    /// The device's address of the first result: page-locked memory has one address for all.
    #[must_use]
    pub fn results(&self) -> u64 {
        self.flag() + RESULTS as u64
    }

    /// The device's address of the number.
    #[must_use]
    pub fn flag(&self) -> u64 {
        self.address().addr() as u64
    }

    /// Puts words where the results from `at` on would be, for a kernel to read: one that is launched
    /// after this, while none that uses these places is under way.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`]: they do not fit.
    pub fn put(&mut self, at: usize, words: &[u32]) -> Result<(), Error> {
        if at
            .checked_add(words.len())
            .is_none_or(|end| end > self.words)
        {
            let inner = &*self.stream.cuda().0;
            return Err(inner.failed(self.stream.op("put"), "more words than the mailbox holds"));
        }
        let to = self.address().wrapping_add(RESULTS).cast::<u32>();
        // SAFETY: the words lie in the block, which is ours; launches order them before the kernel.
        unsafe { ptr::copy_nonoverlapping(words.as_ptr(), to.add(at), words.len()) };
        Ok(())
    }

    /// The number that the next kernel stores.
    pub const fn expect(&mut self) -> u32 {
        self.number = self.number.wrapping_add(1);
        self.number
    }

    /// Waits for the number of the last [`Self::expect`], and reads the first `len` results.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`]: the stream has failed, has ended without the number, or `len` is
    /// more than there is.
    pub fn wait(&self, len: usize) -> Result<Vec<u32>, Error> {
        let op = self.stream.op("wait");
        let inner = &*self.stream.cuda().0;
        if len > self.words {
            return Err(inner.failed(op, "more results than the mailbox holds"));
        }
        inner.begin(op, FaultKind::Sync)?;
        // SAFETY: the block is aligned to its page and lives as long as `self`; the device stores
        // whole words, which the host loads as such.
        let flag = unsafe { AtomicU32::from_ptr(self.address().cast()) };
        let mut ended = false;
        while flag.load(Ordering::Acquire) != self.number {
            if ended {
                return Err(inner.failed(op, "the kernel ended without its results"));
            }
            for _ in 0..LOOKS {
                if flag.load(Ordering::Relaxed) == self.number {
                    break;
                }
                core::hint::spin_loop();
            }
            if flag.load(Ordering::Relaxed) == self.number {
                continue;
            }
            // SAFETY: the stream is alive.
            match unsafe { (inner.api.cuStreamQuery)(self.stream.raw()) } {
                code::NOT_READY => {}
                0 => ended = true,
                code => inner.check(op, code)?,
            }
        }
        fence(Ordering::Acquire);
        let results = self.address().wrapping_add(RESULTS).cast::<u32>();
        let mut words = vec![0; len];
        // SAFETY: `len` words lie in the block, and the kernel that wrote them has said that it is
        // done; a later one is not launched while `self` is borrowed.
        unsafe { results.copy_to_nonoverlapping(words.as_mut_ptr(), len) };
        Ok(words)
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        // a kernel that is still to write must not find other memory here
        if let Err(error) = self.stream.synchronize() {
            tracing::warn!(%error, "closing a mailbox");
        }
        if let Some(block) = self.block.take() {
            block.free(&self.stream.cuda().0);
        }
    }
}
