//! The compiled kernels of one capability, as `cargo xtask kernels` writes them and the binary
//! embeds them.
//!
//! All numbers are little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `FSPKERNL` |
//! | 4 | version, 1 |
//! | 4 | number of entries |
//! | 32 | sha256 of the sources that it was compiled from |
//! | per entry: 1 + n | module's name, its length before it: `a-z`, `0-9`, `_` |
//! | 1 | kind: 0 machine code (cubin), 1 PTX |
//! | 2 | architecture: 90 is `sm_90` or `compute_90` |
//! | 4, 4 | bytes of the image, and of its packed form (a zlib stream) |
//! | 32 | sha256 of the image |
//! | to the end | the packed images, in the order of the entries |
//!
//! Entries ascend strictly by name, kind and architecture.
#![forbid(unsafe_code)]

use std::fmt;

use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use sha2::{Digest, Sha256};

const MAGIC: &[u8; 8] = b"FSPKERNL";
const VERSION: u32 = 1;
/// Bytes of an entry with a name of one letter: what an entry takes at least.
const SMALLEST_ENTRY: usize = 2 + 1 + 2 + 4 + 4 + 32;
/// No image comes near this; a header that asks for more is wrong.
const LARGEST_IMAGE: u32 = 64 << 20;

/// What the driver is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageKind {
    /// Machine code for one architecture.
    Cubin,
    /// Text that the driver compiles for any architecture from its own on.
    Ptx,
}

/// One module, ready to load.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Image {
    /// Whether the driver has to compile it.
    pub kind: ImageKind,
    /// The architecture it was made for: 90 is `sm_90`.
    pub arch: u32,
    /// What `cuModuleLoadData` takes. PTX ends in a zero byte, as that call wants it.
    pub bytes: Vec<u8>,
}

/// Why an archive cannot be used, or has nothing for a card.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The bytes are no archive of this version.
    #[error("kernel archive: byte {at}: {what}")]
    Malformed {
        /// Offset at which the bytes stop making sense.
        at: usize,
        /// What was expected there.
        what: &'static str,
    },
    /// An image does not unpack to what the archive's table says.
    #[error("kernel archive: {module} for {arch}: {what}")]
    Damaged {
        /// The module.
        module: String,
        /// `sm_90`, `compute_75`.
        arch: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// There is no such module.
    #[error("kernel archive: no module `{module}`; there are: {known}")]
    NoModule {
        /// The name asked for.
        module: String,
        /// The names there are.
        known: String,
    },
    /// The card is older than everything the module was compiled for.
    #[error(
        "kernel archive: nothing in {module} runs on a card of compute capability {}.{}; there are: {known}",
        capability.0, capability.1
    )]
    NoImage {
        /// The module.
        module: String,
        /// The card's compute capability.
        capability: (u32, u32),
        /// The architectures there are.
        known: String,
    },
}

struct Entry<'a> {
    module: &'a str,
    kind: ImageKind,
    arch: u16,
    length: usize,
    sha256: &'a [u8],
    packed: &'a [u8],
}

impl Entry<'_> {
    fn label(&self) -> String {
        let prefix = match self.kind {
            ImageKind::Cubin => "sm",
            ImageKind::Ptx => "compute",
        };
        format!("{prefix}_{}", self.arch)
    }

    /// Machine code runs on cards of its major architecture from its minor on; PTX on everything
    /// from its architecture on.
    fn runs_on(&self, (major, minor): (u32, u32)) -> bool {
        let arch = u32::from(self.arch);
        match self.kind {
            ImageKind::Cubin => arch / 10 == major && arch % 10 <= minor,
            ImageKind::Ptx => (arch / 10, arch % 10) <= (major, minor),
        }
    }

    fn unpack(&self) -> Result<Vec<u8>, ArchiveError> {
        let damaged = |what| ArchiveError::Damaged {
            module: self.module.to_owned(),
            arch: self.label(),
            what,
        };
        let bytes = decompress_to_vec_zlib_with_limit(self.packed, self.length)
            .map_err(|_| damaged("not a zlib stream of the length that the table says"))?;
        if bytes.len() != self.length {
            return Err(damaged("shorter than the table says"));
        }
        if Sha256::digest(&bytes).as_slice() != self.sha256 {
            return Err(damaged("not the sha256 that the table says"));
        }
        Ok(bytes)
    }
}

/// An archive whose table was read and checked; images are unpacked when they are asked for.
pub struct Archive<'a> {
    sources: [u8; 32],
    entries: Vec<Entry<'a>>,
}

impl fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.iter();
        f.debug_list()
            .entries(entries.map(|e| format!("{} {}", e.module, e.label())))
            .finish()
    }
}

