//! Final signatures, judged by code that is not ours: ed25519-dalek for Ed25519, k256 for BIP-340
//! and ECDSA. No library verifies those of FROST on ristretto255 and secp256k1: for them a few lines
//! hold RFC 9591's equation against the points of curve25519-dalek and k256, sharing nothing with
//! [`signature`](mod@super::signature) but the hash to scalars.
#![forbid(unsafe_code)]

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::VerifyingKey;
use k256::elliptic_curve::PrimeField;
use k256::elliptic_curve::sec1::{FromSec1Point, ToSec1Point};
use k256::{AffinePoint, ProjectivePoint, Sec1Point};

use super::suite::{Ciphersuite, Ristretto255, Secp256k1};
use crate::rules::v2::Suite;

/// Whether `signature` is `key`'s over `message`. Malformed bytes are no signature.
#[must_use]
pub fn accepts(suite: Suite, key: &[u8], message: &[u8], signature: &[u8]) -> bool {
    let accepted = match suite {
        Suite::Ed25519 => ed25519(key, message, signature),
        Suite::Ristretto255 => ristretto255(key, message, signature),
        Suite::Secp256k1 => secp256k1(key, message, signature),
        Suite::Secp256k1Tr => bip340(key, message, signature),
    };
    accepted.unwrap_or(false)
}

/// `verify_strict`, and a key of prime order: then the commitment, which is computed without a
/// cofactor, is of prime order too.
fn ed25519(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let key = VerifyingKey::from_bytes(key.try_into().ok()?).ok()?;
    let signature = ed25519_dalek::Signature::from_slice(signature).ok()?;
    let prime = key.to_edwards().is_torsion_free();
    Some(prime && key.verify_strict(message, &signature).is_ok())
}

fn ristretto255(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let (r, z) = (signature.get(..32)?, signature.get(32..)?);
    let a = CompressedRistretto::from_slice(key).ok()?.decompress()?;
    let z = Scalar::from_canonical_bytes(z.try_into().ok()?).into_option()?;
    let c = Ristretto255::h2(&[r, key, message]);
    let identity = [0; 32];
    let encoded = (RistrettoPoint::mul_base(&z) - a * c).compress();
    Some(key != identity && r != identity && encoded.as_bytes() == r)
}

fn secp256k1(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let (r, z) = (signature.get(..33)?, signature.get(33..)?);
    let z: [u8; 32] = z.try_into().ok()?;
    let z = k256::Scalar::from_repr(z.into()).into_option()?;
    let a = Sec1Point::from_bytes(key).ok()?;
    if !a.is_compressed() {
        return Some(false);
    }
    let a = AffinePoint::from_sec1_point(&a).into_option()?;
    let c = Secp256k1::h2(&[r, key, message]);
    let point = ProjectivePoint::GENERATOR * z - ProjectivePoint::from(a) * c;
    Some(point.to_affine().to_sec1_point(true).as_bytes() == r)
}

/// k256's BIP-340, under the key's x coordinate.
fn bip340(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    // The group key is an element, with its sign.
    if key.len() != 33
        || AffinePoint::from_sec1_point(&Sec1Point::from_bytes(key).ok()?)
            .is_none()
            .into()
    {
        return Some(false);
    }
    let key = k256::schnorr::VerifyingKey::from_slice(key.get(1..)?).ok()?;
    let signature = k256::schnorr::Signature::try_from(signature).ok()?;
    Some(key.verify_raw(message, &signature).is_ok())
}

/// How an ECDSA signature's message becomes 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prehash {
    /// SHA-256 of the message, as Bitcoin's libraries and OpenSSL do.
    Sha256,
    /// Keccak-256 of the message, as Ethereum does.
    Keccak256,
    /// The message is the digest: 32 bytes.
    None,
}

/// Whether `signature`, 64 bytes of r and s or DER, is `key`'s ECDSA signature on secp256k1 over
/// `message`. Both values of s are taken, as ECDSA itself does.
#[must_use]
pub fn accepts_ecdsa(key: &[u8], message: &[u8], prehash: Prehash, signature: &[u8]) -> bool {
    use k256::ecdsa::signature::hazmat::PrehashVerifier;
    use sha2::Digest;

    let digest: [u8; 32] = match prehash {
        Prehash::Sha256 => sha2::Sha256::digest(message).into(),
        Prehash::Keccak256 => crate::keccak256(message),
        Prehash::None => match message.try_into() {
            Ok(digest) => digest,
            Err(_) => return false,
        },
    };
    let Ok(key) = k256::ecdsa::VerifyingKey::from_sec1_bytes(key) else {
        return false;
    };
    let parsed = match signature.len() {
        64 => k256::ecdsa::Signature::from_slice(signature),
        _ => k256::ecdsa::Signature::from_der(signature),
    };
    parsed.is_ok_and(|s| key.verify_prehash(&digest, &s.normalize_s()).is_ok())
}
