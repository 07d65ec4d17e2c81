//! Work that is recorded, submitted and waited for once.
#![forbid(unsafe_code)]

use core::mem::take;
use core::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ::wgpu::{BufferUsages, CommandEncoder, MapMode, SubmissionIndex};

use super::buffer::{Binding, Buffer, Raw};
use super::context::Wgpu;
use super::fault::Fault;
use super::kernel::{Compiled, Kernel, MAX_PARAMS};
use super::pace::TARGET;
use crate::Error;
use crate::cuda::FaultKind;

/// Words of the parameters' binding.
const PARAM_WORDS: usize = MAX_PARAMS + 1;

/// One step of a batch.
enum Step {
    Dispatch(Dispatch),
    Copy {
        from: Arc<Raw>,
        offset: u64,
        to: Arc<Raw>,
        at: u64,
        bytes: u64,
    },
}

struct Dispatch {
    kernel: Arc<Compiled>,
    buffers: Vec<(Arc<Raw>, Range<u64>)>,
    params: [u32; PARAM_WORDS],
    groups: u64,
}

/// What [`Batch::read`] asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadId(usize);

/// Kernels, copies and reads to be done in this order. A step sees what the earlier ones wrote.
pub struct Batch<'a> {
    gpu: &'a Wgpu,
    op: &'static str,
    steps: Vec<Step>,
    /// What is read at the end: source, its offset, bytes.
    reads: Vec<(Arc<Raw>, u64, u64)>,
}

impl core::fmt::Debug for Batch<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Batch")
            .field("op", &self.op)
            .field("steps", &self.steps.len())
            .field("reads", &self.reads.len())
            .finish_non_exhaustive()
    }
}

/// What a batch has read.
#[derive(Clone, Debug)]
pub struct Reads {
    parts: Vec<Vec<u32>>,
    op: &'static str,
    device: String,
}

impl Reads {
    /// The values of one read.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] for a read of another batch or a size that is no multiple of `T`'s.
    pub fn get<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        id: ReadId,
    ) -> Result<Vec<T>, Error> {
        let refused = |why: &str| Error::KernelFailed {
            op: self.op,
            device: self.device.clone(),
            source: Fault::Validation(why.to_owned()).into(),
        };
        let words = self
            .parts
            .get(id.0)
            .ok_or_else(|| refused("a read of another batch"))?;
        let bytes: &[u8] = bytemuck::cast_slice(words);
        if !bytes.len().is_multiple_of(size_of::<T>().max(1)) {
            return Err(refused("a read that is no whole number of values"));
        }
        Ok(bytemuck::pod_collect_to_vec(bytes))
    }
}

impl<'a> Batch<'a> {
    pub(super) const fn new(gpu: &'a Wgpu, op: &'static str) -> Self {
        Self {
            gpu,
            op,
            steps: Vec::new(),
            reads: Vec::new(),
        }
    }

    fn invalid(&self, why: String) -> Error {
        self.gpu.0.failed(self.op, Fault::Validation(why))
    }

    fn of_this_gpu(&self, inner: &Arc<super::context::Inner>) -> Result<(), Error> {
        if Arc::ptr_eq(&self.gpu.0, inner) {
            Ok(())
        } else {
            Err(self.invalid("a kernel or a buffer of another device".to_owned()))
        }
    }

