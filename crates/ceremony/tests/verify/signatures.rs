//! What frost-core's parties make is accepted, by us and by others, and is what they say it is.

use std::io::Write;
use std::process::{Command, Stdio};

use fieldspar_ceremony::rules::v2::Suite;
use fieldspar_ceremony::verify::keygen::KeygenFault;
use fieldspar_ceremony::verify::signature::{Item, Signature, verify, verify_batch};
use fieldspar_ceremony::verify::signing::{Session, SigningFault};
use fieldspar_ceremony::verify::{self, Ciphersuite, frost, independent};
use frost_core as theirs;

use crate::parties::{Generated, generate, slices};

fn key_generations_agree<S: Ciphersuite, C: theirs::Ciphersuite>() {
    for (n, t) in [(2, 2), (3, 2), (10, 7)] {
        // Both parities of the group key come up.
        for seed in 0..3 {
            let made: Generated<C> = generate(n, t, seed);
            let keygen = made.ours::<S>();
            keygen.check_proofs().unwrap();
            let keys = keygen.public_keys().unwrap();
            let package = frost::public_key_package::<S, C>(&keys).unwrap();
            assert_eq!(package, made.public);
        }
    }
}

fn own_shares<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(4, 3, 9);
    let keygen = made.ours::<S>();
    for recipient in 0..4 {
        for sender in (0..4).filter(|s| *s != recipient) {
            let share = &made.shares[&(sender, recipient)];
            assert!(keygen.packages()[usize::from(sender)].share_fits(recipient, share));
            assert!(verify::share_fits(
                S::SUITE,
                &made.message(sender)[..3 * S::ELEMENT],
                recipient,
                share
            ));
        }
    }
    for recipient in 0..4 {
        let sent = (0..4).filter(|s| *s != recipient);
        let mut shares: Vec<(u16, [u8; 32])> = sent
            .map(|sender| (sender, made.shares[&(sender, recipient)]))
            .collect();
        assert_eq!(keygen.check_own_shares(recipient, &shares), Ok(()));
        let bad = S::decode_scalar(&shares[2].1).unwrap() + S::Scalar::from(1u64);
        shares[2].1 = S::encode_scalar(&bad);
        let fault = keygen.check_own_shares(recipient, &shares).unwrap_err();
        assert_eq!(fault.culprits(), [shares[2].0]);
        shares[0].1 = [0xff; 32];
        let fault = keygen.check_own_shares(recipient, &shares).unwrap_err();
        assert_eq!(fault.culprits(), [shares[0].0, shares[2].0]);
        shares[1].0 = 4;
        let fault = keygen.check_own_shares(recipient, &shares);
        assert_eq!(fault, Err(KeygenFault::Sender { sender: 4 }));
    }
}

/// Signs with ever other signers and checks each signature in every way.
fn signatures_are_accepted<S: Ciphersuite, C: theirs::Ciphersuite>(count: u64) {
    let made: Vec<Generated<C>> = (0..4).map(|seed| generate(5, 3, 40 + seed)).collect();
    let messages: Vec<Vec<u8>> = (0..count)
        .map(|i| vec![i as u8; (i % 70) as usize])
        .collect();
    let mut items = Vec::new();
    for (i, message) in (0..).zip(&messages) {
        let made = &made[(i % 4) as usize];
        let left_out = [(i % 5) as u16, (i / 5 % 5) as u16];
        let signers: Vec<u16> = (0..5).filter(|s| !left_out.contains(s)).collect();
        let signed = made.sign(&signers, message, i);
        let bytes = signed.signature.serialize().unwrap();
        let key = made.key::<S>();
        let session = Session::parse(key, message, &signers, &slices(&signed.commitments));
        let session = session.unwrap();
        let verifying = made.verifying::<S>(&signers);
        let ours = session.finish(&slices(&signed.shares), Some(&verifying));
        assert_eq!(ours.unwrap().to_bytes(), bytes);
        let key_bytes = made.key_bytes();
        assert!(independent::accepts(S::SUITE, &key_bytes, message, &bytes));
        assert!(!independent::accepts(
            S::SUITE,
            &key_bytes,
            b"another",
            &bytes
        ));
        assert_eq!(
            verify::signature(S::SUITE, &key_bytes, message, &bytes),
            Ok(())
        );
        let signature: Signature<S> = frost::signature(&signed.signature).unwrap();
        items.push(Item {
            key,
            message,
            signature,
        });
    }
    assert_eq!(verify_batch(&items), Ok(()));
}

