//! Whole records: what holds is valid, and of what does not the culprit is named.

use fieldspar_ceremony::rules::v2::{Body, ImportKey, Kind, Suite};
use fieldspar_ceremony::store::StoreError;
use fieldspar_ceremony::verify::keygen::KeygenFault;
use fieldspar_ceremony::verify::signing::SigningFault;
use fieldspar_ceremony::verify::transcript::{
    Culprit, Depth, Finding, Status, Transcript, Verdict, verify_transcript,
};
use fieldspar_ceremony::verify::{Ciphersuite, independent};
use frost_core as theirs;

use crate::parties::{Generated, generate};
use crate::world::World;

fn indices(verdict: &Verdict) -> Vec<u16> {
    verdict
        .culprits
        .iter()
        .map(|culprit| match culprit {
            Culprit::Party { index, .. } => *index,
            Culprit::Coordinator => panic!("the coordinator"),
        })
        .collect()
}

fn last(transcript: &Transcript) -> &Verdict {
    transcript.ceremonies.last().unwrap()
}

fn a_whole_record<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(4, 3, 1);
    let mut world = World::new(5);
    // Not the first members, and not in order.
    let (id, key) = world.keygen(S::SUITE, &made, &[4, 1, 3, 2]);
    let signers = [0, 2, 3];
    let signed = made.sign(&signers, b"pay", 1);
    let sign = world.sign(S::SUITE, key, 3, &signers, b"pay", &signed);
    let transcript = world.verify();
    assert!(transcript.is_valid());
    assert!(transcript.fault.is_none() && transcript.equivocations.is_empty());
    assert_eq!(transcript.state_root, world.root());
    assert_eq!(transcript.operations, world.state().operations());
    let [keygen, signing] = transcript.ceremonies.as_slice() else {
        panic!()
    };
    assert_eq!((keygen.id, signing.id), (id, sign));
    for verdict in [keygen, signing] {
        assert_eq!(verdict.status, Status::Valid);
        assert_eq!(verdict.depth, Depth::Full);
        assert!(verdict.finding.is_none() && verdict.culprits.is_empty());
        assert_eq!(verdict.group_key, Some(made.key_bytes()));
    }
    assert_eq!(keygen.signature, None);
    let signature = signing.signature.clone().unwrap();
    assert_eq!(signature, signed.signature.serialize().unwrap());
    assert!(independent::accepts(
        S::SUITE,
        &made.key_bytes(),
        b"pay",
        &signature
    ));
}

fn row_9_a_bad_proof_on_record<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 2);
    let mut world = World::new(3);
    let spoil = |i: u16, message: &mut Vec<u8>| {
        if i == 1 {
            let other = made.message(2);
            let at = message.len() - S::SIGNATURE;
            message.truncate(at);
            message.extend_from_slice(&other[at..]);
        }
    };
    let who = [2, 0, 1];
    let id = world.keygen_to_round_3(S::SUITE, &made, &who, spoil, |_, _, _| {});
    // In progress, and known already.
    let verdict = world.verify();
    assert_eq!(indices(last(&verdict)), [1]);
    for i in 0..3 {
        world.give(&id, i, &made.key_bytes());
    }
    let key = world.state().archived(&id).unwrap().key;
    let signed = made.sign(&[0, 1], b"m", 1);
    world.sign(S::SUITE, key, 2, &[0, 1], b"m", &signed);
    let transcript = world.verify();
    assert!(!transcript.is_valid());
    let [keygen, signing] = transcript.ceremonies.as_slice() else {
        panic!()
    };
    let proof = KeygenFault::Proof { culprits: vec![1] };
    assert_eq!(keygen.finding, Some(Finding::Keygen(proof)));
    let key = world.state().members()[0];
    let party = Culprit::Party {
        index: 1,
        member: 0,
        key,
    };
    assert_eq!(keygen.culprits, [party]);
    assert_eq!(signing.finding, Some(Finding::BadKey));
    assert!(signing.culprits.is_empty());
}

