//! What each operation does.
#![forbid(unsafe_code)]

use ed25519_dalek::VerifyingKey;

use super::Signature;
use super::answer::{Answer, Outcome, Reason};
use super::complaint::{Route, one_time_key, open, share_fits};
use super::kind::{Kind, ONE_TIME_KEY, SEALED, VIEW};
use super::operation::{Authentic, Begin, Body, Complaint, Contribution, ImportKey, PublicKey};
use super::state::{Archived, Evidence, GroupKey, Live, Message, Place, State};
use super::wire::Writer;
use crate::{Digest, keccak256};

const fn accepted(id: Digest) -> Answer {
    Answer::Accepted { id, again: false }
}

const fn again(id: Digest) -> Answer {
    Answer::Accepted { id, again: true }
}

impl State {
    /// Plays one operation.
    ///
    /// Nothing but the state and the operation decides. [`State::operations`] goes up exactly when
    /// something changed, which is when a log has to keep the operation.
    pub fn apply(&mut self, operation: Authentic) -> Answer {
        let operation = operation.into_inner();
        let (key, signature) = (operation.key, operation.signature);
        let answer = match operation.body {
            Body::Tick { now } => self.tick(now),
            Body::Contribute(c) => self.contribute(c, &key, signature),
            Body::Complain(c) => self.complain(&c, &key),
            _ if key != self.core.genesis.operator => Err(Reason::NotTheOperator),
            Body::AddMember { index, key } => self.add_member(index, key),
            Body::ImportKey(key) => self.import_key(key),
            Body::Begin(begin) => self.begin(begin),
            Body::Cancel { ceremony } => self.cancel(&ceremony),
        };
        let answer = answer.unwrap_or_else(|reason| Answer::Rejected { reason });
        if matches!(answer, Answer::Accepted { again: false, .. }) {
            self.core.operations += 1;
        }
        answer
    }

    fn tick(&mut self, now: u64) -> Result<Answer, Reason> {
        if now < self.core.now {
            return Err(Reason::Time {
                now: self.core.now,
                have: now,
            });
        }
        if now == self.core.now {
            return Ok(again([0; 32]));
        }
        self.core.now = now;
        while let Some(&(deadline, slot)) = self.deadlines.first()
            && deadline < now
        {
            self.deadlines.pop_first();
            let Some(live) = self.live_at(slot) else {
                continue;
            };
            let (round, awaited) = (live.round, live.awaited());
            self.end(slot, Outcome::Expired { round, awaited }, [0; 32]);
        }
        Ok(accepted([0; 32]))
    }

    fn add_member(&mut self, index: u32, key: PublicKey) -> Result<Answer, Reason> {
        // The same operation again is a success.
        if self.core.members.get(index as usize) == Some(&key) {
            return Ok(again(key));
        }
        let next = self.core.members.len() as u32;
        if index != next {
            return Err(Reason::RosterPlace { next, have: index });
        }
        if let Some(&at) = self.member_places.get(&key) {
            return Err(Reason::MemberExists { at });
        }
        // Of prime order, so that a signature that verifies does so with and without the cofactor.
        let good = |key: VerifyingKey| !key.is_weak() && key.to_edwards().is_torsion_free();
        if !VerifyingKey::from_bytes(&key).is_ok_and(good) {
            return Err(Reason::BadMemberKey);
        }
        self.member_places.insert(key, next);
        self.core.members.push(key);
        Ok(accepted(key))
    }

    fn import_key(&mut self, key: ImportKey) -> Result<Answer, Reason> {
        self.check_import(&key)?;
        let key = GroupKey {
            kind: key.kind,
            threshold: key.threshold,
            members: key.members,
            group_key: key.group_key,
            source: [0; 32],
        };
        let id = key.id(&self.core.genesis.network);
        if self.key_places.contains_key(&id) {
            return Ok(again(id));
        }
        Ok(accepted(self.add_key(key)))
    }

    fn add_key(&mut self, key: GroupKey) -> Digest {
        let id = key.id(&self.core.genesis.network);
        self.key_places.insert(id, self.core.keys.len() as u32);
        self.core.keys.push(key);
        id
    }

    fn begin(&mut self, begin: Begin) -> Result<Answer, Reason> {
        let members = self.check_begin(&begin)?;
        let id = begin.id(&self.core.genesis.network);
        let live = Box::new(Live {
            id,
            members,
            round: 0,
            received: 0,
            transcript: keccak256(&[&b"fieldspar.ceremony.v2.transcript\0"[..], &id].concat()),
            arrivals: [0; 32],
            messages: Default::default(),
            begin,
        });
        let deadline = live.deadline();
        let slot = match self.core.free.pop() {
            Some(slot) => {
                self.core.live[slot as usize] = Some(live);
                slot
            }
            None => {
                self.core.live.push(Some(live));
                (self.core.live.len() - 1) as u32
            }
        };
        self.deadlines.insert((deadline, slot));
        self.places.insert(id, Place::Live(slot));
        self.touch(slot);
        Ok(accepted(id))
    }

