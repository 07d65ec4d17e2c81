//! How long a kernel takes, so that no submission takes too long.
#![forbid(unsafe_code)]

use core::time::Duration;

/// What one submission should take: far below a driver's watchdog, and below what makes a desktop
/// stutter.
pub(super) const TARGET: Duration = Duration::from_millis(50);
/// A measurement below this says more about the submission than about the kernel.
const SETTLED: Duration = Duration::from_millis(4);
/// Workgroups of the first piece.
const FIRST: u64 = 16;
/// How much more each piece of a kernel that is not settled may have.
const GROWTH: u64 = 8;

/// What is known of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    /// Workgroups of the largest piece that was measured, and its time.
    measured: Option<(u64, Duration)>,
}

impl Pace {
    /// Whether a piece was long enough to be trusted.
    pub(super) fn is_settled(&self) -> bool {
        self.measured.is_some_and(|(_, time)| time >= SETTLED)
    }

    /// Workgroups that may be submitted in one piece.
    pub(super) fn piece(&self) -> u64 {
        match self.measured {
            None => FIRST,
            Some((groups, time)) => {
                let nanos = time.as_nanos().max(1);
                let fits = u128::from(groups) * TARGET.as_nanos() / nanos;
                let fits = u64::try_from(fits).unwrap_or(u64::MAX).max(1);
                if self.is_settled() {
                    fits
                } else {
                    fits.min(groups.saturating_mul(GROWTH))
                }
            }
        }
    }

    /// What `groups` workgroups take, at most.
    pub(super) fn time(&self, groups: u64) -> Duration {
        match self.measured {
            None => Duration::ZERO,
            Some((of, time)) => {
                let nanos = time.as_nanos() * u128::from(groups) / u128::from(of.max(1));
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// A piece took `time`.
    pub(super) fn learn(&mut self, groups: u64, time: Duration) {
        self.measured = Some((groups.max(1), time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_grow_until_they_can_be_trusted() {
        let mut pace = Pace::default();
        assert_eq!((pace.piece(), pace.is_settled()), (FIRST, false));
        pace.learn(FIRST, Duration::from_micros(100));
        assert_eq!((pace.piece(), pace.is_settled()), (FIRST * GROWTH, false));
        pace.learn(128, Duration::from_millis(5));
        assert_eq!((pace.piece(), pace.is_settled()), (1280, true));
        assert_eq!(pace.time(256), Duration::from_millis(10));
        // One workgroup that takes a second is still one piece.
        pace.learn(1, Duration::from_secs(1));
        assert_eq!(pace.piece(), 1);
    }
}
