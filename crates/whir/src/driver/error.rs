//! What can go wrong while proving.
#![forbid(unsafe_code)]

use p3_whir::WhirConfigError;

/// Why no proof was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// p3-whir refuses the parameters or the number of claims.
    #[error("p3-whir refuses the parameters: {0}")]
    Config(#[from] WhirConfigError),
    /// The statement does not fit the committed data.
    #[error("the statement does not fit: {what}: expected {expected}, found {found}")]
    Statement {
        /// The part that does not fit.
        what: &'static str,
        /// What it should have been.
        expected: usize,
        /// What it was.
        found: usize,
    },
    /// p3's transcript gave no point where one was expected.
    #[error("the transcript drew no point")]
    NoPoint,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] fieldspar_device::Error),
}

impl Error {
    /// The device computed something that the host knows to be wrong.
    pub(crate) const fn mismatch(op: &'static str, index: usize) -> Self {
        Self::Device(fieldspar_device::Error::Mismatch { op, index })
    }
}
