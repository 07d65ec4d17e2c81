//! The proof file `.fsp`: a statement in canonical little-endian words, then p3-whir's proof.
//!
//! One proof has one encoding. docs/proof-format.md gives it byte by byte.
#![forbid(unsafe_code)]

mod file;
mod header;
mod pcs;
pub(crate) mod reader;
mod shape;

use p3_whir::PcsProof;

pub use self::file::write_file;
pub use self::header::{FORMAT_VERSION, MAGIC, P3_VERSION, preamble};
pub use self::shape::{OpeningShape, ProofShape, RoundShape};
use crate::error::ProofError;
use crate::field::{Commitment, EF4, EF5, Extension, F, Mmcs};
use crate::input::Encoding;
use crate::params::{ExtensionDegree, Params};

/// What a proof is about. Everything here is bound by the transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement<EF> {
    /// Parameters.
    pub params: Params,
    /// Number of variables committed, at least the first fold.
    pub n: usize,
    /// Length of the input before padding: bytes for [`Encoding::Bytes`], else elements.
    pub true_len: u64,
    /// How the input was read.
    pub encoding: Encoding,
    /// The 2^cap_height digests at the cap of the first tree.
    pub commitment: Commitment,
    /// The point, `n` coordinates; coordinate 0 is the most significant index bit.
    pub point: Vec<EF>,
    /// The claimed value of the polynomial at the point.
    pub value: EF,
}

/// p3-whir's proof over our hashes.
pub type WhirPcsProof<EF> = PcsProof<F, EF, Mmcs>;

/// A statement and its proof.
#[derive(Clone)]
pub struct ProofFile<EF: Extension> {
    /// What is proven.
    pub statement: Statement<EF>,
    /// p3-whir's own proof.
    pub proof: WhirPcsProof<EF>,
}

/// A proof file whose extension degree is known only from its bytes.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "one value per file")]
pub enum AnyProofFile {
    /// Degree 4.
    Four(ProofFile<EF4>),
    /// Degree 5.
    Five(ProofFile<EF5>),
}

impl<EF: Extension> ProofFile<EF> {
    /// The bytes of the file.
    ///
    /// # Errors
    /// Parameters that the format cannot hold; a degree, point or commitment that does not match
    /// them; a proof whose shape is not that of the parameters.
    pub fn encode(&self) -> Result<Vec<u8>, ProofError> {
        let mut out = Vec::new();
        header::encode(&self.statement, &mut out)?;
        let proof = pcs::encode(&self.proof, out.len())?;
        out.extend((proof.len() as u64).to_le_bytes());
        out.extend(proof);
        // What cannot be read back is not written.
        Self::decode(&out)?;
        Ok(out)
    }

    /// Reads a file of this extension degree; see [`AnyProofFile::decode`].
    ///
    /// # Errors
    /// As [`AnyProofFile::decode`], and another degree than `EF`'s.
    pub fn decode(data: &[u8]) -> Result<Self, ProofError> {
        let mut reader = reader::Reader::new(data);
        let prefix = header::decode_prefix(&mut reader)?;
        Self::decode_rest(prefix, reader, data)
    }

    fn decode_rest(
        prefix: header::Prefix,
        mut reader: reader::Reader<'_>,
        data: &[u8],
    ) -> Result<Self, ProofError> {
        let shape = ProofShape::of::<EF>(&prefix.params, prefix.n)?;
        let statement = header::decode_statement(prefix, &shape, &mut reader)?;
        let len = reader.u64("proof length")?;
        let left = reader.left() as u64;
        let start = reader.offset();
        if len > left {
            return Err(ProofError::Truncated {
                offset: start,
                what: "proof",
                need: len,
                have: left,
            });
        }
        if len < left {
            return Err(ProofError::Trailing {
                offset: start + len as usize,
                have: (left - len) as usize,
                what: "the proof",
            });
        }
        pcs::check(&mut reader, &shape)?;
        let proof = pcs::decode(&data[start..], start)?;
        Ok(Self { statement, proof })
    }
}

impl AnyProofFile {
    /// Reads a file, strictly: every length is checked against the bytes left and against what
    /// the parameters prescribe before anything is allocated, field elements must be canonical,
    /// nothing may follow, and the result must encode to the very bytes read.
    ///
    /// # Errors
    /// The offset, what was found and what was expected.
    pub fn decode(data: &[u8]) -> Result<Self, ProofError> {
        let mut reader = reader::Reader::new(data);
        let prefix = header::decode_prefix(&mut reader)?;
        match prefix.params.degree {
            ExtensionDegree::Four => ProofFile::decode_rest(prefix, reader, data).map(Self::Four),
            ExtensionDegree::Five => ProofFile::decode_rest(prefix, reader, data).map(Self::Five),
        }
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// As [`ProofFile::encode`].
    pub fn encode(&self) -> Result<Vec<u8>, ProofError> {
        match self {
            Self::Four(file) => file.encode(),
            Self::Five(file) => file.encode(),
        }
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> &Params {
        match self {
            Self::Four(file) => &file.statement.params,
            Self::Five(file) => &file.statement.params,
        }
    }
}

impl From<ProofFile<EF4>> for AnyProofFile {
    fn from(file: ProofFile<EF4>) -> Self {
        Self::Four(file)
    }
}

impl From<ProofFile<EF5>> for AnyProofFile {
    fn from(file: ProofFile<EF5>) -> Self {
        Self::Five(file)
    }
}

#[cfg(test)]
mod tests;