    /// Records `groups` workgroups of a kernel. `params` are the words after the first of binding 0;
    /// `buffers` are bindings 1 and up.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] for what is not the kernel's; [`Error::Unsupported`] for a binding
    /// larger than the adapter allows, or that begins where none may.
    pub fn dispatch(
        &mut self,
        kernel: &Kernel,
        buffers: &[Binding<'_>],
        params: &[u32],
        groups: u64,
    ) -> Result<(), Error> {
        let inner = &self.gpu.0;
        self.of_this_gpu(&kernel.inner)?;
        let compiled = &kernel.compiled;
        if buffers.len() != compiled.access.len() || params.len() > MAX_PARAMS {
            return Err(self.invalid(format!(
                "{} buffers and {} parameters, where {} has {} buffers and at most {MAX_PARAMS} parameters",
                buffers.len(),
                params.len(),
                compiled.entry,
                compiled.access.len(),
            )));
        }
        let limits = &inner.info.limits;
        for Binding { buffer, range } in buffers {
            self.of_this_gpu(&buffer.inner)?;
            let bytes = range.end.saturating_sub(range.start);
            buffer.check(self.op, range.start, bytes)?;
            let alignment = u64::from(limits.binding_alignment.max(1));
            if bytes == 0 || bytes > limits.binding_bytes || !range.start.is_multiple_of(alignment)
            {
                let why = format!(
                    "a binding of {bytes} bytes from {} on: from 1 to {} are allowed, from multiples of {alignment} on",
                    range.start, limits.binding_bytes
                );
                return Err(inner.unsupported(self.op, why));
            }
        }
        if groups == 0 {
            return Ok(());
        }
        // The piece's first workgroup goes into the first word when it is known.
        let mut all = [0; PARAM_WORDS];
        all[1..=params.len()].copy_from_slice(params);
        self.steps.push(Step::Dispatch(Dispatch {
            kernel: Arc::clone(compiled),
            buffers: buffers
                .iter()
                .map(|b| (Arc::clone(&b.buffer.raw), b.range.clone()))
                .collect(),
            params: all,
            groups,
        }));
        Ok(())
    }

    /// Records a copy of the bytes `range` of one buffer to byte `at` on of another.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] for ranges outside the buffers.
    pub fn copy(
        &mut self,
        from: &Buffer,
        range: Range<u64>,
        to: &Buffer,
        at: u64,
    ) -> Result<(), Error> {
        self.of_this_gpu(&from.inner)?;
        self.of_this_gpu(&to.inner)?;
        let bytes = range.end.saturating_sub(range.start);
        from.check(self.op, range.start, bytes)?;
        to.check(self.op, at, bytes)?;
        if bytes > 0 {
            self.steps.push(Step::Copy {
                from: Arc::clone(&from.raw),
                offset: range.start,
                to: Arc::clone(&to.raw),
                at,
                bytes,
            });
        }
        Ok(())
    }

    /// Has the bytes `range` of a buffer read as they are after all steps.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] for a range outside the buffer.
    pub fn read(&mut self, buffer: &Buffer, range: Range<u64>) -> Result<ReadId, Error> {
        self.of_this_gpu(&buffer.inner)?;
        let bytes = range.end.saturating_sub(range.start);
        buffer.check(self.op, range.start, bytes)?;
        self.reads
            .push((Arc::clone(&buffer.raw), range.start, bytes));
        Ok(ReadId(self.reads.len() - 1))
    }

    /// Submits everything and waits once. Kernels that this device has not run for long enough yet
    /// are timed on the way, which costs a wait for each piece.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with a [`Fault`], [`Error::OutOfMemory`] or [`Error::Unsupported`] for
    /// what is read at once. Nothing was read then.
    pub fn run(self) -> Result<Reads, Error> {
        self.start()?.wait()
    }

    /// Submits everything; [`Pending::wait`] gives what is read. Work that nothing is read of need not
    /// be waited for: what is submitted later sees it.
    ///
    /// # Errors
    ///
    /// Those of [`Self::run`] that come before the wait.
    pub fn start(mut self) -> Result<Pending, Error> {
        let gpu = self.gpu;
        let inner = &gpu.0;
        let op = self.op;
        let mut open = Open::new(gpu, op)?;
        // Held until all is submitted: what one of them has written beforehand must stay.
        let steps = take(&mut self.steps);
        for step in &steps {
            match step {
                Step::Dispatch(dispatch) => open.dispatch(dispatch)?,
                Step::Copy {
                    from,
                    offset,
                    to,
                    at,
                    bytes,
                } => {
                    inner.begin(op, FaultKind::Copy)?;
                    let encoder = open.encoder()?;
                    encoder.copy_buffer_to_buffer(&from.buffer, *offset, &to.buffer, *at, *bytes);
                }
            }
        }
        let total: u64 = self.reads.iter().map(|(_, _, bytes)| bytes).sum();
        let staging = if total == 0 {
            None
        } else {
            inner.begin(op, FaultKind::Copy)?;
            let usage = BufferUsages::MAP_READ | BufferUsages::COPY_DST;
            let staging = Buffer::with_usage(gpu, op, total, usage, true)?;
            let mut at = 0;
            let encoder = open.encoder()?;
            for (from, offset, bytes) in &self.reads {
                if *bytes > 0 {
                    encoder.copy_buffer_to_buffer(
                        &from.buffer,
                        *offset,
                        &staging.raw.buffer,
                        at,
                        *bytes,
                    );
                    at += bytes;
                }
            }
            Some(staging)
        };
        Ok(Pending {
            submission: open.submit()?,
            gpu: gpu.clone(),
            op,
            staging,
            reads: self.reads.iter().map(|(_, _, bytes)| *bytes).collect(),
        })
    }
}

/// Work that was submitted.
#[derive(Debug)]
pub struct Pending {
    gpu: Wgpu,
    op: &'static str,
    submission: Option<SubmissionIndex>,
    staging: Option<Buffer>,
    /// Bytes of each read.
    reads: Vec<u64>,
}

impl Pending {
    /// Waits for all of it, once.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with a [`Fault`]. Nothing was read then.
    pub fn wait(self) -> Result<Reads, Error> {
        let reads = Reads {
            parts: vec![Vec::new(); self.reads.len()],
            op: self.op,
            device: self.gpu.spec().to_owned(),
        };
        match (&self.staging, &self.submission) {
            (_, None) => Ok(reads),
            (None, Some(submission)) => {
                let waited = self.gpu.0.wait(self.op, submission.clone());
                waited.map(|()| reads)
            }
            (Some(staging), Some(submission)) => self.collect(staging, submission.clone(), reads),
        }
    }

