//! What the two suites over curve25519 share.
#![forbid(unsafe_code)]

use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

/// The generator for a sum, and then the points.
pub(super) fn with_base<T: Copy>(base: T, rest: &[T]) -> impl Iterator<Item = T> + Clone {
    core::iter::once(base).chain(rest.iter().copied())
}

pub(super) fn hash(prefix: &[&[u8]], parts: &[&[u8]]) -> [u8; 64] {
    let mut hasher = Sha512::new();
    for part in prefix.iter().chain(parts) {
        hasher.update(part);
    }
    hasher.finalize().into()
}

pub(super) fn to_scalar(prefix: &[&[u8]], parts: &[&[u8]]) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&hash(prefix, parts))
}

pub(super) fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
    Scalar::from_canonical_bytes(bytes.try_into().ok()?).into_option()
}

pub(super) fn invert(scalar: &Scalar) -> Option<Scalar> {
    (*scalar != Scalar::ZERO).then(|| scalar.invert())
}

/// Scalars, hashes and sums: the same text for both groups, over another point type.
macro_rules! common {
    ($point:ident) => {
        type Scalar = Scalar;
        type Encoding = [u8; 32];
        type Hash = [u8; 64];

        fn identity() -> Self::Point {
            $point::identity()
        }

        fn double(point: &Self::Point) -> Self::Point {
            point + point
        }

        fn decode_scalar(bytes: &[u8]) -> Option<Scalar> {
            dalek::decode_scalar(bytes)
        }

        fn encode_scalar(scalar: &Scalar) -> [u8; 32] {
            scalar.to_bytes()
        }

        fn invert(scalar: &Scalar) -> Option<Scalar> {
            dalek::invert(scalar)
        }

        fn mul_base(scalar: &Scalar) -> Self::Point {
            $point::mul_base(scalar)
        }

        fn double_mul(c: &Scalar, point: &Self::Point, z: &Scalar) -> Self::Point {
            $point::vartime_double_scalar_mul_basepoint(c, point, z)
        }

        fn multi_scalar(base: &Scalar, scalars: &[Scalar], points: &[Self::Point]) -> Self::Point {
            $point::vartime_multiscalar_mul(
                dalek::with_base(*base, scalars),
                dalek::with_base(GENERATOR, points),
            )
        }

        fn h1(parts: &[&[u8]]) -> Scalar {
            dalek::to_scalar(&[Self::ID.as_bytes(), b"rho"], parts)
        }

        fn h4(parts: &[&[u8]]) -> [u8; 64] {
            dalek::hash(&[Self::ID.as_bytes(), b"msg"], parts)
        }

        fn h5(parts: &[&[u8]]) -> [u8; 64] {
            dalek::hash(&[Self::ID.as_bytes(), b"com"], parts)
        }

        fn hdkg(parts: &[&[u8]]) -> Scalar {
            dalek::to_scalar(&[Self::ID.as_bytes(), b"dkg"], parts)
        }
    };
}
pub(super) use common;
