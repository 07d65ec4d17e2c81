//! Points in the work of a stream: order between streams, and time.
#![allow(unsafe_code)]

use core::ffi::c_uint;
use core::{fmt, ptr};

use cudarc::driver::sys::{CUevent, CUevent_flags};

use super::context::{Cuda, Handle};
use super::fault::FaultKind;
use super::stream::Stream;
use crate::Error;

/// A point in the work of a stream.
pub struct Event {
    cuda: Cuda,
    raw: Handle<CUevent>,
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Event").field(&self.cuda.name()).finish()
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("event") {
            tracing::warn!(%error, "freeing");
        }
        // SAFETY: the event is ours; the driver keeps it until it has come.
        let code = unsafe { (inner.api.cuEventDestroy_v2)(self.raw.0) };
        inner.log("freeing an event", code);
    }
}

impl Stream {
    /// Orders the stream's further work after what `other`, a stream of the same GPU, was given.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn wait_for(&self, other: &Self) -> Result<(), Error> {
        let op = self.op("wait");
        self.not_recording(op)?;
        other.not_recording(op)?;
        let event = other.mark(op, CUevent_flags::CU_EVENT_DISABLE_TIMING)?;
        let inner = &*self.cuda().0;
        // SAFETY: event and stream are alive; the driver keeps what it needs of the event.
        let code = unsafe { (inner.api.cuStreamWaitEvent)(self.raw(), event.raw.0, 0) };
        inner.check(op, code)
    }

    /// A point in the stream's work, with its time.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn event(&self) -> Result<Event, Error> {
        let op = self.op("event");
        self.not_recording(op)?;
        self.mark(op, CUevent_flags::CU_EVENT_DEFAULT)
    }

    fn mark(&self, op: &'static str, flags: CUevent_flags) -> Result<Event, Error> {
        let inner = &*self.cuda().0;
        inner.enter(op)?;
        let mut raw: CUevent = ptr::null_mut();
        // SAFETY: the event is written on success.
        let code = unsafe { (inner.api.cuEventCreate)(&raw mut raw, flags as c_uint) };
        inner.check(op, code)?;
        let event = Event {
            cuda: self.cuda().clone(),
            raw: Handle(raw),
        };
        // SAFETY: event and stream are alive.
        let code = unsafe { (inner.api.cuEventRecord)(raw, self.raw()) };
        inner.check(op, code)?;
        Ok(event)
    }

    /// Milliseconds from `start` to `end`, once `end` has come.
    ///
    /// # Errors
    ///
    /// [`Error::KernelFailed`] with the driver's words for the work before `end`.
    pub fn elapsed(&self, start: &Event, end: &Event) -> Result<f32, Error> {
        let op = self.op("elapsed");
        let inner = &*self.cuda().0;
        inner.begin(op, FaultKind::Sync)?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive; a figure is written.
        let code = unsafe {
            match (inner.api.cuEventSynchronize)(end.raw.0) {
                0 => {
                    let (start, end) = (start.raw.0, end.raw.0);
                    (inner.api.cuEventElapsedTime)(&raw mut milliseconds, start, end)
                }
                code => code,
            }
        };
        inner.check(op, code)?;
        Ok(milliseconds)
    }
}
