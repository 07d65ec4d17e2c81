//! Memory of an adapter.
#![forbid(unsafe_code)]

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use ::wgpu::BufferUsages;

use super::context::{Inner, Wgpu};
use super::fault::Fault;
use crate::Error;
use crate::cuda::FaultKind;

/// Bytes that one call hands to the driver for an upload: what it stages at once.
const PIECE: usize = 32 << 20;

/// Memory on an adapter, zeros at first.
pub struct Buffer {
    pub(super) raw: ::wgpu::Buffer,
    pub(super) inner: Arc<Inner>,
    bytes: u64,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// A part of a buffer that a kernel sees.
#[derive(Clone, Debug)]
pub struct Binding<'a> {
    pub(super) buffer: &'a Buffer,
    pub(super) range: Range<u64>,
}

/// The size that an allocation gets: whole words, and never nothing, which cannot be bound, but room for
/// an element of any array.
const fn rounded(bytes: u64) -> u64 {
    match bytes {
        0 => 16,
        n => n.saturating_add(3) & !3,
    }
}

impl Buffer {
    pub(super) fn new(gpu: &Wgpu, op: &'static str, bytes: u64) -> Result<Self, Error> {
        let usage = BufferUsages::STORAGE
            | BufferUsages::UNIFORM
            | BufferUsages::COPY_SRC
            | BufferUsages::COPY_DST;
        Self::with_usage(gpu, op, bytes, usage)
    }

    pub(super) fn with_usage(
        gpu: &Wgpu,
        op: &'static str,
        bytes: u64,
        usage: BufferUsages,
    ) -> Result<Self, Error> {
        let inner = &gpu.0;
        inner.begin(op, FaultKind::Alloc)?;
        let size = rounded(bytes);
        let most = inner.info.limits.buffer_bytes;
        if size > most {
            let why = format!("a buffer of {size} bytes, where the adapter allows {most}");
            return Err(inner.unsupported(op, why));
        }
        let descriptor = ::wgpu::BufferDescriptor {
            label: Some(op),
            size,
            usage,
            mapped_at_creation: false,
        };
        let made = inner.scoped(op, || inner.device.create_buffer(&descriptor));
        let raw = made.map_err(|fault| match fault {
            Fault::OutOfMemory(_) => inner.out_of_memory(op, size),
            other => inner.failed(op, other),
        })?;
        inner.took(size);
        Ok(Self {
            raw,
            inner: Arc::clone(inner),
            bytes: size,
        })
    }

    /// Bytes in it, a multiple of 4.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All of it, for a kernel.
    #[must_use]
    pub const fn all(&self) -> Binding<'_> {
        Binding {
            buffer: self,
            range: 0..self.bytes,
        }
    }

    /// The bytes `range` of it, for a kernel: from a multiple of 256 on, checked by the dispatch.
    #[must_use]
    pub const fn part(&self, range: Range<u64>) -> Binding<'_> {
        Binding {
            buffer: self,
            range,
        }
    }

    /// Writes `values` from byte `offset` on, before any work that is submitted later.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] for a range outside the buffer, or with the driver's words.
    pub fn write<T: bytemuck::NoUninit>(
        &self,
        op: &'static str,
        offset: u64,
        values: &[T],
    ) -> Result<(), Error> {
        let inner = &*self.inner;
        inner.begin(op, FaultKind::Copy)?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        self.check(op, offset, bytes.len() as u64)?;
        for (i, piece) in bytes.chunks(PIECE).enumerate() {
            let at = offset + (i * PIECE) as u64;
            inner.checked(op, || inner.queue.write_buffer(&self.raw, at, piece))?;
        }
        Ok(())
    }

    /// Whether whole words from `offset` on lie inside.
    pub(super) fn check(&self, op: &'static str, offset: u64, bytes: u64) -> Result<(), Error> {
        let end = offset.checked_add(bytes);
        if offset.is_multiple_of(4)
            && bytes.is_multiple_of(4)
            && end.is_some_and(|end| end <= self.bytes)
        {
            return Ok(());
        }
        let why = format!(
            "{bytes} bytes from {offset} on of a buffer of {}, in words of 4",
            self.bytes
        );
        Err(self.inner.failed(op, Fault::Validation(why)))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.inner.gave(self.bytes);
    }
}