    /// Waits for what is read, and takes it out.
    fn collect(
        &self,
        staging: &Buffer,
        submission: SubmissionIndex,
        mut reads: Reads,
    ) -> Result<Reads, Error> {
        let inner = &self.gpu.0;
        let op = self.op;
        let mapped = Arc::new(Mutex::new(None));
        let answer = Arc::clone(&mapped);
        inner.checked(op, || {
            staging
                .raw
                .buffer
                .map_async(MapMode::Read, .., move |result| {
                    *answer.lock().unwrap_or_else(PoisonError::into_inner) = Some(result.is_ok());
                });
        })?;
        inner.wait(op, submission)?;
        let is_mapped = *mapped.lock().unwrap_or_else(PoisonError::into_inner);
        if is_mapped != Some(true) {
            return Err(inner.failed(op, Fault::Unreadable));
        }
        let view = inner.checked(op, || staging.raw.buffer.get_mapped_range(..))?;
        let view = view.map_err(|_| inner.failed(op, Fault::Unreadable))?;
        let mut at = 0;
        for (part, bytes) in reads.parts.iter_mut().zip(&self.reads) {
            let bytes = *bytes as usize;
            let piece = view
                .get(at..at + bytes)
                .ok_or_else(|| inner.failed(op, Fault::Unreadable))?;
            *part = bytemuck::pod_collect_to_vec(piece);
            at += bytes;
        }
        drop(view);
        inner.checked(op, || staging.raw.buffer.unmap())?;
        staging.raw.give_back();
        Ok(reads)
    }
}

/// A submission that is being made.
struct Open<'a> {
    gpu: &'a Wgpu,
    op: &'static str,
    encoder: Option<CommandEncoder>,
    /// The parameters of the dispatches in it.
    params: Option<Params>,
    /// What the work in it takes, as far as that is known.
    time: Duration,
    last: Option<SubmissionIndex>,
}

impl<'a> Open<'a> {
    fn new(gpu: &'a Wgpu, op: &'static str) -> Result<Self, Error> {
        gpu.0.alive(op)?;
        Ok(Self {
            gpu,
            op,
            encoder: None,
            params: None,
            time: Duration::ZERO,
            last: None,
        })
    }

    fn encoder(&mut self) -> Result<&mut CommandEncoder, Error> {
        let inner = &self.gpu.0;
        if self.encoder.is_none() {
            let descriptor = ::wgpu::CommandEncoderDescriptor {
                label: Some(self.op),
            };
            let made =
                inner.checked(self.op, || inner.device.create_command_encoder(&descriptor))?;
            self.encoder = Some(made);
        }
        // Filled above.
        self.encoder
            .as_mut()
            .ok_or_else(|| inner.failed(self.op, Fault::Internal("no encoder".to_owned())))
    }

    /// Submits what there is; the last submission so far.
    fn submit(&mut self) -> Result<Option<SubmissionIndex>, Error> {
        if let Some(encoder) = self.encoder.take() {
            let inner = &self.gpu.0;
            inner.begin(self.op, FaultKind::Launch)?;
            let params = self.params.take();
            let index = inner.checked(self.op, || {
                if let Some(params) = &params {
                    let bytes = bytemuck::cast_slice(&params.words);
                    inner.queue.write_buffer(&params.buffer, 0, bytes);
                }
                inner.queue.submit([encoder.finish()])
            })?;
            self.time = Duration::ZERO;
            self.last = Some(index);
        }
        Ok(self.last.clone())
    }

