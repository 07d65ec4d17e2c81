//! A store, an operator and parties that send what they are told to.

use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::complaint::{Route, one_time_key, seal};
use fieldspar_ceremony::rules::v2::*;
use fieldspar_ceremony::store::{FileDisk, Reply, Store};
use fieldspar_ceremony::verify::transcript::{Transcript, verify_transcript};
use frost_core as theirs;
use tempfile::TempDir;

use crate::parties::{Generated, Signed};

pub(crate) type Digest = [u8; 32];

const NETWORK: [u8; 32] = [0x4e; 32];

fn secret(party: u16) -> [u8; 32] {
    [0x50 + party as u8; 32]
}

pub(crate) struct World {
    pub(crate) folder: TempDir,
    store: Store<FileDisk>,
    operator: SigningKey,
    keys: Vec<SigningKey>,
    salt: u8,
}

impl World {
    pub(crate) fn new(members: u8) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let operator = SigningKey::from_bytes(&[1; 32]);
        let genesis = Genesis {
            network: NETWORK,
            operator: operator.verifying_key().to_bytes(),
        };
        let keys: Vec<SigningKey> = (0..members)
            .map(|i| SigningKey::from_bytes(&[10 + i; 32]))
            .collect();
        let mut world = Self {
            store: Store::create(folder.path(), genesis).unwrap(),
            folder,
            operator,
            keys: keys.clone(),
            salt: 0,
        };
        for (index, key) in (0..).zip(&keys) {
            let key = key.verifying_key().to_bytes();
            world.operate(Body::AddMember { index, key });
        }
        world
    }

    pub(crate) fn verify(&self) -> Transcript {
        verify_transcript(self.folder.path()).unwrap()
    }

    pub(crate) fn state(&self) -> &State {
        self.store.state()
    }

    pub(crate) fn root(&mut self) -> Digest {
        self.store.state_mut().root().root
    }

    pub(crate) fn operate(&mut self, body: Body) -> Digest {
        let operation = body.sign(&NETWORK, &self.operator);
        self.submit(operation)
    }

    #[track_caller]
    fn submit(&mut self, operation: Operation) -> Digest {
        match self.store.submit_one(operation).unwrap() {
            Reply::Answered(Answer::Accepted { id, again: false }) => id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn tick(&mut self, now: u64) {
        self.submit(Operation::tick(now));
    }

    pub(crate) fn begin(
        &mut self,
        kind: Kind,
        threshold: u16,
        participants: &[u32],
        key: Digest,
        message: &[u8],
    ) -> Digest {
        self.salt += 1;
        let now = self.store.state().now();
        self.operate(Body::Begin(Begin {
            kind,
            salt: [self.salt; 32],
            threshold,
            participants: participants.to_vec(),
            deadlines: (1..=u64::from(kind.rounds()))
                .map(|round| now + 1000 * round)
                .collect(),
            key,
            message: message.to_vec(),
        }))
    }

    fn contribution(&self, id: &Digest, index: u16, rest: &[u8]) -> Operation {
        let live = self.store.state().ceremony(id).unwrap();
        let view = if live.round == 0 {
            &[][..]
        } else {
            &live.transcript
        };
        let body = Body::Contribute(Contribution {
            ceremony: *id,
            kind: live.begin.kind,
            round: live.round,
            index,
            payload: [view, rest].concat(),
        });
        let member = live.members[usize::from(index)] as usize;
        body.sign(&NETWORK, &self.keys[member])
    }

    #[track_caller]
    pub(crate) fn give(&mut self, id: &Digest, index: u16, rest: &[u8]) {
        let operation = self.contribution(id, index, rest);
        self.submit(operation);
    }

    /// Another message for the same place: refused, and kept as evidence.
    pub(crate) fn contradict(&mut self, id: &Digest, index: u16, rest: &[u8]) {
        let operation = self.contribution(id, index, rest);
        let reply = self.store.submit_one(operation).unwrap();
        let reason = Reason::Equivocation;
        assert_eq!(reply, Reply::Answered(Answer::Rejected { reason }));
    }

    pub(crate) fn complain(&mut self, id: &Digest, index: u16, sender: u16) {
        let body = Body::Complain(Complaint {
            ceremony: *id,
            index,
            sender,
            secret: secret(index),
        });
        let member = self.store.state().ceremony(id).unwrap().members[usize::from(index)];
        let operation = body.sign(&NETWORK, &self.keys[member as usize]);
        self.submit(operation);
    }

    /// Rounds 1 and 2 of a key generation; `change` may spoil a party's first message or the shares
    /// that it sends.
    pub(crate) fn keygen_to_round_3<C: theirs::Ciphersuite>(
        &mut self,
        suite: Suite,
        made: &Generated<C>,
        who: &[u32],
        change: impl Fn(u16, &mut Vec<u8>),
        spoil_share: impl Fn(u16, u16, &mut [u8; 32]),
    ) -> Digest {
        let kind = Kind::FrostKeygen(suite);
        let id = self.begin(kind, made.threshold, who, [0; 32], &[]);
        let n = who.len() as u16;
        for i in 0..n {
            let mut message = made.message(i);
            change(i, &mut message);
            self.give(&id, i, &[&one_time_key(&secret(i))[..], &message].concat());
        }
        for sender in 0..n {
            let mut sealed = Vec::new();
            for recipient in (0..n).filter(|r| *r != sender) {
                let mut share = made.shares[&(sender, recipient)];
                spoil_share(sender, recipient, &mut share);
                let route = Route {
                    ceremony: id,
                    sender,
                    recipient,
                };
                let ephemeral = [0x90 + sender as u8; 32];
                let key = one_time_key(&secret(recipient));
                sealed.extend(seal(&route, &key, &ephemeral, &share).unwrap());
            }
            self.give(&id, sender, &sealed);
        }
        id
    }

    /// A whole key generation; its id and that of the key.
    pub(crate) fn keygen<C: theirs::Ciphersuite>(
        &mut self,
        suite: Suite,
        made: &Generated<C>,
        who: &[u32],
    ) -> (Digest, Digest) {
        let id = self.keygen_to_round_3(suite, made, who, |_, _| {}, |_, _, _| {});
        for i in 0..who.len() as u16 {
            self.give(&id, i, &made.key_bytes());
        }
        (id, self.store.state().archived(&id).unwrap().key)
    }

    /// A whole signing.
    pub(crate) fn sign<C: theirs::Ciphersuite>(
        &mut self,
        suite: Suite,
        key: Digest,
        threshold: u16,
        signers: &[u16],
        message: &[u8],
        signed: &Signed<C>,
    ) -> Digest {
        let participants: Vec<u32> = signers.iter().map(|&i| i.into()).collect();
        let kind = Kind::FrostSign(suite);
        let id = self.begin(kind, threshold, &participants, key, message);
        for (i, commitments) in (0..).zip(&signed.commitments) {
            self.give(&id, i, commitments);
        }
        for (i, share) in (0..).zip(&signed.shares) {
            self.give(&id, i, share);
        }
        id
    }
}
