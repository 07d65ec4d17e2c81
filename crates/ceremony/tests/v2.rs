//! Version 2: whole ceremonies, and every attack that is known.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

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

// The rows are those of docs/ceremony-v2.md.

/// Row 1: commitments of another length than the threshold.
#[test]
fn commitments_longer_or_shorter_than_the_threshold() {
    let mut world = World::new(3);
    let id = world.begin(
        Kind::FrostKeygen(Suite::Ed25519),
        2,
        &[0, 1, 2],
        [0; 32],
        &[],
    );
    for elements in [1, 3] {
        let reason = world.refused(&id, 0, &vec![1; 32 + elements * 32 + 64]);
        assert_eq!(
            reason,
            Reason::PayloadLength {
                have: 96 + 32 * elements,
                least: 160,
                most: 160
            }
        );
    }
}

/// Rows 2 and 3: ids twice, and shapes that cannot work.
#[test]
fn impossible_shapes_do_not_begin() {
    let mut world = World::new(4);
    let keygen = Kind::FrostKeygen(Suite::Secp256k1);
    let refuse = |world: &mut World, t, who: &[u32]| {
        let begin = world.form(keygen, t, who, [0; 32], &[]);
        reason(world.operate(Body::Begin(begin)))
    };
    assert_eq!(
        refuse(&mut world, 2, &[0, 1, 0]),
        Reason::ParticipantOrder { at: 2 }
    );
    assert_eq!(
        refuse(&mut world, 2, &[0, 1, 9]),
        Reason::UnknownMember { place: 9 }
    );
    assert_eq!(
        refuse(&mut world, 4, &[0, 1, 2]),
        Reason::Threshold { have: 4, most: 3 }
    );
    assert_eq!(
        refuse(&mut world, 1, &[0, 1, 2]),
        Reason::Threshold { have: 1, most: 3 }
    );
    assert_eq!(
        refuse(&mut world, 0, &[0, 1, 2]),
        Reason::Threshold { have: 0, most: 3 }
    );
    assert!(matches!(
        refuse(&mut world, 2, &[0]),
        Reason::Participants { have: 1, .. }
    ));
    assert!(matches!(
        refuse(&mut world, 2, &[]),
        Reason::Participants { have: 0, .. }
    ));
    let mut begin = world.form(keygen, 2, &[0, 1], [0; 32], &[]);
    begin.participants = vec![0; 129];
    assert!(matches!(
        reason(world.operate(Body::Begin(begin.clone()))),
        Reason::Participants { have: 129, .. }
    ));
    begin.participants = vec![0, 1];
    begin.deadlines.pop();
    assert!(matches!(
        reason(world.operate(Body::Begin(begin.clone()))),
        Reason::Deadlines { have: 2, need: 3 }
    ));
    begin.deadlines = vec![10, 9, 11];
    assert_eq!(
        reason(world.operate(Body::Begin(begin))),
        Reason::DeadlineOrder { round: 1 }
    );
    let id = world.begin(keygen, 2, &[0, 1], [0; 32], &[]);
    let reason = world.say(&id, 0, 5, &[0; 10], 0);
    assert_eq!(common::reason(reason), Reason::Index { have: 5, total: 2 });
}

/// Row 4: an index belongs to a key.
#[test]
fn nobody_speaks_for_another() {
    let mut world = World::new(3);
    let id = world.begin(Kind::FrostKeygen(Suite::Ed25519), 2, &[2, 1], [0; 32], &[]);
    // Member 1 is participant 1, and member 0 is none.
    for stranger in [0, 1] {
        let answer = world.say(&id, 0, 0, &[1; 160], stranger);
        assert_eq!(reason(answer), Reason::WrongSigner { index: 0 });
    }
    // A signature of another key than the one that is claimed.
    let mut forged = world.message(&id, 0, 0, &[1; 160], 1);
    forged.key = world.keys[2].verifying_key().to_bytes();
    assert_eq!(forged.authenticate(&NETWORK), Err(BadSignature));
    // Only the operator begins, cancels, adds.
    for body in [
        Body::Cancel { ceremony: id },
        Body::AddMember {
            index: 3,
            key: [9; 32],
        },
        Body::Begin(world.form(Kind::CggmpKeygen, 2, &[0, 1], [0; 32], &[])),
    ] {
        let operation = body.sign(&NETWORK, &world.keys[0]);
        assert_eq!(reason(world.play(operation)), Reason::NotTheOperator);
    }
}

