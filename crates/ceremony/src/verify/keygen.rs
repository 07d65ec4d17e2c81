//! The public part of FROST key generation: who said what in round 1, whether it is proven, and the
//! keys that follow.
//!
//! Participant `i`, counted from 0, has the identifier `i + 1`.
#![forbid(unsafe_code)]

use super::coefficients::Transcript;
use super::horner::evaluate;
use super::signature::{Signature, SignatureError};
use super::suite::{Ciphersuite, Element, ElementError};

/// Why a message of round 1 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackageError {
    /// Not as many bytes as the threshold's commitments and a proof have.
    #[error("a package of threshold {threshold} has {need} bytes, not {have}")]
    Length {
        /// The threshold.
        threshold: u16,
        /// Bytes of such a package.
        need: usize,
        /// Bytes there are.
        have: usize,
    },
    /// More or fewer commitments than the threshold.
    #[error("{have} commitments for the threshold {need}")]
    Commitments {
        /// The threshold.
        need: u16,
        /// Commitments there are.
        have: usize,
    },
    /// A commitment is no element.
    #[error("commitment {at}: {source}")]
    Commitment {
        /// Which.
        at: usize,
        /// Why.
        source: ElementError,
    },
    /// The proof of knowledge is malformed.
    #[error("the proof of knowledge: {0}")]
    Proof(SignatureError),
}

/// Why a key generation gives no key, and whose fault that is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeygenFault {
    /// A message of round 1 is malformed.
    #[error("participant {culprit}: {source}")]
    Package {
        /// Who sent it.
        culprit: u16,
        /// What is wrong.
        source: PackageError,
    },
    /// Proofs of knowledge do not hold.
    #[error("proofs of knowledge of participants {culprits:?} do not hold")]
    Proof {
        /// Who sent them.
        culprits: Vec<u16>,
    },
    /// Shares do not fit their senders' commitments.
    #[error("shares of participants {culprits:?} do not fit their commitments")]
    Share {
        /// Who sent them.
        culprits: Vec<u16>,
    },
    /// A share from nobody.
    #[error("there is no participant {sender}")]
    Sender {
        /// Who should have sent it.
        sender: u16,
    },
    /// The group key, or a verifying share, is the identity: no key comes of it, and no participant
    /// can be named.
    #[error("the commitments add up to the identity")]
    Identity,
    /// A threshold or a number of participants that no key generation has.
    #[error("threshold {threshold} of {participants} participants")]
    Shape {
        /// The threshold.
        threshold: u16,
        /// Participants.
        participants: usize,
    },
}

impl KeygenFault {
    /// Whom public data names.
    #[must_use]
    pub fn culprits(&self) -> Vec<u16> {
        match self {
            Self::Package { culprit, .. } => vec![*culprit],
            Self::Proof { culprits } | Self::Share { culprits } => culprits.clone(),
            Self::Sender { .. } | Self::Identity | Self::Shape { .. } => Vec::new(),
        }
    }
}

/// A participant's message of round 1: commitments to its polynomial, the lowest first, and a proof
/// that it knows the constant.
#[derive(Clone, Debug)]
pub struct Round1<S: Ciphersuite> {
    commitments: Vec<Element<S>>,
    proof: Signature<S>,
}

impl<S: Ciphersuite> Round1<S> {
    /// Bytes of a message for a threshold.
    #[must_use]
    pub const fn len(threshold: u16) -> usize {
        threshold as usize * S::ELEMENT + S::SIGNATURE
    }

    /// Reads commitments and proof, one behind the other.
    ///
    /// # Errors
    ///
    /// The length is not that of the threshold, told before anything is read; a commitment is no
    /// element or the identity; the proof is malformed.
    pub fn parse(bytes: &[u8], threshold: u16) -> Result<Self, PackageError> {
        let need = Self::len(threshold);
        if bytes.len() != need {
            return Err(PackageError::Length {
                threshold,
                need,
                have: bytes.len(),
            });
        }
        let (commitments, proof) = bytes.split_at(need - S::SIGNATURE);
        let commitments = commitments
            .chunks(S::ELEMENT)
            .enumerate()
            .map(|(at, bytes)| {
                Element::parse(bytes).map_err(|source| PackageError::Commitment { at, source })
            })
            .collect::<Result<_, _>>()?;
        let proof = Signature::parse(proof).map_err(PackageError::Proof)?;
        Self::new(commitments, proof, threshold)
    }