fn another_group_key_is_named<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 3);
    let other: Generated<C> = generate(3, 2, 4);
    for liars in [vec![1], vec![0, 2], vec![0, 1, 2]] {
        let mut world = World::new(3);
        let who = [0, 1, 2];
        let id = world.keygen_to_round_3(S::SUITE, &made, &who, |_, _| {}, |_, _, _| {});
        for i in 0..3 {
            let liar = liars.contains(&i);
            let key = if liar {
                other.key_bytes()
            } else {
                made.key_bytes()
            };
            world.give(&id, i, &key);
        }
        let transcript = world.verify();
        let culprits = liars.clone();
        assert_eq!(
            last(&transcript).finding,
            Some(Finding::GroupKey { culprits })
        );
        assert_eq!(indices(last(&transcript)), liars);
    }
}

fn complaints_are_decided<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 5);
    for (sender, culprit) in [(2, 2), (0, 1)] {
        let mut world = World::new(3);
        let spoil = |from: u16, to: u16, share: &mut [u8; 32]| {
            if (from, to) == (2, 1) {
                share[8] ^= 1;
            }
        };
        let who = [0, 1, 2];
        let id = world.keygen_to_round_3(S::SUITE, &made, &who, |_, _| {}, spoil);
        world.complain(&id, 1, sender);
        let transcript = world.verify();
        let complaint = Finding::Complaint {
            culprit,
            complainer: 1,
            sender,
        };
        assert_eq!(last(&transcript).finding, Some(complaint));
        assert_eq!(indices(last(&transcript)), [culprit]);
        assert!(!transcript.is_valid());
    }
}

fn bad_shares_on_record<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(4, 3, 6);
    let mut world = World::new(4);
    let (_, key) = world.keygen(S::SUITE, &made, &[0, 1, 2, 3]);
    let mut signed = made.sign(&[0, 1, 3], b"m", 1);
    let share = S::decode_scalar(&signed.shares[1]).unwrap() + S::Scalar::from(1u64);
    signed.shares[1] = S::encode_scalar(&share).to_vec();
    world.sign(S::SUITE, key, 3, &[0, 1, 3], b"m", &signed);
    let transcript = world.verify();
    let culprits = vec![1];
    let fault = SigningFault::Share { culprits };
    assert_eq!(last(&transcript).finding, Some(Finding::Signing(fault)));
    assert_eq!(indices(last(&transcript)), [1]);
    assert_eq!(last(&transcript).signature, None);
}

fn imported_keys<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 7);
    let mut world = World::new(3);
    let import = |world: &mut World, group_key: Vec<u8>| {
        world.operate(Body::ImportKey(ImportKey {
            kind: Kind::FrostKeygen(S::SUITE),
            threshold: 2,
            members: vec![0, 1, 2],
            group_key,
        }))
    };
    let key = import(&mut world, made.key_bytes());
    let mut signed = made.sign(&[1, 2], b"m", 1);
    world.sign(S::SUITE, key, 2, &[1, 2], b"m", &signed);
    assert!(world.verify().is_valid());
    // Without verifying shares a bad signature is seen, and nobody is named.
    let again = made.sign(&[1, 2], b"m", 2);
    signed.commitments = again.commitments;
    world.sign(S::SUITE, key, 2, &[1, 2], b"m", &signed);
    let transcript = world.verify();
    let unknown = Finding::Signing(SigningFault::Unknown);
    assert_eq!(last(&transcript).finding, Some(unknown));
    assert!(last(&transcript).culprits.is_empty());
    let none = import(&mut world, vec![0xff; S::ELEMENT]);
    let third = made.sign(&[0, 2], b"m", 3);
    world.sign(S::SUITE, none, 2, &[0, 2], b"m", &third);
    let transcript = world.verify();
    assert!(matches!(
        last(&transcript).finding,
        Some(Finding::ImportedKey(_))
    ));
    assert_eq!(last(&transcript).culprits, [Culprit::Coordinator]);
}

mod each {
    crate::for_each_suite!(
        a_whole_record,
        row_9_a_bad_proof_on_record,
        another_group_key_is_named,
        complaints_are_decided,
        bad_shares_on_record,
        imported_keys,
    );
}

type C = frost_ed25519::Ed25519Sha512;

