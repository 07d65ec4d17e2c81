//! FROST(ristretto255, SHA-512).
#![forbid(unsafe_code)]

use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT as GENERATOR;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::{Identity, VartimeMultiscalarMul};

use super::{Ciphersuite, ElementError, Sealed, checked_len, dalek};
use crate::rules::v2::Suite;

/// FROST(ristretto255, SHA-512), RFC 9591, section 6.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ristretto255;

impl Sealed for Ristretto255 {}

impl Ciphersuite for Ristretto255 {
    const SUITE: Suite = Suite::Ristretto255;
    const ID: &'static str = "FROST-RISTRETTO255-SHA512-v1";
    const ELEMENT: usize = 32;
    const SIGNATURE: usize = 64;

    type Point = RistrettoPoint;

    dalek::common!(RistrettoPoint);

    fn decode(bytes: &[u8]) -> Result<(RistrettoPoint, [u8; 32]), ElementError> {
        checked_len(bytes, 32)?;
        let encoded =
            CompressedRistretto::from_slice(bytes).map_err(|_| ElementError::NotAPoint)?;
        let point = encoded.decompress().ok_or(ElementError::NotAPoint)?;
        if point == RistrettoPoint::identity() {
            return Err(ElementError::Identity);
        }
        Ok((point, encoded.to_bytes()))
    }

    fn encode(point: &RistrettoPoint) -> Option<[u8; 32]> {
        (*point != RistrettoPoint::identity()).then(|| point.compress().to_bytes())
    }

    fn h2(parts: &[&[u8]]) -> Scalar {
        dalek::to_scalar(&[Self::ID.as_bytes(), b"chal"], parts)
    }
}
