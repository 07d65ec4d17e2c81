//! FROST(secp256k1, SHA-256), with the signatures of RFC 9591 and with those of BIP-340.
#![forbid(unsafe_code)]

use k256::elliptic_curve::ops::{LinearCombination, MulByGeneratorVartime, Reduce};
use k256::elliptic_curve::sec1::{FromSec1Point, ToSec1Point};
use k256::elliptic_curve::{Field, PrimeField};
use k256::{AffinePoint, FieldBytes, ProjectivePoint, Scalar, Sec1Point};
use sha2::{Digest, Sha256};

use super::{Ciphersuite, Decoded, ElementError, Sealed, checked_len};
use crate::rules::v2::Suite;
use crate::verify::msm;

/// FROST(secp256k1, SHA-256), RFC 9591, section 6.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secp256k1;

/// FROST(secp256k1, SHA-256) with BIP-340 signatures and the BIP-341 tweak without scripts, as the crate
/// `frost-secp256k1-tr` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secp256k1Tr;

impl Sealed for Secp256k1 {}
impl Sealed for Secp256k1Tr {}

/// From so many points on buckets beat k256's own sum.
const BUCKETS_FROM: usize = 100;

fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

fn reduced(bytes: [u8; 32]) -> Scalar {
    <Scalar as Reduce<FieldBytes>>::reduce(&FieldBytes::from(bytes))
}

/// `hash_to_field` of RFC 9380, section 5.2, with `expand_message_xmd` over SHA-256 and 48 bytes; the
/// domain is the context string and the tag, together under 256 bytes.
fn to_scalar(id: &str, tag: &[u8], parts: &[&[u8]]) -> Scalar {
    let domain = [id.as_bytes(), tag, &[(id.len() + tag.len()) as u8]].concat();
    let mut hasher = Sha256::new();
    hasher.update([0; 64]);
    for part in parts {
        hasher.update(part);
    }
    hasher.update([0, 48, 0]);
    hasher.update(&domain);
    let b0: [u8; 32] = hasher.finalize().into();
    let b1 = sha256(&[&b0, &[1], &domain]);
    let mut mixed = b1;
    mixed.iter_mut().zip(b0).for_each(|(m, b)| *m ^= b);
    let b2 = sha256(&[&mixed, &[2], &domain]);
    // 48 bytes, big-endian, as two halves below the order.
    let (mut high, mut low) = ([0; 32], [0; 32]);
    high[8..].copy_from_slice(&b1[..24]);
    low[8..16].copy_from_slice(&b1[24..]);
    low[16..].copy_from_slice(&b2[..16]);
    let shift = Scalar::from(1u128 << 96);
    reduced(high) * shift * shift + reduced(low)
}

/// SHA-256 behind the tag's hash twice, as BIP-340 has it.
fn tagged(tag: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let tag = sha256(&[tag]);
    sha256(&[&[&tag[..], &tag], parts].concat())
}

fn multi_scalar(base: &Scalar, scalars: &[Scalar], points: &[ProjectivePoint]) -> ProjectivePoint {
    let generator = ProjectivePoint::GENERATOR;
    if points.len() < BUCKETS_FROM {
        let terms: Vec<_> = core::iter::once((generator, *base))
            .chain(points.iter().copied().zip(scalars.iter().copied()))
            .collect();
        return ProjectivePoint::lincomb_vartime(terms.as_slice());
    }
    msm::buckets(scalars, points) + ProjectivePoint::mul_by_generator_vartime(base)
}