#[test]
fn row_11_who_was_awaited() {
    let made: Generated<C> = generate(3, 2, 8);
    let mut world = World::new(3);
    let who = [0, 1, 2];
    let (_, key) = world.keygen(Suite::Ed25519, &made, &who);
    let id = world.begin(Kind::FrostSign(Suite::Ed25519), 2, &who, key, b"m");
    let signed = made.sign(&[0, 1, 2], b"m", 1);
    world.give(&id, 1, &signed.commitments[1]);
    let awaited = vec![0, 2];
    let in_progress = Finding::InProgress {
        round: 0,
        awaited: awaited.clone(),
    };
    assert_eq!(last(&world.verify()).finding, Some(in_progress));
    world.tick(2000);
    let transcript = world.verify();
    let expired = Finding::Expired { round: 0, awaited };
    assert_eq!(last(&transcript).finding, Some(expired));
    assert_eq!(last(&transcript).status, Status::Incomplete);
    assert!(last(&transcript).culprits.is_empty(), "late is not guilty");
    assert!(
        transcript.is_valid(),
        "nothing is wrong with what has a result"
    );
    let cancelled = world.begin(Kind::FrostSign(Suite::Ed25519), 2, &who, key, b"n");
    world.operate(Body::Cancel {
        ceremony: cancelled,
    });
    assert_eq!(last(&world.verify()).finding, Some(Finding::Cancelled));
}

#[test]
fn equivocation_is_shown_and_the_first_message_counts() {
    let made: Generated<C> = generate(3, 2, 9);
    let mut world = World::new(3);
    let who = [0, 1, 2];
    let (_, key) = world.keygen(Suite::Ed25519, &made, &who);
    let signed = made.sign(&[0, 1], b"m", 1);
    let other = made.sign(&[0, 1], b"m", 2);
    let id = world.begin(Kind::FrostSign(Suite::Ed25519), 2, &[0, 1], key, b"m");
    world.give(&id, 0, &signed.commitments[0]);
    world.contradict(&id, 0, &other.commitments[0]);
    world.give(&id, 1, &signed.commitments[1]);
    world.give(&id, 0, &signed.shares[0]);
    world.give(&id, 1, &signed.shares[1]);
    let transcript = world.verify();
    assert!(transcript.is_valid());
    let [evidence] = transcript.equivocations.as_slice() else {
        panic!()
    };
    assert_eq!(
        (evidence.ceremony, evidence.round, evidence.index),
        (id, 0, 0)
    );
}

#[test]
fn cggmp_and_corona_are_envelopes() {
    use k256::ecdsa::{Signature, SigningKey, signature::hazmat::PrehashSigner};
    let secret = SigningKey::from_bytes(&[7; 32].into()).unwrap();
    let public = secret.verifying_key().to_sec1_point(true);
    let mut world = World::new(3);
    let digest = |bytes: &[u8]| fieldspar_ceremony::keccak256(bytes);
    let mut signs = Vec::new();
    for (keygen, sign) in [
        (Kind::CggmpKeygen, Kind::CggmpSign),
        (Kind::CoronaKeygen, Kind::CoronaSign),
    ] {
        let id = world.begin(keygen, 2, &[0, 1, 2], [0; 32], &[]);
        for round in 0..keygen.rounds() {
            let last = round + 1 == keygen.rounds();
            for i in 0..3 {
                let opaque = if last {
                    &public.as_bytes()[..keygen.key_len()]
                } else {
                    b"opaque"
                };
                world.give(&id, i, opaque);
            }
        }
        let key = world.state().archived(&id).unwrap().key;
        let id = world.begin(sign, 2, &[0, 2], key, b"pay");
        for _ in 0..sign.rounds() {
            world.give(&id, 0, b"opaque");
            world.give(&id, 1, b"opaque too");
        }
        signs.push(id);
    }
    let transcript = world.verify();
    assert!(transcript.is_valid());
    assert!(
        transcript
            .ceremonies
            .iter()
            .all(|v| v.depth == Depth::Envelope)
    );
    let name = format!("{}.ecdsa", fieldspar_ceremony::hex::encode(&signs[0]));
    let file = world.folder.path().join(name);
    let signature: Signature = secret.sign_prehash(&digest(b"pay")).unwrap();
    let hex = fieldspar_ceremony::hex::encode(&signature.to_bytes());
    for (prehash, valid) in [("keccak256", true), ("sha256", false), ("none", false)] {
        let text = format!("{{\"signature\": \"{hex}\", \"prehash\": \"{prehash}\"}}");
        std::fs::write(&file, text).unwrap();
        let transcript = world.verify();
        assert_eq!(transcript.is_valid(), valid);
        let verdict = transcript
            .ceremonies
            .iter()
            .find(|v| v.id == signs[0])
            .unwrap();
        assert_eq!(verdict.depth, Depth::EnvelopeAndSignature);
        assert_eq!(verdict.finding.is_none(), valid);
        assert_eq!(
            verdict.signature.as_deref(),
            Some(&signature.to_bytes()[..])
        );
    }
    for text in [
        "",
        "{}",
        "{\"signature\": \"0\", \"prehash\": \"none\"}",
        "[1]",
    ] {
        std::fs::write(&file, text).unwrap();
        assert!(verify_transcript(world.folder.path()).is_err(), "{text}");
    }
}

