//! How much memory an operation will hold, and how much it may hold.
#![forbid(unsafe_code)]

use core::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{OutOfMemory, host};

/// The environment variable that lowers the memory an operation may take, see [`parse_bytes`].
pub const ENV_MAX_MEMORY: &str = "FIELDSPAR_MAX_MEMORY";

/// A buffer of one [`MemoryPlan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferId(usize);

/// A named buffer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Buffer {
    name: String,
    bytes: u64,
}

/// A stretch of an operation and what is held during it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Phase {
    /// Its name, as in the timings.
    pub name: String,
    /// Bytes held while it runs, the sum of its buffers.
    pub bytes: u64,
    /// Names of the buffers held.
    pub buffers: Vec<String>,
}

/// What an operation will hold: named buffers, and for each phase the set of buffers that are
/// alive in it. The peak is the largest sum over the phases.
///
/// Sums saturate, so a plan for an absurd size is refused and never wraps round to a small one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryPlan {
    op: String,
    buffers: Vec<Buffer>,
    phases: Vec<Phase>,
}

impl MemoryPlan {
    /// An empty plan of the operation `op`.
    #[must_use]
    pub fn new(op: impl Into<String>) -> Self {
        Self {
            op: op.into(),
            buffers: Vec::new(),
            phases: Vec::new(),
        }
    }

    /// Adds a buffer of `bytes` bytes. It counts only in the phases that name it.
    pub fn buffer(&mut self, name: impl Into<String>, bytes: u64) -> BufferId {
        self.buffers.push(Buffer {
            name: name.into(),
            bytes,
        });
        BufferId(self.buffers.len() - 1)
    }

    /// Adds a phase in which exactly `held` are alive. A buffer named twice counts once; an
    /// identifier of another plan that is out of range here is ignored.
    pub fn phase(&mut self, name: impl Into<String>, held: &[BufferId]) {
        let mut ids: Vec<usize> = held.iter().map(|id| id.0).collect();
        ids.sort_unstable();
        ids.dedup();
        let alive: Vec<&Buffer> = ids.iter().filter_map(|&i| self.buffers.get(i)).collect();
        let phase = Phase {
            name: name.into(),
            bytes: alive.iter().fold(0, |sum, b| sum.saturating_add(b.bytes)),
            buffers: alive.iter().map(|b| b.name.clone()).collect(),
        };
        self.phases.push(phase);
    }

    /// The phases, in the order they were added.
    #[must_use]
    pub fn phases(&self) -> &[Phase] {
        &self.phases
    }

    /// The first phase that holds the most; `None` for a plan without phases.
    #[must_use]
    pub fn peak_phase(&self) -> Option<&Phase> {
        // `max_by_key` would give the last of equals.
        self.phases.iter().rev().max_by_key(|phase| phase.bytes)
    }

    /// Bytes held at the peak.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.peak_phase().map_or(0, |phase| phase.bytes)
    }

    /// Whether the peak stays within `limit` bytes.
    ///
    /// # Errors
    ///
    /// [`OutOfMemory`] with what is needed, what may be used, and the phase that needs the most.
    pub fn check(&self, limit: u64) -> Result<(), OutOfMemory> {
        match self.peak_phase() {
            Some(peak) if peak.bytes > limit => Err(OutOfMemory::new(
                format!("{} ({})", self.op, peak.name),
                peak.bytes,
                limit,
            )),
            _ => Ok(()),
        }
    }
}

/// What set a [`MemoryLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MemoryLimitSource {
    /// A flag, or an argument of the library's caller.
    Flag,
    /// The environment variable [`ENV_MAX_MEMORY`].
    Environment,
    /// What the machine, or the control group that the process runs in, has to give.
    Machine,
    /// The operating system gives no figure: no limit.
    Unknown,
}

/// How many bytes an operation may hold, and what says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryLimit {
    bytes: u64,
    source: MemoryLimitSource,
}

impl MemoryLimit {
    /// Exactly `bytes`, whatever the machine has.
    #[must_use]
    pub const fn explicit(bytes: u64) -> Self {
        Self {
            bytes,
            source: MemoryLimitSource::Flag,
        }
    }