    /// Cuts a dispatch into pieces and records them.
    fn dispatch(&mut self, dispatch: &Dispatch) -> Result<(), Error> {
        let widest = u64::from(self.gpu.0.info.limits.workgroups.max(1));
        let mut first = 0;
        while first < dispatch.groups {
            let pace = *dispatch.kernel.pace();
            let left = dispatch.groups - first;
            let piece = left.min(pace.piece()).min(widest);
            if pace.is_settled() || dispatch.groups <= pace.piece() {
                if self.time + pace.time(piece) > TARGET {
                    self.submit()?;
                }
                self.record(dispatch, first, piece)?;
                self.time += pace.time(piece);
            } else {
                // Alone between two waits, so that its time is its own.
                if let Some(before) = self.submit()? {
                    self.gpu.0.wait(self.op, before)?;
                }
                let begin = Instant::now();
                self.record(dispatch, first, piece)?;
                if let Some(submission) = self.submit()? {
                    self.gpu.0.wait(self.op, submission)?;
                }
                dispatch.kernel.pace().learn(piece, begin.elapsed());
            }
            first += piece;
        }
        Ok(())
    }

    /// Records workgroups `first..first + groups`.
    fn record(&mut self, dispatch: &Dispatch, first: u64, groups: u64) -> Result<(), Error> {
        let gpu = self.gpu;
        let (inner, op) = (&gpu.0, self.op);
        inner.begin(op, FaultKind::Launch)?;
        let mut params = dispatch.params;
        params[0] = u32::try_from(first).map_err(|_| {
            let why = format!(
                "{} workgroups of {}",
                dispatch.groups, dispatch.kernel.entry
            );
            inner.unsupported(op, why)
        })?;
        if self.params.as_ref().is_some_and(Params::is_full) {
            self.submit()?;
        }
        let mut all = match self.params.take() {
            Some(all) => all,
            None => inner.params(op)?,
        };
        let at = all.add(&params);
        let uniform = all.buffer.clone();
        self.params = Some(all);
        let group = inner.checked(op, || {
            let mut entries = vec![::wgpu::BindGroupEntry {
                binding: 0,
                resource: ::wgpu::BindingResource::Buffer(::wgpu::BufferBinding {
                    buffer: &uniform,
                    offset: at,
                    size: core::num::NonZero::new((PARAM_WORDS * 4) as u64),
                }),
            }];
            entries.extend(dispatch.buffers.iter().zip(1..).map(|((raw, range), i)| {
                ::wgpu::BindGroupEntry {
                    binding: i,
                    resource: ::wgpu::BindingResource::Buffer(::wgpu::BufferBinding {
                        buffer: &raw.buffer,
                        offset: range.start,
                        size: core::num::NonZero::new(range.end - range.start),
                    }),
                }
            }));
            inner
                .device
                .create_bind_group(&::wgpu::BindGroupDescriptor {
                    label: Some(dispatch.kernel.entry),
                    layout: &dispatch.kernel.layout,
                    entries: &entries,
                })
        })?;
        let encoder = self.encoder()?;
        gpu.0.checked(op, || {
            let mut pass = encoder.begin_compute_pass(&::wgpu::ComputePassDescriptor {
                label: Some(dispatch.kernel.entry),
                timestamp_writes: None,
            });
            pass.set_pipeline(&dispatch.kernel.pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(groups as u32, 1, 1);
        })
    }
}

/// The parameters of the dispatches of one submission, which are written when it is made.
struct Params {
    buffer: ::wgpu::Buffer,
    words: Vec<u32>,
}

/// Words from one dispatch's parameters to the next one's: what every adapter allows a binding to begin at.
const PARAM_STRIDE: usize = 64;
/// Dispatches of one submission.
const MOST: usize = 64;

impl Params {
    fn is_full(&self) -> bool {
        self.words.len() >= MOST * PARAM_STRIDE
    }

    /// Where they lie, in bytes.
    fn add(&mut self, params: &[u32; PARAM_WORDS]) -> u64 {
        let at = self.words.len();
        self.words.extend(params);
        self.words.resize(at + PARAM_STRIDE, 0);
        4 * at as u64
    }
}

impl super::context::Inner {
    /// Room for the parameters of a submission.
    fn params(&self, op: &'static str) -> Result<Params, Error> {
        let descriptor = ::wgpu::BufferDescriptor {
            label: Some(op),
            size: (MOST * PARAM_STRIDE * 4) as u64,
            usage: BufferUsages::UNIFORM | BufferUsages::COPY_DST,
            mapped_at_creation: false,
        };
        Ok(Params {
            buffer: self.checked(op, || self.device.create_buffer(&descriptor))?,
            words: Vec::new(),
        })
    }
}
