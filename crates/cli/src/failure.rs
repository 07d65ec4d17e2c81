//! Why a command did not do its work: the class says the exit code.
#![forbid(unsafe_code)]

use fieldspar_device as device;
use fieldspar_whir::driver;
use fieldspar_whir::error::{InputError, ParamsError, ProofError};
use fieldspar_whir::statement::{ProveError, VerifyError};
use serde_json::{Value, json};

/// The classes, each with its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The command line asks for something that does not exist or does not fit together.
    Usage,
    /// A file that cannot be read or written, or does not hold what it should.
    Input,
    /// A named device cannot be had.
    Unavailable,
    /// The memory plan does not fit.
    OutOfMemory,
    /// A device computes something else than the reference.
    Mismatch,
    /// A mistake in this program, or of a device.
    Internal,
}

impl Kind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Input => "bad_input",
            Self::Unavailable => "device_unavailable",
            Self::OutOfMemory => "out_of_memory",
            Self::Mismatch => "self_test_mismatch",
            Self::Internal => "internal",
        }
    }

    pub(crate) const fn exit_code(self) -> u8 {
        match self {
            Self::Usage => 2,
            Self::Input => 3,
            Self::Unavailable => 4,
            Self::OutOfMemory => 5,
            Self::Mismatch => 6,
            Self::Internal => 70,
        }
    }
}

/// What goes to stderr, and how the process ends.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    /// File, offset or index.
    pub(crate) at: Option<String>,
    pub(crate) need: Option<u64>,
    pub(crate) have: Option<u64>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            at: None,
            need: None,
            have: None,
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, message)
    }

    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::new(Kind::Input, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(Kind::Internal, message)
    }

    /// Says where; what is known already stays.
    pub(crate) fn at(mut self, at: impl Into<String>) -> Self {
        self.at.get_or_insert(at.into());
        self
    }

    /// What was read is the value of this option, a mistake of the command line.
    pub(crate) fn of_option(mut self, name: &str) -> Self {
        self.kind = Kind::Usage;
        self.message = format!("{name}: {}", self.message);
        self.at = Some(name.to_owned());
        self
    }

    /// Puts the file before the place in it.
    pub(crate) fn in_file(mut self, path: &std::path::Path) -> Self {
        let path = path.display();
        self.at = Some(match self.at.take() {
            Some(at) => format!("{path}: {at}"),
            None => path.to_string(),
        });
        self
    }

    /// What stands under `error`.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "kind": self.kind.name(),
            "message": self.message,
            "at": self.at,
            "need": self.need,
            "have": self.have,
        })
    }
}

impl From<device::Unavailable> for Failure {
    fn from(error: device::Unavailable) -> Self {
        Self::new(Kind::Unavailable, error.to_string()).at(error.device)
    }
}

impl From<device::ParseSpecError> for Failure {
    fn from(error: device::ParseSpecError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<device::OutOfMemory> for Failure {
    fn from(error: device::OutOfMemory) -> Self {
        Self {
            need: Some(error.need),
            have: Some(error.have),
            ..Self::new(Kind::OutOfMemory, error.to_string()).at(error.what)
        }
    }
}

impl From<device::Error> for Failure {
    fn from(error: device::Error) -> Self {
        match error {
            device::Error::Unavailable(error) => error.into(),
            device::Error::OutOfMemory(error) => error.into(),
            device::Error::Mismatch { op, index } => {
                Self::new(Kind::Mismatch, error.to_string()).at(format!("{op}: index {index}"))
            }
            other => {
                let cause = std::error::Error::source(&other).map(ToString::to_string);
                Self::internal(match cause {
                    Some(cause) => format!("{other}: {cause}"),
                    None => other.to_string(),
                })
            }
        }
    }
}

impl From<ParamsError> for Failure {
    fn from(error: ParamsError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        let failure = Self::input(error.to_string());
        match error {
            InputError::Io { path, .. } => failure.at(path.display().to_string()),
            InputError::NotCanonical { index, .. } => failure.at(format!("element {index}")),
            InputError::Npy { offset, .. } => failure.at(format!("byte {offset}")),
            _ => failure,
        }
    }
}

impl From<ProofError> for Failure {
    fn from(error: ProofError) -> Self {
        let message = error.to_string();
        let at_byte = |offset| Self::input(message.clone()).at(format!("byte {offset}"));
        match error {
            ProofError::Truncated {
                offset, need, have, ..
            } => Self {
                need: Some(need),
                have: Some(have),
                ..at_byte(offset)
            },
            ProofError::Magic { .. } => at_byte(0),
            ProofError::Unexpected { offset, .. }
            | ProofError::NotCanonical { offset, .. }
            | ProofError::Varint { offset, .. }
            | ProofError::Trailing { offset, .. }
            | ProofError::Encoding { offset, .. } => at_byte(offset),
            ProofError::Exists(path) => Self::usage(message).at(path.display().to_string()),
            ProofError::Io { path, .. } => Self::input(message).at(path.display().to_string()),
            _ => Self::input(message),
        }
    }
}

impl From<ProveError> for Failure {
    fn from(error: ProveError) -> Self {
        match error {
            ProveError::Params(error) => error.into(),
            ProveError::Input(error) => error.into(),
            ProveError::Prover(driver::Error::Device(error)) => error.into(),
            ProveError::Point { .. } => Self::input(error.to_string()),
            other => Self::internal(other.to_string()),
        }
    }
}

impl From<VerifyError> for Failure {
    /// Our own proof, just made, was refused.
    fn from(error: VerifyError) -> Self {
        Self::new(
            Kind::Mismatch,
            format!("the proof that was just made does not verify: {error}"),
        )
    }
}
