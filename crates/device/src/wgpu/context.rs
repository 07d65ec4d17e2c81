//! One opened adapter.
#![forbid(unsafe_code)]

use core::fmt;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use ::wgpu::{ErrorFilter, PollType, SubmissionIndex};

use super::adapter::{Arithmetic, Selector, WgpuInfo, automatic, choose, found, ready};
use super::batch::Batch;
use super::buffer::{Buffer, Pool};
use super::fault::Fault;
use super::kernel::{Access, Compiled, Kernel, Key, Source};
use crate::cuda::{FaultKind, Faults, Injected};
use crate::error::Cause;
use crate::{Error, OutOfMemory, Unavailable};

/// How long a wait may take before the device counts as hung.
const PATIENCE: Duration = Duration::from_secs(60);

/// One opened adapter. Clones, and further calls of [`Wgpu::open`], share the device, its kernels and
/// the hook for faults; the last one to go, with all that was made on it, releases them.
#[derive(Clone)]
pub struct Wgpu(pub(super) Arc<Inner>);

impl fmt::Debug for Wgpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Wgpu").field(&self.0.info).finish()
    }
}

pub(super) struct Inner {
    pub(super) info: WgpuInfo,
    pub(super) device: ::wgpu::Device,
    pub(super) queue: ::wgpu::Queue,
    pub(super) kernels: Mutex<BTreeMap<Key, Arc<Compiled>>>,
    pub(super) faults: Faults,
    pub(super) pool: Pool,
    /// wgpu gives a block of the host's memory back to the driver with the last buffer in it, and asks for
    /// another one at the next upload or read, which takes milliseconds: these stay.
    _anchors: [::wgpu::Buffer; 2],
    /// Why nothing runs on it any more; the handlers write it.
    broken: Arc<OnceLock<Fault>>,
    waits: AtomicU64,
    live: AtomicU64,
    high: AtomicU64,
    patience: Mutex<Duration>,
}

/// The adapters that are open, by their place in the list.
static OPEN: Mutex<Vec<(usize, Weak<Inner>)>> = Mutex::new(Vec::new());

impl Wgpu {
    /// Opens the adapter that `selector` means: the text after `wgpu:`, see [`Selector`]. One that is
    /// open already is shared, unless it broke.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason: no adapter, none of that name, several, one that allows less
    /// than the kernels need, or what the driver says.
    pub fn open(selector: Option<&str>) -> Result<Self, Unavailable> {
        Self::open_saying_why(selector).map(|(gpu, _)| gpu)
    }

    pub(crate) fn open_saying_why(selector: Option<&str>) -> Result<(Self, String), Unavailable> {
        let named = match selector {
            Some(text) => format!("wgpu:{text}"),
            None => "wgpu".to_owned(),
        };
        let refuse = |reason: String| Unavailable::new(named.clone(), reason);
        let (i, why) = choose(&Selector::new(selector), &found().infos).map_err(refuse)?;
        Ok((Self::open_at(i).map_err(refuse)?, why))
    }

    /// The adapter that `auto` may take; the reason in words where there is none.
    pub(crate) fn open_automatic() -> Result<Self, String> {
        let infos = &found().infos;
        match automatic(infos) {
            Some(i) => Self::open_at(i),
            None if infos.is_empty() => Err(super::adapter::NONE.to_owned()),
            None => Err("no adapter of wgpu is a GPU of this machine".to_owned()),
        }
    }

