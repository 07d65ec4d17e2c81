//! A cursor that checks before it takes, and names offsets in its errors.
#![forbid(unsafe_code)]

use p3_field::PrimeField32;

use crate::error::ProofError;
use crate::field::F;

#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    data: &'a [u8],
    pos: usize,
}

impl<'a> Reader<'a> {
    pub(crate) const fn new(data: &'a [u8]) -> Self {
        Self { data, pos: 0 }
    }

    pub(crate) const fn offset(&self) -> usize {
        self.pos
    }

    pub(crate) const fn left(&self) -> usize {
        self.data.len() - self.pos
    }

    pub(crate) const fn unexpected(
        offset: usize,
        what: &'static str,
        found: u64,
        expected: String,
    ) -> ProofError {
        ProofError::Unexpected {
            offset,
            what,
            found,
            expected,
        }
    }

    /// Fails unless `count` items of `width` bytes are left.
    pub(crate) fn need(
        &self,
        what: &'static str,
        count: u64,
        width: usize,
    ) -> Result<usize, ProofError> {
        let need = count.saturating_mul(width as u64);
        let have = self.left() as u64;
        if need > have {
            return Err(ProofError::Truncated {
                offset: self.pos,
                what,
                need,
                have,
            });
        }
        Ok(need as usize)
    }

    pub(crate) fn bytes(&mut self, what: &'static str, len: usize) -> Result<&'a [u8], ProofError> {
        let len = self.need(what, len as u64, 1)?;
        let bytes = &self.data[self.pos..self.pos + len];
        self.pos += len;
        Ok(bytes)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], ProofError> {
        let mut out = [0; N];
        out.copy_from_slice(self.bytes(what, N)?);
        Ok(out)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, ProofError> {
        Ok(self.array::<1>(what)?[0])
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, ProofError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, ProofError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, ProofError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// A byte that must be one of `allowed`.
    pub(crate) fn id(&mut self, what: &'static str, allowed: &[u8]) -> Result<u8, ProofError> {
        let at = self.pos;
        let found = self.u8(what)?;
        if allowed.contains(&found) {
            return Ok(found);
        }
        let expected = allowed
            .iter()
            .map(u8::to_string)
            .collect::<Vec<_>>()
            .join(" or ");
        Err(Self::unexpected(at, what, u64::from(found), expected))
    }

    /// A canonical element: a little-endian word below the modulus.
    pub(crate) fn element(&mut self, what: &'static str) -> Result<F, ProofError> {
        let offset = self.pos;
        let found = self.u32(what)?;
        if found >= F::ORDER_U32 {
            return Err(ProofError::NotCanonical {
                offset,
                what,
                found,
            });
        }
        Ok(F::new(found))
    }

    /// Passes over `count` words that must lie below the modulus, in whatever form.
    pub(crate) fn skip_words(&mut self, what: &'static str, count: u64) -> Result<(), ProofError> {
        let len = self.need(what, count, 4)?;
        let start = self.pos;
        let (words, _) = self.bytes(what, len)?.as_chunks::<4>();
        let bad = words
            .iter()
            .enumerate()
            .map(|(i, w)| (i, u32::from_le_bytes(*w)))
            .find(|&(_, w)| w >= F::ORDER_U32);
        bad.map_or(Ok(()), |(i, found)| {
            Err(ProofError::NotCanonical {
                offset: start + 4 * i,
                what,
                found,
            })
        })
    }

    /// postcard's unsigned varint, in its shortest form only.
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64, ProofError> {
        let offset = self.pos;
        let mut value = 0_u64;
        for i in 0..10 {
            let byte = self.u8(what)?;
            let overflows = i == 9 && byte > 1;
            let overlong = i > 0 && byte == 0;
            if overflows || overlong {
                return Err(ProofError::Varint { offset, what });
            }
            value |= u64::from(byte & 0x7f) << (7 * i);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ProofError::Varint { offset, what })
    }

    /// A varint that must have one value.
    pub(crate) fn length(&mut self, what: &'static str, expected: usize) -> Result<(), ProofError> {
        let at = self.pos;
        let found = self.varint(what)?;
        if found != expected as u64 {
            return Err(Self::unexpected(at, what, found, expected.to_string()));
        }
        Ok(())
    }
}
