//! Version 2: whole ceremonies, and every attack that is known.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

#[path = "v2/attacks.rs"]
mod attacks;
#[path = "v2/common.rs"]
mod common;

use common::*;
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::complaint::{Route, one_time_key, open, seal, share_fits};
use fieldspar_ceremony::rules::v2::*;
use proptest::prelude::*;

#[test]
fn a_key_generation_and_a_signature_to_the_end() {
    for suite in Suite::ALL {
        let mut world = World::new(5);
        let id = world.keygen(suite, 3, &[0, 1, 2, 3, 4]);
        let archived = world.state.archived(&id).unwrap().clone();
        assert_eq!(archived.outcome, Outcome::Finished);
        assert_ne!(archived.key, [0; 32]);
        assert_eq!(world.state.keys()[0].source, id);
        let sign = world.sign(suite, archived.key, &[0, 2, 4], 1);
        assert_eq!(
            world.state.archived(&sign).unwrap().outcome,
            Outcome::Finished
        );
        // Slots are used again: never more than one at a time was needed.
        assert_eq!(world.state.live().count(), 0);
        let StateRoot { header, .. } = world.state.root();
        let live = verifier::tree_of_state(keccak, &world.state.root().root, &header, 2).unwrap();
        assert_eq!(live.0, 1);
    }
}

#[test]
fn envelopes_go_through_their_rounds() {
    for (keygen, sign) in [
        (Kind::CggmpKeygen, Kind::CggmpSign),
        (Kind::CoronaKeygen, Kind::CoronaSign),
    ] {
        let mut world = World::new(3);
        let id = world.begin(keygen, 2, &[0, 1, 2], [0; 32], &[]);
        for round in 0..keygen.rounds() {
            let last = round + 1 == keygen.rounds();
            for i in 0..3 {
                let len = if last { keygen.key_len() } else { 100 };
                world.give(&id, i, &vec![7; len]);
            }
        }
        let key = world.state.archived(&id).unwrap().key;
        let id = world.begin(sign, 2, &[1, 2], key, b"pay");
        for _ in 0..sign.rounds() {
            world.give(&id, 0, b"opaque");
            world.give(&id, 1, b"opaque too");
        }
        assert_eq!(
            world.state.archived(&id).unwrap().outcome,
            Outcome::Finished
        );
    }
}

#[test]
fn keys_are_imported() {
    let mut world = World::new(3);
    let key = ImportKey {
        kind: Kind::FrostKeygen(Suite::Secp256k1Tr),
        threshold: 2,
        members: vec![2, 0, 1],
        group_key: vec![2; 33],
    };
    let bad = |change: fn(&mut ImportKey)| {
        let mut key = key.clone();
        change(&mut key);
        Body::ImportKey(key)
    };
    assert_eq!(
        reason(world.operate(bad(|k| k.group_key.truncate(32)))),
        Reason::KindMismatch
    );
    assert_eq!(
        reason(world.operate(bad(|k| k.kind = Kind::FrostSign(Suite::Ed25519)))),
        Reason::KindMismatch
    );
    assert!(matches!(
        reason(world.operate(bad(|k| k.threshold = 4))),
        Reason::Threshold { .. }
    ));
    assert!(matches!(
        reason(world.operate(bad(|k| k.members[0] = 7))),
        Reason::UnknownMember { .. }
    ));
    let Answer::Accepted { id, again: false } = world.operate(Body::ImportKey(key.clone())) else {
        panic!()
    };
    assert!(matches!(
        world.operate(Body::ImportKey(key)),
        Answer::Accepted { again: true, .. }
    ));
    let sign = world.sign(Suite::Secp256k1Tr, id, &[0, 2], 1);
    assert_eq!(
        world.state.archived(&sign).unwrap().outcome,
        Outcome::Finished
    );
}

#[test]
fn the_roster_only_grows() {
    let mut world = World::new(2);
    let add = |index, key| Body::AddMember { index, key };
    let first = world.state.members()[0];
    assert_eq!(
        reason(world.operate(add(2, first))),
        Reason::MemberExists { at: 0 }
    );
    assert_eq!(
        reason(world.operate(add(3, [8; 32]))),
        Reason::RosterPlace { next: 2, have: 3 }
    );
    assert_eq!(
        reason(world.operate(add(1, first))),
        Reason::RosterPlace { next: 2, have: 1 }
    );
    // The identity, of small order.
    let mut identity = [0; 32];
    identity[0] = 1;
    assert_eq!(
        reason(world.operate(add(2, identity))),
        Reason::BadMemberKey
    );
    assert!(matches!(
        world.operate(add(0, first)),
        Answer::Accepted { again: true, .. }
    ));
    // An operation for another network is none.
    let key = SigningKey::from_bytes(&[77; 32]).verifying_key().to_bytes();
    let elsewhere = add(2, key).sign(&[9; 32], &world.operator);
    assert_eq!(elsewhere.authenticate(&NETWORK), Err(BadSignature));
}

