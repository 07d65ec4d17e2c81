//! The four ciphersuites: group, encodings and hashes of RFC 9591, section 6, over the points and
//! scalars of curve25519-dalek and k256.
#![forbid(unsafe_code)]

mod dalek;
mod ed25519;
mod ristretto255;
mod secp256k1;
mod torsion;

use core::fmt::Debug;
use core::ops::{Add, Mul, Neg, Sub};

pub use ed25519::Ed25519;
pub use ristretto255::Ristretto255;
pub use secp256k1::{Secp256k1, Secp256k1Tr};

use crate::rules::v2::Suite;

mod sealed {
    /// Nobody else implements a suite: what is accepted is decided here.
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// Why bytes are no element of a suite's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElementError {
    /// Too long or too short.
    #[error("an element has {need} bytes, not {have}")]
    Length {
        /// Bytes of an element.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// No point has this encoding, or not as its canonical one.
    #[error("no encoding of a point")]
    NotAPoint,
    /// The identity, which RFC 9591 never encodes.
    #[error("the identity element")]
    Identity,
    /// A point of the curve that lies outside the group of prime order.
    #[error("a point outside the group of prime order")]
    Subgroup,
}

/// A point and its bytes.
pub type Decoded<S> = (<S as Ciphersuite>::Point, <S as Ciphersuite>::Encoding);

/// A ciphersuite of FROST.
///
/// Scalars and elements are encoded as RFC 9591 does: little-endian on the 25519 curves, big-endian
/// and SEC 1 compressed on secp256k1.
pub trait Ciphersuite: Sealed + Copy + Eq + Debug + Send + Sync + 'static {
    /// Its number in the rules.
    const SUITE: Suite;
    /// The context string, which is the name that the frost crates know it by.
    const ID: &'static str;
    /// Bytes of an element.
    const ELEMENT: usize;
    /// Bytes of a signature.
    const SIGNATURE: usize;

    /// A point of the group of prime order.
    type Point: Copy
        + Debug
        + PartialEq
        + Add<Output = Self::Point>
        + Sub<Output = Self::Point>
        + Neg<Output = Self::Point>
        + Send
        + Sync;
    /// A scalar modulo the group's order.
    type Scalar: Copy
        + Debug
        + PartialEq
        + From<u64>
        + From<u128>
        + Add<Output = Self::Scalar>
        + Sub<Output = Self::Scalar>
        + Mul<Output = Self::Scalar>
        + Neg<Output = Self::Scalar>
        + Send
        + Sync;
    /// An element's bytes.
    type Encoding: Copy + Debug + Ord + AsRef<[u8]> + Send + Sync;
    /// A digest of the suite's hash.
    type Hash: AsRef<[u8]>;

    /// The neutral element.
    fn identity() -> Self::Point;
    /// Twice the point.
    fn double(point: &Self::Point) -> Self::Point;
    /// Reads an element: canonical, not the identity, in the group of prime order.
    ///
    /// # Errors
    ///
    /// It is not that.
    fn decode(bytes: &[u8]) -> Result<(Self::Point, Self::Encoding), ElementError>;
    /// Reads many elements: as [`Self::decode`] each, for less where the group has a way.
    ///
    /// # Errors
    ///
    /// The first that is no element, and why.
    fn decode_many(encoded: &[&[u8]]) -> Result<Vec<Decoded<Self>>, (usize, ElementError)> {
        let each = encoded.iter().enumerate();
        each.map(|(at, bytes)| Self::decode(bytes).map_err(|e| (at, e)))
            .collect()
    }
    /// The bytes of an element; `None` for the identity.
    fn encode(point: &Self::Point) -> Option<Self::Encoding>;
    /// Reads a canonical scalar.
    fn decode_scalar(bytes: &[u8]) -> Option<Self::Scalar>;
    /// A scalar's bytes.
    fn encode_scalar(scalar: &Self::Scalar) -> [u8; 32];
    /// The inverse; `None` for zero.
    fn invert(scalar: &Self::Scalar) -> Option<Self::Scalar>;
    /// The generator times a scalar that may be secret: constant time.
    fn mul_base(scalar: &Self::Scalar) -> Self::Point;
    /// `c P + z G`, in variable time.
    fn double_mul(c: &Self::Scalar, point: &Self::Point, z: &Self::Scalar) -> Self::Point;
    /// The sum of `scalars[i] points[i]` and `base G`, in variable time.
    fn multi_scalar(
        base: &Self::Scalar,
        scalars: &[Self::Scalar],
        points: &[Self::Point],
    ) -> Self::Point;

