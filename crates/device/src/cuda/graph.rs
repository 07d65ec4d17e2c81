//! A chain of launches, recorded once and replayed.
#![allow(unsafe_code)]

use core::{fmt, ptr};
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{CUgraph, CUgraphExec};

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
    /// [`Error::KernelFailed`] with the driver's words.
    pub fn launch(&self, stream: &Stream) -> Result<(), Error> {
        let op = stream.op("graph");
        let inner = &*self.cuda.0;
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
