//! The errors of the device layer: each names the operation and the device.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

use crate::memory::format_bytes;

/// A boxed cause.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

/// A named device cannot be had. Nothing else was tried in its place.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("device {device} is unavailable: {reason}")]
#[non_exhaustive]
pub struct Unavailable {
    /// The specification that was asked for.
    pub device: String,
    /// Why, in words for the user.
    pub reason: String,
}

impl Unavailable {
    /// `device` cannot be had because of `reason`.
    #[must_use]
    pub fn new(device: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            device: device.into(),
            reason: reason.into(),
        }
    }
}

/// An operation needs more memory than it may take. Found by its plan, before any work.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("out of memory: {what} needs {}, and {} may be used", format_bytes(*.need), format_bytes(*.have))]
#[non_exhaustive]
pub struct OutOfMemory {
    /// The operation, and the phase that needs the most.
    pub what: String,
    /// Bytes needed at the peak.
    pub need: u64,
    /// Bytes that may be used.
    pub have: u64,
}

impl OutOfMemory {
    /// `what` needs `need` bytes where only `have` may be used.
    #[must_use]
    pub fn new(what: impl Into<String>, need: u64, have: u64) -> Self {
        Self {
            what: what.into(),
            need,
            have,
        }
    }
}

/// Everything that can go wrong on a device.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// A named device cannot be had.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),

    /// The memory plan does not fit.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),

    /// The device is there but cannot do this operation.
    #[error("{op} is not supported on {device}: {why}")]
    Unsupported {
        /// The operation.
        op: &'static str,
        /// The device that was asked.
        device: String,
        /// What it lacks.
        why: String,
    },

    /// A kernel or a driver call failed. No result of it may be used.
    #[error("{op} failed on {device}")]
    KernelFailed {
        /// The operation.
        op: &'static str,
        /// The device it ran on.
        device: String,
        /// What the driver or the runtime said.
        #[source]
        source: Cause,
    },

    /// A device computed something else than the reference.
    #[error("{op}: the device differs from the reference at index {index}")]
    Mismatch {
        /// The operation.
        op: &'static str,
        /// The first element that differs.
        index: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_operation_and_device() {
        let unsupported = Error::Unsupported {
            op: "rpo permute",
            device: "wgpu:llvmpipe".into(),
            why: "no 64-bit integers".into(),
        };
        assert_eq!(
            unsupported.to_string(),
            "rpo permute is not supported on wgpu:llvmpipe: no 64-bit integers"
        );
        let failed = Error::KernelFailed {
            op: "whir commit",
            device: "cuda:0".into(),
            source: "CUDA_ERROR_LAUNCH_FAILED".into(),
        };
        assert_eq!(failed.to_string(), "whir commit failed on cuda:0");
        let cause = std::error::Error::source(&failed).map(ToString::to_string);
        assert_eq!(cause.as_deref(), Some("CUDA_ERROR_LAUNCH_FAILED"));
        let wrapped = Error::from(OutOfMemory::new("whir commit (encode)", 3 << 29, 1 << 30));
        assert_eq!(
            wrapped.to_string(),
            "out of memory: whir commit (encode) needs 1.50 GiB (1610612736 bytes), \
             and 1.00 GiB (1073741824 bytes) may be used"
        );
        let mismatch = Error::Mismatch {
            op: "ntt",
            index: 17,
        };
        assert!(mismatch.to_string().contains("index 17"));
    }
}
