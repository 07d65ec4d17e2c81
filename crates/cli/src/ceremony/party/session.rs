//! One party's part in one ceremony: what it says, and what it hears from the others.
//!
//! The coordinator is not believed: the ceremony's id is computed from its terms, each message's
//! signature is verified, and the transcript that the party signs is the one of the messages that it
//! got.
#![forbid(unsafe_code)]

use std::thread::sleep;
use std::time::{Duration, Instant};

use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::{
    Begin, Body, Complaint, Contribution, Kind, PublicKey, Signature, message_bytes, verifies,
};
use fieldspar_ceremony::{hex, keccak256};
use serde_json::Value;

use super::client::Waiting;
use crate::ceremony::common::{hex_bytes, hex32};
use crate::failure::Failure;

/// Between two looks at the coordinator, at first and at most.
const NAPS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(500));

/// A party in a ceremony.
pub(super) struct Session {
    client: Waiting,
    key: SigningKey,
    pub(super) network: [u8; 32],
    pub(super) id: [u8; 32],
    pub(super) begin: Begin,
    members: Vec<PublicKey>,
    pub(super) index: u16,
    round: u8,
    transcript: [u8; 32],
    own: Vec<u8>,
    wait: Duration,
}

fn missing(what: &str) -> Failure {
    Failure::input(format!("the coordinator's answer has no {what}"))
}

fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, Failure> {
    value[name].as_str().ok_or_else(|| missing(name))
}

fn digest(value: &Value, name: &str) -> Result<[u8; 32], Failure> {
    hex32(text(value, name)?).map_err(|e| missing(&format!("{name}: {e}")))
}

fn bytes(value: &Value, name: &str) -> Result<Vec<u8>, Failure> {
    hex_bytes(text(value, name)?).map_err(|e| missing(&format!("{name}: {e}")))
}

fn numbers<T: TryFrom<u64>>(value: &Value, name: &str) -> Result<Vec<T>, Failure> {
    let list = value[name].as_array().ok_or_else(|| missing(name))?;
    list.iter()
        .map(|n| n.as_u64().and_then(|n| T::try_from(n).ok()))
        .collect::<Option<_>>()
        .ok_or_else(|| missing(name))
}

/// The terms of a ceremony.
fn begin_of(value: &Value) -> Result<Begin, Failure> {
    let kind = value["kind_number"].as_u64();
    let kind = kind.and_then(|n| Kind::from_number(u8::try_from(n).ok()?));
    let threshold = value["threshold"].as_u64();
    let threshold = threshold.and_then(|t| u16::try_from(t).ok());
    Ok(Begin {
        kind: kind.ok_or_else(|| missing("kind_number"))?,
        salt: digest(value, "salt")?,
        threshold: threshold.ok_or_else(|| missing("threshold"))?,
        participants: numbers(value, "participants")?,
        deadlines: numbers(value, "deadlines")?,
        key: digest(value, "key")?,
        message: bytes(value, "message")?,
    })
}

/// How a ceremony ended that did not finish.
fn bad_end(value: &Value) -> Option<Failure> {
    let status = value["status"].as_str().unwrap_or("without a status");
    if matches!(status, "in progress" | "finished") {
        return None;
    }
    let mut words = format!("the ceremony ended: {status}");
    for (name, what) in [("awaited", "awaited"), ("culprit", "at fault")] {
        if !value[name].is_null() {
            words.push_str(&format!(", {what} {}", value[name]));
        }
    }
    Some(Failure::input(words))
}

impl Session {
    /// Takes a place in a ceremony. `roster` are the keys that the members must have, by place.
    pub(super) fn join(
        mut client: Waiting,
        key: SigningKey,
        id: [u8; 32],
        roster: Option<&[PublicKey]>,
        wait: Duration,
    ) -> Result<Self, Failure> {
        let network = digest(&client.get("/v2/network")?, "network")?;
        let value = client.get(&format!("/v2/ceremonies/{}", hex::encode(&id)))?;
        if let Some(end) = bad_end(&value) {
            return Err(end);
        }
        let begin = begin_of(&value)?;
        if begin.id(&network) != id {
            return Err(Failure::input("the terms are not those of this ceremony"));
        }
        let members = value["members"].as_array();
        let members: Vec<PublicKey> = members
            .into_iter()
            .flatten()
            .map(|m| hex32(m.as_str().unwrap_or_default()))
            .collect::<Result<_, _>>()
            .map_err(|e| missing(&format!("members: {e}")))?;
        if members.len() != begin.participants.len() {
            return Err(missing("members"));
        }
        // For a signing the places are those among the key's parties, whom the key's file knows.
        if let Some(roster) = roster
            && begin.kind.is_keygen()
        {
            for (member, &place) in members.iter().zip(&begin.participants) {
                if roster.get(place as usize) != Some(member) {
                    let why = format!("place {place} has another key than in the roster given");
                    return Err(Failure::input(why));
                }
            }
        }
        let own = key.verifying_key().to_bytes();
        let index = members.iter().position(|m| *m == own);
        let index = index.and_then(|i| u16::try_from(i).ok());
        Ok(Self {
            client,
            key,
            network,
            id,
            begin,
            members,
            index: index.ok_or_else(|| Failure::input("the key is not of a participant"))?,
            round: 0,
            transcript: keccak256(&[&b"fieldspar.ceremony.v2.transcript\0"[..], &id].concat()),
            own: Vec::new(),
            wait,
        })
    }

