//! Times on the device, for benches and reports.
#![forbid(unsafe_code)]

use std::sync::Mutex;
use std::time::Duration;

/// A kernel, how often it was launched, and for how long it ran.
pub type Phase = (&'static str, usize, Duration);

static ON: Mutex<Option<Vec<Phase>>> = Mutex::new(None);

fn lock() -> std::sync::MutexGuard<'static, Option<Vec<Phase>>> {
    ON.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// From now on the kernels of every sum are timed, which makes it slower.
pub fn start() {
    *lock() = Some(Vec::new());
}

/// What was timed since [`start`], in the order of the first launches.
#[must_use]
pub fn take() -> Vec<Phase> {
    lock().take().unwrap_or_default()
}

pub(super) fn is_on() -> bool {
    lock().is_some()
}

pub(super) fn note(timed: &[fieldspar_device::cuda::Timed]) {
    let mut on = lock();
    let Some(phases) = on.as_mut() else { return };
    for timed in timed {
        match phases.iter_mut().find(|p| p.0 == timed.name) {
            Some(phase) => {
                phase.1 += 1;
                phase.2 += timed.length;
            }
            None => phases.push((timed.name, 1, timed.length)),
        }
    }
}
