//! The p3 proof by postcard: checked against its shape, then decoded, then encoded again.
#![forbid(unsafe_code)]

use super::WhirPcsProof;
use super::reader::Reader;
use super::shape::{OpeningShape, ProofShape};
use crate::error::ProofError;
use crate::field::Extension;

/// Elements of a digest.
const DIGEST: u64 = 8;

pub(super) fn encode<EF: Extension>(
    proof: &WhirPcsProof<EF>,
    offset: usize,
) -> Result<Vec<u8>, ProofError> {
    postcard::to_allocvec(proof).map_err(|error| ProofError::Encoding {
        offset,
        reason: error.to_string(),
    })
}

/// Decodes bytes that [`check`] has passed. postcard alone would take overlong varints, so the
/// result is encoded again and compared.
pub(super) fn decode<EF: Extension>(
    data: &[u8],
    offset: usize,
) -> Result<WhirPcsProof<EF>, ProofError> {
    let proof: WhirPcsProof<EF> =
        postcard::from_bytes(data).map_err(|error| ProofError::Encoding {
            offset,
            reason: error.to_string(),
        })?;
    let again = encode(&proof, offset)?;
    let same = again.iter().zip(data).take_while(|(a, b)| a == b).count();
    if again != data {
        return Err(ProofError::Encoding {
            offset: offset + same,
            reason: "it encodes to other bytes".to_owned(),
        });
    }
    Ok(proof)
}

/// Walks the bytes without allocating: each length is the one that the shape prescribes, each
/// element is below the modulus, and nothing is left at the end.
pub(super) fn check(reader: &mut Reader<'_>, shape: &ProofShape) -> Result<(), ProofError> {
    let degree = shape.degree as u64;
    elements(reader, "initial out-of-domain answers", shape.ood, degree)?;
    let (rounds, witnesses) = shape.initial_sumcheck;
    sumcheck(reader, rounds, witnesses, degree)?;
    reader.length("number of rounds", shape.rounds.len())?;
    for round in &shape.rounds {
        reader.id("presence of a round commitment", &[1])?;
        elements(reader, "round commitment", round.cap, DIGEST)?;
        elements(reader, "out-of-domain answers", round.ood, degree)?;
        reader.skip_words("proof-of-work witness", 1)?;
        openings(reader, &round.openings, degree)?;
        sumcheck(reader, round.sumcheck, round.witnesses, degree)?;
    }
    reader.id("presence of the final polynomial", &[1])?;
    elements(
        reader,
        "final polynomial",
        1 << shape.final_variables,
        degree,
    )?;
    reader.skip_words("final proof-of-work witness", 1)?;
    openings(reader, &shape.final_openings, degree)?;
    // Absent where it has no rounds, as p3-whir's prover writes it; its verifier takes anything.
    reader.id(
        "presence of the final sumcheck",
        &[u8::from(shape.final_variables > 0)],
    )?;
    if shape.final_variables > 0 {
        sumcheck(reader, shape.final_variables, shape.final_witnesses, degree)?;
    }
    reader.length("number of opening batches", 1)?;
    elements(reader, "claimed evaluations", 1, degree)?;
    elements(reader, "claimed successor evaluations", 0, degree)?;
    if reader.left() > 0 {
        return Err(ProofError::Trailing {
            offset: reader.offset(),
            have: reader.left(),
            what: "the proof",
        });
    }
    Ok(())
}

fn elements(
    reader: &mut Reader<'_>,
    what: &'static str,
    count: usize,
    words: u64,
) -> Result<(), ProofError> {
    reader.length(what, count)?;
    reader.skip_words(what, (count as u64).saturating_mul(words))
}

fn sumcheck(
    reader: &mut Reader<'_>,
    rounds: usize,
    witnesses: usize,
    degree: u64,
) -> Result<(), ProofError> {
    elements(reader, "sumcheck polynomials", rounds, 2 * degree)?;
    elements(reader, "sumcheck proof-of-work witnesses", witnesses, 1)
}

fn openings(reader: &mut Reader<'_>, shape: &OpeningShape, degree: u64) -> Result<(), ProofError> {
    reader.id("kind of openings", &[u8::from(!shape.base)])?;
    reader.length("number of opened rows", shape.rows)?;
    let words = if shape.base { 1 } else { degree };
    for _ in 0..shape.rows {
        elements(reader, "opened row", shape.width, words)?;
    }
    let at = reader.offset();
    let siblings = reader.varint("sibling digests")?;
    let most = (shape.rows as u64).saturating_mul(shape.levels as u64);
    if siblings > most {
        return Err(Reader::unexpected(
            at,
            "sibling digests",
            siblings,
            format!("at most {most}"),
        ));
    }
    reader.skip_words("sibling digests", siblings.saturating_mul(DIGEST))
}