fn a_tenth<S: Ciphersuite, C: theirs::Ciphersuite>() {
    signatures_are_accepted::<S, C>(25);
}

#[test]
fn soak_ceremony_signatures() {
    let count = std::env::var("FIELDSPAR_SOAK_CEREMONY_SIGNATURES");
    let each = count.map_or(10, |count| count.parse::<u64>().unwrap().div_ceil(4));
    signatures_are_accepted::<verify::Ed25519, frost_ed25519::Ed25519Sha512>(each);
    signatures_are_accepted::<verify::Ristretto255, frost_ristretto255::Ristretto255Sha512>(each);
    signatures_are_accepted::<verify::Secp256k1, frost_secp256k1::Secp256K1Sha256>(each);
    signatures_are_accepted::<verify::Secp256k1Tr, frost_secp256k1_tr::Secp256K1Sha256TR>(each);
}

/// A batch finds whoever spoiled it, at any size and at any place.
fn batches_name_the_bad<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 77);
    let messages: Vec<Vec<u8>> = (0..130u8).map(|i| vec![i]).collect();
    let signed: Vec<Signature<S>> = messages[..12]
        .iter()
        .map(|m| frost::signature(&made.sign(&[0, 2], m, m[0].into()).signature).unwrap())
        .collect();
    let item = |i: usize| Item {
        key: made.key::<S>(),
        message: &messages[i % 12],
        signature: signed[i % 12],
    };
    for size in [0, 1, 2, 3, 12, 99, 100, 101, 130] {
        let good: Vec<Item<'_, S>> = (0..size).map(item).collect();
        assert_eq!(verify_batch(&good), Ok(()), "{size}");
        for at in [0, size / 2, size.saturating_sub(1)] {
            let mut bad = good.clone();
            if let Some(item) = bad.get_mut(at) {
                item.message = b"another";
                assert_eq!(verify_batch(&bad), Err(vec![at]), "{at} of {size}");
            }
        }
    }
    let bytes: Vec<Vec<u8>> = signed.iter().map(Signature::to_bytes).collect();
    let key = made.key_bytes();
    let mut triples: Vec<(&[u8], &[u8], &[u8])> = (0..12)
        .map(|i| (key.as_slice(), &messages[i][..], &bytes[i][..]))
        .collect();
    let read = Item::<S>::parse_many(&triples).unwrap();
    assert_eq!(read.len(), 12);
    assert_eq!(verify_batch(&read), Ok(()));
    triples[9].0 = &key[1..];
    assert_eq!(Item::<S>::parse_many(&triples).unwrap_err().0, 9);
    triples[9].0 = &key;
    triples[5].2 = &key;
    assert_eq!(Item::<S>::parse_many(&triples).unwrap_err().0, 5);
    let mut two: Vec<Item<'_, S>> = (0..12).map(item).collect();
    two[3].signature = signed[4];
    two[4].signature = signed[3];
    assert_eq!(
        verify_batch(&two),
        Err(vec![3, 4]),
        "errors that could cancel"
    );
}

/// Whoever spoils a signature is named, and only they.
fn bad_shares_are_named<S: Ciphersuite, C: theirs::Ciphersuite>() {
    for seed in 0..4 {
        let made: Generated<C> = generate(5, 3, 100 + seed);
        let signers = [0, 2, 3, 4];
        let signed = made.sign(&signers, b"pay", seed);
        let key = made.key::<S>();
        let commitments = slices(&signed.commitments);
        let session = Session::parse(key, b"pay", &signers, &commitments).unwrap();
        let verifying = made.verifying::<S>(&signers);
        let mut shares = signed.shares.clone();
        for place in [1, 3] {
            let share = S::decode_scalar(&shares[place]).unwrap() + S::Scalar::from(1u64);
            shares[place] = S::encode_scalar(&share).to_vec();
        }
        let fault = session.finish(&slices(&shares), Some(&verifying));
        assert_eq!(fault.unwrap_err().culprits(), [1, 3]);
        let fault = session.finish(&slices(&shares), None).unwrap_err();
        assert_eq!(fault, SigningFault::Unknown);
        shares[2] = vec![0xff; 32];
        let fault = session.finish(&slices(&shares), Some(&verifying));
        assert_eq!(fault.unwrap_err(), SigningFault::Scalar { culprit: 2 });
    }
}