    pub(super) fn total(&self) -> u16 {
        // At most 128, or the coordinator's rules would have refused it.
        self.members.len() as u16
    }

    pub(super) fn members(&self) -> &[PublicKey] {
        &self.members
    }

    /// Sends this round's message; from the second round on behind the transcript.
    pub(super) fn say(&mut self, rest: &[u8]) -> Result<(), Failure> {
        let payload = match self.round {
            0 => rest.to_vec(),
            _ => [&self.transcript[..], rest].concat(),
        };
        self.own.clone_from(&payload);
        let body = Body::Contribute(Contribution {
            ceremony: self.id,
            kind: self.begin.kind,
            round: self.round,
            index: self.index,
            payload,
        });
        self.client.submit(&body.sign(&self.network, &self.key))?;
        Ok(())
    }

    /// Publishes the one-time secret, so that all see that a package was bad.
    pub(super) fn complain(&mut self, sender: u16, secret: [u8; 32]) -> Result<(), Failure> {
        let body = Body::Complain(Complaint {
            ceremony: self.id,
            index: self.index,
            sender,
            secret,
        });
        self.client.submit(&body.sign(&self.network, &self.key))?;
        Ok(())
    }

    /// Waits until the round is over, and gives its messages by index.
    pub(super) fn hear(&mut self) -> Result<Vec<Vec<u8>>, Failure> {
        self.until_round(self.round + 1)?;
        let mut payloads = Vec::new();
        let mut hashes = Vec::new();
        let mut from = 0;
        loop {
            let path = format!(
                "/v2/ceremonies/{}/messages?round={}&from={from}",
                hex::encode(&self.id),
                self.round
            );
            let value = self.client.get(&path)?;
            for message in value["messages"].as_array().into_iter().flatten() {
                let payload = self.checked(payloads.len(), message)?;
                hashes.push(keccak256(&payload));
                payloads.push(payload);
            }
            match value["next"].as_u64() {
                Some(next) if next > from => from = next,
                _ => break,
            }
        }
        if payloads.len() != self.members.len() {
            return Err(missing("message of each participant"));
        }
        let mut bytes = b"fieldspar.ceremony.v2.transcript\0".to_vec();
        bytes.extend(self.transcript);
        bytes.push(self.round);
        bytes.extend(hashes.concat());
        self.transcript = keccak256(&bytes);
        self.round += 1;
        Ok(payloads)
    }

    /// The payload of the next message, if it is signed by whose it is.
    fn checked(&self, index: usize, message: &Value) -> Result<Vec<u8>, Failure> {
        if message["index"].as_u64() != Some(index as u64) {
            return Err(missing("messages in order"));
        }
        let payload = bytes(message, "payload")?;
        let mut signature = Signature([0; 64]);
        hex::decode(text(message, "signature")?, &mut signature.0)
            .map_err(|e| missing(&format!("signature: {e}")))?;
        let (kind, round) = (self.begin.kind, self.round);
        let signed = message_bytes(&self.id, kind, round, index as u16, &keccak256(&payload));
        let key = self.members.get(index).ok_or_else(|| missing("member"))?;
        if !verifies(key, &signed, &signature) {
            let why = format!("the message of party {index} is not signed by it");
            return Err(Failure::input(why));
        }
        if index == usize::from(self.index) && payload != self.own {
            return Err(Failure::input(
                "the coordinator has another message of this party",
            ));
        }
        Ok(payload)
    }

    /// Waits until a round is reached or the ceremony has finished.
    pub(super) fn until_round(&mut self, round: u8) -> Result<Value, Failure> {
        let begin = Instant::now();
        let mut nap = NAPS.0;
        loop {
            let path = format!("/v2/ceremonies/{}", hex::encode(&self.id));
            let value = self.client.get(&path)?;
            if let Some(end) = bad_end(&value) {
                return Err(end);
            }
            if value["round"].as_u64().is_some_and(|r| r >= round.into()) {
                return Ok(value);
            }
            if begin.elapsed() > self.wait {
                let awaited = &value["awaited"];
                return Err(Failure::input(format!(
                    "round {} did not end in time, awaited {awaited}",
                    round - 1
                )));
            }
            sleep(nap);
            nap = (nap * 3 / 2).min(NAPS.1);
        }
    }
}