    fn cancel(&mut self, id: &Digest) -> Result<Answer, Reason> {
        match self.places.get(id) {
            None => Err(Reason::UnknownCeremony),
            Some(&Place::Live(slot)) => {
                self.end(slot, Outcome::Cancelled, [0; 32]);
                Ok(accepted(*id))
            }
            Some(&Place::Archived(at)) => {
                let cancelled = self.core.archive[at as usize].outcome == Outcome::Cancelled;
                cancelled.then(|| again(*id)).ok_or(Reason::Ended)
            }
        }
    }

    fn live_at(&self, slot: u32) -> Option<&Live> {
        self.core.live.get(slot as usize)?.as_deref()
    }

    fn contribute(
        &mut self,
        c: Contribution,
        key: &PublicKey,
        signature: Signature,
    ) -> Result<Answer, Reason> {
        let hash = keccak256(&c.payload);
        let slot = match self.places.get(&c.ceremony) {
            None => return Err(Reason::UnknownCeremony),
            Some(&Place::Live(slot)) => slot,
            Some(&Place::Archived(at)) => {
                let place = (c.round, c.index, hash);
                let archived = &self.core.archive[at as usize];
                let known = archived.kind == c.kind && archived.messages.contains(&place);
                return known.then(|| again(hash)).ok_or(Reason::Ended);
            }
        };
        let live = self.live_at(slot).ok_or(Reason::UnknownCeremony)?;
        self.check_signer(live, c.index, key)?;
        if c.kind != live.begin.kind {
            return Err(Reason::KindMismatch);
        }
        if let Some(first) = live.messages.get(&(c.round, c.index)) {
            if first.hash == hash {
                return Ok(again(hash));
            }
            let first = (first.hash, first.signature);
            self.keep_evidence(Evidence {
                ceremony: c.ceremony,
                kind: c.kind,
                round: c.round,
                index: c.index,
                key: *key,
                first,
                second: (hash, signature),
            });
            return Err(Reason::Equivocation);
        }
        check_payload(live, &c)?;
        if let Kind::FrostSign(suite) = c.kind
            && c.round == 0
        {
            let key = live.begin.key;
            let (hiding, binding) = c.payload.split_at(suite.element_len());
            let nonces = [hiding, binding].map(|nonce| nonce_hash(&key, nonce));
            if nonces[0] == nonces[1] || nonces.iter().any(|nonce| self.seen.contains(nonce)) {
                return Err(Reason::NonceReused);
            }
            self.seen.extend(nonces);
            self.core.nonces.extend(nonces);
        }
        self.store(slot, c, hash, signature);
        Ok(accepted(hash))
    }

    fn check_signer(&self, live: &Live, index: u16, key: &PublicKey) -> Result<(), Reason> {
        let Some(&member) = live.members.get(usize::from(index)) else {
            return Err(Reason::Index {
                have: index,
                total: live.total(),
            });
        };
        if self.core.members.get(member as usize) == Some(key) {
            Ok(())
        } else {
            Err(Reason::WrongSigner { index })
        }
    }

    /// Once for each place: the first contradiction is proof enough.
    fn keep_evidence(&mut self, evidence: Evidence) {
        let place = (evidence.ceremony, evidence.round, evidence.index);
        if self.equivocators.insert(place) {
            self.core.evidence.push(evidence);
            self.core.operations += 1;
        }
    }

    fn store(&mut self, slot: u32, c: Contribution, hash: Digest, signature: Signature) {
        let Some(live) = self.core.live[slot as usize].as_mut() else {
            return;
        };
        let mut w = Writer::default();
        w.put(&live.arrivals).u8(c.round).u16(c.index);
        w.put(&hash).put(&signature.0);
        live.arrivals = keccak256(&w.0);
        live.received |= 1 << c.index;
        let message = Message {
            payload: c.payload,
            hash,
            signature,
        };
        live.messages.insert((c.round, c.index), message);
        if live.awaited() == 0 {
            self.next_round(slot);
        }
        self.touch(slot);
    }

    fn next_round(&mut self, slot: u32) {
        let Some(live) = self.core.live[slot as usize].as_mut() else {
            return;
        };
        let mut w = Writer::default();
        w.put(b"fieldspar.ceremony.v2.transcript\0")
            .put(&live.transcript);
        w.u8(live.round);
        for (_, message) in live
            .messages
            .range((live.round, 0)..=(live.round, u16::MAX))
        {
            w.put(&message.hash);
        }
        live.transcript = keccak256(&w.0);
        self.deadlines.remove(&(live.deadline(), slot));
        live.round += 1;
        if live.round < live.begin.kind.rounds() {
            live.received = 0;
            self.deadlines.insert((live.deadline(), slot));
            return;
        }
        if !live.begin.kind.is_keygen() {
            self.end(slot, Outcome::Finished, [0; 32]);
            return;
        }
        let last = live.round - 1;
        let mut keys = (live.messages.range((last, 0)..)).map(|(_, m)| &m.payload[VIEW..]);
        let first = keys.next().unwrap_or_default();
        if keys.any(|key| key != first) {
            self.end(slot, Outcome::Disagreement, [0; 32]);
            return;
        }
        let key = GroupKey {
            kind: live.begin.kind,
            threshold: live.begin.threshold,
            members: live.members.clone(),
            group_key: first.to_vec(),
            source: live.id,
        };
        let id = self.add_key(key);
        self.end(slot, Outcome::Finished, id);
    }

