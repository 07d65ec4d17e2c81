//! What the kernels of one stream share: partial sums, counters, and the place of small results.
#![forbid(unsafe_code)]

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
        let number = self.mail.expect();
        let (results, flag) = (halves(self.mail.results()), halves(self.mail.flag()));
        [results[0], results[1], flag[0], flag[1], number, 0]
    }
}

/// For a kernel that is to deliver nothing.
pub(super) const NO_MAIL: [u32; 6] = [0; 6];

/// A 64-bit value as two words of a kernel's structure.
pub(super) const fn halves(value: u64) -> [u32; 2] {
    [value as u32, (value >> 32) as u32]
}
