//! Every attack that is known. The rows are those of docs/ceremony-v2.md.

use super::*;

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
