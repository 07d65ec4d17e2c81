//! What a FROST message is in bytes, to and from frost-core's types. `docs/ceremony-v2.md` has the
//! layouts.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use fieldspar_ceremony::rules::v2::{ONE_TIME_KEY, Suite, VIEW};
use frost_core::keys::dkg::round1;
use frost_core::keys::{SigningShare, VerifiableSecretSharingCommitment};
use frost_core::round1::{NonceCommitment, SigningCommitments};
use frost_core::round2::SignatureShare;
use frost_core::{Ciphersuite, Identifier, Signature};

use crate::failure::Failure;

/// A suite, by its crate.
pub(super) trait Known: Ciphersuite {
    const SUITE: Suite;
}

impl Known for frost_ed25519::Ed25519Sha512 {
    const SUITE: Suite = Suite::Ed25519;
}

impl Known for frost_ristretto255::Ristretto255Sha512 {
    const SUITE: Suite = Suite::Ristretto255;
}

impl Known for frost_secp256k1::Secp256K1Sha256 {
    const SUITE: Suite = Suite::Secp256k1;
}

impl Known for frost_secp256k1_tr::Secp256K1Sha256TR {
    const SUITE: Suite = Suite::Secp256k1Tr;
}

/// An error of frost-core, in the words of a party.
pub(super) fn failed<C: Ciphersuite>(error: frost_core::Error<C>) -> Failure {
    Failure::input(format!("FROST: {error}"))
}

/// Of the party with this index, from 0, among the parties of the key.
pub(super) fn identifier<C: Ciphersuite>(index: u16) -> Result<Identifier<C>, Failure> {
    let number = index.checked_add(1);
    let number = number.ok_or_else(|| Failure::input(format!("no party {index}")))?;
    Identifier::try_from(number).map_err(failed)
}

/// Round 0 of a key generation.
pub(super) fn commitments_message<C: Ciphersuite>(
    one_time: &[u8; 32],
    package: &round1::Package<C>,
) -> Result<Vec<u8>, Failure> {
    let mut payload = one_time.to_vec();
    for element in package.commitment().serialize().map_err(failed)? {
        payload.extend(element);
    }
    let proof = package.proof_of_knowledge().serialize().map_err(failed)?;
    payload.extend(proof);
    Ok(payload)
}

/// The part of a round 0 message that has the commitments.
pub(super) fn commitments_of(
    suite: Suite,
    payload: &[u8],
    threshold: u16,
) -> Result<&[u8], Failure> {
    let len = usize::from(threshold) * suite.element_len();
    payload
        .get(ONE_TIME_KEY..ONE_TIME_KEY + len)
        .ok_or_else(|| Failure::input("a message of round 0 is too short"))
}

pub(super) fn read_commitments<C: Known>(
    payload: &[u8],
    threshold: u16,
) -> Result<round1::Package<C>, Failure> {
    let elements = commitments_of(C::SUITE, payload, threshold)?;
    let proof = payload.get(ONE_TIME_KEY + elements.len()..);
    let elements = elements.chunks(C::SUITE.element_len());
    let commitment = VerifiableSecretSharingCommitment::deserialize(elements).map_err(failed)?;
    let proof = Signature::deserialize(proof.unwrap_or_default()).map_err(failed)?;
    Ok(round1::Package::new(commitment, proof))
}

pub(super) fn share_bytes<C: Ciphersuite>(share: &SigningShare<C>) -> Result<[u8; 32], Failure> {
    share
        .serialize()
        .try_into()
        .map_err(|_| Failure::internal("a share of another length than 32"))
}

/// Round 0 of a signing.
pub(super) fn nonces_message<C: Ciphersuite>(
    commitments: &SigningCommitments<C>,
) -> Result<Vec<u8>, Failure> {
    let mut payload = commitments.hiding().serialize().map_err(failed)?;
    payload.extend(commitments.binding().serialize().map_err(failed)?);
    Ok(payload)
}

pub(super) fn read_nonces<C: Known>(payload: &[u8]) -> Result<SigningCommitments<C>, Failure> {
    let Some((hiding, binding)) = payload.split_at_checked(C::SUITE.element_len()) else {
        return Err(Failure::input("nonce commitments are too short"));
    };
    Ok(SigningCommitments::new(
        NonceCommitment::deserialize(hiding).map_err(failed)?,
        NonceCommitment::deserialize(binding).map_err(failed)?,
    ))
}

/// The shares of round 1 of a signing, by identifier.
pub(super) fn read_shares<C: Known>(
    payloads: &[Vec<u8>],
    identifiers: &[Identifier<C>],
) -> Result<BTreeMap<Identifier<C>, SignatureShare<C>>, Failure> {
    identifiers
        .iter()
        .zip(payloads)
        .map(|(identifier, payload)| {
            let share = payload.get(VIEW..).unwrap_or_default();
            let share = SignatureShare::deserialize(share).map_err(failed)?;
            Ok((*identifier, share))
        })
        .collect()
}
