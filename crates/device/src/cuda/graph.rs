//! A chain of launches, recorded once and replayed.
#![allow(unsafe_code)]

use core::ffi::c_uint;
use core::{fmt, ptr};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUgraph, CUgraphExec, CUstreamCaptureMode};

use super::context::{Cuda, Handle};
use super::fault::FaultKind;
use super::module::Loaded;
use super::stream::Stream;
use crate::Error;

/// What [`Stream::capture`] recorded. A replay costs half a microsecond a kernel where single
/// launches cost several.
///
/// A replay uses the addresses that were recorded: the buffers behind them must be kept. The kernels
/// themselves are.
pub struct Graph {
    cuda: Cuda,
    raw: Handle<CUgraphExec>,
    /// One launch at a time, as the driver wants it.
    launching: Mutex<()>,
    /// The functions that were recorded must stay loaded.
    _modules: Vec<Arc<Loaded>>,
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Graph").field(&self.cuda.name()).finish()
    }
}

impl Graph {
    /// Takes the recorded graph over, and frees it in any case.
    pub(super) fn new(
        stream: &Stream,
        graph: CUgraph,
        modules: Vec<Arc<Loaded>>,
    ) -> Result<Self, Error> {
        let op = "capture";
        let cuda = stream.cuda();
        let inner = &*cuda.0;
        let mut raw = ptr::null_mut();
        // SAFETY: the graph is whole and ours, and is not used again.
        let code = unsafe {
            let code = (inner.api.cuGraphInstantiateWithFlags)(&raw mut raw, graph, 0);
            inner.log("freeing a graph", (inner.api.cuGraphDestroy)(graph));
            code
        };
        inner.check(op, code)?;
        let graph = Self {
            cuda: cuda.clone(),
            raw: Handle(raw),
            launching: Mutex::new(()),
            _modules: modules,
        };
        // SAFETY: graph and stream are alive. Without this the first launch would carry the cost.
        let code = unsafe { (inner.api.cuGraphUpload)(raw, stream.raw()) };
        inner.check(op, code)?;
        Ok(graph)
    }

    /// Replays it on a stream of the same GPU. Replays of one graph come one after another, on
    /// whatever streams.
    ///
    /// # Errors
    ///
    /// [`Error::Unsupported`] for a stream of another GPU or one that records;
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn launch(&self, stream: &Stream) -> Result<(), Error> {
        let op = stream.op("graph");
        let inner = &*self.cuda.0;
        stream.of_this_gpu(op, &self.cuda)?;
        stream.not_recording(op)?;
        inner.begin(op, FaultKind::Launch)?;
        let _one = self
            .launching
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // SAFETY: graph and stream are alive; no other launch of this graph is under way.
        let code = unsafe { (inner.api.cuGraphLaunch)(self.raw.0, stream.raw()) };
        inner.check(op, code)
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        let inner = &*self.cuda.0;
        if let Err(error) = inner.enter("graph") {
            tracing::warn!(%error, "freeing");
        }
        // SAFETY: the graph is ours; the driver frees it once its last replay has ended.
        let code = unsafe { (inner.api.cuGraphExecDestroy)(self.raw.0) };
        inner.log("freeing a graph", code);
    }
}

impl Stream {
    /// Records the launches, fills and copies on the device that `work` gives to this stream, in
    /// place of doing them. Memory must be there before: what `work` takes or moves from or to the
    /// host is refused, and what it drops is freed afterwards.
    ///
    /// # Errors
    ///
    /// Those of `work`; [`Error::Unsupported`] inside another recording; [`Error::KernelFailed`]
    /// with the driver's words.
    pub fn capture<R>(&self, work: impl FnOnce() -> Result<R, Error>) -> Result<(Graph, R), Error> {
        let op = self.op("capture");
        self.not_recording(op)?;
        let inner = &*self.cuda().0;
        // Page-locked memory that is still lent could not be waited for during the recording.
        inner.begin(op, FaultKind::Sync)?;
        self.inner.finish(op)?;
        let capture = Capture::begin(self, op)?;
        let result = work();
        let (graph, modules) = capture.end();
        let result = result.inspect_err(|_| {
            if let Ok(graph) = graph {
                // SAFETY: the graph is ours and nobody else has it.
                inner.log("freeing a graph", unsafe {
                    (inner.api.cuGraphDestroy)(graph)
                });
            }
        })?;
        inner.enter(op)?;
        let graph = graph.map_err(|code| inner.failed(op, inner.api.error(code)))?;
        Ok((Graph::new(self, graph, modules)?, result))
    }
}

/// A recording that ends even if the work panics.
struct Capture<'a> {
    stream: &'a Stream,
    ended: bool,
}

impl<'a> Capture<'a> {
    fn begin(stream: &'a Stream, op: &'static str) -> Result<Self, Error> {
        let inner = &*stream.cuda().0;
        if !stream.inner.begin_recording() {
            return Err(inner.unsupported(op, "a graph is being recorded"));
        }
        let mut capture = Self {
            stream,
            ended: true,
        };
        // Relaxed: other threads and other streams may do as they like.
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED as c_uint;
        // SAFETY: the stream is alive and records nothing yet.
        let code = unsafe { (inner.api.cuStreamBeginCapture_v2)(stream.raw(), mode) };
        inner.check(op, code).inspect_err(|_| {
            stream.inner.end_recording();
        })?;
        capture.ended = false;
        Ok(capture)
    }

    /// The graph, or the driver's code; and what its functions belong to.
    fn end(mut self) -> (Result<CUgraph, u32>, Vec<Arc<Loaded>>) {
        self.ended = true;
        self.stop()
    }

    fn stop(&self) -> (Result<CUgraph, u32>, Vec<Arc<Loaded>>) {
        let inner = &*self.stream.cuda().0;
        if let Err(error) = inner.enter("capture") {
            tracing::warn!(%error, "ending a recording");
        }
        let mut graph = ptr::null_mut();
        // SAFETY: the stream is alive; the graph is written, null if the recording has failed.
        let code = unsafe { (inner.api.cuStreamEndCapture)(self.stream.raw(), &raw mut graph) };
        let recording = self.stream.inner.end_recording();
        let graph = if code == 0 { Ok(graph) } else { Err(code) };
        (graph, recording.modules)
    }
}

impl Drop for Capture<'_> {
    fn drop(&mut self) {
        if !self.ended
            && let (Ok(graph), _) = self.stop()
        {
            let inner = &*self.stream.cuda().0;
            // SAFETY: the graph is ours and nobody else has it.
            inner.log("freeing a graph", unsafe {
                (inner.api.cuGraphDestroy)(graph)
            });
        }
    }
}