    /// From parts that were read before.
    ///
    /// # Errors
    ///
    /// Another number of commitments than the threshold.
    pub fn new(
        commitments: Vec<Element<S>>,
        proof: Signature<S>,
        threshold: u16,
    ) -> Result<Self, PackageError> {
        if commitments.len() != usize::from(threshold) || threshold == 0 {
            return Err(PackageError::Commitments {
                need: threshold,
                have: commitments.len(),
            });
        }
        Ok(Self { commitments, proof })
    }

    /// The commitments, the constant's first.
    #[must_use]
    pub fn commitments(&self) -> &[Element<S>] {
        &self.commitments
    }

    fn points(&self) -> Vec<S::Point> {
        self.commitments.iter().map(|c| *c.point()).collect()
    }

    /// The challenge of the proof of the participant with this identifier.
    fn challenge(&self, identifier: &S::Scalar) -> S::Scalar {
        let id = S::encode_scalar(identifier);
        // Never empty, see `new`.
        let constant = self.commitments.first().map(Element::bytes);
        let constant = constant.map_or(&[][..], |c| c.as_ref());
        S::hdkg(&[&id, constant, self.proof.r.bytes().as_ref()])
    }

    fn constant(&self) -> S::Point {
        self.commitments
            .first()
            .map_or_else(S::identity, |c| *c.point())
    }

    /// Whether the proof of knowledge holds for the participant at `index`.
    #[must_use]
    pub fn proof_holds(&self, index: u16) -> bool {
        let c = self.challenge(&identifier::<S>(index));
        S::double_mul(&-c, &self.constant(), &self.proof.z) == *self.proof.r.point()
    }

    /// Whether a share, a canonical scalar, is the polynomial at the participant with index
    /// `recipient`. The share may be secret: it is multiplied in constant time.
    #[must_use]
    pub fn share_fits(&self, recipient: u16, share: &[u8; 32]) -> bool {
        let Some(share) = S::decode_scalar(share) else {
            return false;
        };
        evaluate::<S>(&self.points(), u64::from(recipient) + 1) == S::mul_base(&share)
    }
}

/// The identifier of a participant.
pub(crate) fn identifier<S: Ciphersuite>(index: u16) -> S::Scalar {
    S::Scalar::from(u64::from(index) + 1)
}

/// The round-1 messages of all participants.
#[derive(Clone, Debug)]
pub struct Keygen<S: Ciphersuite> {
    threshold: u16,
    packages: Vec<Round1<S>>,
}

/// What a key generation makes public.
#[derive(Clone, Debug)]
pub struct PublicKeys<S: Ciphersuite> {
    /// How many can sign.
    pub threshold: u16,
    /// The group key.
    pub group_key: Element<S>,
    /// The participants' verifying shares, by index.
    pub shares: Vec<S::Point>,
}

impl<S: Ciphersuite> Keygen<S> {
    /// From messages that were read before, by index.
    ///
    /// # Errors
    ///
    /// A threshold below 2 or above the number of participants, or a message for another threshold.
    pub fn new(threshold: u16, packages: Vec<Round1<S>>) -> Result<Self, KeygenFault> {
        let participants = packages.len();
        let most = usize::from(crate::rules::v2::MAX_PARTICIPANTS);
        if threshold < 2 || usize::from(threshold) > participants || participants > most {
            return Err(KeygenFault::Shape {
                threshold,
                participants,
            });
        }
        for (culprit, package) in (0..).zip(&packages) {
            let have = package.commitments.len();
            if have != usize::from(threshold) {
                let need = threshold;
                let source = PackageError::Commitments { need, have };
                return Err(KeygenFault::Package { culprit, source });
            }
        }
        Ok(Self {
            threshold,
            packages,
        })
    }

    /// Reads the messages of all participants.
    ///
    /// # Errors
    ///
    /// The first that is malformed, with its sender, or as [`Self::new`].
    pub fn parse(threshold: u16, messages: &[&[u8]]) -> Result<Self, KeygenFault> {
        let packages = (0..)
            .zip(messages)
            .map(|(culprit, bytes)| {
                Round1::parse(bytes, threshold)
                    .map_err(|source| KeygenFault::Package { culprit, source })
            })
            .collect::<Result<_, _>>()?;
        Self::new(threshold, packages)
    }

    /// The messages, by index.
    #[must_use]
    pub fn packages(&self) -> &[Round1<S>] {
        &self.packages
    }