    fn end(&mut self, slot: u32, outcome: Outcome, key: Digest) {
        let Some(live) = self.core.live[slot as usize].take() else {
            return;
        };
        self.deadlines.remove(&(live.deadline(), slot));
        let at = self.core.archive.len() as u32;
        self.places.insert(live.id, Place::Archived(at));
        self.core.archive.push(Archived {
            id: live.id,
            kind: live.begin.kind,
            outcome,
            round: live.round,
            received: live.received,
            transcript: live.transcript,
            arrivals: live.arrivals,
            key,
            messages: live
                .messages
                .iter()
                .map(|(&(round, index), message)| (round, index, message.hash))
                .collect(),
        });
        self.recent.keep(live);
        self.core.free.push(slot);
        self.touch(slot);
    }

    fn complain(&mut self, c: &Complaint, key: &PublicKey) -> Result<Answer, Reason> {
        let slot = match self.places.get(&c.ceremony) {
            None => return Err(Reason::UnknownCeremony),
            Some(Place::Archived(_)) => return Err(Reason::Ended),
            Some(&Place::Live(slot)) => slot,
        };
        let live = self.live_at(slot).ok_or(Reason::UnknownCeremony)?;
        self.check_signer(live, c.index, key)?;
        let Kind::FrostKeygen(suite) = live.begin.kind else {
            return Err(Reason::ComplaintTime);
        };
        if live.round != 2 || live.received >> c.index & 1 == 1 {
            return Err(Reason::ComplaintTime);
        }
        if c.sender >= live.total() || c.sender == c.index {
            return Err(Reason::Index {
                have: c.sender,
                total: live.total(),
            });
        }
        let payload = |round, index| {
            let message = live.messages.get(&(round, index));
            message.map_or(&[][..], |m| m.payload.as_slice())
        };
        if payload(0, c.index).get(..ONE_TIME_KEY) != Some(&one_time_key(&c.secret)) {
            return Err(Reason::ComplaintSecret);
        }
        // A sender's packages lie in the order of their recipients, the sender left out.
        let place = usize::from(c.index - u16::from(c.index > c.sender));
        let start = VIEW + place * SEALED;
        let package = payload(1, c.sender)
            .get(start..start + SEALED)
            .unwrap_or_default();
        let commitments = payload(0, c.sender)
            .get(ONE_TIME_KEY..)
            .and_then(|rest| rest.get(..usize::from(live.begin.threshold) * suite.element_len()))
            .unwrap_or_default();
        let route = Route {
            ceremony: live.id,
            sender: c.sender,
            recipient: c.index,
        };
        let good = open(&route, package, &c.secret)
            .is_some_and(|share| share_fits(suite, commitments, c.index, &share));
        let outcome = Outcome::Aborted {
            culprit: if good { c.index } else { c.sender },
            complainer: c.index,
            sender: c.sender,
        };
        self.end(slot, outcome, [0; 32]);
        Ok(accepted(c.ceremony))
    }
}

/// The name of a nonce commitment in the seen-set.
fn nonce_hash(key: &Digest, nonce: &[u8]) -> Digest {
    keccak256(&[&b"fieldspar.ceremony.v2.nonce\0"[..], key, nonce].concat())
}

/// Round, length, view and addresses.
fn check_payload(live: &Live, c: &Contribution) -> Result<(), Reason> {
    if c.round != live.round {
        return Err(Reason::Round {
            have: c.round,
            need: live.round,
        });
    }
    let total = live.total();
    let (least, most) = c.kind.payload_len(c.round, live.begin.threshold, total);
    let have = c.payload.len();
    if have < least || have > most {
        return Err(Reason::PayloadLength { have, least, most });
    }
    if c.round > 0 && c.payload[..VIEW] != live.transcript {
        return Err(Reason::Transcript);
    }
    if matches!(c.kind, Kind::FrostKeygen(_)) && c.round == 1 {
        let packages = c.payload[VIEW..].chunks(SEALED);
        let recipients = (0..total).filter(|&i| i != c.index);
        for (at, (package, recipient)) in (0..).zip(packages.zip(recipients)) {
            let named =
                package[..2] == c.index.to_le_bytes() && package[2..4] == recipient.to_le_bytes();
            if !named {
                return Err(Reason::SealedAddress { at });
            }
        }
    }
    Ok(())
}