/// The group: the same text for both suites.
macro_rules! group {
    () => {
        type Point = ProjectivePoint;
        type Scalar = Scalar;
        type Encoding = [u8; 33];
        type Hash = [u8; 32];

        fn identity() -> ProjectivePoint {
            ProjectivePoint::IDENTITY
        }

        fn double(point: &ProjectivePoint) -> ProjectivePoint {
            point.double()
        }

        fn decode(bytes: &[u8]) -> Result<(ProjectivePoint, [u8; 33]), ElementError> {
            checked_len(bytes, 33)?;
            // With 33 bytes only the compressed forms are left, and the identity has none.
            let encoded = Sec1Point::from_bytes(bytes).map_err(|_| ElementError::NotAPoint)?;
            let point = AffinePoint::from_sec1_point(&encoded)
                .into_option()
                .ok_or(ElementError::NotAPoint)?;
            let mut kept = [0; 33];
            kept.copy_from_slice(bytes);
            Ok((point.into(), kept))
        }

        fn encode(point: &ProjectivePoint) -> Option<[u8; 33]> {
            let encoded = point.to_affine().to_sec1_point(true);
            encoded.as_bytes().try_into().ok()
        }

        fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
            let bytes: [u8; 32] = bytes.try_into().ok()?;
            Scalar::from_repr(bytes.into()).into_option()
        }

        fn encode_scalar(scalar: &Scalar) -> [u8; 32] {
            scalar.to_bytes().into()
        }

        fn invert(scalar: &Scalar) -> Option<Scalar> {
            Field::invert(scalar).into_option()
        }

        fn mul_base(scalar: &Scalar) -> ProjectivePoint {
            ProjectivePoint::mul_by_generator(scalar)
        }

        fn double_mul(c: &Scalar, point: &ProjectivePoint, z: &Scalar) -> ProjectivePoint {
            ProjectivePoint::mul_by_generator_and_mul_add_vartime(z, c, point)
        }

        fn multi_scalar(
            base: &Scalar,
            scalars: &[Scalar],
            points: &[ProjectivePoint],
        ) -> ProjectivePoint {
            multi_scalar(base, scalars, points)
        }

        fn h1(parts: &[&[u8]]) -> Scalar {
            to_scalar(Self::ID, b"rho", parts)
        }

        fn h4(parts: &[&[u8]]) -> [u8; 32] {
            sha256(&[&[Self::ID.as_bytes(), b"msg"], parts].concat())
        }

        fn h5(parts: &[&[u8]]) -> [u8; 32] {
            sha256(&[&[Self::ID.as_bytes(), b"com"], parts].concat())
        }

        fn hdkg(parts: &[&[u8]]) -> Scalar {
            to_scalar(Self::ID, b"dkg", parts)
        }
    };
}

impl Ciphersuite for Secp256k1 {
    const SUITE: Suite = Suite::Secp256k1;
    const ID: &'static str = "FROST-secp256k1-SHA256-v1";
    const ELEMENT: usize = 33;
    const SIGNATURE: usize = 65;

    group!();

    fn h2(parts: &[&[u8]]) -> Scalar {
        to_scalar(Self::ID, b"chal", parts)
    }
}

impl Ciphersuite for Secp256k1Tr {
    const SUITE: Suite = Suite::Secp256k1Tr;
    const ID: &'static str = "FROST-secp256k1-SHA256-TR-v1";
    const ELEMENT: usize = 33;
    const SIGNATURE: usize = 64;

    group!();

    fn h2(parts: &[&[u8]]) -> Scalar {
        reduced(tagged(b"BIP0340/challenge", parts))
    }

    fn challenge(r: &[u8; 33], key: &[u8; 33], message: &[u8]) -> Scalar {
        Self::h2(&[&r[1..], &key[1..], message])
    }

    fn decode_r(bytes: &[u8]) -> Result<(ProjectivePoint, [u8; 33]), ElementError> {
        checked_len(bytes, 32)?;
        Self::decode(&[&[2], bytes].concat())
    }

    fn decode_many_r(encoded: &[&[u8]]) -> Result<Vec<Decoded<Self>>, (usize, ElementError)> {
        let each = encoded.iter().enumerate();
        each.map(|(at, bytes)| Self::decode_r(bytes).map_err(|e| (at, e)))
            .collect()
    }

    fn encode_r(r: &[u8; 33]) -> &[u8] {
        &r[1..]
    }

    fn is_odd(encoding: &[u8; 33]) -> bool {
        encoding[0] == 3
    }

    fn negated(mut encoding: [u8; 33]) -> [u8; 33] {
        encoding[0] ^= 1;
        encoding
    }

    fn tweak(key: &[u8; 33]) -> Option<Scalar> {
        Some(reduced(tagged(b"TapTweak", &[&key[1..]])))
    }
}
