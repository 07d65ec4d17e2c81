//! Large buffers on huge pages.
//!
//! A proof of 2^24 elements touches hundreds of MiB for the first time; with 4 KiB pages the faults
//! alone cost a tenth of the time, and the strided passes of the transform miss the TLB at every
//! row. Where the kernel leaves huge pages to be asked for (`madvise` mode), this asks.
#![allow(unsafe_code)]

use p3_field::PrimeCharacteristicRing;

use crate::field::F;

/// Below this many bytes a buffer is left alone.
const LARGE: usize = 4 << 20;

/// `len` zeros, on huge pages where the system has them and the buffer is large.
pub(crate) fn zeros(len: usize) -> Vec<F> {
    // an anonymous mapping at these sizes: nothing is touched yet
    let buffer = F::zero_vec(len);
    if size_of_val(buffer.as_slice()) >= LARGE {
        advise(&buffer);
    }
    buffer
}

#[cfg(target_os = "linux")]
fn advise(buffer: &[F]) {
    const PAGE: usize = 4096;
    let start = buffer.as_ptr().addr().next_multiple_of(PAGE);
    let end = (buffer.as_ptr().addr() + size_of_val(buffer)) & !(PAGE - 1);
    // SAFETY: the range lies inside one live allocation and is page-aligned; the advice changes
    // how the pages are backed, not what they hold, and a refusal leaves everything as it was.
    unsafe {
        let start = buffer.as_ptr().cast_mut().with_addr(start).cast();
        let _ = libc::madvise(start, end - start.addr(), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise(_: &[F]) {}