    /// Checks all proofs of knowledge in one sum; where that fails each alone.
    ///
    /// # Errors
    ///
    /// [`KeygenFault::Proof`] with all whose proofs do not hold.
    pub fn check_proofs(&self) -> Result<(), KeygenFault> {
        if self.proof_sum_vanishes() {
            return Ok(());
        }
        let culprits: Vec<u16> = (0..)
            .zip(&self.packages)
            .filter(|(index, package)| !package.proof_holds(*index))
            .map(|(index, _)| index)
            .collect();
        if culprits.is_empty() {
            Ok(())
        } else {
            Err(KeygenFault::Proof { culprits })
        }
    }

    fn proof_sum_vanishes(&self) -> bool {
        let mut transcript = Transcript::new("proofs of knowledge", S::ID);
        let challenges: Vec<S::Scalar> = (0..)
            .zip(&self.packages)
            .map(|(index, package)| {
                let c = package.challenge(&identifier::<S>(index));
                // The elements and the identifier are in the challenge.
                transcript.put(&S::encode_scalar(&c));
                transcript.put(&S::encode_scalar(&package.proof.z));
                c
            })
            .collect();
        let mut coefficients = transcript.coefficients();
        let mut base = S::Scalar::from(0u64);
        let (mut scalars, mut points) = (Vec::new(), Vec::new());
        for (package, c) in self.packages.iter().zip(challenges) {
            let a = S::Scalar::from(coefficients.draw());
            base = base - a * package.proof.z;
            scalars.extend([a, a * c]);
            points.extend([*package.proof.r.point(), package.constant()]);
        }
        S::multi_scalar(&base, &scalars, &points) == S::identity()
    }

    /// The group key and the verifying shares. For secp256k1-tr with the tweak of BIP-341 that stands
    /// for no scripts, as that suite's crate does it.
    ///
    /// # Errors
    ///
    /// [`KeygenFault::Identity`].
    pub fn public_keys(&self) -> Result<PublicKeys<S>, KeygenFault> {
        let sum = sum(self.packages.iter());
        let key = sum.first().copied().and_then(Element::<S>::of);
        let key = key.ok_or(KeygenFault::Identity)?;
        let participants = self.packages.len() as u64;
        let mut shares: Vec<S::Point> = (1..=participants)
            .map(|id| evaluate::<S>(&sum, id))
            .collect();
        let mut group_key = key;
        if let Some(tweak) = S::tweak(key.bytes()) {
            let tweak = S::mul_base(&tweak);
            for share in &mut shares {
                let even = if key.is_odd() { -*share } else { *share };
                *share = even + tweak;
            }
            group_key = Element::of(*key.even().point() + tweak).ok_or(KeygenFault::Identity)?;
        }
        if shares.contains(&S::identity()) {
            return Err(KeygenFault::Identity);
        }
        Ok(PublicKeys {
            threshold: self.threshold,
            group_key,
            shares,
        })
    }

    /// A party's own check of the shares sent to it, each with its sender: their sum against the sum
    /// of the senders' polynomials, and each alone only where that fails. Wrong shares that cancel
    /// each other give the right key share and pass.
    ///
    /// # Errors
    ///
    /// [`KeygenFault::Share`] with all whose shares do not fit, [`KeygenFault::Sender`] for a sender
    /// who is none.
    pub fn check_own_shares(
        &self,
        recipient: u16,
        shares: &[(u16, [u8; 32])],
    ) -> Result<(), KeygenFault> {
        let senders = shares
            .iter()
            .map(|&(sender, _)| {
                let package = self.packages.get(usize::from(sender));
                package.ok_or(KeygenFault::Sender { sender })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let scalars: Option<Vec<S::Scalar>> = shares
            .iter()
            .map(|(_, share)| S::decode_scalar(share))
            .collect();
        if let Some(scalars) = scalars {
            let zero = S::Scalar::from(0u64);
            let share = scalars.into_iter().fold(zero, |sum, share| sum + share);
            let want = evaluate::<S>(&sum(senders.iter().copied()), u64::from(recipient) + 1);
            if S::mul_base(&share) == want {
                return Ok(());
            }
        }
        let culprits = senders
            .iter()
            .zip(shares)
            .filter(|(package, (_, share))| !package.share_fits(recipient, share))
            .map(|(_, &(sender, _))| sender)
            .collect();
        Err(KeygenFault::Share { culprits })
    }
}

/// The sum of polynomials' commitments.
fn sum<'a, S: Ciphersuite>(mut packages: impl Iterator<Item = &'a Round1<S>>) -> Vec<S::Point> {
    let mut sum = packages.next().map(Round1::points).unwrap_or_default();
    for package in packages {
        for (sum, commitment) in sum.iter_mut().zip(&package.commitments) {
            *sum = *sum + *commitment.point();
        }
    }
    sum
}
