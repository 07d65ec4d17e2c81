//! What can go wrong with a store.
#![forbid(unsafe_code)]

use std::io;

use crate::rules::v2::{StateError, WireError};

/// Why a store did not do what it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk refused.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// Another process has the store.
    #[error("another process has the store open")]
    InUse,
    /// An earlier write failed.
    #[error("an earlier write failed, so that the state may be ahead of the disk: open it again")]
    Broken,
    /// The file begins with something else.
    #[error("no log of ceremonies: {0}")]
    Header(&'static str),
    /// The state that a shortened log begins with is not what its header says.
    #[error("the log's base is broken: {0}")]
    Base(&'static str),
    /// The messages before some frame are not in the log.
    #[error(
        "the log was shortened: what came before frame {frame} is in the archived log, if one was kept"
    )]
    Shortened {
        /// The frame behind which the log's state stands.
        frame: u64,
    },
    /// A frame is broken and a good one follows, so that something acknowledged is lost.
    #[error("byte {at}: frame {frame} is broken, and there is more behind it")]
    Corrupt {
        /// The frame's number.
        frame: u64,
        /// Where it begins.
        at: u64,
    },
    /// The log ends before a snapshot that is right, or is another log: something acknowledged is lost.
    #[error("the log does not hold frame {frame}, behind which a snapshot stands")]
    Behind {
        /// The frame's number.
        frame: u64,
    },
    /// A frame whose hash is right holds something that is no operation.
    #[error("frame {frame}: {source}")]
    Wire {
        /// The frame's number.
        frame: u64,
        /// What.
        source: WireError,
    },
    /// A frame whose hash is right holds an operation that these rules refuse.
    #[error("frame {frame} holds an operation that changes nothing")]
    Foreign {
        /// The frame's number.
        frame: u64,
    },
    /// A signature in the log does not verify.
    #[error("frame {frame}: a signature does not verify")]
    BadSignature {
        /// The frame's number.
        frame: u64,
    },
    /// A state that cannot be written.
    #[error(transparent)]
    State(#[from] StateError),
    /// A store without a place for snapshots.
    #[error("this store has no place for snapshots")]
    NoSnapshots,
    /// A store that is in no folder.
    #[error("this store is in no folder, where a shorter log could lie beside the old one")]
    NoFolder,
    /// The database of the snapshots refused.
    #[error("snapshots: {0}")]
    Database(String),
    /// More operations than a frame holds.
    #[error("a frame of {have} bytes, at most {most}")]
    FrameLength {
        /// Bytes.
        have: usize,
        /// The most.
        most: usize,
    },
}

impl StoreError {
    pub(crate) fn io(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { what, source }
    }
}
