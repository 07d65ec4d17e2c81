//! What the kernels of one stream share: partial sums, counters, and the place of small results.
#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

use fieldspar_device::Error;
use fieldspar_device::cuda::{Buffer, Mailbox, Stream};

/// Blocks of a grid that leaves partial sums.
pub(super) const MAX_BLOCKS: usize = 2048;
/// Words of an extension element, at most.
const ELEMENT: usize = 5;
/// Results that come through host memory; more are copied.
pub(super) const MAIL: usize = 1 << 16;

/// Held, under a lock, from the launch that writes a result until the result is read.
#[derive(Debug)]
pub(super) struct Workspace {
    /// Two elements a block.
    pub(super) partial: Buffer<u32>,
    /// Blocks that have arrived; 0 between kernels.
    pub(super) arrived: Buffer<u32>,
    /// The best witness; the largest word between kernels.
    pub(super) best: Buffer<u32>,
    pub(super) mail: Mailbox,
}

impl Workspace {
    pub(super) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            partial: stream.alloc(2 * ELEMENT * MAX_BLOCKS)?,
            arrived: stream.zeros(1)?,
            best: stream.upload(&[u32::MAX])?,
            mail: stream.mailbox(MAIL)?,
        })
    }

    /// The kernels' `Mail`, for the next one that delivers.
    pub(super) fn ask(&mut self) -> [u32; 6] {
        ask(&mut self.mail)
    }
}

/// The kernels' `Mail`, for the next one that delivers to this mailbox.
pub(super) fn ask(mail: &mut Mailbox) -> [u32; 6] {
    let number = mail.expect();
    let (results, flag) = (halves(mail.results()), halves(mail.flag()));
    [results[0], results[1], flag[0], flag[1], number, 0]
}

/// For a kernel that is to deliver nothing.
pub(super) const NO_MAIL: [u32; 6] = [0; 6];

/// A 64-bit value as two words of a kernel's structure.
pub(super) const fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}

/// Mailboxes of results that are not read before the next kernel, each for one of them.
#[derive(Debug, Default)]
pub(super) struct Letters(Mutex<Vec<Mailbox>>);

impl Letters {
    /// One for up to [`MAIL`] words, and as many for the kernel to read behind them.
    ///
    /// The kernel that it was last for may still be to write: the next one of the stream comes after
    /// that, with another number.
    pub(super) fn take(&self, stream: &Stream) -> Result<Mailbox, Error> {
        let idle = self.idle().pop();
        idle.map_or_else(|| stream.mailbox(2 * MAIL), Ok)
    }

    pub(super) fn put(&self, letter: Mailbox) {
        self.idle().push(letter);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Mailbox>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
