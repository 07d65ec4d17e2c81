//! Where the time of a proof goes: named phases with their start and length.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One timed stretch of work.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The phase.
    pub name: &'static str,
    /// Since the profile was made or last cleared.
    pub start: Duration,
    /// How long it took.
    pub length: Duration,
}

#[derive(Debug)]
struct Record {
    origin: Instant,
    spans: Vec<Span>,
}

/// A shared recorder; clones write to the same record.
#[derive(Clone, Debug)]
pub struct Profile(Arc<Mutex<Record>>);

impl Default for Profile {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Record {
            origin: Instant::now(),
            spans: Vec::new(),
        })))
    }
}

impl Profile {
    /// Runs `work` and records it under `name`.
    pub fn time<R>(&self, name: &'static str, work: impl FnOnce() -> R) -> R {
        let begin = Instant::now();
        let span = tracing::debug_span!("phase", name);
        let result = span.in_scope(work);
        let length = begin.elapsed();
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let start = begin.saturating_duration_since(record.origin);
        record.spans.push(Span {
            name,
            start,
            length,
        });
        result
    }

    /// Forgets everything and starts the clock again.
    pub fn clear(&self) {
        let mut record = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        record.origin = Instant::now();
        record.spans.clear();
    }

    /// Everything recorded since the last [`Profile::clear`], in order of completion.
    #[must_use]
    pub fn spans(&self) -> Vec<Span> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spans
            .clone()
    }

    /// Total time per phase.
    #[must_use]
    pub fn totals(&self) -> BTreeMap<&'static str, Duration> {
        let mut totals = BTreeMap::new();
        for span in self.spans() {
            *totals.entry(span.name).or_default() += span.length;
        }
        totals
    }
}
