//! One signing of FROST (RFC 9591, section 5), as anyone sees it: commitments, shares, who is to
//! blame.
#![forbid(unsafe_code)]

use super::keygen::identifier;
use super::signature::{Item, Signature, SignatureError, verify};
use super::suite::{Ciphersuite, Element, ElementError};

/// Why a signing gives no signature, and whose fault that is. Signers are named by their places in
/// the list of signers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SigningFault {
    /// A commitment is malformed.
    #[error("signer {culprit}: the {which} commitment: {source}")]
    Commitment {
        /// Who sent it.
        culprit: u16,
        /// Hiding or binding.
        which: &'static str,
        /// Why.
        source: ElementError,
    },
    /// A share is not below the group's order.
    #[error("signer {culprit}: the share is no canonical scalar")]
    Scalar {
        /// Who sent it.
        culprit: u16,
    },
    /// Shares do not verify.
    #[error("shares of signers {culprits:?} do not verify")]
    Share {
        /// Who sent them.
        culprits: Vec<u16>,
    },
    /// The signature does not verify and no verifying shares are known.
    #[error("the signature does not verify; without verifying shares nobody can be named")]
    Unknown,
    /// The list of signers is empty or names one twice, or another list has another length.
    #[error(
        "{commitments} commitments, {shares} shares and {verifying} verifying shares for {signers} different signers"
    )]
    Shape {
        /// Different signers.
        signers: usize,
        /// Commitments.
        commitments: usize,
        /// Shares.
        shares: usize,
        /// Verifying shares.
        verifying: usize,
    },
    /// The commitments add up to the identity.
    #[error("the group commitment is the identity")]
    Identity,
    /// The sum of shares that each verify does not; it cannot happen.
    #[error("{0}")]
    Signature(SignatureError),
}

impl SigningFault {
    /// Whom public data names, by places in the list of signers.
    #[must_use]
    pub fn culprits(&self) -> Vec<u16> {
        match self {
            Self::Commitment { culprit, .. } | Self::Scalar { culprit } => vec![*culprit],
            Self::Share { culprits } => culprits.clone(),
            _ => Vec::new(),
        }
    }
}

/// A signer's message of round 1.
#[derive(Clone, Copy, Debug)]
pub struct Commitments<S: Ciphersuite> {
    /// To the hiding nonce.
    pub hiding: Element<S>,
    /// To the binding nonce.
    pub binding: Element<S>,
}

impl<S: Ciphersuite> Commitments<S> {
    /// Reads hiding and binding commitment, one behind the other.
    ///
    /// # Errors
    ///
    /// Which of them is no element, and why.
    pub fn parse(bytes: &[u8]) -> Result<Self, (&'static str, ElementError)> {
        // Bytes that are missing are missed as the element's.
        let (hiding, binding) = bytes.split_at(S::ELEMENT.min(bytes.len()));
        Ok(Self {
            hiding: Element::parse(hiding).map_err(|e| ("hiding", e))?,
            binding: Element::parse(binding).map_err(|e| ("binding", e))?,
        })
    }
}

/// A signer in a session.
#[derive(Clone, Debug)]
struct Signer<S: Ciphersuite> {
    /// Hiding plus binding commitment times the binding factor.
    commitment: S::Point,
    /// Lagrange coefficient at zero.
    lagrange: S::Scalar,
}

/// Everything that round 1 fixes.
#[derive(Clone, Debug)]
pub struct Session<'a, S: Ciphersuite> {
    key: Element<S>,
    message: &'a [u8],
    /// The group commitment.
    r: Element<S>,
    challenge: S::Scalar,
    signers: Vec<Signer<S>>,
}

impl<'a, S: Ciphersuite> Session<'a, S> {
    /// From the messages of round 1. `signers` are indices of participants, going up.
    ///
    /// # Errors
    ///
    /// A commitment is malformed, or the signers are not different ones.
    pub fn parse(
        key: Element<S>,
        message: &'a [u8],
        signers: &[u16],
        commitments: &[&[u8]],
    ) -> Result<Self, SigningFault> {
        let commitments: Vec<Commitments<S>> = (0..)
            .zip(commitments)
            .map(|(culprit, bytes)| {
                Commitments::parse(bytes).map_err(|(which, source)| SigningFault::Commitment {
                    culprit,
                    which,
                    source,
                })
            })
            .collect::<Result<_, _>>()?;
        let ids: Vec<S::Scalar> = signers.iter().map(|&i| identifier::<S>(i)).collect();
        Self::new(key, message, &ids, &commitments)
    }

