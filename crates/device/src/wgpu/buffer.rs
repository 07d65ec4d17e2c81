//! Memory of an adapter.
#![forbid(unsafe_code)]

use core::fmt;
use core::ops::Range;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::wgpu::BufferUsages;

use super::context::{Inner, Wgpu};
use super::fault::Fault;
use crate::Error;
use crate::cuda::FaultKind;

/// Bytes that one call hands to the driver for an upload: what it stages at once.
const PIECE: usize = 32 << 20;

/// Memory on an adapter.
pub struct Buffer {
    pub(super) raw: Arc<Raw>,
    pub(super) inner: Arc<Inner>,
    bytes: u64,
}

/// What recorded work holds of a buffer: the pool has it back when nobody does any more.
pub(super) struct Raw {
    pub(super) buffer: ::wgpu::Buffer,
    inner: Arc<Inner>,
    usage: BufferUsages,
    bytes: u64,
    /// Whether its next user takes it with what it holds.
    pooled: bool,
}

impl Drop for Raw {
    fn drop(&mut self) {
        // One to be mapped may be in the middle of that.
        if self.pooled && !self.usage.contains(BufferUsages::MAP_READ) {
            self.give_back();
        }
    }
}

impl Raw {
    /// Puts it into the pool: nobody maps it.
    pub(super) fn give_back(&self) {
        let pool = &self.inner.pool;
        pool.put(self.usage, self.bytes, self.buffer.clone());
    }
}

/// Buffers of one use that nobody holds: memory that was written once is not cleared anew, and takes no
/// call of the driver.
#[derive(Debug, Default)]
pub(super) struct Pool(Mutex<BTreeMap<(u32, u64), Vec<::wgpu::Buffer>>>);

impl Pool {
    fn take(&self, usage: BufferUsages, bytes: u64) -> Option<::wgpu::Buffer> {
        self.buffers().get_mut(&(usage.bits(), bytes))?.pop()
    }

    fn put(&self, usage: BufferUsages, bytes: u64, buffer: ::wgpu::Buffer) {
        self.buffers()
            .entry((usage.bits(), bytes))
            .or_default()
            .push(buffer);
    }

    /// Gives all of it back to the driver.
    pub(super) fn clear(&self) {
        self.buffers().clear();
    }

    fn buffers(&self) -> MutexGuard<'_, BTreeMap<(u32, u64), Vec<::wgpu::Buffer>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What kernels see.
const KERNELS: BufferUsages = BufferUsages::STORAGE
    .union(BufferUsages::UNIFORM)
    .union(BufferUsages::COPY_SRC)
    .union(BufferUsages::COPY_DST);

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
        Self::with_usage(gpu, op, bytes, KERNELS, false)
    }

    pub(super) fn scratch(gpu: &Wgpu, op: &'static str, bytes: u64) -> Result<Self, Error> {
        Self::with_usage(gpu, op, bytes, KERNELS, true)
    }

    pub(super) fn with_usage(
        gpu: &Wgpu,
        op: &'static str,
        bytes: u64,
        usage: BufferUsages,
        used: bool,
    ) -> Result<Self, Error> {
        let inner = &gpu.0;
        inner.begin(op, FaultKind::Alloc)?;
        let size = rounded(bytes);
        let most = inner.info.limits.buffer_bytes;
        if size > most {
            let why = format!("a buffer of {size} bytes, where the adapter allows {most}");
            return Err(inner.unsupported(op, why));
        }
        let pooled = if used {
            inner.pool.take(usage, size)
        } else {
            None
        };
        let raw = match pooled {
            Some(raw) => raw,
            None => {
                let descriptor = ::wgpu::BufferDescriptor {
                    label: Some(op),
                    size,
                    usage,
                    mapped_at_creation: false,
                };
                let make = || inner.scoped(op, || inner.device.create_buffer(&descriptor));
                let made = make().or_else(|fault| match fault {
                    // what the pool holds may be what lacks
                    Fault::OutOfMemory(_) => {
                        inner.pool.clear();
                        make()
                    }
                    other => Err(other),
                });
                made.map_err(|fault| match fault {
                    Fault::OutOfMemory(_) => inner.out_of_memory(op, size),
                    other => inner.failed(op, other),
                })?
            }
        };
        inner.took(size);
        Ok(Self {
            raw: Arc::new(Raw {
                buffer: raw,
                inner: Arc::clone(inner),
                usage,
                bytes: size,
                pooled: used,
            }),
            inner: Arc::clone(inner),
            bytes: size,
        })
    }

    /// Memory of the host that the device reads by itself, with `values` in it.
    pub(super) fn host<T: bytemuck::NoUninit>(
        gpu: &Wgpu,
        op: &'static str,
        values: &[T],
    ) -> Result<Self, Error> {
        let inner = &gpu.0;
        inner.begin(op, FaultKind::Alloc)?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let size = rounded(bytes.len() as u64);
        let most = inner.info.limits.buffer_bytes;
        if size > most {
            let why = format!("a buffer of {size} bytes, where the adapter allows {most}");
            return Err(inner.unsupported(op, why));
        }
        let usage = BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC;
        let descriptor = ::wgpu::BufferDescriptor {
            label: Some(op),
            size,
            usage,
            mapped_at_creation: true,
        };
        let made = inner.scoped(op, || {
            let buffer = inner.device.create_buffer(&descriptor);
            let mapped = buffer.get_mapped_range_mut(..).map(|mut view| {
                view.slice(..bytes.len()).copy_from_slice(bytes);
            });
            buffer.unmap();
            mapped.map(|()| buffer)
        });
        let buffer = match made {
            Ok(Ok(buffer)) => buffer,
            Ok(Err(_)) => return Err(inner.failed(op, Fault::Unreadable)),
            Err(Fault::OutOfMemory(_)) => return Err(inner.out_of_memory(op, size)),
            Err(other) => return Err(inner.failed(op, other)),
        };
        Ok(Self {
            raw: Arc::new(Raw {
                buffer,
                inner: Arc::clone(inner),
                usage,
                bytes: size,
                pooled: false,
            }),
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
            inner.checked(op, || inner.queue.write_buffer(&self.raw.buffer, at, piece))?;
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
        if !self.raw.usage.contains(BufferUsages::MAP_WRITE) {
            self.inner.gave(self.bytes);
        }
    }
}