impl<'a> Archive<'a> {
    /// Reads the table of `bytes`.
    ///
    /// # Errors
    ///
    /// [`ArchiveError::Malformed`] unless the bytes are exactly one archive of version 1.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(8, "the magic number")? != MAGIC {
            return Err(malformed(0, "this is no kernel archive"));
        }
        if reader.u32("the version")? != VERSION {
            return Err(malformed(8, "a version other than 1"));
        }
        let count = reader.u32("the number of entries")? as usize;
        let sources = reader.array("the sources' sha256")?;
        if count > (bytes.len() - reader.at) / SMALLEST_ENTRY {
            return Err(malformed(12, "more entries than there are bytes for"));
        }
        let mut entries: Vec<Entry<'a>> = Vec::with_capacity(count);
        let mut packed_lengths = Vec::with_capacity(count);
        for _ in 0..count {
            let at = reader.at;
            let (entry, packed) = reader.entry()?;
            if let Some(last) = entries.last()
                && (last.module, last.kind, last.arch) >= (entry.module, entry.kind, entry.arch)
            {
                return Err(malformed(at, "an entry out of order"));
            }
            entries.push(entry);
            packed_lengths.push(packed);
        }
        for (entry, packed) in entries.iter_mut().zip(packed_lengths) {
            entry.packed = reader.take(packed, "the packed images")?;
        }
        if reader.at != bytes.len() {
            return Err(malformed(reader.at, "bytes after the last image"));
        }
        Ok(Self { sources, entries })
    }

    /// Sha256 of the sources that the kernels were compiled from.
    #[must_use]
    pub fn sources(&self) -> [u8; 32] {
        self.sources
    }

    /// The modules' names, ascending: the file names of the sources, without `.cu`.
    #[must_use]
    pub fn modules(&self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.entries.iter().map(|e| e.module).collect();
        names.dedup();
        names
    }

    /// The image of `module` for a card of compute capability `capability` (major, minor): the machine
    /// code of the card's major architecture that comes nearest to its minor one from below, else the
    /// newest PTX that the card can run.
    ///
    /// # Errors
    ///
    /// [`ArchiveError::NoModule`], [`ArchiveError::NoImage`]; [`ArchiveError::Damaged`] if the image
    /// does not unpack to what the table says.
    pub fn image(&self, module: &str, capability: (u32, u32)) -> Result<Image, ArchiveError> {
        let all: Vec<_> = self.entries.iter().filter(|e| e.module == module).collect();
        if all.is_empty() {
            return Err(ArchiveError::NoModule {
                module: module.to_owned(),
                known: self.modules().join(", "),
            });
        }
        let best = |kind| {
            let fitting = all.iter().filter(|e| e.kind == kind);
            fitting
                .filter(|e| e.runs_on(capability))
                .max_by_key(|e| e.arch)
        };
        let entry = best(ImageKind::Cubin)
            .or_else(|| best(ImageKind::Ptx))
            .ok_or_else(|| {
                let known: Vec<_> = all.iter().map(|e| e.label()).collect();
                ArchiveError::NoImage {
                    module: module.to_owned(),
                    capability,
                    known: known.join(", "),
                }
            })?;
        Ok(Image {
            kind: entry.kind,
            arch: entry.arch.into(),
            bytes: entry.unpack()?,
        })
    }
}

fn malformed(at: usize, what: &'static str) -> ArchiveError {
    ArchiveError::Malformed { at, what }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize, what: &'static str) -> Result<&'a [u8], ArchiveError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let taken = rest.get(..length).ok_or(malformed(self.at, what))?;
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ArchiveError> {
        let at = self.at;
        let taken = self.take(N, what)?;
        taken.try_into().map_err(|_| malformed(at, what))
    }

    fn u32(&mut self, what: &'static str) -> Result<u32, ArchiveError> {
        self.array(what).map(u32::from_le_bytes)
    }

    /// An entry, and the length of its packed image, which comes later.
    fn entry(&mut self) -> Result<(Entry<'a>, usize), ArchiveError> {
        let [length] = self.array("the length of a module's name")?;
        let at = self.at;
        let name = self.take(length.into(), "a module's name")?;
        let letter = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'_';
        let module = match std::str::from_utf8(name) {
            Ok(module) if !name.is_empty() && name.iter().all(letter) => module,
            _ => return Err(malformed(at, "a module's name of a-z, 0-9, _")),
        };
        let at = self.at;
        let kind = match self.array("an image's kind")? {
            [0] => ImageKind::Cubin,
            [1] => ImageKind::Ptx,
            _ => return Err(malformed(at, "an image's kind, 0 or 1")),
        };
        let arch = u16::from_le_bytes(self.array("an architecture")?);
        let at = self.at;
        let length = self.u32("the length of an image")?;
        if length > LARGEST_IMAGE {
            return Err(malformed(at, "an image of 64 MiB at most"));
        }
        let packed = self.u32("the packed length of an image")? as usize;
        let entry = Entry {
            module,
            kind,
            arch,
            length: length as usize,
            sha256: self.take(32, "an image's sha256")?,
            packed: &[],
        };
        Ok((entry, packed))
    }
}

// The path is spelt out because xtask's tests include this file from elsewhere.
#[cfg(test)]
#[path = "archive_tests.rs"]
mod tests;