/// A record that was changed is never taken for good: the coordinator's fault, or no record.
#[test]
fn changed_records() {
    let made: Generated<C> = generate(2, 2, 10);
    let mut world = World::new(2);
    let (_, key) = world.keygen(Suite::Ed25519, &made, &[0, 1]);
    let signed = made.sign(&[0, 1], b"m", 1);
    world.sign(Suite::Ed25519, key, 2, &[0, 1], b"m", &signed);
    let log = std::fs::read(world.folder.path().join("log.fsl")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.fsl");
    assert!(verify_transcript(folder.path()).is_err(), "no log");
    for at in (0..log.len()).step_by(37) {
        let mut bad = log.clone();
        bad[at] ^= 4;
        std::fs::write(&path, &bad).unwrap();
        match verify_transcript(folder.path()) {
            Err(_) => assert!(at < 121, "byte {at} is not of the header"),
            Ok(transcript) => {
                // The last frame counts as torn: then the signing is not finished.
                let ends = transcript.torn_bytes > 0;
                assert!(transcript.fault.is_some() || ends, "byte {at}");
                let signature = transcript
                    .ceremonies
                    .last()
                    .and_then(|v| v.signature.as_ref());
                assert!(signature.is_none() || !transcript.is_valid());
            }
        }
    }
    // A signature of a party replaced, and the hash chain made good again behind it.
    let header = 121;
    let mut bad = log[..header].to_vec();
    let mut head: [u8; 32] = *log[header - 32..].first_chunk().unwrap();
    let (mut at, mut frame) = (header, 0);
    while at < log.len() {
        let len = u32::from_le_bytes(*log[at..].first_chunk().unwrap()) as usize;
        let mut body = log[at + 4..at + 4 + len].to_vec();
        frame += 1;
        if frame == 5 {
            *body.last_mut().unwrap() ^= 1;
        }
        let length = (len as u32).to_le_bytes();
        head = fieldspar_ceremony::keccak256(&[&head[..], &length, &body].concat());
        bad.extend(length);
        bad.extend(&body);
        bad.extend(head);
        at += 4 + len + 32;
    }
    std::fs::write(&path, &bad).unwrap();
    let transcript = verify_transcript(folder.path()).unwrap();
    assert!(matches!(
        transcript.fault,
        Some(StoreError::BadSignature { frame: 5 })
    ));
    assert!(!transcript.is_valid());
}

#[test]
fn an_operator_key_with_torsion() {
    use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
    use fieldspar_ceremony::rules::v2::Genesis;
    use fieldspar_ceremony::store::Store;
    let folder = tempfile::tempdir().unwrap();
    let operator = (ED25519_BASEPOINT_POINT + EIGHT_TORSION[3]).compress();
    let genesis = Genesis {
        network: [0; 32],
        operator: operator.to_bytes(),
    };
    drop(Store::create(folder.path(), genesis).unwrap());
    let transcript = verify_transcript(folder.path()).unwrap();
    assert!(matches!(transcript.fault, Some(StoreError::Header(_))));
    assert!(!transcript.is_valid());
}
