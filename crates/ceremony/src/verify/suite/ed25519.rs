//! FROST(Ed25519, SHA-512).
#![forbid(unsafe_code)]

use curve25519_dalek::constants::ED25519_BASEPOINT_POINT as GENERATOR;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{Identity, VartimeMultiscalarMul};

use super::{Ciphersuite, Decoded, ElementError, Sealed, checked_len, dalek, torsion};
use crate::rules::v2::Suite;

/// FROST(Ed25519, SHA-512), RFC 9591, section 6.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ed25519;

impl Sealed for Ed25519 {}

impl Ciphersuite for Ed25519 {
    const SUITE: Suite = Suite::Ed25519;
    const ID: &'static str = "FROST-ED25519-SHA512-v1";
    const ELEMENT: usize = 32;
    const SIGNATURE: usize = 64;

    type Point = EdwardsPoint;

    dalek::common!(EdwardsPoint);

    fn decode(bytes: &[u8]) -> Result<(EdwardsPoint, [u8; 32]), ElementError> {
        let (point, encoded) = decompress(bytes)?;
        // Every encoding that is not canonical is of a point of small or mixed order (ePrint
        // 2020/1244, section 3), so that this refuses them too.
        if !point.is_torsion_free() {
            return Err(ElementError::Subgroup);
        }
        Ok((point, encoded))
    }

    fn decode_many(encoded: &[&[u8]]) -> Result<Vec<Decoded<Self>>, (usize, ElementError)> {
        if encoded.len() >= torsion::WORTH_FROM {
            let decompressed: Result<Vec<_>, _> = encoded.iter().map(|b| decompress(b)).collect();
            if let Ok(elements) = decompressed {
                let (points, bytes): (Vec<_>, Vec<_>) = elements.iter().copied().unzip();
                if torsion::all_prime_order(&points, &bytes) {
                    return Ok(elements);
                }
            }
        }
        // Few, or one of them is bad: the first that is.
        let each = encoded.iter().enumerate();
        each.map(|(at, bytes)| Self::decode(bytes).map_err(|e| (at, e)))
            .collect()
    }

    fn encode(point: &EdwardsPoint) -> Option<[u8; 32]> {
        (*point != EdwardsPoint::identity()).then(|| point.compress().to_bytes())
    }

    // As RFC 8032 has it: no domain, so that the signatures are Ed25519's.
    fn h2(parts: &[&[u8]]) -> Scalar {
        dalek::to_scalar(&[], parts)
    }
}

/// A point of the curve that is not the identity.
fn decompress(bytes: &[u8]) -> Result<(EdwardsPoint, [u8; 32]), ElementError> {
    checked_len(bytes, 32)?;
    let encoded = CompressedEdwardsY::from_slice(bytes).map_err(|_| ElementError::NotAPoint)?;
    let point = encoded.decompress().ok_or(ElementError::NotAPoint)?;
    if point == EdwardsPoint::identity() {
        return Err(ElementError::Identity);
    }
    Ok((point, encoded.to_bytes()))
}
