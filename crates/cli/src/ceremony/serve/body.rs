//! Bodies of requests and answers under one budget of memory.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::{Body, Bytes, Incoming};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::metrics::Metrics;

/// Bytes of bodies that may be in memory at a time.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    bytes: Arc<Semaphore>,
    metrics: Arc<Metrics>,
}

/// A part of the budget, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    permit: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.metrics
            .budget_used
            .sub(self.permit.num_permits() as u64);
    }
}

impl Budget {
    pub(super) fn new(bytes: usize, metrics: Arc<Metrics>) -> Self {
        Self {
            bytes: Arc::new(Semaphore::new(bytes)),
            metrics,
        }
    }

    /// `None` if so much is not left.
    pub(super) fn take(&self, bytes: usize) -> Option<Share> {
        let bytes = u32::try_from(bytes).ok()?;
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(bytes).ok()?;
        self.metrics.budget_used.add(bytes.into());
        Some(Share {
            permit,
            metrics: Arc::clone(&self.metrics),
        })
    }

    fn grow(&self, share: &mut Share, bytes: usize) -> Option<()> {
        let more = u32::try_from(bytes).ok()?;
        let permit = Arc::clone(&self.bytes).try_acquire_many_owned(more).ok()?;
        self.metrics.budget_used.add(more.into());
        share.permit.merge(permit);
        Some(())
    }
}

/// Why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is longer than allowed.
    TooLong,
    /// The budget is used up.
    NoRoom,
    /// It did not come in time.
    Slow,
    /// The connection broke, or the coding of the body.
    Broken,
}

/// Reads a body as it comes; what has not come costs nothing.
pub(super) async fn read(
    body: Incoming,
    most: usize,
    budget: &Budget,
    patience: Duration,
) -> Result<(Vec<u8>, Share), BodyError> {
    if body.size_hint().lower() > most as u64 {
        return Err(BodyError::TooLong);
    }
    timeout(patience, collect(body, most, budget))
        .await
        .map_err(|_| BodyError::Slow)?
}

async fn collect(
    mut body: Incoming,
    most: usize,
    budget: &Budget,
) -> Result<(Vec<u8>, Share), BodyError> {
    let mut bytes = Vec::new();
    let mut share = budget.take(0).ok_or(BodyError::NoRoom)?;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| BodyError::Broken)?;
        let Some(data) = frame.data_ref() else {
            continue;
        };
        if bytes.len() + data.len() > most {
            return Err(BodyError::TooLong);
        }
        budget
            .grow(&mut share, data.len())
            .ok_or(BodyError::NoRoom)?;
        bytes.extend_from_slice(data);
    }
    Ok((bytes, share))
}

/// Bytes with their part of the budget, which lasts until they are sent.
struct Held {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

pub(super) fn held(bytes: Vec<u8>, share: Option<Share>) -> Bytes {
    match share {
        None => bytes.into(),
        Some(share) => Bytes::from_owner(Held {
            bytes,
            _share: share,
        }),
    }
}
