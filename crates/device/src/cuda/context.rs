//! One GPU: its context, what it is, and what its pool holds.
#![allow(unsafe_code)]

use core::ffi::c_uint;
use core::{fmt, ptr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use cudarc::driver::sys::{self, CUcontext, CUdevice};
use cudarc::driver::sys::{CUmemPool_attribute as PoolAttribute, CUmemoryPool};

use super::api::{Api, Code, code, driver};
use super::fault::{FaultKind, Faults, Injected};
use super::info::{CudaInfo, count, describe};
use super::module::Module;
use super::pinned::{Blocks, Pinned};
use super::pod::Pod;
use super::staging::Staging;
use super::stream::Stream;
use crate::error::Cause;
use crate::{Error, OutOfMemory, Unavailable};

/// Uploads and downloads up to this size share small chunks of page-locked memory.
pub(super) const SMALL: usize = if cfg!(test) { 4 << 10 } else { 256 << 10 };
/// Larger ones go through chunks of this size, one filled while another is on the bus.
pub(super) const LARGE: usize = if cfg!(test) { 64 << 10 } else { 8 << 20 };

/// A handle of the driver. The driver's own calls may come from any thread.
#[derive(Clone, Copy)]
pub(super) struct Handle<T>(pub(super) T);

// SAFETY: a handle is a name for something that the driver owns and locks itself; nothing is read
// through it here.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// What the pool of a GPU holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Bytes of the buffers that are alive, as asked for.
    pub live_bytes: u64,
    /// The most of them since the GPU was opened or [`Cuda::reset_high_water`].
    pub high_water_bytes: u64,
    /// Bytes that the pool has taken from the device, in use or not; 0 where the driver does not say.
    pub reserved_bytes: u64,
}

/// One opened GPU. Clones, and further calls of [`Cuda::open`], share the context, the pool and the
/// hook for faults; the last one to go, with all that was made on it, releases them. A kernel that
/// fails takes the context with it: every further call is an error until all of that has gone and
/// the GPU is opened again.
#[derive(Clone)]
pub struct Cuda(pub(super) Arc<Inner>);

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Cuda").field(&self.0.info).finish()
    }
}

pub(super) struct Inner {
    pub(super) api: &'static Api,
    pub(super) info: CudaInfo,
    /// `cuda:N`, for messages.
    pub(super) name: String,
    device: CUdevice,
    context: Handle<CUcontext>,
    pub(super) pool: Handle<CUmemoryPool>,
    live: AtomicU64,
    high: AtomicU64,
    pub(super) faults: Faults,
    pub(super) small: Staging,
    pub(super) large: Staging,
    pub(super) blocks: Blocks,
}

/// The GPUs that are open.
static OPEN: Mutex<Vec<Weak<Inner>>> = Mutex::new(Vec::new());

