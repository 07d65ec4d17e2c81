//! A signer's part in a signature: two rounds.
//!
//! The nonces are in memory alone and are used once: after a crash the ceremony is lost and they are
//! gone.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use fieldspar_ceremony::hex;
use frost_core::keys::{KeyPackage, PublicKeyPackage};
use frost_core::{Identifier, SigningPackage, aggregate, round1, round2};
use rand_core::OsRng;

use super::frost::{Known, failed, identifier, nonces_message, read_nonces, read_shares};
use super::secrets::Secrets;
use super::session::Session;
use crate::ceremony::common::hex_bytes;
use crate::failure::Failure;

/// Runs both rounds, and puts the signature together; frost-core verifies it.
pub(super) fn run<C: Known>(session: &mut Session, secrets: &Secrets) -> Result<Vec<u8>, Failure> {
    check(session, secrets)?;
    let bad = |e: hex::HexError| Failure::input(format!("the file of the share: {e}"));
    let key = hex_bytes(&secrets.key_package).map_err(bad)?;
    let public = hex_bytes(&secrets.public_key_package).map_err(bad)?;
    let key = KeyPackage::<C>::deserialize(&key).map_err(failed)?;
    let public = PublicKeyPackage::<C>::deserialize(&public).map_err(failed)?;
    let signers: Vec<Identifier<C>> = session
        .begin
        .participants
        .iter()
        .map(|&place| identifier(u16::try_from(place).unwrap_or(u16::MAX)))
        .collect::<Result<_, _>>()?;

    let (nonces, commitments) = round1::commit(key.signing_share(), &mut OsRng);
    session.say(&nonces_message(&commitments)?)?;
    let mut all = BTreeMap::new();
    for (signer, payload) in signers.iter().zip(session.hear()?) {
        all.insert(*signer, read_nonces(&payload)?);
    }
    let package = SigningPackage::new(all, &session.begin.message);
    let share = round2::sign(&package, &nonces, &key).map_err(failed)?;
    // Not for another set of commitments.
    drop(nonces);
    session.say(&share.serialize())?;
    let shares = read_shares(&session.hear()?, &signers)?;
    let signature = aggregate(&package, &shares, &public).map_err(failed)?;
    signature.serialize().map_err(failed)
}

/// The ceremony is for this key, this party and the parties that made the key.
fn check(session: &Session, secrets: &Secrets) -> Result<(), Failure> {
    if hex::encode(&session.begin.key) != secrets.key {
        return Err(Failure::input("the ceremony signs with another key"));
    }
    if session.begin.kind.keygen().number() != secrets.kind_number {
        return Err(Failure::input(
            "the ceremony is of another kind than the key",
        ));
    }
    for (member, &place) in session.members().iter().zip(&session.begin.participants) {
        if secrets.members.get(place as usize) != Some(&hex::encode(member)) {
            let why = format!("party {place} of the key has another public key here");
            return Err(Failure::input(why));
        }
    }
    let place = session.begin.participants.get(usize::from(session.index));
    if place != Some(&u32::from(secrets.index)) {
        return Err(Failure::input("the share is that of another party"));
    }
    Ok(())
}
