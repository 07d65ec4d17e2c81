//! The memory that this process holds at its peak.
#![forbid(unsafe_code)]

use std::fs;

/// Starts a new peak, so that a run is not charged for what an earlier one held.
pub(crate) fn reset_peak() {
    // Where the kernel does not offer it the peak stays that of the whole process.
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// VmHWM in bytes, 0 where it is not known.
pub(crate) fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kib| kib * 1024)
}
