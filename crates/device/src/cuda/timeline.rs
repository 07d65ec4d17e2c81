//! When the device did what it was given: an event before and one behind each launch.
//!
//! Events cost the host a few microseconds each and keep kernels apart that would follow at once, so
//! that a timed run is slower than one that is not.
#![forbid(unsafe_code)]

use core::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::event::Event;
use super::stream::Stream;
use crate::Error;

/// A kernel as the device ran it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timed {
    /// The kernel.
    pub name: &'static str,
    /// Since [`Stream::start_timeline`] returned, by the device's clock.
    pub start: Duration,
    /// How long it ran.
    pub length: Duration,
}

struct Record {
    /// The first event, and what the host's clock said when it had come.
    origin: (Event, Instant),
    launches: Vec<(&'static str, Event, Event)>,
}

#[derive(Default)]
pub(super) struct Timeline {
    running: AtomicBool,
    record: Mutex<Option<Record>>,
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Timeline").field(&self.running).finish()
    }
}

impl Stream {
    fn timeline(&self) -> &Timeline {
        self.inner.timeline()
    }

    /// From here on, and until [`Self::take_timeline`], the times of launches are kept. Waits for all
    /// that the stream was given before, so that the device's clock and the host's have a point in
    /// common.
    ///
    /// # Errors
    ///
    /// Those of [`Self::event`] and [`Self::synchronize`].
    pub fn start_timeline(&self) -> Result<(), Error> {
        let event = self.event()?;
        self.synchronize()?;
        let timeline = self.timeline();
        let mut record = timeline
            .record
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *record = Some(Record {
            origin: (event, Instant::now()),
            launches: Vec::new(),
        });
        timeline.running.store(true, Ordering::Release);
        Ok(())
    }

    /// What was launched since [`Self::start_timeline`], in that order, and the host's time that it
    /// counts from; `None` if that was not called. Waits for all of it.
    ///
    /// # Errors
    ///
    /// Those of [`Self::synchronize`] and [`Self::elapsed`].
    pub fn take_timeline(&self) -> Result<Option<(Instant, Vec<Timed>)>, Error> {
        let timeline = self.timeline();
        timeline.running.store(false, Ordering::Release);
        let record = {
            let mut record = timeline
                .record
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            record.take()
        };
        let Some(Record { origin, launches }) = record else {
            return Ok(None);
        };
        self.synchronize()?;
        let since = |from: &Event, to: &Event| -> Result<Duration, Error> {
            let seconds = f64::from(self.elapsed(from, to)?) / 1e3;
            Ok(Duration::try_from_secs_f64(seconds).unwrap_or_default())
        };
        let (first, instant) = origin;
        let timed = launches
            .iter()
            .map(|(name, begin, end)| {
                Ok(Timed {
                    name,
                    start: since(&first, begin)?,
                    length: since(begin, end)?,
                })
            })
            .collect::<Result<_, Error>>()?;
        Ok(Some((instant, timed)))
    }

    /// The point before a launch, if times are kept.
    pub(super) fn timed(&self) -> Result<Option<Event>, Error> {
        let timed = self.timeline().running.load(Ordering::Acquire) && !self.inner.is_recording();
        timed.then(|| self.event()).transpose()
    }

    /// The launch behind that point has been given.
    pub(super) fn note(&self, name: &'static str, begin: Event) -> Result<(), Error> {
        let end = self.event()?;
        let mut record = self
            .timeline()
            .record
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(record) = &mut *record {
            record.launches.push((name, begin, end));
        }
        Ok(())
    }
}