impl Cuda {
    /// Opens the GPU `ordinal`: 0.2 to 0.4 s for the first in a process. One that is open already is
    /// shared.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] with the reason: no driver, one that is too old, no such GPU, an architecture
    /// older than the kernels, or what the driver says of its context.
    pub fn open(ordinal: usize) -> Result<Self, Unavailable> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = open.iter().filter_map(Weak::upgrade);
        if let Some(inner) = shared.into_iter().find(|i| i.info.ordinal == ordinal) {
            return Ok(Self(inner));
        }
        let name = format!("cuda:{ordinal}");
        let refuse = |reason: String| Unavailable::new(name.clone(), reason);
        let driver = driver().map_err(|reason| refuse(reason.to_owned()))?;
        let count = count(driver).map_err(refuse)?;
        if ordinal >= count {
            let list = match count {
                1 => "there is one NVIDIA GPU here, cuda:0".to_owned(),
                n => format!("there are {n} NVIDIA GPUs here, cuda:0 to cuda:{}", n - 1),
            };
            return Err(refuse(list));
        }
        let (device, info) = describe(driver, ordinal).map_err(refuse)?;
        if let Some(reason) = info.refusal() {
            return Err(refuse(reason));
        }
        let inner = Inner::new(&driver.api, device, info, name.clone()).map_err(refuse)?;
        let inner = Arc::new(inner);
        open.retain(|weak| weak.strong_count() > 0);
        open.push(Arc::downgrade(&inner));
        Ok(Self(inner))
    }

    /// What it is.
    #[must_use]
    pub fn info(&self) -> &CudaInfo {
        &self.0.info
    }

    /// Its name in specifications, `cuda:N`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Bytes that buffers could take now: what the driver has free, and what the pool holds unused.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        self.0.free_bytes("free memory")
    }

    /// What the pool holds.
    #[must_use]
    pub fn pool(&self) -> PoolStats {
        let inner = &self.0;
        let attribute = PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
        PoolStats {
            live_bytes: inner.live.load(Ordering::Relaxed),
            high_water_bytes: inner.high.load(Ordering::Relaxed),
            reserved_bytes: inner.pool_figure(attribute).unwrap_or(0),
        }
    }

    /// The high-water mark becomes what is alive now.
    pub fn reset_high_water(&self) {
        let live = self.0.live.load(Ordering::Relaxed);
        self.0.high.store(live, Ordering::Relaxed);
    }

    /// Gives what the pool and the cache of page-locked memory hold unused back to the system.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn trim(&self) -> Result<(), Error> {
        self.0.enter("trim")?;
        self.0.blocks.clear(&self.0);
        self.0.trim_pool("trim")
    }

    /// `len` values in page-locked host memory, from a cache where it has a block that fits. What
    /// they are is unspecified.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], or [`Error::KernelFailed`] with the driver's words.
    pub fn pinned<T: Pod>(&self, len: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(self, len)
    }

    /// Loads the kernels of an image: a cubin or a fatbin for this architecture, or PTX, which the
    /// driver compiles (0.6 s once, then a few milliseconds from the driver's own cache).
    ///
    /// The image is code of this program, see [the module](super#trust).
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for an image that is cut short or for another architecture, or PTX
    /// newer than the driver; [`Error::KernelFailed`] with the driver's words.
    pub fn load_module(&self, image: &[u8]) -> Result<Module, Error> {
        Module::load(self, image)
    }

    /// A new stream, which waits for no other.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// The hook that makes operations fail, for tests.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.0.faults
    }
}

impl Inner {
    pub(super) fn new(
        api: &'static Api,
        device: CUdevice,
        info: CudaInfo,
        name: String,
    ) -> Result<Self, String> {
        let said = |code: Code, what: &str| match code {
            0 => Ok(()),
            code => Err(format!("{what}: {}", api.error(code))),
        };
        let mut context = ptr::null_mut();
        // SAFETY: the device comes from the driver's list; the context is written on success.
        let code = unsafe { (api.cuDevicePrimaryCtxRetain)(&raw mut context, device) };
        said(code, "its context cannot be made")?;
        let mut inner = Self {
            api,
            info,
            name,
            device,
            context: Handle(context),
            // From here on `drop` releases the context, and skips a pool that is not there.
            pool: Handle(ptr::null_mut()),
            live: AtomicU64::new(0),
            high: AtomicU64::new(0),
            faults: Faults::default(),
            small: Staging::new(SMALL, 16),
            large: Staging::new(LARGE, 4),
            blocks: Blocks::default(),
        };
        inner.enter("open").map_err(|e| describe_error(&e))?;
        // SAFETY: all of its fields may be zero.
        let mut props: sys::CUmemPoolProps = unsafe { core::mem::zeroed() };
        props.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        props.location.id = device;
        // SAFETY: the properties are those of device memory; the pool is written on success.
        let code = unsafe { (api.cuMemPoolCreate)(&raw mut inner.pool.0, &raw const props) };
        said(code, "its memory pool cannot be made")?;
        // Memory stays with the pool: taking it from the system again costs milliseconds.
        let mut threshold = u64::MAX;
        let attribute = PoolAttribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD as c_uint;
        // SAFETY: this attribute is a u64, which the call only reads.
        let code = unsafe {
            (api.cuMemPoolSetAttribute)(inner.pool.0, attribute, (&raw mut threshold).cast())
        };
        said(code, "its memory pool cannot be set up")?;
        Ok(inner)
    }