    /// H1 of RFC 9591, of the parts one after another: binding factors.
    fn h1(parts: &[&[u8]]) -> Self::Scalar;
    /// H2: challenges.
    fn h2(parts: &[&[u8]]) -> Self::Scalar;
    /// H4: of the message.
    fn h4(parts: &[&[u8]]) -> Self::Hash;
    /// H5: of the commitments.
    fn h5(parts: &[&[u8]]) -> Self::Hash;
    /// The hash of the frost crates' key generation, domain "dkg".
    fn hdkg(parts: &[&[u8]]) -> Self::Scalar;

    /// The challenge of a signature.
    fn challenge(r: &Self::Encoding, key: &Self::Encoding, message: &[u8]) -> Self::Scalar {
        Self::h2(&[r.as_ref(), key.as_ref(), message])
    }
    /// The element's bytes in a signature that begins with `bytes`.
    ///
    /// # Errors
    ///
    /// They are no element.
    fn decode_r(bytes: &[u8]) -> Result<(Self::Point, Self::Encoding), ElementError> {
        Self::decode(bytes)
    }
    /// As [`Self::decode_r`] for many.
    ///
    /// # Errors
    ///
    /// The first that is no element, and why.
    fn decode_many_r(encoded: &[&[u8]]) -> Result<Vec<Decoded<Self>>, (usize, ElementError)> {
        Self::decode_many(encoded)
    }
    /// The bytes that stand for an element in a signature.
    fn encode_r(r: &Self::Encoding) -> &[u8] {
        r.as_ref()
    }
    /// Whether signatures are over the other point with the same x coordinate, as BIP-340 has it for
    /// odd y.
    fn is_odd(_: &Self::Encoding) -> bool {
        false
    }
    /// The encoding of the negated point; only asked where [`Self::is_odd`] may be true.
    fn negated(encoding: Self::Encoding) -> Self::Encoding {
        encoding
    }
    /// What the key generation adds to the key in the end, as BIP-341 has it.
    fn tweak(_: &Self::Encoding) -> Option<Self::Scalar> {
        None
    }
}

/// An element and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Element<S: Ciphersuite> {
    point: S::Point,
    bytes: S::Encoding,
}

impl<S: Ciphersuite> PartialEq for Element<S> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<S: Ciphersuite> Eq for Element<S> {}

impl<S: Ciphersuite> Element<S> {
    /// Reads an element.
    ///
    /// # Errors
    ///
    /// The bytes are not the canonical encoding of a point of the group of prime order, or are that of
    /// the identity.
    pub fn parse(bytes: &[u8]) -> Result<Self, ElementError> {
        let (point, bytes) = S::decode(bytes)?;
        Ok(Self { point, bytes })
    }

    /// Reads many elements, as [`Self::parse`] each.
    ///
    /// # Errors
    ///
    /// The place of the first that is none, and why.
    pub fn parse_many(encoded: &[&[u8]]) -> Result<Vec<Self>, (usize, ElementError)> {
        Ok(Self::collect(S::decode_many(encoded)?))
    }

    fn collect(decoded: Vec<Decoded<S>>) -> Vec<Self> {
        let elements = decoded.into_iter();
        elements
            .map(|(point, bytes)| Self { point, bytes })
            .collect()
    }

    pub(crate) fn parse_many_r(encoded: &[&[u8]]) -> Result<Vec<Self>, (usize, ElementError)> {
        Ok(Self::collect(S::decode_many_r(encoded)?))
    }

    pub(crate) fn parse_r(bytes: &[u8]) -> Result<Self, ElementError> {
        let (point, bytes) = S::decode_r(bytes)?;
        Ok(Self { point, bytes })
    }

    /// An element that was computed; `None` for the identity.
    #[must_use]
    pub fn of(point: S::Point) -> Option<Self> {
        let bytes = S::encode(&point)?;
        Some(Self { point, bytes })
    }

    /// The point.
    #[must_use]
    pub const fn point(&self) -> &S::Point {
        &self.point
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &S::Encoding {
        &self.bytes
    }

    /// Whether [`Self::even`] is the negated point.
    pub(crate) fn is_odd(&self) -> bool {
        S::is_odd(&self.bytes)
    }

    /// The point that signatures are over.
    pub(crate) fn even(self) -> Self {
        if self.is_odd() {
            Self {
                point: -self.point,
                bytes: S::negated(self.bytes),
            }
        } else {
            self
        }
    }
}

pub(crate) fn checked_len(bytes: &[u8], need: usize) -> Result<(), ElementError> {
    if bytes.len() == need {
        Ok(())
    } else {
        Err(ElementError::Length {
            need,
            have: bytes.len(),
        })
    }
}