    fn open_at(i: usize) -> Result<Self, String> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = open.iter().filter(|(at, _)| *at == i);
        let alive = shared
            .filter_map(|(_, weak)| weak.upgrade())
            .find(|inner| inner.broken.get().is_none());
        if let Some(inner) = alive {
            return Ok(Self(inner));
        }
        let inner = Arc::new(Inner::new(i)?);
        open.retain(|(_, weak)| weak.strong_count() > 0);
        open.push((i, Arc::downgrade(&inner)));
        Ok(Self(inner))
    }

    /// A device that nobody shares.
    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    pub(super) fn open_alone(selector: Option<&str>) -> Self {
        let (i, _) = choose(&Selector::new(selector), &found().infos).unwrap();
        Self(Arc::new(Inner::new(i).unwrap()))
    }

    /// What it is.
    #[must_use]
    pub fn info(&self) -> &WgpuInfo {
        &self.0.info
    }

    /// Its name in specifications.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.0.info.spec
    }

    /// The variant of the kernels that it runs by itself.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        self.0.info.arithmetic
    }

    /// Submissions that were waited for since it was opened.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.0.waits.load(Ordering::Relaxed)
    }

    /// Bytes of the buffers that are alive.
    #[must_use]
    pub fn live_bytes(&self) -> u64 {
        self.0.live.load(Ordering::Relaxed)
    }

    /// The most of them since it was opened or [`Self::reset_high_water`].
    #[must_use]
    pub fn high_water_bytes(&self) -> u64 {
        self.0.high.load(Ordering::Relaxed)
    }

    /// The high-water mark becomes what is alive now.
    pub fn reset_high_water(&self) {
        self.0.high.store(self.live_bytes(), Ordering::Relaxed);
    }

    /// How long a wait may take before the device counts as hung; 60 s unless set.
    pub fn set_patience(&self, patience: Duration) {
        *self.0.patience() = patience;
    }

    /// The hook that makes operations fail, for tests.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }

    /// Gives the device up as a driver does that resets it; for tests.
    pub fn lose(&self) {
        self.0.device.destroy();
        // The callback comes with the next look at the device.
        let _ = self.0.poll(PollType::Poll);
    }

    /// A kernel of a text in WGSL, compiled at its first use on this device. `access` says how it
    /// uses each of its storage buffers, bindings 1 and up.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with [`Fault::Shader`] and the compiler's words.
    pub fn kernel(
        &self,
        source: &Source<'_>,
        entry: &'static str,
        access: &[Access],
    ) -> Result<Kernel, Error> {
        Kernel::new(self, source, entry, access)
    }

    /// A buffer of `bytes` bytes, zeros.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for one larger than the device allows, [`Error::OutOfMemory`] where the
    /// driver has no more.
    pub fn buffer(&self, op: &'static str, bytes: u64) -> Result<Buffer, Error> {
        Buffer::new(self, op, bytes)
    }

    /// A buffer of `bytes` bytes that an earlier one of that size may have left, with what that held: for
    /// what kernels write before anything reads it.
    ///
    /// # Errors
    ///
    /// Those of [`Self::buffer`].
    pub fn scratch(&self, op: &'static str, bytes: u64) -> Result<Buffer, Error> {
        Buffer::scratch(self, op, bytes)
    }

    /// Memory of the host, page-locked where the driver does so, from where [`Batch::copy`] takes `values`
    /// at the full speed of the bus. Kernels do not see it.
    ///
    /// # Errors
    ///
    /// Those of [`Self::buffer`].
    pub fn host_buffer<T: bytemuck::NoUninit>(
        &self,
        op: &'static str,
        values: &[T],
    ) -> Result<Buffer, Error> {
        Buffer::host(self, op, values)
    }

    /// Gives the memory of buffers that nobody holds back to the driver; it is kept for
    /// [`Self::scratch`] otherwise.
    pub fn trim(&self) {
        self.0.pool.clear();
    }

    /// A buffer that holds `values`.
    ///
    /// # Errors
    ///
    /// Those of [`Self::buffer`] and [`Buffer::write`].
    pub fn upload<T: bytemuck::NoUninit>(
        &self,
        op: &'static str,
        values: &[T],
    ) -> Result<Buffer, Error> {
        let buffer = self.scratch(op, size_of_val(values) as u64)?;
        buffer.write(op, 0, values)?;
        Ok(buffer)
    }

    /// Work to record, named `op` in its errors.
    #[must_use]
    pub const fn batch(&self, op: &'static str) -> Batch<'_> {
        Batch::new(self, op)
    }
}

impl Inner {
    fn new(i: usize) -> Result<Self, String> {
        let found = found();
        let adapter = &found.adapters[i];
        let info = found.infos[i].clone();
        let wanted = ::wgpu::Features::SHADER_INT64;
        let descriptor = ::wgpu::DeviceDescriptor {
            label: Some("fieldspar"),
            required_features: adapter.features().intersection(wanted),
            required_limits: adapter.limits(),
            ..Default::default()
        };
        let opened = ready(adapter.request_device(&descriptor));
        let (device, queue) = opened
            .ok_or("the driver does not answer")?
            .map_err(|e| format!("{} cannot be opened: {e}", info.spec))?;
        let anchors = [
            ::wgpu::BufferUsages::MAP_WRITE | ::wgpu::BufferUsages::COPY_SRC,
            ::wgpu::BufferUsages::MAP_READ | ::wgpu::BufferUsages::COPY_DST,
        ]
        .map(|usage| {
            device.create_buffer(&::wgpu::BufferDescriptor {
                label: Some("anchor"),
                size: 256,
                usage,
                mapped_at_creation: false,
            })
        });
        let broken = Arc::new(OnceLock::new());
        // Without a handler of ours the default one ends the program.
        let stray = Arc::clone(&broken);
        device.on_uncaptured_error(Arc::new(move |error: ::wgpu::Error| {
            let _ = stray.set(Fault::from(error));
        }));
        let lost = Arc::clone(&broken);
        device.set_device_lost_callback(move |reason, message| {
            let message = match message.as_str() {
                "" => format!("{reason:?}"),
                words => words.to_owned(),
            };
            let _ = lost.set(Fault::Lost(message));
        });
        Ok(Self {
            info,
            device,
            queue,
            kernels: Mutex::default(),
            faults: Faults::default(),
            pool: Pool::default(),
            _anchors: anchors,
            broken,
            waits: AtomicU64::new(0),
            live: AtomicU64::new(0),
            high: AtomicU64::new(0),
            patience: Mutex::new(PATIENCE),
        })
    }