    /// Makes the context current for this thread: some 50 ns, and right whatever ran before.
    pub(super) fn enter(&self, op: &'static str) -> Result<(), Error> {
        // SAFETY: the context is retained for as long as `self` lives.
        let code = unsafe { (self.api.cuCtxSetCurrent)(self.context.0) };
        self.check(op, code)
    }

    /// [`Self::enter`] for an operation that a test may have fail.
    pub(super) fn begin(&self, op: &'static str, kind: FaultKind) -> Result<(), Error> {
        if self.faults.strikes(kind) {
            return Err(self.failed(op, Injected));
        }
        self.enter(op)
    }

    /// The error of a code.
    pub(super) fn check(&self, op: &'static str, code: Code) -> Result<(), Error> {
        match code {
            0 => Ok(()),
            code => Err(self.failed(op, self.api.error(code))),
        }
    }

    pub(super) fn failed(&self, op: &'static str, source: impl Into<Cause>) -> Error {
        Error::KernelFailed {
            op,
            device: self.name.clone(),
            source: source.into(),
        }
    }

    pub(super) fn unsupported(&self, op: &'static str, why: impl Into<String>) -> Error {
        Error::Unsupported {
            op,
            device: self.name.clone(),
            why: why.into(),
        }
    }

    /// For `drop`, which has nobody to tell.
    pub(super) fn log(&self, what: &str, code: Code) {
        if code != 0 {
            let error = self.api.error(code);
            tracing::warn!(device = %self.name, %error, "{what} failed");
        }
    }

    pub(super) fn out_of_memory(&self, op: &'static str, need: u64) -> Error {
        // Where even this figure cannot be had, 0 is not wrong.
        let have = self.free_bytes(op).unwrap_or(0);
        OutOfMemory::new(format!("{op} on {}", self.name), need, have).into()
    }

    fn free_bytes(&self, op: &'static str) -> Result<u64, Error> {
        self.enter(op)?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: two figures are written.
        let code = unsafe { (self.api.cuMemGetInfo_v2)(&raw mut free, &raw mut total) };
        self.check(op, code)?;
        let reserved = self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
        let used = self.pool_figure(PoolAttribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
        let unused = match (reserved, used) {
            (Some(reserved), Some(used)) => reserved.saturating_sub(used),
            _ => 0,
        };
        Ok((free as u64).saturating_add(unused))
    }

    fn pool_figure(&self, attribute: PoolAttribute) -> Option<u64> {
        let mut figure = 0u64;
        // SAFETY: the attributes asked for are u64.
        let code = unsafe {
            let value = (&raw mut figure).cast();
            (self.api.cuMemPoolGetAttribute)(self.pool.0, attribute as c_uint, value)
        };
        (code == 0).then_some(figure)
    }

    pub(super) fn trim_pool(&self, op: &'static str) -> Result<(), Error> {
        // SAFETY: the pool lives as long as `self`; what is in use is not touched.
        let code = unsafe { (self.api.cuMemPoolTrimTo)(self.pool.0, 0) };
        self.check(op, code)
    }

    pub(super) fn count_alloc(&self, bytes: u64) {
        let live = self.live.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.high.fetch_max(live, Ordering::Relaxed);
    }

    pub(super) fn count_free(&self, bytes: u64) {
        self.live.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Err(error) = self.enter("close") {
            tracing::warn!(%error, "closing");
        }
        self.small.clear(self);
        self.large.clear(self);
        self.blocks.clear(self);
        if !self.pool.0.is_null() {
            // SAFETY: every buffer of the pool held the context open, so none is left.
            self.log("freeing the pool", unsafe {
                (self.api.cuMemPoolDestroy)(self.pool.0)
            });
        }
        // SAFETY: this undoes the one retain of `new`.
        self.log("releasing the context", unsafe {
            (self.api.cuDevicePrimaryCtxRelease_v2)(self.device)
        });
    }
}

/// An error with its cause, as a line.
fn describe_error(error: &Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Whether an allocation failed for want of memory.
pub(super) const fn is_out_of_memory(code: Code) -> bool {
    code == code::OUT_OF_MEMORY
}
