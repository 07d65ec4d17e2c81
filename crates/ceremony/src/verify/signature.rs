//! Schnorr signatures of FROST, one at a time and many at once.
//!
//! A signature holds if `z G = R + c A`, where key `A` and commitment `R` are canonical encodings of
//! elements of the group of prime order, none the identity, and `z` is a canonical scalar. For
//! Ed25519 this is the strictest of the rules in use: what it accepts is accepted with and without
//! the cofactor, by RFC 8032, ZIP 215 and `verify_strict` of ed25519-dalek alike. Since no torsion is
//! let in, one signature and a batch are judged by the same rule.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use super::coefficients::Transcript;
use super::suite::{Ciphersuite, Element, ElementError};

/// Why bytes are no signature, or not one of the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureError {
    /// Too long or too short.
    #[error("a signature has {need} bytes, not {have}")]
    Length {
        /// Bytes of a signature.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// The commitment is no element.
    #[error("the signature's commitment: {0}")]
    Commitment(ElementError),
    /// The key is no element.
    #[error("the key: {0}")]
    Key(ElementError),
    /// The response is not below the group's order.
    #[error("the signature's response is no canonical scalar")]
    Scalar,
    /// The equation does not hold.
    #[error("the signature does not verify")]
    Equation,
}

/// A signature; a proof of knowledge has the same form.
#[derive(Clone, Copy, Debug)]
pub struct Signature<S: Ciphersuite> {
    pub(crate) r: Element<S>,
    pub(crate) z: S::Scalar,
}

impl<S: Ciphersuite> Signature<S> {
    /// The commitment's bytes and the response.
    fn split(bytes: &[u8]) -> Result<(&[u8], S::Scalar), SignatureError> {
        if bytes.len() != S::SIGNATURE {
            return Err(SignatureError::Length {
                need: S::SIGNATURE,
                have: bytes.len(),
            });
        }
        let (r, z) = bytes.split_at(S::SIGNATURE - 32);
        Ok((r, S::decode_scalar(z).ok_or(SignatureError::Scalar)?))
    }

    /// Reads a signature.
    ///
    /// # Errors
    ///
    /// Its length, commitment or response is not what it must be.
    pub fn parse(bytes: &[u8]) -> Result<Self, SignatureError> {
        let (r, z) = Self::split(bytes)?;
        let r = Element::parse_r(r).map_err(SignatureError::Commitment)?;
        Ok(Self { r, z })
    }

    /// Reads many signatures: what [`Self::parse`] says of each, for less. The proof that points of
    /// curve25519 are of prime order is then shared, and wrong once in 2^128.
    ///
    /// # Errors
    ///
    /// The place of one that is malformed, and why.
    pub fn parse_many(signatures: &[&[u8]]) -> Result<Vec<Self>, (usize, SignatureError)> {
        let each = signatures.iter().enumerate();
        let (r, z): (Vec<&[u8]>, Vec<S::Scalar>) = each
            .map(|(at, bytes)| Self::split(bytes).map_err(|e| (at, e)))
            .collect::<Result<Vec<_>, _>>()?
            .into_iter()
            .unzip();
        let r = Element::parse_many_r(&r)
            .map_err(|(at, error)| (at, SignatureError::Commitment(error)))?;
        let both = r.into_iter().zip(z);
        Ok(both.map(|(r, z)| Self { r, z }).collect())
    }

    /// Its bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        [S::encode_r(self.r.bytes()), &S::encode_scalar(&self.z)].concat()
    }
}

/// A signature, what it is over, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a, S: Ciphersuite> {
    /// The group key.
    pub key: Element<S>,
    /// What is signed.
    pub message: &'a [u8],
    /// The signature.
    pub signature: Signature<S>,
}

