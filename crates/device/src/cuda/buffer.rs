//! Device memory with an owner.
#![forbid(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;
use std::sync::Arc;

use thiserror::Error as ThisError;

use super::pod::Pod;
use super::stream::StreamInner;

/// A range that does not lie inside the memory it was named for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[error("elements {start}..{end} of a buffer of {len}")]
#[non_exhaustive]
pub struct RangeError {
    /// Its first element.
    pub start: usize,
    /// The one after its last, saturated.
    pub end: usize,
    /// Elements that there are.
    pub len: usize,
}

/// Whether `range` lies in `len` elements.
pub(super) fn check_range(range: &Range<usize>, len: usize) -> Result<(), RangeError> {
    if range.start <= range.end && range.end <= len {
        Ok(())
    } else {
        Err(RangeError {
            start: range.start,
            end: range.end,
            len,
        })
    }
}

/// `len` values of `T` in device memory, not initialised unless made so. Dropped, it is freed once
/// the stream that it was made on has come that far.
pub struct Buffer<T: Pod> {
    stream: Arc<StreamInner>,
    address: u64,
    len: usize,
    values: PhantomData<fn() -> T>,
}

impl<T: Pod> Buffer<T> {
    pub(super) const fn new(stream: Arc<StreamInner>, address: u64, len: usize) -> Self {
        Self {
            stream,
            address,
            len,
            values: PhantomData,
        }
    }

    /// Values in it.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes in it.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        // No overflow: it was checked when the memory was taken.
        self.len * size_of::<T>()
    }

    /// Its address on the device; 0 if it is empty.
    #[must_use]
    pub const fn as_ptr(&self) -> u64 {
        self.address
    }

    /// The address of value `index`, which may be the one after the last. Beyond that it saturates:
    /// no address inside the buffer comes of it.
    #[must_use]
    pub const fn ptr_at(&self, index: usize) -> u64 {
        let offset = (index as u64).saturating_mul(size_of::<T>() as u64);
        self.address.saturating_add(offset)
    }
}

impl<T: Pod> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("address", &format_args!("{:#x}", self.address))
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl<T: Pod> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address != 0 {
            self.stream.free(self.address, self.bytes() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_end_where_the_memory_does() {
        assert_eq!(check_range(&(0..0), 0), Ok(()));
        assert_eq!(check_range(&(2..8), 8), Ok(()));
        let outside = Range { start: 2, end: 9 };
        let error = check_range(&outside, 8);
        assert_eq!(
            error.map_err(|e| e.to_string()),
            Err("elements 2..9 of a buffer of 8".to_owned())
        );
        let backwards = Range { start: 5, end: 4 };
        assert!(check_range(&backwards, 8).is_err());
        assert!(check_range(&(usize::MAX..usize::MAX), 8).is_err());
    }
}
