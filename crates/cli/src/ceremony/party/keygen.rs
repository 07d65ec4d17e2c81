//! A party's part in a key generation: three rounds.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::path::Path;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::complaint::{Route, one_time_key, open, seal, share_fits};
use fieldspar_ceremony::rules::v2::{GroupKey, ONE_TIME_KEY, SEALED, VIEW};
use frost_core::keys::dkg::{part1, part2, part3, round1, round2};
use frost_core::keys::{KeyPackage, PublicKeyPackage, SigningShare};
use rand_core::OsRng;

use super::frost::{
    Known, commitments_message, commitments_of, failed, identifier, read_commitments, share_bytes,
};
use super::secrets::{SCHEMA, Secrets};
use super::session::Session;
use crate::ceremony::operate::random;
use crate::failure::Failure;

/// Runs all rounds. The share is on disk before the party says that it has the key.
pub(super) fn run<C: Known>(session: &mut Session, file: &Path) -> Result<Secrets, Failure> {
    if file.exists() {
        let why = "it is there already, and a share is never written over";
        return Err(Failure::input(why).at(file.display().to_string()));
    }
    let (threshold, total) = (session.begin.threshold, session.total());
    let own = identifier::<C>(session.index)?;
    let (secret, package) = part1(own, total, threshold, OsRng).map_err(failed)?;
    let one_time = random()?;
    session.say(&commitments_message(&one_time_key(&one_time), &package)?)?;

    let first = session.hear()?;
    let mut packages: BTreeMap<_, round1::Package<C>> = BTreeMap::new();
    for index in others(session) {
        let package = read_commitments(&first[usize::from(index)], threshold);
        let package = package.map_err(|e| blame(index, &e))?;
        packages.insert(identifier::<C>(index)?, package);
    }
    // Verifies the proofs of knowledge.
    let (secret, shares) = part2(secret, &packages).map_err(failed)?;
    let mut sealed = Vec::new();
    for recipient in others(session) {
        let share = shares.get(&identifier(recipient)?);
        let share = share.ok_or_else(|| Failure::internal("frost-core left out a share"))?;
        let share = share_bytes(share.signing_share())?;
        let one_time = first[usize::from(recipient)].first_chunk::<ONE_TIME_KEY>();
        let package = one_time.zip(Some(random()?)).and_then(|(key, ephemeral)| {
            seal(
                &route(session, session.index, recipient),
                key,
                &ephemeral,
                &share,
            )
        });
        let bad = || Failure::input(format!("the one-time key of party {recipient} is no key"));
        sealed.extend(package.ok_or_else(bad)?);
    }
    session.say(&sealed)?;

    let second = session.hear()?;
    let mut received = BTreeMap::new();
    for sender in others(session) {
        let commitments = commitments_of(C::SUITE, &first[usize::from(sender)], threshold)?;
        let package = package_for(session.index, sender, &second[usize::from(sender)]);
        let share = open(&route(session, sender, session.index), package, &one_time)
            .filter(|share| share_fits(C::SUITE, commitments, session.index, share));
        let Some(share) = share else {
            session.complain(sender, one_time)?;
            let why = format!("party {sender} sent a bad share; the complaint is on record");
            return Err(Failure::input(why));
        };
        let share = SigningShare::deserialize(&share).map_err(failed)?;
        received.insert(identifier::<C>(sender)?, round2::Package::new(share));
    }
    let (key, public) = part3(&secret, &packages, &received).map_err(failed)?;
    let secrets = secrets_of(session, &key, &public)?;
    secrets.save(file)?;
    let group_key = public.verifying_key().serialize().map_err(failed)?;
    session.say(&group_key)?;
    let end = session.until_round(session.begin.kind.rounds())?;
    if end["result_key"].as_str() != Some(&secrets.key) {
        return Err(Failure::input(
            "the coordinator has the key under another id",
        ));
    }
    Ok(secrets)
}

fn others(session: &Session) -> impl Iterator<Item = u16> + use<> {
    let own = session.index;
    (0..session.total()).filter(move |&index| index != own)
}

fn blame(index: u16, error: &Failure) -> Failure {
    Failure::input(format!("party {index}: {}", error.message))
}

const fn route(session: &Session, sender: u16, recipient: u16) -> Route {
    Route {
        ceremony: session.id,
        sender,
        recipient,
    }
}

/// A sender's packages lie in the order of their recipients, the sender left out.
fn package_for(recipient: u16, sender: u16, payload: &[u8]) -> &[u8] {
    let place = usize::from(recipient - u16::from(recipient > sender));
    let start = VIEW + place * SEALED;
    payload.get(start..start + SEALED).unwrap_or_default()
}

fn secrets_of<C: Known>(
    session: &Session,
    key: &KeyPackage<C>,
    public: &PublicKeyPackage<C>,
) -> Result<Secrets, Failure> {
    let group_key = public.verifying_key().serialize().map_err(failed)?;
    let record = GroupKey {
        kind: session.begin.kind,
        threshold: session.begin.threshold,
        members: session.begin.participants.clone(),
        group_key: group_key.clone(),
        source: session.id,
    };
    Ok(Secrets {
        schema: SCHEMA,
        kind_number: session.begin.kind.number(),
        network: hex::encode(&session.network),
        ceremony: hex::encode(&session.id),
        key: hex::encode(&record.id(&session.network)),
        group_key: hex::encode(&group_key),
        index: session.index,
        members: session.members().iter().map(|m| hex::encode(m)).collect(),
        public_key_package: hex::encode(&public.serialize().map_err(failed)?),
        key_package: hex::encode(&key.serialize().map_err(failed)?),
    })
}
