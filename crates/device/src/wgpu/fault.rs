//! What goes wrong on an adapter.
#![forbid(unsafe_code)]

use thiserror::Error as ThisError;

/// The cause of an [`Error::KernelFailed`](crate::Error::KernelFailed) of this module.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Fault {
    /// The driver gave the device up: it hung, was unplugged or was reset.
    #[error("the device was lost: {0}")]
    Lost(String),
    /// The driver has no memory left.
    #[error("the driver has no memory left: {0}")]
    OutOfMemory(String),
    /// A call that the interface does not allow: a mistake in this program.
    #[error("invalid use: {0}")]
    Validation(String),
    /// The driver or the library in between failed.
    #[error("the driver failed: {0}")]
    Internal(String),
    /// A kernel that the compiler or the driver refuses.
    #[error("the kernel does not compile: {0}")]
    Shader(String),
    /// The device did not finish in time.
    #[error("no answer from the device within {0} s")]
    Timeout(u64),
    /// Results that could not be mapped for reading.
    #[error("its results cannot be read")]
    Unreadable,
}

impl From<::wgpu::Error> for Fault {
    fn from(error: ::wgpu::Error) -> Self {
        match error {
            ::wgpu::Error::OutOfMemory { source } => Self::OutOfMemory(source.to_string()),
            ::wgpu::Error::Validation { description, .. } => Self::Validation(description),
            ::wgpu::Error::Internal { description, .. } => Self::Internal(description),
        }
    }
}