/// Row 5: bytes of an earlier ceremony, or of an earlier round.
#[test]
fn messages_fit_one_place_only() {
    let mut world = World::new(2);
    let kind = Kind::FrostKeygen(Suite::Ed25519);
    let first = world.begin(kind, 2, &[0, 1], [0; 32], &[]);
    let second = world.begin(kind, 2, &[0, 1], [0; 32], &[]);
    let payload = World::round0(Suite::Ed25519, 2, 0);
    let message = world.message(&first, 0, 0, &payload, 0);
    assert!(world.play(message.clone()).is_accepted());
    // Moved to the other ceremony, another kind or another round, the signature is void.
    let moves: [fn(&mut Contribution, [u8; 32]); 4] = [
        |c, id| c.ceremony = id,
        |c, _| c.kind = Kind::FrostKeygen(Suite::Ristretto255),
        |c, _| c.round = 1,
        |c, _| c.index = 1,
    ];
    for change in moves {
        let mut moved = message.clone();
        let Body::Contribute(c) = &mut moved.body else {
            unreachable!()
        };
        change(c, second);
        assert_eq!(moved.authenticate(&NETWORK), Err(BadSignature));
    }
    // Signed again for the other ceremony, a later round's message carries the wrong view.
    world.give(&first, 1, &payload);
    for i in 0..2 {
        world.give(&second, i, &World::round0(Suite::Ed25519, 2, i + 5));
    }
    let view = world.state.ceremony(&first).unwrap().transcript;
    let sealed = world.round1(&first, 0);
    let answer = world.say(&second, 1, 0, &[&view[..], &sealed].concat(), 0);
    assert_eq!(reason(answer), Reason::Transcript);
}

/// Row 6: fewer signers than the threshold, or others than were chosen.
#[test]
fn exactly_the_chosen_signers_sign() {
    let mut world = World::new(4);
    let id = world.keygen(Suite::Ed25519, 3, &[0, 1, 2, 3]);
    let key = world.state.archived(&id).unwrap().key;
    let kind = Kind::FrostSign(Suite::Ed25519);
    for (t, who, want) in [
        (
            3,
            &[0, 1][..],
            Reason::Participants {
                have: 2,
                least: 3,
                most: 4,
            },
        ),
        (2, &[0, 1], Reason::Threshold { have: 2, most: 3 }),
        (3, &[0, 2, 1], Reason::ParticipantOrder { at: 2 }),
        (3, &[0, 1, 1], Reason::ParticipantOrder { at: 2 }),
        (3, &[0, 1, 4], Reason::Index { have: 4, total: 4 }),
    ] {
        let begin = world.form(kind, t, who, key, b"message");
        assert_eq!(reason(world.operate(Body::Begin(begin))), want);
    }
    let other = world.form(
        Kind::FrostSign(Suite::Secp256k1),
        3,
        &[0, 1, 2],
        key,
        b"message",
    );
    assert_eq!(
        reason(world.operate(Body::Begin(other))),
        Reason::KindMismatch
    );
    let unknown = world.form(kind, 3, &[0, 1, 2], [1; 32], b"message");
    assert_eq!(
        reason(world.operate(Body::Begin(unknown))),
        Reason::UnknownKey
    );
    let id = world.begin(kind, 3, &[0, 1, 2], key, b"message");
    // Member 3 holds a share and was not chosen.
    assert!(matches!(
        reason(world.say(&id, 0, 3, &[1; 64], 3)),
        Reason::Index { .. }
    ));
    // With one missing the round does not end.
    world.give(&id, 0, &[[1; 32], [2; 32]].concat());
    assert_eq!(world.state.ceremony(&id).unwrap().awaited(), 0b110);
}

