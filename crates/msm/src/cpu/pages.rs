//! Large tables that are read out of order: huge pages, and fetching ahead.
//!
//! A window's points lie scattered over all bases. With 4 KiB pages nearly every one of them misses
//! the TLB, which costs a fifth of the whole time at 2^20 points.
#![allow(unsafe_code)]

/// Below this many bytes a buffer is left alone.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

/// An empty vector with room for `capacity`, on huge pages where the system has them and it is large.
pub(crate) fn with_capacity<T: Copy>(capacity: usize) -> Vec<T> {
    let buffer = Vec::with_capacity(capacity);
    advise(buffer.as_ptr(), capacity);
    buffer
}

/// `len` copies of `value`, as [`with_capacity`].
pub(crate) fn filled<T: Copy>(len: usize, value: T) -> Vec<T> {
    let mut buffer = with_capacity(len);
    buffer.resize(len, value);
    buffer
}

#[cfg(target_os = "linux")]
fn advise<T>(start: *const T, capacity: usize) {
    const PAGE: usize = 4096;
    let bytes = size_of::<T>() * capacity;
    if bytes < LARGE {
        return;
    }
    let first = start.addr().next_multiple_of(PAGE);
    let end = (start.addr() + bytes) & !(PAGE - 1);
    // SAFETY: the range lies inside one live allocation and is page-aligned; the advice changes how
    // the pages are backed, not what they hold, and a refusal leaves everything as it was.
    unsafe {
        let first = start.cast_mut().with_addr(first).cast();
        let _ = libc::madvise(first, end - first.addr(), libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: *const T, _: usize) {}

/// Begins to fetch every cache line of `slice[index]`; nothing if there is no such element.
#[inline(always)]
pub(crate) fn prefetch<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(element) = slice.get(index) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let start = core::ptr::from_ref(element).cast::<i8>();
        let mut offset = 0;
        while offset < size_of::<T>() {
            // SAFETY: the address lies inside the element, and SSE is part of the architecture.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(start.add(offset)) };
            offset += 64;
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}