#[test]
fn proofs_hold_and_changed_ones_do_not() {
    let mut world = World::new(3);
    let mut ids = Vec::new();
    for _ in 0..9 {
        ids.push(world.begin(Kind::CoronaKeygen, 2, &[0, 1, 2], [0; 32], &[]));
    }
    for id in &ids[..5] {
        world.operate(Body::Cancel { ceremony: *id });
    }
    let early = world.state.root();
    for id in &ids {
        let proof = world.state.prove(id).unwrap();
        assert!(proof.holds());
        assert_eq!(proof.leaf[..32], *id);
        let mut bad = proof.clone();
        bad.leaf[33] ^= 1;
        assert!(!bad.holds());
        let mut bad = proof.clone();
        bad.index += 1;
        assert!(!bad.holds());
        let mut bad = proof.clone();
        bad.header[60] ^= 1;
        assert!(!bad.holds());
        let text = serde_json::to_string(&proof).unwrap();
        assert_eq!(serde_json::from_str::<Inclusion>(&text).unwrap(), proof);
    }
    assert_eq!(world.state.prove(&[3; 32]), None);
    for id in &ids[5..] {
        world.operate(Body::Cancel { ceremony: *id });
    }
    let (size, root) = verifier::tree_of_state(keccak, &early.root, &early.header, 3).unwrap();
    assert_eq!(size, 5);
    let proof = world.state.prove_consistency(TreeName::Archive, 5).unwrap();
    assert!(proof.holds());
    assert_eq!(proof.old_root, fieldspar_ceremony::hex::encode(&root));
    let mut bad = proof;
    bad.old_size = 6;
    assert!(!bad.holds());
    assert_eq!(world.state.prove_consistency(TreeName::Live, 1), None);
}

#[test]
fn packages_open_only_for_their_recipient() {
    let route = Route {
        ceremony: [1; 32],
        sender: 0,
        recipient: 1,
    };
    let package = seal(&route, &one_time_key(&[5; 32]), &[6; 32], &[7; 32]).unwrap();
    assert_eq!(open(&route, &package, &[5; 32]), Some([7; 32]));
    assert_eq!(open(&route, &package, &[4; 32]), None);
    for other in [
        Route {
            ceremony: [2; 32],
            ..route
        },
        Route { sender: 2, ..route },
        Route {
            recipient: 2,
            ..route
        },
    ] {
        assert_eq!(open(&other, &package, &[5; 32]), None);
    }
    for at in 4..SEALED {
        let mut bad = package;
        bad[at] ^= 1;
        assert_eq!(open(&route, &bad, &[5; 32]), None, "{at}");
    }
    assert_eq!(open(&route, &package[1..], &[5; 32]), None);
    assert!(seal(&route, &[0; 32], &[6; 32], &[7; 32]).is_none());
    assert!(!share_fits(Suite::Ed25519, &[], 0, &[0; 32]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever comes: a rejection changes nothing but evidence, the root kept up to date is that of
    /// the state built anew, and what is built anew goes on in the same way.
    #[test]
    fn random_operations_keep_the_state_whole(
        steps in prop::collection::vec((0..8_u8, 0..4_usize, 0..3_u16, 0..3_u8, 0..3_u8), 1..80),
    ) {
        let mut world = World::new(3);
        let key = ImportKey {
            kind: Kind::FrostKeygen(Suite::Ed25519),
            threshold: 2,
            members: vec![0, 1, 2],
            group_key: vec![5; 32],
        };
        let Answer::Accepted { id: key, .. } = world.operate(Body::ImportKey(key)) else {
            panic!("refused");
        };
        let mut ids = vec![[0; 32]; 4];
        let mut twin = State::from_bytes(&world.state.to_bytes().unwrap()).unwrap();
        for (what, which, index, round, fill) in steps {
            let id = ids[which];
            let live = world.state.ceremony(&id).cloned();
            let operation = match (what, live) {
                (0, _) => {
                    let (kind, key, text) = match which % 2 {
                        0 => (Kind::FrostSign(Suite::Ed25519), key, &b"text"[..]),
                        _ => (Kind::CoronaKeygen, [0; 32], &b""[..]),
                    };
                    let begin = world.form(kind, 2, &[0, 1, 2], key, text);
                    ids[which] = begin.id(&NETWORK);
                    Body::Begin(begin).sign(&NETWORK, &world.operator)
                }
                (1, _) => Body::Cancel { ceremony: id }.sign(&NETWORK, &world.operator),
                (2, _) => Operation::tick(world.state.now() + 400 * u64::from(fill)),
                (_, Some(live)) => {
                    // Mostly the right round, sometimes the right bytes, sometimes another's key.
                    let round = if what < 7 { live.round } else { round };
                    let sign = matches!(live.begin.kind, Kind::FrostSign(_));
                    let mut payload = match (sign, round) {
                        (true, 0) => [[fill + index as u8; 32], [100 + fill + index as u8; 32]].concat(),
                        _ => vec![fill; 32],
                    };
                    if round > 0 {
                        payload = [&live.transcript[..], &payload].concat();
                    }
                    let member = if what == 6 { 0 } else { index.into() };
                    world.message(&id, round, index, &payload, member)
                }
                _ => continue,
            };
            let before = (world.state.root().root, world.state.evidence().len());
            let answer = world.play(operation.clone());
            let root = world.state.root();
            let unchanged = matches!(answer, Answer::Rejected { .. } | Answer::Accepted { again: true, .. });
            if unchanged && world.state.evidence().len() == before.1 {
                prop_assert_eq!(root.root, before.0);
            } else {
                prop_assert_ne!(root.root, before.0);
            }
            prop_assert_eq!(twin.apply(operation.authenticate(&NETWORK).unwrap()), answer);
            prop_assert_eq!(twin.root(), root);
            let mut again = State::from_bytes(&world.state.to_bytes().unwrap()).unwrap();
            prop_assert_eq!(again.root(), root);
            twin = again;
        }
        for id in ids {
            if let Some(proof) = world.state.prove(&id) {
                prop_assert!(proof.holds());
            }
        }
    }
}