    /// The lowest of `flag`, [`ENV_MAX_MEMORY`] and [`available_memory`] now. Unset and empty are
    /// the same.
    ///
    /// # Errors
    ///
    /// [`ParseBytesError`] if the variable is set and cannot be read, even where `flag` is lower:
    /// a setting with a slip in it is never passed over.
    pub fn resolve(flag: Option<u64>) -> Result<Self, ParseBytesError> {
        let environment = match std::env::var_os(ENV_MAX_MEMORY) {
            Some(text) if !text.is_empty() => Some(parse_bytes(&text.to_string_lossy())?),
            _ => None,
        };
        Ok(Self::lowest(flag, environment, available_memory()))
    }

    fn lowest(flag: Option<u64>, environment: Option<u64>, machine: Option<u64>) -> Self {
        [
            (flag, MemoryLimitSource::Flag),
            (environment, MemoryLimitSource::Environment),
            (machine, MemoryLimitSource::Machine),
        ]
        .into_iter()
        .filter_map(|(bytes, source)| bytes.map(|bytes| Self { bytes, source }))
        .min_by_key(|limit| limit.bytes)
        .unwrap_or(Self {
            bytes: u64::MAX,
            source: MemoryLimitSource::Unknown,
        })
    }

    /// The limit in bytes, `u64::MAX` if there is none.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }

    /// What set it.
    #[must_use]
    pub const fn source(self) -> MemoryLimitSource {
        self.source
    }
}

/// Bytes that this process can still take without swapping: `MemAvailable`, or less where a
/// control group (v1 or v2, at any level) leaves less. `None` where the system gives no figure.
#[must_use]
pub fn available_memory() -> Option<u64> {
    host::available_memory_at(Path::new("/"))
}

/// Bytes of memory in the machine, or less where a control group caps it. `None` where the system
/// gives no figure.
#[must_use]
pub fn total_memory() -> Option<u64> {
    host::total_memory_at(Path::new("/"))
}

/// A size that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{given}` is not a size: write bytes, or a number with K, M, G or T (powers of 1024), such as 6G, 1.5GiB or 800M"
)]
#[non_exhaustive]
pub struct ParseBytesError {
    /// What was written.
    pub given: String,
}

/// Reads a size: bytes, or a decimal number with `K`, `M`, `G`, `T` (powers of 1024, `iB` or `B`
/// may follow, case is ignored).
///
/// ```
/// use fieldspar_device::parse_bytes;
///
/// assert_eq!(parse_bytes("1.5GiB"), Ok(3 << 29));
/// assert_eq!(parse_bytes("4096"), Ok(4096));
/// assert!(parse_bytes("-1").is_err());
/// ```
///
/// # Errors
///
/// [`ParseBytesError`] for anything else, and for 2^64 bytes or more.
pub fn parse_bytes(text: &str) -> Result<u64, ParseBytesError> {
    parse_bytes_inner(text.trim()).ok_or_else(|| ParseBytesError {
        given: text.to_owned(),
    })
}

fn parse_bytes_inner(text: &str) -> Option<u64> {
    let split = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    let (whole, fraction) = match number.split_once('.') {
        None => (number, ""),
        // A fraction of a byte is a slip.
        Some(_) if shift == 0 => return None,
        Some((whole, fraction)) if fraction.len() <= 9 => (whole, fraction),
        Some(_) => return None,
    };
    if whole.is_empty() || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    // Integers all the way: an f64 would round sizes above 2^53.
    let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
    let digits = u128::from(whole.parse::<u64>().ok()?) * scale
        + if fraction.is_empty() {
            0
        } else {
            u128::from(fraction.parse::<u64>().ok()?)
        };
    u64::try_from(((digits) << shift) / scale).ok()
}

