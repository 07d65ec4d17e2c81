//! Parties, an operator and a state to try.

use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::complaint::{Route, one_time_key, seal};
use fieldspar_ceremony::rules::v2::*;

pub(crate) type Digest = [u8; 32];

pub(crate) const NETWORK: [u8; 32] = [0x4e; 32];

pub(crate) fn keccak(bytes: &[u8]) -> Digest {
    fieldspar_ceremony::keccak256(bytes)
}

#[track_caller]
pub(crate) fn reason(answer: Answer) -> Reason {
    match answer {
        Answer::Rejected { reason } => reason,
        Answer::Accepted { .. } => panic!("accepted"),
    }
}

/// A one-time secret.
pub(crate) fn secret(party: u16) -> [u8; 32] {
    [0x50 + party as u8; 32]
}

pub(crate) struct World {
    pub(crate) state: State,
    pub(crate) operator: SigningKey,
    pub(crate) keys: Vec<SigningKey>,
    salt: u64,
}

impl World {
    pub(crate) fn new(members: u32) -> Self {
        let operator = SigningKey::from_bytes(&[1; 32]);
        let genesis = Genesis {
            network: NETWORK,
            operator: operator.verifying_key().to_bytes(),
        };
        let keys: Vec<SigningKey> = (0..members)
            .map(|i| SigningKey::from_bytes(&[10 + i as u8; 32]))
            .collect();
        let mut world = Self {
            state: State::new(genesis),
            operator,
            keys: keys.clone(),
            salt: 0,
        };
        for (index, key) in (0..).zip(&keys) {
            let key = key.verifying_key().to_bytes();
            assert!(world.operate(Body::AddMember { index, key }).is_accepted());
        }
        world
    }

    /// Plays an operation as it would come from outside: through its bytes and its signature.
    pub(crate) fn play(&mut self, operation: Operation) -> Answer {
        // What is longer than any operation is refused before, as bytes; here it goes on.
        match Operation::from_bytes(&operation.to_bytes()) {
            Ok(read) => assert_eq!(read, operation),
            Err(error) => assert!(matches!(error, WireError::TooLong { .. }), "{error}"),
        }
        let before = self.state.operations();
        let answer = self.state.apply(operation.authenticate(&NETWORK).unwrap());
        let changed = self.state.operations() - before;
        if let Answer::Accepted { again, .. } = answer {
            assert_eq!(changed, u64::from(!again));
        }
        answer
    }

    pub(crate) fn operate(&mut self, body: Body) -> Answer {
        let operation = body.sign(&NETWORK, &self.operator);
        self.play(operation)
    }

    pub(crate) fn tick(&mut self, now: u64) {
        assert!(self.play(Operation::tick(now)).is_accepted());
    }

    pub(crate) fn form(
        &mut self,
        kind: Kind,
        threshold: u16,
        participants: &[u32],
        key: Digest,
        message: &[u8],
    ) -> Begin {
        self.salt += 1;
        let mut salt = [0; 32];
        salt[..8].copy_from_slice(&self.salt.to_le_bytes());
        let now = self.state.now();
        Begin {
            kind,
            salt,
            threshold,
            participants: participants.to_vec(),
            deadlines: (1..=u64::from(kind.rounds()))
                .map(|round| now + 1_000 * round)
                .collect(),
            key,
            message: message.to_vec(),
        }
    }

