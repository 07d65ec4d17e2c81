//! NVIDIA GPUs: which compiled kernel a card is given.

mod archive;

pub use archive::{Archive, ArchiveError, Image, ImageKind};