/// Rows 7 and 14: a coordinator that shows two views gets signatures that contradict its root.
#[test]
fn a_split_view_is_exposed() {
    let mut honest = World::new(2);
    let mut split = World::new(2);
    let kind = Kind::FrostKeygen(Suite::Ed25519);
    let id = honest.begin(kind, 2, &[0, 1], [0; 32], &[]);
    assert_eq!(split.begin(kind, 2, &[0, 1], [0; 32], &[]), id);
    for i in 0..2 {
        honest.give(&id, i, &World::round0(Suite::Ed25519, 2, i));
        // Party 1 is shown something else of party 0.
        split.give(&id, i, &World::round0(Suite::Ed25519, 2, i + 7 * (1 - i)));
    }
    let view = split.state.ceremony(&id).unwrap().transcript;
    let sealed = honest.round1(&id, 1);
    let message = honest.message(&id, 1, 1, &[&view[..], &sealed].concat(), 1);
    let answer = honest.play(message.clone());
    assert_eq!(reason(answer), Reason::Transcript);
    // Anyone sees it: party 1 has signed a view that is not the one under the root.
    message.clone().authenticate(&NETWORK).unwrap();
    let Body::Contribute(said) = &message.body else {
        unreachable!()
    };
    let proof = honest.state.prove(&id).unwrap();
    assert!(proof.holds());
    assert_ne!(said.payload[..VIEW], proof.leaf[50..82]);
    assert_ne!(honest.state.root().root, split.state.root().root);
}

/// Row 8: a nonce commitment is used once, whatever became of its ceremony.
#[test]
fn nonces_are_used_once_under_a_key() {
    let mut world = World::new(3);
    let keygen = world.keygen(Suite::Ed25519, 2, &[0, 1, 2]);
    let key = world.state.archived(&keygen).unwrap().key;
    let kind = Kind::FrostSign(Suite::Ed25519);
    let nonces = |d: u8, e: u8| [[d; 32], [e; 32]].concat();
    let cancelled = world.begin(kind, 2, &[0, 1], key, b"a");
    world.give(&cancelled, 0, &nonces(1, 2));
    assert!(
        world
            .operate(Body::Cancel {
                ceremony: cancelled
            })
            .is_accepted()
    );
    let expired = world.begin(kind, 2, &[0, 1], key, b"b");
    world.give(&expired, 1, &nonces(3, 4));
    world.tick(2_000);
    let finished = world.sign(Suite::Ed25519, key, &[0, 1], 100);
    assert!(world.state.archived(&finished).is_some());
    let used = world.state.archived(&finished).unwrap().messages.len();
    assert_eq!(used, 4);
    let id = world.begin(kind, 2, &[1, 2], key, b"c");
    for again in [
        nonces(1, 9),
        nonces(9, 2),
        nonces(2, 1),
        nonces(3, 3),
        nonces(8, 8),
        nonces(100, 7),
        nonces(4, 9),
    ] {
        assert_eq!(world.refused(&id, 1, &again), Reason::NonceReused);
    }
    world.give(&id, 1, &nonces(5, 6));
    // A snapshot keeps the set.
    let mut again = State::from_bytes(&world.state.to_bytes().unwrap()).unwrap();
    assert_eq!(again.root(), world.state.root());
    let message = world.message(&id, 0, 0, &nonces(1, 10), 1);
    let answer = again.apply(message.authenticate(&NETWORK).unwrap());
    assert_eq!(reason(answer), Reason::NonceReused);
    // Under another key they are others.
    let other = world.keygen(Suite::Ed25519, 2, &[0, 1, 2]);
    let key = world.state.archived(&other).unwrap().key;
    let id = world.begin(kind, 2, &[0, 1], key, b"d");
    world.give(&id, 0, &nonces(1, 2));
}

