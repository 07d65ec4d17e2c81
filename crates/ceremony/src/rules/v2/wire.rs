//! Reading and writing of canonical bytes: little-endian integers, lengths before lists.
#![forbid(unsafe_code)]

/// Bytes that are no operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The bytes end too early. Told before anything is allocated.
    #[error("byte {at}: {need} bytes are needed and {have} are left")]
    Truncated {
        /// Where.
        at: usize,
        /// Bytes needed.
        need: usize,
        /// Bytes left.
        have: usize,
    },
    /// A length that no such field has.
    #[error("byte {at}: length {have} is above {most}")]
    TooLong {
        /// Where.
        at: usize,
        /// The length.
        have: usize,
        /// The most.
        most: usize,
    },
    /// A number that stands for nothing.
    #[error("byte {at}: {have} is no {what}")]
    Unknown {
        /// Where.
        at: usize,
        /// Of what.
        what: &'static str,
        /// The number.
        have: u8,
    },
    /// Bytes behind the end.
    #[error("{left} bytes behind the operation")]
    Trailing {
        /// How many.
        left: usize,
    },
}

/// Reads fields one after another.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, need: usize) -> Result<&'a [u8], WireError> {
        let left = &self.bytes[self.at..];
        let Some(field) = left.get(..need) else {
            return Err(WireError::Truncated {
                at: self.at,
                need,
                have: left.len(),
            });
        };
        self.at += need;
        Ok(field)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length that counts entries of `each` bytes, all of which are there.
    pub(crate) fn len(&mut self, most: usize, each: usize) -> Result<usize, WireError> {
        let at = self.at;
        let have = self.u32()? as usize;
        if have > most {
            return Err(WireError::TooLong { at, have, most });
        }
        let left = self.bytes.len() - self.at;
        if have * each > left {
            return Err(WireError::Truncated {
                at: self.at,
                need: have * each,
                have: left,
            });
        }
        Ok(have)
    }

    pub(crate) fn bytes(&mut self, most: usize) -> Result<Vec<u8>, WireError> {
        let len = self.len(most, 1)?;
        Ok(self.take(len)?.to_vec())
    }

    pub(crate) const fn unknown(&self, what: &'static str, have: u8) -> WireError {
        WireError::Unknown {
            at: self.at - 1,
            what,
            have,
        }
    }

    pub(crate) fn end(&self) -> Result<(), WireError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(WireError::Trailing { left }),
        }
    }
}

/// Writes fields one after another.
#[derive(Debug, Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn put(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn u8(&mut self, x: u8) -> &mut Self {
        self.put(&[x])
    }

    pub(crate) fn u16(&mut self, x: u16) -> &mut Self {
        self.put(&x.to_le_bytes())
    }

    pub(crate) fn u32(&mut self, x: u32) -> &mut Self {
        self.put(&x.to_le_bytes())
    }

    pub(crate) fn u64(&mut self, x: u64) -> &mut Self {
        self.put(&x.to_le_bytes())
    }

    /// A length; lists never have 2^32 entries.
    pub(crate) fn len(&mut self, len: usize) -> &mut Self {
        self.u32(len as u32)
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.len(bytes.len()).put(bytes)
    }
}