    pub(crate) fn begin(
        &mut self,
        kind: Kind,
        threshold: u16,
        participants: &[u32],
        key: Digest,
        message: &[u8],
    ) -> Digest {
        let begin = self.form(kind, threshold, participants, key, message);
        match self.operate(Body::Begin(begin)) {
            Answer::Accepted { id, again: false } => id,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn message(
        &self,
        id: &Digest,
        round: u8,
        index: u16,
        payload: &[u8],
        member: usize,
    ) -> Operation {
        let live = self.state.ceremony(id).map(|live| live.begin.kind);
        let kind = live
            .or_else(|| Some(self.state.archived(id)?.kind))
            .unwrap();
        let contribution = Contribution {
            ceremony: *id,
            kind,
            round,
            index,
            payload: payload.to_vec(),
        };
        Body::Contribute(contribution).sign(&NETWORK, &self.keys[member])
    }

    pub(crate) fn say(
        &mut self,
        id: &Digest,
        round: u8,
        index: u16,
        payload: &[u8],
        member: usize,
    ) -> Answer {
        let message = self.message(id, round, index, payload, member);
        self.play(message)
    }

    /// The current round's message of a party, with the view where one belongs.
    fn speak(&mut self, id: &Digest, index: u16, rest: &[u8]) -> Answer {
        let live = self.state.ceremony(id).unwrap();
        let (round, member) = (live.round, live.members[index as usize] as usize);
        let view = live.transcript;
        let payload = if round == 0 {
            rest.to_vec()
        } else {
            [&view[..], rest].concat()
        };
        self.say(id, round, index, &payload, member)
    }

    #[track_caller]
    pub(crate) fn give(&mut self, id: &Digest, index: u16, rest: &[u8]) {
        let answer = self.speak(id, index, rest);
        assert!(
            matches!(answer, Answer::Accepted { again: false, .. }),
            "{answer:?}"
        );
    }

    #[track_caller]
    pub(crate) fn refused(&mut self, id: &Digest, index: u16, rest: &[u8]) -> Reason {
        reason(self.speak(id, index, rest))
    }

    /// A first message of the right length.
    pub(crate) fn round0(suite: Suite, threshold: u16, party: u16) -> Vec<u8> {
        let rest = usize::from(threshold) * suite.element_len() + suite.proof_len();
        [
            one_time_key(&secret(party)).to_vec(),
            vec![party as u8; rest],
        ]
        .concat()
    }

    /// A party's packages, with shares that mean nothing.
    pub(crate) fn round1(&self, id: &Digest, sender: u16) -> Vec<u8> {
        let total = self.state.ceremony(id).unwrap().total();
        packages(id, sender, total, |_| [9; 32])
    }

    pub(crate) fn keygen(&mut self, suite: Suite, threshold: u16, who: &[u32]) -> Digest {
        let id = self.begin(Kind::FrostKeygen(suite), threshold, who, [0; 32], &[]);
        let total = who.len() as u16;
        for i in 0..total {
            self.give(&id, i, &Self::round0(suite, threshold, i));
        }
        for i in 0..total {
            let packages = self.round1(&id, i);
            self.give(&id, i, &packages);
        }
        for i in 0..total {
            self.give(&id, i, &vec![3; suite.element_len()]);
        }
        id
    }

    pub(crate) fn sign(
        &mut self,
        suite: Suite,
        key: Digest,
        who: &[u32],
        first_nonce: u8,
    ) -> Digest {
        let at = self
            .state
            .keys()
            .iter()
            .find(|k| k.id(&NETWORK) == key)
            .unwrap();
        let threshold = at.threshold;
        let id = self.begin(Kind::FrostSign(suite), threshold, who, key, b"message");
        let total = who.len() as u16;
        for i in 0..total {
            let nonce = first_nonce + 2 * i as u8;
            let pair = [
                vec![nonce; suite.element_len()],
                vec![nonce + 1; suite.element_len()],
            ];
            self.give(&id, i, &pair.concat());
        }
        for i in 0..total {
            self.give(&id, i, &[i as u8; 32]);
        }
        id
    }

    pub(crate) fn complain(
        &mut self,
        id: &Digest,
        index: u16,
        sender: u16,
        secret: [u8; 32],
    ) -> Answer {
        self.complain_as(id, index, sender, secret, index as usize)
    }

    pub(crate) fn complain_as(
        &mut self,
        id: &Digest,
        index: u16,
        sender: u16,
        secret: [u8; 32],
        member: usize,
    ) -> Answer {
        let complaint = Complaint {
            ceremony: *id,
            index,
            sender,
            secret,
        };
        let operation = Body::Complain(complaint).sign(&NETWORK, &self.keys[member]);
        self.play(operation)
    }
}

fn packages(id: &Digest, sender: u16, total: u16, share: impl Fn(u16) -> [u8; 32]) -> Vec<u8> {
    (0..total)
        .filter(|&recipient| recipient != sender)
        .flat_map(|recipient| {
            let route = Route {
                ceremony: *id,
                sender,
                recipient,
            };
            let ephemeral = [1 + sender as u8 * 16 + recipient as u8; 32];
            seal(
                &route,
                &one_time_key(&secret(recipient)),
                &ephemeral,
                &share(recipient),
            )
            .unwrap()
        })
        .collect()
}

/// What is wrong with a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A share off the polynomial.
    Share,
    /// A package that does not open.
    Box,
    /// A commitment that is no element.
    Commitment,
}

/// Real polynomials, by the suites' own libraries: coefficients are small numbers.
pub(crate) struct Polynomials {
    suite: Suite,
    total: u16,
    coefficients: Vec<Vec<u64>>,
}

impl Polynomials {
    pub(crate) fn new(suite: Suite, total: u16, threshold: u16) -> Self {
        let coefficients = (0..u64::from(total))
            .map(|i| {
                (0..u64::from(threshold))
                    .map(|k| 1_000 + 77 * i + k)
                    .collect()
            })
            .collect();
        Self {
            suite,
            total,
            coefficients,
        }
    }

    fn element(&self, x: u64) -> Vec<u8> {
        use curve25519_dalek::{EdwardsPoint, RistrettoPoint, scalar::Scalar};
        use k256::elliptic_curve::sec1::ToSec1Point;
        match self.suite {
            Suite::Ed25519 => EdwardsPoint::mul_base(&Scalar::from(x))
                .compress()
                .0
                .to_vec(),
            Suite::Ristretto255 => RistrettoPoint::mul_base(&Scalar::from(x))
                .compress()
                .0
                .to_vec(),
            Suite::Secp256k1 | Suite::Secp256k1Tr => {
                let point = k256::ProjectivePoint::GENERATOR * k256::Scalar::from(x);
                point.to_affine().to_sec1_point(true).as_bytes().to_vec()
            }
        }
    }

    fn scalar(&self, x: u64) -> [u8; 32] {
        let mut bytes = [0; 32];
        match self.suite {
            Suite::Ed25519 | Suite::Ristretto255 => bytes[..8].copy_from_slice(&x.to_le_bytes()),
            _ => bytes[24..].copy_from_slice(&x.to_be_bytes()),
        }
        bytes
    }

    pub(crate) fn round0(&self, party: u16, fault: Fault) -> Vec<u8> {
        let mut message = one_time_key(&secret(party)).to_vec();
        for &c in &self.coefficients[party as usize] {
            message.extend(self.element(c));
        }
        if fault == Fault::Commitment {
            message[32..32 + self.suite.element_len()].fill(0xff);
        }
        message.extend(vec![0; self.suite.proof_len()]);
        message
    }

    pub(crate) fn round1(&self, id: &Digest, sender: u16, fault: Fault) -> Vec<u8> {
        let mut message = packages(id, sender, self.total, |recipient| {
            let i = u64::from(recipient) + 1;
            let share = self.coefficients[sender as usize]
                .iter()
                .rev()
                .fold(0, |acc, c| acc * i + c);
            self.scalar(share + u64::from(fault == Fault::Share))
        });
        if fault == Fault::Box {
            message[SEALED - 1] ^= 1;
        }
        message
    }
}