    /// From commitments that were read before, in the order of the signers' identifiers as numbers,
    /// which may be any scalars but zero.
    ///
    /// # Errors
    ///
    /// The signers are not different ones, or the group commitment is the identity.
    pub fn new(
        key: Element<S>,
        message: &'a [u8],
        ids: &[S::Scalar],
        commitments: &[Commitments<S>],
    ) -> Result<Self, SigningFault> {
        let shape = || SigningFault::Shape {
            signers: ids.len(),
            commitments: commitments.len(),
            shares: 0,
            verifying: 0,
        };
        if ids.is_empty() || ids.len() != commitments.len() {
            return Err(shape());
        }
        let factor = binding_factors(&key, message, ids, commitments);
        let mut whole = S::identity();
        let mut signers = Vec::with_capacity(ids.len());
        for (i, id) in ids.iter().enumerate() {
            let Commitments { hiding, binding } = &commitments[i];
            let zero = S::Scalar::from(0u64);
            let commitment = *hiding.point() + S::double_mul(&factor[i], binding.point(), &zero);
            whole = whole + commitment;
            let lagrange = lagrange::<S>(ids, i, id).ok_or_else(shape)?;
            signers.push(Signer {
                commitment,
                lagrange,
            });
        }
        let r = Element::of(whole).ok_or(SigningFault::Identity)?;
        let challenge = S::challenge(r.bytes(), key.even().bytes(), message);
        Ok(Self {
            key,
            message,
            r,
            challenge,
            signers,
        })
    }

    /// The sum of the shares as a signature, which need not hold.
    fn sum(&self, shares: &[S::Scalar]) -> Signature<S> {
        let zero = S::Scalar::from(0u64);
        Signature {
            r: self.r.even(),
            z: shares.iter().fold(zero, |sum, share| sum + *share),
        }
    }

    /// Whether the share of the signer at a place in the list fits its verifying share.
    #[must_use]
    pub fn share_holds(&self, place: usize, share: &S::Scalar, verifying: &S::Point) -> bool {
        let Some(signer) = self.signers.get(place) else {
            return false;
        };
        let commitment = if self.r.is_odd() {
            -signer.commitment
        } else {
            signer.commitment
        };
        let verifying = if self.key.is_odd() {
            -*verifying
        } else {
            *verifying
        };
        let c = self.challenge * signer.lagrange;
        S::double_mul(&-c, &verifying, share) == commitment
    }

    /// The signature, from the messages of round 2 in the signers' order. With verifying shares in that
    /// order too, a signature that does not verify names who spoiled it.
    ///
    /// # Errors
    ///
    /// A share is malformed, or the signature does not verify.
    pub fn finish(
        &self,
        shares: &[&[u8]],
        verifying: Option<&[S::Point]>,
    ) -> Result<Signature<S>, SigningFault> {
        let need = self.signers.len();
        let known = verifying.map_or(need, <[_]>::len);
        if shares.len() != need || known != need {
            return Err(SigningFault::Shape {
                signers: need,
                commitments: need,
                shares: shares.len(),
                verifying: known,
            });
        }
        let scalars: Vec<S::Scalar> = (0..)
            .zip(shares)
            .map(|(culprit, bytes)| S::decode_scalar(bytes).ok_or(SigningFault::Scalar { culprit }))
            .collect::<Result<_, _>>()?;
        let signature = self.sum(&scalars);
        let item = Item {
            key: self.key,
            message: self.message,
            signature,
        };
        let Err(error) = verify(&item) else {
            return Ok(signature);
        };
        let verifying = verifying.ok_or(SigningFault::Unknown)?;
        let culprits: Vec<u16> = (0..)
            .zip(scalars.iter().zip(verifying))
            .filter(|(place, (share, verifying))| {
                !self.share_holds(usize::from(*place), share, verifying)
            })
            .map(|(place, _)| place)
            .collect();
        Err(if culprits.is_empty() {
            SigningFault::Signature(error)
        } else {
            SigningFault::Share { culprits }
        })
    }
}

/// RFC 9591, section 4.4.
fn binding_factors<S: Ciphersuite>(
    key: &Element<S>,
    message: &[u8],
    ids: &[S::Scalar],
    commitments: &[Commitments<S>],
) -> Vec<S::Scalar> {
    let mut encoded = Vec::new();
    for (id, c) in ids.iter().zip(commitments) {
        encoded.extend(S::encode_scalar(id));
        encoded.extend_from_slice(c.hiding.bytes().as_ref());
        encoded.extend_from_slice(c.binding.bytes().as_ref());
    }
    let (message, encoded) = (S::h4(&[message]), S::h5(&[&encoded]));
    let key = key.even();
    ids.iter()
        .map(|id| {
            S::h1(&[
                key.bytes().as_ref(),
                message.as_ref(),
                encoded.as_ref(),
                &S::encode_scalar(id),
            ])
        })
        .collect()
}

/// The coefficient of the signer `id`, the `at`th, at zero; `None` if another has the same
/// identifier, or one is zero.
fn lagrange<S: Ciphersuite>(ids: &[S::Scalar], at: usize, id: &S::Scalar) -> Option<S::Scalar> {
    let one = S::Scalar::from(1u64);
    let others = ids.iter().enumerate().filter(|(other, _)| *other != at);
    let (above, below) = others.fold((one, one), |(above, below), (_, other)| {
        (above * *other, below * (*other - *id))
    });
    let zero = S::Scalar::from(0u64);
    if *id == zero || above == zero {
        return None;
    }
    Some(above * S::invert(&below)?)
}