    pub(super) fn failed(&self, op: &'static str, source: impl Into<Cause>) -> Error {
        Error::KernelFailed {
            op,
            device: self.info.spec.clone(),
            source: source.into(),
        }
    }

    pub(super) fn unsupported(&self, op: &'static str, why: impl Into<String>) -> Error {
        Error::Unsupported {
            op,
            device: self.info.spec.clone(),
            why: why.into(),
        }
    }

    pub(super) fn out_of_memory(&self, op: &'static str, need: u64) -> Error {
        // Where this figure cannot be had, 0 is not wrong: the driver gives nothing more.
        let have = self.info.available_bytes().unwrap_or(0).min(need - 1);
        OutOfMemory::new(format!("{op} on {}", self.info.spec), need, have).into()
    }

    /// Refuses once the device has broken.
    pub(super) fn alive(&self, op: &'static str) -> Result<(), Error> {
        match self.broken.get() {
            Some(fault) => Err(self.failed(op, fault.clone())),
            None => Ok(()),
        }
    }

    /// For an operation that a test may have fail.
    pub(super) fn begin(&self, op: &'static str, kind: FaultKind) -> Result<(), Error> {
        if self.faults.strikes(kind) {
            return Err(self.failed(op, Injected));
        }
        self.alive(op)
    }

    /// Does `work`, and turns what wgpu reports of it into an error.
    pub(super) fn scoped<R>(&self, op: &'static str, work: impl FnOnce() -> R) -> Result<R, Fault> {
        if let Some(fault) = self.broken.get() {
            return Err(fault.clone());
        }
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(ErrorFilter::Validation);
        let internal = self.device.push_error_scope(ErrorFilter::Internal);
        let result = guarded(work);
        // Popped in reverse; the first that was reported matters.
        let errors = [
            ready(internal.pop()).flatten(),
            ready(validation.pop()).flatten(),
            ready(memory.pop()).flatten(),
        ];
        if let Some(error) = errors.into_iter().flatten().next() {
            tracing::debug!(op, device = %self.info.spec, %error, "wgpu reports an error");
            return Err(error.into());
        }
        let result = result.inspect_err(|fault| {
            let _ = self.broken.set(fault.clone());
        })?;
        // A lost device is not reported by a scope.
        match self.broken.get() {
            Some(fault) => Err(fault.clone()),
            None => Ok(result),
        }
    }

    /// [`Self::scoped`], with the error of the operation.
    pub(super) fn checked<R>(
        &self,
        op: &'static str,
        work: impl FnOnce() -> R,
    ) -> Result<R, Error> {
        self.scoped(op, work)
            .map_err(|fault| self.failed(op, fault))
    }

    fn poll(&self, how: PollType) -> Result<(), Fault> {
        let patience = self.patience().as_secs();
        // wgpu panics where the driver reports a lost device to a wait.
        let outcome = guarded(|| self.device.poll(how)).and_then(|polled| {
            polled.map(|_| ()).map_err(|error| match error {
                ::wgpu::PollError::Timeout => Fault::Timeout(patience),
                other => Fault::Internal(other.to_string()),
            })
        });
        outcome.inspect_err(|fault| {
            let _ = self.broken.set(fault.clone());
        })
    }

    /// Waits for a submission, and counts it.
    pub(super) fn wait(&self, op: &'static str, submission: SubmissionIndex) -> Result<(), Error> {
        self.begin(op, FaultKind::Sync)?;
        self.waits.fetch_add(1, Ordering::Relaxed);
        let timeout = *self.patience();
        let waited = self.poll(PollType::Wait {
            submission_index: Some(submission),
            timeout: Some(timeout),
        });
        waited.map_err(|fault| self.failed(op, fault))?;
        self.alive(op)
    }

    pub(super) fn took(&self, bytes: u64) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(live, Ordering::Relaxed);
    }

    pub(super) fn gave(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn patience(&self) -> std::sync::MutexGuard<'_, Duration> {
        self.patience.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs a call of wgpu; a panic in it, which is how it reports some losses, becomes a fault.
fn guarded<R>(work: impl FnOnce() -> R) -> Result<R, Fault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let words = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied());
        Fault::Lost(words.unwrap_or("the driver's library gave up").to_owned())
    })
}
