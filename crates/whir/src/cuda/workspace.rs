//! What the kernels of one stream share: partial sums, a counter, and the place of small results.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Buffer, Stream};

/// Blocks of a grid that leaves partial sums.
pub(super) const MAX_BLOCKS: usize = 2048;
/// Words of an extension element, at most.
const ELEMENT: usize = 5;

/// Held, under a lock, from the launch that writes a result until the result is read.
#[derive(Debug)]
pub(super) struct Workspace {
    /// Two elements a block.
    pub(super) partial: Buffer<u32>,
    /// Blocks that have arrived; 0 between kernels.
    pub(super) arrived: Buffer<u32>,
    /// Two elements.
    pub(super) result: Buffer<u32>,
}

impl Workspace {
    pub(super) fn new(stream: &Stream) -> Result<Self, Error> {
        Ok(Self {
            partial: stream.alloc(2 * ELEMENT * MAX_BLOCKS)?,
            arrived: stream.zeros(1)?,
            result: stream.alloc(2 * ELEMENT)?,
        })
    }
}
