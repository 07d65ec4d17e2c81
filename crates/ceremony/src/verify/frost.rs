//! From and to the types of the frost crates, release 3.0.
//!
//! Those crates stand on other releases of the same curve libraries, so that elements go over by
//! their encodings, and are checked on the way.
#![forbid(unsafe_code)]

use frost_core as theirs;
use std::collections::BTreeMap;

use super::keygen::{Keygen, KeygenFault, PackageError, PublicKeys, Round1};
use super::signature::{Signature, SignatureError};
use super::suite::{Ciphersuite, Element, ElementError};

/// Why a value does not go over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrostError {
    /// A value of another ciphersuite.
    #[error("a value of {have} where {need} is expected")]
    Suite {
        /// The suite's id.
        need: &'static str,
        /// The other's.
        have: &'static str,
    },
    /// The frost crate refuses to write it or to read it.
    #[error("the frost crate: {0}")]
    Theirs(String),
    /// An element that is none.
    #[error(transparent)]
    Element(#[from] ElementError),
    /// A malformed package.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// A malformed signature.
    #[error(transparent)]
    Signature(#[from] SignatureError),
    /// Packages that are no key generation.
    #[error(transparent)]
    Keygen(#[from] KeygenFault),
    /// Identifiers that are not those of participants 1 to n.
    #[error("the identifiers are not 1 to {participants}")]
    Identifiers {
        /// How many there are.
        participants: usize,
    },
}

fn theirs_said<C: theirs::Ciphersuite>(error: theirs::Error<C>) -> FrostError {
    FrostError::Theirs(error.to_string())
}

fn same_suite<S: Ciphersuite, C: theirs::Ciphersuite>() -> Result<(), FrostError> {
    if S::ID == C::ID {
        Ok(())
    } else {
        Err(FrostError::Suite {
            need: S::ID,
            have: C::ID,
        })
    }
}

/// A package of round 1.
///
/// # Errors
///
/// It is of another suite or for another threshold, or holds an element that is none.
pub fn round1<S: Ciphersuite, C: theirs::Ciphersuite>(
    package: &theirs::keys::dkg::round1::Package<C>,
    threshold: u16,
) -> Result<Round1<S>, FrostError> {
    same_suite::<S, C>()?;
    let commitments = package.commitment().serialize().map_err(theirs_said)?;
    let commitments = commitments
        .iter()
        .map(|bytes| Element::parse(bytes))
        .collect::<Result<_, _>>()?;
    let proof = package
        .proof_of_knowledge()
        .serialize()
        .map_err(theirs_said)?;
    Ok(Round1::new(
        commitments,
        Signature::parse(&proof)?,
        threshold,
    )?)
}

/// The packages of a whole key generation, whose participants have the identifiers 1 to n.
///
/// # Errors
///
/// As [`round1`], or the identifiers are others.
pub fn keygen<S: Ciphersuite, C: theirs::Ciphersuite>(
    packages: &BTreeMap<theirs::Identifier<C>, theirs::keys::dkg::round1::Package<C>>,
    threshold: u16,
) -> Result<Keygen<S>, FrostError> {
    let participants = packages.len();
    let wrong = || FrostError::Identifiers { participants };
    let ids = 1..=u16::try_from(participants).map_err(|_| wrong())?;
    let ours = ids
        .map(|id| {
            let id = theirs::Identifier::try_from(id).map_err(theirs_said)?;
            round1(packages.get(&id).ok_or_else(wrong)?, threshold)
        })
        .collect::<Result<_, _>>()?;
    Ok(Keygen::new(threshold, ours)?)
}

/// A signature.
///
/// # Errors
///
/// It is of another suite or malformed.
pub fn signature<S: Ciphersuite, C: theirs::Ciphersuite>(
    signature: &theirs::Signature<C>,
) -> Result<Signature<S>, FrostError> {
    same_suite::<S, C>()?;
    let bytes = signature.serialize().map_err(theirs_said)?;
    Ok(Signature::parse(&bytes)?)
}

/// A group key.
///
/// # Errors
///
/// It is of another suite or no element.
pub fn verifying_key<S: Ciphersuite, C: theirs::Ciphersuite>(
    key: &theirs::VerifyingKey<C>,
) -> Result<Element<S>, FrostError> {
    same_suite::<S, C>()?;
    let bytes = key.serialize().map_err(theirs_said)?;
    Ok(Element::parse(&bytes)?)
}

/// Public keys as the frost crates' package of them.
///
/// # Errors
///
/// They are of another suite, or one of them is the identity.
pub fn public_key_package<S: Ciphersuite, C: theirs::Ciphersuite>(
    keys: &PublicKeys<S>,
) -> Result<theirs::keys::PublicKeyPackage<C>, FrostError> {
    same_suite::<S, C>()?;
    let mut shares = BTreeMap::new();
    for (id, share) in (1..=u16::MAX).zip(&keys.shares) {
        let bytes = S::encode(share).ok_or(ElementError::Identity)?;
        let share = theirs::keys::VerifyingShare::deserialize(bytes.as_ref());
        let id = theirs::Identifier::try_from(id).map_err(theirs_said)?;
        shares.insert(id, share.map_err(theirs_said)?);
    }
    let key = theirs::VerifyingKey::deserialize(keys.group_key.bytes().as_ref());
    Ok(theirs::keys::PublicKeyPackage::new(
        shares,
        key.map_err(theirs_said)?,
        Some(keys.threshold),
    ))
}