/// `bytes` for people, with the exact figure: `1.50 GiB (1610612736 bytes)`.
#[must_use]
pub fn format_bytes(bytes: u64) -> String {
    struct Short(u64);
    impl fmt::Display for Short {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let (shift, unit) = match self.0 {
                0x100_0000_0000.. => (40, "TiB"),
                0x4000_0000.. => (30, "GiB"),
                0x10_0000.. => (20, "MiB"),
                _ => (10, "KiB"),
            };
            // Hundredths, rounded up: `1.00 GiB` must not stand for something above it.
            let hundredths = (u128::from(self.0) * 100).div_ceil(1 << shift);
            write!(f, "{}.{:02} {unit}", hundredths / 100, hundredths % 100)
        }
    }
    if bytes < 1024 {
        format!("{bytes} bytes")
    } else {
        format!("{} ({bytes} bytes)", Short(bytes))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_the_largest_phase_not_the_sum() {
        let mut plan = MemoryPlan::new("op");
        let a = plan.buffer("a", 10);
        let b = plan.buffer("b", 20);
        let c = plan.buffer("c", 5);
        plan.buffer("never held", 1000);
        plan.phase("one", &[a, c]);
        plan.phase("two", &[a, b, b]);
        plan.phase("three", &[b, a]);
        assert_eq!(plan.peak_bytes(), 30);
        assert_eq!(plan.peak_phase().unwrap().name, "two");
        assert_eq!(plan.peak_phase().unwrap().buffers, ["a", "b"]);
        assert_eq!(plan.phases().len(), 3);
        plan.check(30).unwrap();
        let error = plan.check(29).unwrap_err();
        assert_eq!((error.need, error.have), (30, 29));
        assert_eq!(error.what, "op (two)");
    }

    #[test]
    fn an_empty_plan_needs_nothing() {
        let plan = MemoryPlan::new("op");
        assert_eq!(plan.peak_bytes(), 0);
        plan.check(0).unwrap();
    }

    #[test]
    fn sums_saturate() {
        let mut plan = MemoryPlan::new("op");
        let a = plan.buffer("a", u64::MAX - 1);
        let b = plan.buffer("b", 16);
        plan.phase("all", &[a, b]);
        assert_eq!(plan.peak_bytes(), u64::MAX);
        plan.check(1 << 40).unwrap_err();
    }

    #[test]
    fn an_identifier_of_another_plan_does_no_harm() {
        let mut big = MemoryPlan::new("big");
        big.buffer("a", 1);
        let foreign = big.buffer("b", 1);
        let mut small = MemoryPlan::new("small");
        small.phase("p", &[foreign]);
        assert_eq!(small.peak_bytes(), 0);
    }

    #[test]
    fn the_lowest_limit_counts() {
        use MemoryLimitSource as S;
        for (flag, environment, machine, bytes, source) in [
            (None, None, None, u64::MAX, S::Unknown),
            (None, None, Some(7), 7, S::Machine),
            (None, Some(5), Some(7), 5, S::Environment),
            (None, Some(9), Some(7), 7, S::Machine),
            (Some(3), Some(5), Some(7), 3, S::Flag),
            (Some(6), Some(5), Some(7), 5, S::Environment),
            (Some(8), None, Some(7), 7, S::Machine),
            (Some(7), Some(7), Some(7), 7, S::Flag),
        ] {
            let limit = MemoryLimit::lowest(flag, environment, machine);
            assert_eq!((limit.bytes(), limit.source()), (bytes, source));
        }
    }

    #[test]
    fn sizes_are_read_exactly() {
        for (text, bytes) in [
            ("0", 0),
            ("1", 1),
            ("18446744073709551615", u64::MAX),
            ("1k", 1 << 10),
            ("1 MiB", 1 << 20),
            ("0.5G", 1 << 29),
            ("1.25gb", 5 << 28),
            ("3T", 3 << 40),
            ("12B", 12),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "G",
            ".5G",
            "1.",
            "1.G",
            "1.5",
            "-1",
            "+1",
            "1e9",
            "1P",
            "1.2.3G",
            "0x10",
            "18446744073709551616",
            "16777216T",
            "1.0000000000G",
            "six",
        ] {
            parse_bytes(text).unwrap_err();
        }
    }

    #[test]
    fn sizes_are_written_for_people() {
        assert_eq!(format_bytes(12), "12 bytes");
        assert_eq!(format_bytes(1024), "1.00 KiB (1024 bytes)");
        assert_eq!(format_bytes((1 << 30) + 1), "1.01 GiB (1073741825 bytes)");
        assert!(format_bytes(u64::MAX).starts_with("16777216.00 TiB"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_memory() {
        let available = available_memory().unwrap();
        assert!(available > 0 && available <= total_memory().unwrap());
    }
}
