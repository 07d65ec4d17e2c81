//! Where a log lies.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

/// Bytes that can be read and written anywhere, and that are safe once synced.
pub trait Disk {
    /// Bytes there are.
    ///
    /// # Errors
    ///
    /// As the system's.
    fn len(&mut self) -> io::Result<u64>;

    /// Whether there are none.
    ///
    /// # Errors
    ///
    /// As the system's.
    fn is_empty(&mut self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Reads from `at` until the buffer is full or the bytes end; how many were read.
    ///
    /// # Errors
    ///
    /// As the system's.
    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Writes all bytes at `at`.
    ///
    /// # Errors
    ///
    /// As the system's; some of the bytes may have been written.
    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;

    /// Forgets what is behind `len`.
    ///
    /// # Errors
    ///
    /// As the system's.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Returns once everything written is safe.
    ///
    /// # Errors
    ///
    /// As the system's; what was written is lost or not.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file.
#[derive(Debug)]
pub struct FileDisk(File);

impl FileDisk {
    /// On an open file.
    #[must_use]
    pub const fn new(file: File) -> Self {
        Self(file)
    }
}

impl Disk for FileDisk {
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.seek(SeekFrom::Start(at))?;
        let mut read = 0;
        while read < buffer.len() {
            match self.0.read(&mut buffer[read..]) {
                Ok(0) => break,
                Ok(n) => read += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(at))?;
        self.0.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