fn another_suite_does_not_go_over<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made = generate::<frost_ed25519::Ed25519Sha512>(2, 2, 1);
    let refused = frost::keygen::<S, _>(&made.round1, 2).is_err();
    assert_eq!(refused, S::SUITE != Suite::Ed25519);
    let made: Generated<C> = generate(3, 2, 1);
    assert!(
        frost::keygen::<S, C>(&made.round1, 3).is_err(),
        "another threshold"
    );
    let mut some = made.round1.clone();
    some.pop_first();
    assert!(frost::keygen::<S, C>(&some, 2).is_err(), "not from 1 on");
}

#[test]
fn openssl_takes_what_we_take() {
    let known = Command::new("openssl").arg("version").output();
    if known.is_err() {
        eprintln!("skipped: there is no openssl");
        return;
    }
    let made = generate::<frost_ed25519::Ed25519Sha512>(3, 2, 5);
    let folder = tempfile::tempdir().unwrap();
    // SubjectPublicKeyInfo of RFC 8410.
    let mut der = vec![
        0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00,
    ];
    der.extend(made.key_bytes());
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let key = write("key", &der);
    for i in 0..3u8 {
        let message = vec![i; 10];
        let signature = made.sign(&[0, 1], &message, i.into()).signature;
        let signature = write("signature", &signature.serialize().unwrap());
        for (text, good) in [(message, true), (b"another".to_vec(), false)] {
            let text = write("message", &text);
            let mut child = Command::new("openssl")
                .args([
                    "pkeyutl", "-verify", "-rawin", "-pubin", "-keyform", "DER", "-inkey",
                ])
                .arg(&key)
                .arg("-sigfile")
                .arg(&signature)
                .arg("-in")
                .arg(&text)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            child.stdin.take().unwrap().flush().unwrap();
            assert_eq!(child.wait().unwrap().success(), good);
        }
    }
}

#[test]
fn ecdsa_in_all_its_forms() {
    use independent::{Prehash, accepts_ecdsa};
    use k256::ecdsa::signature::hazmat::PrehashSigner;
    use k256::ecdsa::{Signature, SigningKey};
    let secret = SigningKey::from_bytes(&[7; 32].into()).unwrap();
    let key = secret.verifying_key().to_sec1_point(true);
    let key = key.as_bytes();
    let message = [3; 32];
    let digests: [(Prehash, [u8; 32]); 3] = [
        (
            Prehash::Sha256,
            <sha2::Sha256 as sha2::Digest>::digest(message).into(),
        ),
        (Prehash::Keccak256, fieldspar_ceremony::keccak256(&message)),
        (Prehash::None, message),
    ];
    for (prehash, digest) in digests {
        let signature: Signature = secret.sign_prehash(&digest).unwrap();
        let (r, s) = signature.split_scalars();
        let high = Signature::from_scalars(r, -s).unwrap();
        for form in [
            signature.to_bytes().to_vec(),
            signature.to_der().as_bytes().to_vec(),
            high.to_bytes().to_vec(),
        ] {
            assert!(accepts_ecdsa(key, &message, prehash, &form));
            assert!(!accepts_ecdsa(key, b"another", prehash, &form));
            for (other, _) in digests.iter().filter(|(other, _)| *other != prehash) {
                assert!(!accepts_ecdsa(key, &message, *other, &form));
            }
        }
        assert!(!accepts_ecdsa(
            &key[1..],
            &message,
            prehash,
            &signature.to_bytes()
        ));
        assert!(!accepts_ecdsa(key, &message, prehash, &[0; 64]));
    }
}

/// One equation, two verifiers: they agree on random garbage too.
fn verifiers_agree<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(2, 2, 3);
    let good = made.sign(&[0, 1], b"m", 1).signature.serialize().unwrap();
    let key = made.key_bytes();
    for at in 0..good.len() {
        for bit in [1u8, 0x80] {
            let mut bad = good.clone();
            bad[at] ^= bit;
            assert!(verify::signature(S::SUITE, &key, b"m", &bad).is_err());
            assert!(!independent::accepts(S::SUITE, &key, b"m", &bad));
        }
    }
    let item = Item {
        key: made.key::<S>(),
        message: b"m",
        signature: Signature::parse(&good).unwrap(),
    };
    assert_eq!(verify(&item), Ok(()));
}

mod each {
    crate::for_each_suite!(
        key_generations_agree,
        own_shares,
        a_tenth,
        batches_name_the_bad,
        bad_shares_are_named,
        another_suite_does_not_go_over,
        verifiers_agree,
    );
}