impl<'a, S: Ciphersuite> Item<'a, S> {
    /// Reads many, each given as key, message and signature. A key is read once, however often it
    /// signs; see [`Signature::parse_many`].
    ///
    /// # Errors
    ///
    /// The place of one whose key or signature is malformed, and why.
    pub fn parse_many(
        triples: &[(&[u8], &'a [u8], &[u8])],
    ) -> Result<Vec<Self>, (usize, SignatureError)> {
        let mut first = BTreeMap::new();
        for (at, (key, ..)) in triples.iter().enumerate() {
            first.entry(*key).or_insert(at);
        }
        let encoded: Vec<&[u8]> = first.keys().copied().collect();
        let places: Vec<usize> = first.values().copied().collect();
        let keys = Element::<S>::parse_many(&encoded).map_err(|(at, error)| {
            let place = places.get(at).copied().unwrap_or_default();
            (place, SignatureError::Key(error))
        })?;
        let keys: BTreeMap<&[u8], Element<S>> = encoded.into_iter().zip(keys).collect();
        let signatures: Vec<&[u8]> = triples.iter().map(|triple| triple.2).collect();
        let signatures = Signature::parse_many(&signatures)?;
        let both = triples.iter().zip(signatures);
        Ok(both
            .filter_map(|(&(key, message, _), signature)| {
                Some(Self {
                    key: *keys.get(&key)?,
                    message,
                    signature,
                })
            })
            .collect())
    }
}

/// Checks one signature.
///
/// # Errors
///
/// [`SignatureError::Equation`].
pub fn verify<S: Ciphersuite>(item: &Item<'_, S>) -> Result<(), SignatureError> {
    let Signature { r, z } = &item.signature;
    let key = item.key.even();
    let c = S::challenge(r.bytes(), key.bytes(), item.message);
    if S::double_mul(&-c, key.point(), z) == *r.point() {
        Ok(())
    } else {
        Err(SignatureError::Equation)
    }
}

/// Checks many signatures in one sum; where that fails each alone, so that the answer is that of
/// [`verify`].
///
/// # Errors
///
/// The places of those that do not verify, going up.
pub fn verify_batch<S: Ciphersuite>(items: &[Item<'_, S>]) -> Result<(), Vec<usize>> {
    if items.len() > 1 && sum_vanishes(items) {
        return Ok(());
    }
    let bad: Vec<usize> = (0..items.len())
        .filter(|&at| verify(&items[at]).is_err())
        .collect();
    if bad.is_empty() { Ok(()) } else { Err(bad) }
}

/// Whether the sum of `a (z G - c A - R)` is the identity, for coefficients `a` that the batch gives.
/// A key counts once, however often it signs.
fn sum_vanishes<S: Ciphersuite>(items: &[Item<'_, S>]) -> bool {
    let mut transcript = Transcript::new("signatures", S::ID);
    let challenged: Vec<(Element<S>, S::Scalar)> = items
        .iter()
        .map(|item| {
            let key = item.key.even();
            let r = item.signature.r.bytes();
            let c = S::challenge(r, key.bytes(), item.message);
            // The message is in the challenge.
            transcript.put(key.bytes().as_ref());
            transcript.put(r.as_ref());
            transcript.put(&S::encode_scalar(&c));
            transcript.put(&S::encode_scalar(&item.signature.z));
            (key, c)
        })
        .collect();
    let mut coefficients = transcript.coefficients();
    let mut base = S::Scalar::from(0u64);
    let mut keys = BTreeMap::<S::Encoding, (S::Point, S::Scalar)>::new();
    let mut scalars = Vec::with_capacity(2 * items.len());
    let mut points = Vec::with_capacity(2 * items.len());
    for (item, (key, c)) in items.iter().zip(&challenged) {
        let a = S::Scalar::from(coefficients.draw());
        base = base - a * item.signature.z;
        scalars.push(a);
        points.push(*item.signature.r.point());
        let term = a * *c;
        keys.entry(*key.bytes())
            .and_modify(|(_, sum)| *sum = *sum + term)
            .or_insert((*key.point(), term));
    }
    for (point, scalar) in keys.into_values() {
        points.push(point);
        scalars.push(scalar);
    }
    S::multi_scalar(&base, &scalars, &points) == S::identity()
}