/// Row 10: a length is compared with the bytes that are there before anything is allocated.
#[test]
fn lengths_are_checked_before_allocation() {
    let mut world = World::new(2);
    let id = world.begin(Kind::CggmpKeygen, 2, &[0, 1], [0; 32], &[]);
    let bytes = world.message(&id, 0, 0, &[1; 50], 0).to_bytes();
    assert_eq!(Operation::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    for cut in 0..bytes.len() {
        assert!(Operation::from_bytes(&bytes[..cut]).is_err());
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert_eq!(
        Operation::from_bytes(&longer),
        Err(WireError::Trailing { left: 1 })
    );
    let length_at = 1 + 32 + 1 + 1 + 2;
    for (claim, want_long) in [(u32::MAX, true), (1 << 20, true), (60_000, false)] {
        let mut lying = bytes.clone();
        lying[length_at..length_at + 4].copy_from_slice(&claim.to_le_bytes());
        match Operation::from_bytes(&lying).unwrap_err() {
            WireError::TooLong { .. } => assert!(want_long),
            WireError::Truncated { .. } => assert!(!want_long),
            other => panic!("{other}"),
        }
    }
    assert!(matches!(
        world.refused(&id, 0, &vec![0; MAX_OPAQUE + 1]),
        Reason::PayloadLength { .. }
    ));
}

/// Row 11: who was awaited when a round expired is on record.
#[test]
fn the_silent_are_named() {
    let mut world = World::new(4);
    let id = world.begin(
        Kind::FrostKeygen(Suite::Ristretto255),
        2,
        &[0, 1, 2, 3],
        [0; 32],
        &[],
    );
    world.give(&id, 1, &World::round0(Suite::Ristretto255, 2, 1));
    world.give(&id, 3, &World::round0(Suite::Ristretto255, 2, 3));
    world.tick(1_000);
    assert!(
        world.state.ceremony(&id).is_some(),
        "at the deadline it is not late"
    );
    world.tick(1_001);
    let outcome = Outcome::Expired {
        round: 0,
        awaited: 0b0101,
    };
    assert_eq!(world.state.archived(&id).unwrap().outcome, outcome);
    let late = world.say(&id, 0, 0, &World::round0(Suite::Ristretto255, 2, 0), 0);
    assert_eq!(reason(late), Reason::Ended);
    assert_eq!(
        reason(world.play(Operation::tick(5))),
        Reason::Time {
            now: 1_001,
            have: 5
        }
    );
    let proof = world.state.prove(&id).unwrap();
    assert!(proof.holds());
    assert_eq!(proof.tree, TreeName::Archive);
}

/// Row 15: nothing goes on after an end, and an id never begins again.
#[test]
fn an_end_is_an_end() {
    let mut world = World::new(2);
    let begin = world.form(Kind::FrostKeygen(Suite::Ed25519), 2, &[0, 1], [0; 32], &[]);
    let id = begin.id(&NETWORK);
    assert!(world.operate(Body::Begin(begin.clone())).is_accepted());
    assert_eq!(
        reason(world.operate(Body::Begin(begin.clone()))),
        Reason::UsedId
    );
    let payload = World::round0(Suite::Ed25519, 2, 0);
    world.give(&id, 0, &payload);
    assert!(world.operate(Body::Cancel { ceremony: id }).is_accepted());
    assert!(matches!(
        world.operate(Body::Cancel { ceremony: id }),
        Answer::Accepted { again: true, .. }
    ));
    assert_eq!(reason(world.operate(Body::Begin(begin))), Reason::UsedId);
    assert_eq!(reason(world.say(&id, 0, 1, &payload, 1)), Reason::Ended);
    // What was accepted stays accepted.
    assert!(matches!(
        world.say(&id, 0, 0, &payload, 0),
        Answer::Accepted { again: true, .. }
    ));
    assert_eq!(
        reason(world.operate(Body::Cancel { ceremony: [1; 32] })),
        Reason::UnknownCeremony
    );
}

#[test]
fn the_same_bytes_are_a_success_and_others_are_evidence() {
    let mut world = World::new(2);
    let kind = Kind::FrostKeygen(Suite::Ed25519);
    let id = world.begin(kind, 2, &[0, 1], [0; 32], &[]);
    let payload = World::round0(Suite::Ed25519, 2, 0);
    world.give(&id, 0, &payload);
    let root = world.state.root();
    assert!(matches!(
        world.say(&id, 0, 0, &payload, 0),
        Answer::Accepted { again: true, .. }
    ));
    assert_eq!(world.state.root(), root);
    let mut other = payload.clone();
    other[40] ^= 1;
    for _ in 0..2 {
        assert_eq!(world.refused(&id, 0, &other), Reason::Equivocation);
    }
    assert_ne!(world.state.root(), root);
    let [evidence] = world.state.evidence() else {
        panic!()
    };
    for (hash, signature) in [evidence.first, evidence.second] {
        assert!(verifies(
            &evidence.key,
            &message_bytes(&id, kind, 0, 0, &hash),
            &signature
        ));
    }
    assert_ne!(evidence.first.0, evidence.second.0);
    // Also in a later round.
    world.give(&id, 1, &World::round0(Suite::Ed25519, 2, 1));
    assert_eq!(
        reason(world.say(&id, 0, 1, &other, 1)),
        Reason::Equivocation
    );
    assert_eq!(world.state.evidence().len(), 2);
}

#[test]
fn sealed_packages_name_sender_and_recipient() {
    let mut world = World::new(3);
    let id = world.begin(
        Kind::FrostKeygen(Suite::Ed25519),
        2,
        &[0, 1, 2],
        [0; 32],
        &[],
    );
    for i in 0..3 {
        world.give(&id, i, &World::round0(Suite::Ed25519, 2, i));
    }
    let good = world.round1(&id, 1);
    for (at, place) in [(0, 0), (2, 0), (SEALED, 1), (SEALED + 2, 1)] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        assert_eq!(
            world.refused(&id, 1, &bad),
            Reason::SealedAddress { at: place }
        );
    }
    assert!(matches!(
        world.refused(&id, 1, &good[..SEALED]),
        Reason::PayloadLength { .. }
    ));
    world.give(&id, 1, &good);
}

/// A complaint ends the ceremony, and the verdict names the one at fault.
#[test]
fn complaints_are_decided() {
    for suite in Suite::ALL {
        for fault in [Fault::None, Fault::Share, Fault::Box, Fault::Commitment] {
            let mut world = World::new(3);
            let polynomials = Polynomials::new(suite, 3, 2);
            let id = world.begin(Kind::FrostKeygen(suite), 2, &[0, 1, 2], [0; 32], &[]);
            for i in 0..3 {
                let fault = if i == 2 { fault } else { Fault::None };
                world.give(&id, i, &polynomials.round0(i, fault));
            }
            let early = world.complain(&id, 0, 2, secret(0));
            assert_eq!(reason(early), Reason::ComplaintTime);
            for i in 0..3 {
                let fault = if i == 2 { fault } else { Fault::None };
                world.give(&id, i, &polynomials.round1(&id, i, fault));
            }
            assert_eq!(
                reason(world.complain(&id, 0, 2, secret(1))),
                Reason::ComplaintSecret
            );
            assert!(matches!(
                reason(world.complain(&id, 0, 0, secret(0))),
                Reason::Index { .. }
            ));
            let signed_by_another = world.complain_as(&id, 0, 2, secret(0), 1);
            assert_eq!(reason(signed_by_another), Reason::WrongSigner { index: 0 });
            assert!(world.complain(&id, 0, 2, secret(0)).is_accepted());
            let outcome = &world.state.archived(&id).unwrap().outcome;
            let culprit = if fault == Fault::None { 0 } else { 2 };
            assert_eq!(
                *outcome,
                Outcome::Aborted {
                    culprit,
                    complainer: 0,
                    sender: 2
                },
                "{suite:?} {fault:?}"
            );
            assert!(world.state.prove(&id).unwrap().holds());
        }
    }
}

#[test]
fn keys_that_differ_are_a_disagreement() {
    let mut world = World::new(2);
    let id = world.begin(Kind::FrostKeygen(Suite::Ed25519), 2, &[0, 1], [0; 32], &[]);
    for i in 0..2 {
        world.give(&id, i, &World::round0(Suite::Ed25519, 2, i));
    }
    for i in 0..2 {
        let packages = world.round1(&id, i);
        world.give(&id, i, &packages);
    }
    world.give(&id, 0, &[1; 32]);
    world.give(&id, 1, &[2; 32]);
    assert_eq!(
        world.state.archived(&id).unwrap().outcome,
        Outcome::Disagreement
    );
    assert!(world.state.keys().is_empty());
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
