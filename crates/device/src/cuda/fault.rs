//! Faults on purpose: the k-th operation fails.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use thiserror::Error as ThisError;

/// What can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// An allocation, of device memory or of page-locked host memory.
    Alloc,
    /// A transfer or a fill.
    Copy,
    /// The launch of a kernel or of a graph.
    Launch,
    /// A wait for a stream or an event.
    Sync,
}

impl FaultKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Alloc, Self::Copy, Self::Launch, Self::Sync];
}

/// The cause of an error that a test asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ThisError)]
#[error("injected")]
#[non_exhaustive]
pub struct Injected;

#[derive(Debug, Default)]
struct Watch {
    counts: [u64; 4],
    /// The kind (any, if none) and how many more of it until the one that fails.
    target: Option<(Option<FaultKind>, u64)>,
}

/// A hook for tests: counts the operations of one GPU, of NVIDIA's driver or of wgpu, and makes the k-th fail. Idle, it costs one
/// relaxed load an operation.
#[derive(Debug, Default)]
pub struct Faults {
    watching: AtomicBool,
    watch: Mutex<Watch>,
}

impl Faults {
    /// From now on counts, and makes the `k`-th operation of `kind` (of any, if `None`) fail, the
    /// next one being the first. One fails; those after it run. `k` = 0 only counts.
    pub fn fail_at(&self, kind: Option<FaultKind>, k: u64) {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        *watch = Watch {
            counts: [0; 4],
            target: (k > 0).then_some((kind, k)),
        };
        self.watching.store(true, Ordering::Relaxed);
    }

    /// Operations of `kind` (of all kinds, if `None`) since [`Self::fail_at`].
    #[must_use]
    pub fn count(&self, kind: Option<FaultKind>) -> u64 {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        kind.map_or_else(|| watch.counts.iter().sum(), |k| watch.counts[k as usize])
    }

    /// Stops counting and failing; the counts are zero again.
    pub fn reset(&self) {
        self.watching.store(false, Ordering::Relaxed);
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Watch::default();
    }

    /// Whether this operation is the one that has to fail.
    #[inline]
    pub(crate) fn strikes(&self, kind: FaultKind) -> bool {
        self.watching.load(Ordering::Relaxed) && self.counted(kind)
    }

    #[cold]
    fn counted(&self, kind: FaultKind) -> bool {
        let mut watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.counts[kind as usize] += 1;
        match &mut watch.target {
            Some((wanted, left)) if wanted.is_none_or(|w| w == kind) => {
                *left -= 1;
                let now = *left == 0;
                if now {
                    watch.target = None;
                }
                now
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kth_of_its_kind_fails_once() {
        use FaultKind::{Alloc, Copy, Launch, Sync};
        let faults = Faults::default();
        assert!(!faults.strikes(Copy));
        assert_eq!(faults.count(None), 0, "idle, nothing is counted");
        faults.fail_at(Some(Copy), 2);
        let ran = [Alloc, Copy, Launch, Copy, Copy, Sync].map(|k| faults.strikes(k));
        assert_eq!(ran, [false, false, false, true, false, false]);
        assert_eq!(faults.count(Some(Copy)), 3);
        assert_eq!(faults.count(None), 6);
        faults.fail_at(None, 3);
        let ran = FaultKind::ALL.map(|k| faults.strikes(k));
        assert_eq!(ran, [false, false, true, false]);
        faults.fail_at(None, 0);
        assert!(FaultKind::ALL.iter().all(|&k| !faults.strikes(k)));
        assert_eq!(faults.count(Some(Launch)), 1);
        faults.reset();
        assert!(!faults.strikes(Alloc));
        assert_eq!(faults.count(None), 0);
    }
}
