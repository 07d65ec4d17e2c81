//! Workloads for benchmarks.
#![forbid(unsafe_code)]

use ed25519_dalek::SigningKey;

use super::{Begin, Body, Contribution, Genesis, Kind, Operation, State};
use crate::{Digest, keccak256};

/// The network of every workload.
pub const NETWORK: [u8; 32] = [0x42; 32];

/// Participants of every ceremony.
pub const PARTIES: u16 = 3;

/// The operator's key: known to all, for benchmarks only.
#[must_use]
pub fn operator() -> SigningKey {
    SigningKey::from_bytes(&[1; 32])
}

/// A party's key: known to all, for benchmarks only.
#[must_use]
pub fn party(index: u16) -> SigningKey {
    SigningKey::from_bytes(&[2 + index as u8; 32])
}

/// What the workloads' states begin with.
#[must_use]
pub fn genesis() -> Genesis {
    Genesis {
        network: NETWORK,
        operator: operator().verifying_key().to_bytes(),
    }
}

/// The roster.
#[must_use]
pub fn members() -> Vec<Body> {
    (0..PARTIES)
        .map(|i| Body::AddMember {
            index: i.into(),
            key: party(i).verifying_key().to_bytes(),
        })
        .collect()
}

/// The `number`th ceremony: CGGMP key generation, for its messages may be of any length.
#[must_use]
pub fn begin(number: u64) -> Begin {
    Begin {
        kind: Kind::CggmpKeygen,
        salt: keccak256(&number.to_le_bytes()),
        threshold: 2,
        participants: (0..PARTIES.into()).collect(),
        deadlines: vec![u64::MAX; 3],
        key: [0; 32],
        message: Vec::new(),
    }
}

/// A message of the first round, `len` bytes.
#[must_use]
pub fn message(ceremony: Digest, index: u16, len: usize) -> Body {
    Body::Contribute(Contribution {
        ceremony,
        kind: Kind::CggmpKeygen,
        round: 0,
        index,
        payload: vec![index as u8; len],
    })
}

/// An operation whose signature is taken for granted and not there.
#[must_use]
pub fn unsigned(body: Body) -> Operation {
    let key = match &body {
        Body::Contribute(c) => party(c.index),
        _ => operator(),
    };
    Operation {
        body,
        key: key.verifying_key().to_bytes(),
        signature: super::Signature([0; 64]),
    }
}

/// A state with `count` ceremonies in progress, and their ids. Signatures are taken for granted.
#[must_use]
pub fn crowd(count: u64) -> (State, Vec<Digest>) {
    let mut state = State::new(genesis());
    for body in members() {
        state.apply(unsigned(body).trust());
    }
    let operator = unsigned(Body::Tick { now: 0 });
    let ids = (0..count)
        .map(|number| {
            let begin = begin(number);
            let id = begin.id(&NETWORK);
            let operation = Operation {
                body: Body::Begin(begin),
                ..operator.clone()
            };
            state.apply(operation.trust());
            id
        })
        .collect();
    (state, ids)
}
