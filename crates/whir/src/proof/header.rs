//! The statement in a proof file, and what of it the transcript absorbs first.
#![forbid(unsafe_code)]

use p3_field::{BasedVectorSpace, PrimeField32};

use super::Statement;
use super::reader::Reader;
use super::shape::ProofShape;
use crate::error::{ParamsError, ProofError};
use crate::field::{Commitment, Digest, Extension, F};
use crate::input::Encoding;
use crate::params::{MAX_NUM_VARIABLES, Params, decode_params, encode_params};

/// The first bytes of a proof file. A text-mode transfer damages them visibly.
pub const MAGIC: [u8; 8] = *b"\x89FSP\r\n\x1a\n";
/// Version of the format and of the transcript's preamble.
pub const FORMAT_VERSION: u16 = 1;
/// The Plonky3 release whose transcript and proof are used.
pub const P3_VERSION: [u16; 3] = [0, 8, 0];

/// The part of the header before the commitment.
#[derive(Debug, Clone)]
pub(super) struct Prefix {
    pub(super) params: Params,
    pub(super) n: usize,
    pub(super) true_len: u64,
    pub(super) encoding: Encoding,
}

fn encode_prefix(
    params: &Params,
    n: usize,
    true_len: u64,
    encoding: Encoding,
) -> Result<Vec<u8>, ParamsError> {
    let mut out = MAGIC.to_vec();
    out.extend(FORMAT_VERSION.to_le_bytes());
    for part in P3_VERSION {
        out.extend(part.to_le_bytes());
    }
    encode_params(params, &mut out)?;
    out.push(encoding.id());
    out.extend(true_len.to_le_bytes());
    match u8::try_from(n) {
        Ok(byte) if n <= MAX_NUM_VARIABLES => out.push(byte),
        _ => {
            return Err(ParamsError::OutOfRange {
                name: "n",
                have: n,
                min: 0,
                max: MAX_NUM_VARIABLES,
                why: "2^32 base elements are 16 GiB",
            });
        }
    }
    Ok(out)
}

/// What the transcript absorbs before the commitment: the bytes of the file before the
/// commitment, three to an element little-endian, after one element that holds their number.
///
/// Injective: the file's prefix is (fixed widths, lists after their length), every element is
/// below 2^24, and the number of bytes tells how far the last element reaches.
///
/// `n` is the number of variables committed ([`Params::padded_num_variables`]).
///
/// # Errors
/// Parameters that the format cannot hold.
pub fn preamble(
    params: &Params,
    n: usize,
    true_len: u64,
    encoding: Encoding,
) -> Result<Vec<F>, ParamsError> {
    let bytes = encode_prefix(params, n, true_len, encoding)?;
    let mut out = vec![F::new(bytes.len() as u32)];
    out.extend(bytes.chunks(3).map(|chunk| {
        F::new(
            chunk
                .iter()
                .rev()
                .fold(0, |acc, &b| (acc << 8) | u32::from(b)),
        )
    }));
    Ok(out)
}

fn put<EF: Extension>(out: &mut Vec<u8>, x: &EF) {
    for c in x.as_basis_coefficients_slice() {
        out.extend(c.as_canonical_u32().to_le_bytes());
    }
}

pub(super) fn encode<EF: Extension>(
    statement: &Statement<EF>,
    out: &mut Vec<u8>,
) -> Result<(), ProofError> {
    let Statement {
        params,
        n,
        true_len,
        encoding,
        commitment,
        point,
        value,
    } = statement;
    out.extend(encode_prefix(params, *n, *true_len, *encoding)?);
    out.extend((commitment.roots().len() as u32).to_le_bytes());
    for x in commitment.roots().iter().flatten() {
        out.extend(x.as_canonical_u32().to_le_bytes());
    }
    out.extend((point.len() as u32).to_le_bytes());
    point.iter().for_each(|x| put(out, x));
    put(out, value);
    Ok(())
}

pub(super) fn decode_prefix(reader: &mut Reader<'_>) -> Result<Prefix, ProofError> {
    let found = reader.bytes("magic", MAGIC.len())?;
    if found != MAGIC {
        return Err(ProofError::Magic {
            found: found.to_vec(),
            expected: MAGIC,
        });
    }
    let mut version = |what, expected: u16| {
        let at = reader.offset();
        let found = reader.u16(what)?;
        if found != expected {
            return Err(Reader::unexpected(
                at,
                what,
                u64::from(found),
                expected.to_string(),
            ));
        }
        Ok(())
    };
    version("format version", FORMAT_VERSION)?;
    version("p3 major version", P3_VERSION[0])?;
    version("p3 minor version", P3_VERSION[1])?;
    version("p3 patch version", P3_VERSION[2])?;
    let params = decode_params(reader)?;
    let encoding = match reader.id("encoding", &[0, 1, 2])? {
        0 => Encoding::U32,
        1 => Encoding::Npy,
        _ => Encoding::Bytes,
    };
    let true_len_at = reader.offset();
    let true_len = reader.u64("true length")?;
    let n_at = reader.offset();
    let n = usize::from(reader.u8("n")?);
    if n > MAX_NUM_VARIABLES || n != params.padded_num_variables(n) {
        let expected = format!("{}..={MAX_NUM_VARIABLES}", params.folds.first());
        return Err(Reader::unexpected(n_at, "n", n as u64, expected));
    }
    let count = encoding.element_count(true_len);
    if count == 0 || count > 1 << n {
        return Err(Reader::unexpected(
            true_len_at,
            "true length",
            true_len,
            format!("1 to 2^{n} elements"),
        ));
    }
    Ok(Prefix {
        params,
        n,
        true_len,
        encoding,
    })
}

/// A length of 32 bits that must have one value.
fn count(reader: &mut Reader<'_>, what: &'static str, expected: usize) -> Result<(), ProofError> {
    let at = reader.offset();
    let found = u64::from(reader.u32(what)?);
    if found != expected as u64 {
        return Err(Reader::unexpected(at, what, found, expected.to_string()));
    }
    Ok(())
}

fn take<EF: Extension>(reader: &mut Reader<'_>, what: &'static str) -> Result<EF, ProofError> {
    let mut out = EF::ZERO;
    for i in 0..EF::D {
        let basis = <EF as BasedVectorSpace<F>>::ith_basis_element(i).unwrap_or(EF::ZERO);
        out += basis * reader.element(what)?;
    }
    Ok(out)
}

pub(super) fn decode_statement<EF: Extension>(
    prefix: Prefix,
    shape: &ProofShape,
    reader: &mut Reader<'_>,
) -> Result<Statement<EF>, ProofError> {
    let Prefix {
        params,
        n,
        true_len,
        encoding,
    } = prefix;
    count(reader, "digests of the commitment", shape.cap)?;
    reader.need("commitment", shape.cap as u64, 32)?;
    let mut digests = Vec::with_capacity(shape.cap);
    for _ in 0..shape.cap {
        let mut digest: Digest = [F::new(0); 8];
        for x in &mut digest {
            *x = reader.element("commitment")?;
        }
        digests.push(digest);
    }
    count(reader, "coordinates of the point", n)?;
    reader.need("point", n as u64, 4 * EF::D)?;
    let point = (0..n)
        .map(|_| take(reader, "point"))
        .collect::<Result<_, _>>()?;
    let value = take(reader, "value")?;
    // The shape has a power of two for the cap, the one thing that this constructor asks for.
    let commitment = Commitment::new(digests);
    Ok(Statement {
        params,
        n,
        true_len,
        encoding,
        commitment,
        point,
        value,
    })
}
