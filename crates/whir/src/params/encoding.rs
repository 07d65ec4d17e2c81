//! The bytes of the parameters in a proof file, which the transcript absorbs too.
#![forbid(unsafe_code)]

use super::{
    Arity, Assumption, BaseField, ExtensionDegree, Folds, HashId, MAX_ROUNDS, Params, RateSchedule,
};
use crate::error::{ParamsError, ProofError};
use crate::proof::reader::Reader;

fn byte(name: &'static str, have: usize) -> Result<u8, ParamsError> {
    u8::try_from(have).map_err(|_| ParamsError::OutOfRange {
        name,
        have,
        min: 0,
        max: 255,
        why: "the proof file stores it in one byte",
    })
}

fn list(out: &mut Vec<u8>, name: &'static str, tag: u8, v: &[usize]) -> Result<(), ParamsError> {
    if v.len() > MAX_ROUNDS {
        return Err(ParamsError::OutOfRange {
            name,
            have: v.len(),
            min: 0,
            max: MAX_ROUNDS,
            why: "a proof has at most as many rounds as variables",
        });
    }
    out.push(tag);
    out.push(byte(name, v.len())?);
    for &x in v {
        out.push(byte(name, x)?);
    }
    Ok(())
}

/// Appends the parameters. Injective: fixed widths, lists after their length.
pub(crate) fn encode_params(params: &Params, out: &mut Vec<u8>) -> Result<(), ParamsError> {
    out.push(match params.field {
        BaseField::BabyBear => 1,
    });
    out.push(match params.hash {
        HashId::Poseidon2W16 => 1,
    });
    out.push(match params.arity {
        Arity::Binary => 2,
    });
    out.push(match params.degree {
        ExtensionDegree::Four => 4,
        ExtensionDegree::Five => 5,
    });
    let level = u16::try_from(params.security_level).map_err(|_| ParamsError::OutOfRange {
        name: "security_level",
        have: params.security_level,
        min: 1,
        max: super::MAX_SECURITY_LEVEL,
        why: "the proof file stores it in two bytes",
    })?;
    out.extend(level.to_le_bytes());
    out.push(match params.assumption {
        Assumption::UniqueDecoding => 0,
        Assumption::Johnson => 1,
        Assumption::Capacity => 2,
    });
    out.push(byte("pow_bits", params.pow_bits)?);
    out.push(byte("cap_height", params.cap_height)?);
    out.push(byte("rate", params.log_inv_rate)?);
    match &params.folds {
        Folds::Constant(k) => list(out, "fold", 0, &[*k])?,
        Folds::PerRound(v) => list(out, "fold", 1, v)?,
    }
    match &params.rates {
        RateSchedule::Standard => list(out, "per-round rate", 0, &[]),
        RateSchedule::Article => list(out, "per-round rate", 1, &[]),
        RateSchedule::PerRound(v) => list(out, "per-round rate", 2, v),
    }
}

fn read_list(
    reader: &mut Reader<'_>,
    what: &'static str,
    tags: u8,
) -> Result<(u8, Vec<usize>), ProofError> {
    let tag = reader.id(what, &(0..=tags).collect::<Vec<_>>())?;
    let at = reader.offset();
    let len = usize::from(reader.u8("list length")?);
    if len > MAX_ROUNDS {
        return Err(Reader::unexpected(
            at,
            "list length",
            len as u64,
            format!("at most {MAX_ROUNDS}"),
        ));
    }
    let bytes = reader.bytes(what, len)?;
    Ok((tag, bytes.iter().map(|&b| usize::from(b)).collect()))
}

/// Reads what [`encode_params`] writes; refuses unknown identifiers.
pub(crate) fn decode_params(reader: &mut Reader<'_>) -> Result<Params, ProofError> {
    reader.id("base field", &[1])?;
    reader.id("hash", &[1])?;
    reader.id("tree arity", &[2])?;
    let degree = match reader.id("extension degree", &[4, 5])? {
        4 => ExtensionDegree::Four,
        _ => ExtensionDegree::Five,
    };
    let security_level = usize::from(reader.u16("security level")?);
    let assumption = match reader.id("assumption", &[0, 1, 2])? {
        0 => Assumption::UniqueDecoding,
        1 => Assumption::Johnson,
        _ => Assumption::Capacity,
    };
    let pow_bits = usize::from(reader.u8("PoW budget")?);
    let cap_height = usize::from(reader.u8("cap height")?);
    let log_inv_rate = usize::from(reader.u8("rate")?);
    let at = reader.offset();
    let (tag, v) = read_list(reader, "folds", 1)?;
    let folds = match (tag, v.as_slice()) {
        (0, [k]) => Folds::Constant(*k),
        (0, _) => {
            return Err(Reader::unexpected(
                at + 1,
                "number of constant folds",
                v.len() as u64,
                "1".to_owned(),
            ));
        }
        _ => Folds::PerRound(v),
    };
    let at = reader.offset();
    let (tag, v) = read_list(reader, "rate schedule", 2)?;
    let rates = match (tag, v.is_empty()) {
        (0, true) => RateSchedule::Standard,
        (1, true) => RateSchedule::Article,
        (2, _) => RateSchedule::PerRound(v),
        _ => {
            return Err(Reader::unexpected(
                at + 1,
                "number of rates of a named schedule",
                v.len() as u64,
                "0".to_owned(),
            ));
        }
    };
    Ok(Params {
        security_level,
        assumption,
        folds,
        log_inv_rate,
        rates,
        pow_bits,
        degree,
        cap_height,
        field: BaseField::BabyBear,
        hash: HashId::Poseidon2W16,
        arity: Arity::Binary,
    })
}
