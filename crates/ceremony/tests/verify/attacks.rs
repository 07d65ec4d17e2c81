//! Failures that others have published, as far as they are for verification: refused, and the culprit
//! named where public data names one. The rest are among the tests of rules v2.

use fieldspar_ceremony::verify::keygen::{Keygen, KeygenFault, PackageError, Round1};
use fieldspar_ceremony::verify::signature::Signature;
use fieldspar_ceremony::verify::signing::{Session, SigningFault};
use fieldspar_ceremony::verify::{self, Ciphersuite, Element, ElementError};
use frost_core as theirs;

use crate::parties::{Generated, generate, slices};

fn messages<C: theirs::Ciphersuite>(made: &Generated<C>, n: u16) -> Vec<Vec<u8>> {
    (0..n).map(|i| made.message(i)).collect()
}

/// topos-protocol/ice-frost#28, ObolNetwork/charon#1999 and #3031, bnb-chain/tss-lib#291,
/// ZcashFoundation/frost#600.
fn row_1_commitments_of_another_length<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(4, 3, 1);
    let good = messages(&made, 4);
    for (change, have) in [(1isize, 4), (-1, 2), (-3, 0)] {
        let mut bad = good.clone();
        let element = bad[2][..S::ELEMENT].to_vec();
        if change > 0 {
            bad[2].splice(0..0, element);
        } else {
            bad[2].drain(..change.unsigned_abs() * S::ELEMENT);
        }
        let fault = Keygen::<S>::parse(3, &slices(&bad)).unwrap_err();
        assert_eq!(fault.culprits(), [2]);
        let source = PackageError::Length {
            threshold: 3,
            need: 3 * S::ELEMENT + S::SIGNATURE,
            have: have * S::ELEMENT + S::SIGNATURE,
        };
        assert_eq!(fault, KeygenFault::Package { culprit: 2, source });
    }
    // The same through packages that were read for their own threshold.
    let mut packages = made.ours::<S>().packages().to_vec();
    let raised: Generated<C> = generate(4, 4, 1);
    packages[1] = raised.ours::<S>().packages()[1].clone();
    let fault = Keygen::new(3, packages).unwrap_err();
    assert_eq!(fault.culprits(), [1]);
}

/// bnb-chain/tss-lib#155, skalenetwork/libBLS#333, TaceoLabs/oprf-service#339.
fn row_2_identifiers_zero_or_equal<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 2);
    let signed = made.sign(&[0, 1], b"m", 1);
    let commitments: Vec<_> = signed
        .commitments
        .iter()
        .map(|c| verify::signing::Commitments::<S>::parse(c).unwrap())
        .collect();
    let key = made.key::<S>();
    let [zero, one, two] = [0u64, 1, 2].map(S::Scalar::from);
    assert!(Session::new(key, b"m", &[one, two], &commitments).is_ok());
    // Zero modulo the order is not written otherwise: scalars are canonical.
    for ids in [[one, one], [zero, one], [two, zero], [zero, zero]] {
        let session = Session::new(key, b"m", &ids, &commitments);
        assert!(matches!(session, Err(SigningFault::Shape { .. })));
    }
    let order_plus_one = {
        let mut bytes = S::encode_scalar(&-S::Scalar::from(1u64));
        let last = if S::ELEMENT == 32 { 0 } else { 31 };
        bytes[last] = bytes[last].wrapping_add(2);
        bytes
    };
    assert!(S::decode_scalar(&order_plus_one).is_none());
}

/// LFDT-Lockness/cggmp21#176, SwingbyProtocol/tss-lib#9.
fn row_3_thresholds<S: Ciphersuite, C: theirs::Ciphersuite>() {
    for (n, t) in [(2, 2), (3, 3)] {
        let made: Generated<C> = generate(n, t, 3);
        let packages = made.ours::<S>().packages().to_vec();
        for (threshold, count) in [(t + 1, n), (t, t - 1), (1, n), (0, n), (t, 0)] {
            let some = packages[..usize::from(count)].to_vec();
            let keygen = Keygen::new(threshold, some);
            assert!(
                matches!(keygen, Err(KeygenFault::Shape { .. })),
                "{threshold} of {count}"
            );
        }
    }
    assert!(Round1::<S>::parse(&[], 0).is_err());
}

/// A proof of knowledge is its participant's: bnb-chain/tss-lib#292.
fn row_5_a_proof_is_replayed<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 5);
    let mut bad = messages(&made, 3);
    bad[2] = bad[0].clone();
    let keygen = Keygen::<S>::parse(2, &slices(&bad)).unwrap();
    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [2]);
    // The proof of another key generation.
    let other: Generated<C> = generate(3, 2, 6);
    let mut bad = messages(&made, 3);
    let proof = bad[1].len() - S::SIGNATURE;
    bad[1].truncate(proof);
    bad[1].extend_from_slice(&other.message(1)[proof..]);
    let keygen = Keygen::<S>::parse(2, &slices(&bad)).unwrap();
    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [1]);
}

/// ZcashFoundation/frost#480, cfrg/draft-irtf-cfrg-frost#45.
fn row_6_signers_are_missing<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(4, 3, 7);
    let signed = made.sign(&[0, 1, 3], b"m", 1);
    let key = made.key::<S>();
    let commitments = slices(&signed.commitments);
    let shares = slices(&signed.shares);
    let session = Session::parse(key, b"m", &[0, 1, 3], &commitments).unwrap();
    let missing = session.finish(&shares[..2], None);
    assert!(matches!(missing, Err(SigningFault::Shape { .. })));
    let fewer = Session::<S>::parse(key, b"m", &[0, 1, 3], &commitments[..2]);
    assert!(matches!(fewer, Err(SigningFault::Shape { .. })));
    let none = Session::<S>::parse(key, b"m", &[], &[]);
    assert!(matches!(none, Err(SigningFault::Shape { .. })));
    // Two of three: the sum is no signature, and both shares are wrong in it.
    let verifying = made.verifying::<S>(&[0, 1]);
    let session = Session::parse(key, b"m", &[0, 1], &commitments[..2]).unwrap();
    let fault = session.finish(&shares[..2], Some(&verifying)).unwrap_err();
    assert_eq!(fault.culprits(), [0, 1]);
}

/// A coordinator that shows a signer other commitments makes its share wrong, and an honest party
/// would be blamed: sourcenetwork/orbis-rs#54, taurushq-io/multi-party-sig#124,
/// ZcashFoundation/frost#814. Shares carry the transcript that their sender saw, so that the rules
/// refuse the share before it is judged; here it shows why they must.
fn row_7_split_views_blame_the_honest<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 8);
    let signed = made.sign(&[0, 1], b"m", 1);
    let other = made.sign(&[0, 1], b"m", 2);
    let key = made.key::<S>();
    let verifying = made.verifying::<S>(&[0, 1]);
    let mixed = [signed.commitments[0].as_slice(), &other.commitments[1]];
    let session = Session::parse(key, b"m", &[0, 1], &mixed).unwrap();
    let fault = session.finish(&slices(&signed.shares), Some(&verifying));
    assert_eq!(fault.unwrap_err().culprits(), [0, 1]);
}

/// fedimint/fedimint#760, near/mpc_old#169: the attacker's constant is chosen after the others', so
/// that the sum is a key that it knows.
fn row_9_a_rogue_key<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 9);
    let mut bad = messages(&made, 3);
    let others = made.ours::<S>();
    let constant = |i: usize| *others.packages()[i].commitments()[0].point();
    let known = S::Scalar::from(42u64);
    let rogue = S::mul_base(&known) - constant(0) - constant(1);
    bad[2][..S::ELEMENT].copy_from_slice(S::encode(&rogue).unwrap().as_ref());
    let keygen = Keygen::<S>::parse(2, &slices(&bad)).unwrap();
    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [2]);
    // Nor with a proof for the key that it does know.
    let nonce = S::Scalar::from(43u64);
    let r = S::mul_base(&nonce);
    let mut proof = S::encode_r(&S::encode(&r).unwrap()).to_vec();
    proof.extend(S::encode_scalar(&(nonce + known)));
    let at = bad[2].len() - S::SIGNATURE;
    bad[2].truncate(at);
    bad[2].extend(proof);
    let keygen = Keygen::<S>::parse(2, &slices(&bad)).unwrap();
    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [2]);
}

/// near/threshold-signatures#194, celo-org/celo-threshold-bls-rs#171: lengths come from the
/// threshold, and are compared with the bytes that are there.
fn row_10_lengths_are_checked_first<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(2, 2, 10);
    assert!(Round1::<S>::parse(&made.message(0), u16::MAX).is_err());
    let fault = Round1::<S>::parse(&[2; 100], u16::MAX).unwrap_err();
    assert!(matches!(fault, PackageError::Length { have: 100, .. }));
    assert!(Signature::<S>::parse(&[2; 1000]).is_err());
}

/// cfrg/draft-irtf-cfrg-frost#179, #48.
fn row_13_the_identity<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let mut identity = vec![0; S::ELEMENT];
    if S::ID.contains("ED25519") {
        identity[0] = 1;
    }
    let refused = Element::<S>::parse(&identity).unwrap_err();
    let want = match S::ELEMENT {
        // SEC 1 has no such encoding of 33 bytes.
        33 => ElementError::NotAPoint,
        _ => ElementError::Identity,
    };
    assert_eq!(refused, want);
    assert!(S::encode(&S::identity()).is_none());
    let made: Generated<C> = generate(3, 2, 13);
    for at in 0..2 {
        let mut bad = messages(&made, 3);
        bad[1][at * S::ELEMENT..][..S::ELEMENT].copy_from_slice(&identity);
        let fault = Keygen::<S>::parse(2, &slices(&bad)).unwrap_err();
        let source = PackageError::Commitment { at, source: want };
        assert_eq!(fault, KeygenFault::Package { culprit: 1, source });
    }
    let signed = made.sign(&[0, 1], b"m", 1);
    for (at, which) in ["hiding", "binding"].into_iter().enumerate() {
        let mut bad = signed.commitments.clone();
        bad[1][at * S::ELEMENT..][..S::ELEMENT].copy_from_slice(&identity);
        let session = Session::<S>::parse(made.key(), b"m", &[0, 1], &slices(&bad));
        let fault = session.unwrap_err();
        assert_eq!(
            fault,
            SigningFault::Commitment {
                culprit: 1,
                which,
                source: want
            }
        );
    }
    // Two who cancel each other: no key, and nobody is named.
    let one = made.ours::<S>().packages()[0].clone();
    let negated: Vec<Element<S>> = one
        .commitments()
        .iter()
        .map(|c| Element::of(-*c.point()).unwrap())
        .collect();
    let proof = Signature::parse(&made.message(0)[2 * S::ELEMENT..]).unwrap();
    let two = Round1::new(negated, proof, 2).unwrap();
    let keygen = Keygen::new(2, vec![one, two]).unwrap();
    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [1]);
    assert_eq!(keygen.public_keys().unwrap_err(), KeygenFault::Identity);
}

/// ZcashFoundation/frost-tools#472: the share fits the polynomial that its recipient was shown, and
/// not the one that is on record.
fn row_14_other_commitments_for_other_parties<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 14);
    let split: Generated<C> = generate(3, 2, 15);
    let record = made.ours::<S>();
    let shares = [(0, split.shares[&(0, 1)]), (2, made.shares[&(2, 1)])];
    let fault = record.check_own_shares(1, &shares).unwrap_err();
    assert_eq!(fault, KeygenFault::Share { culprits: vec![0] });
}

mod each {
    crate::for_each_suite!(
        row_1_commitments_of_another_length,
        row_2_identifiers_zero_or_equal,
        row_3_thresholds,
        row_5_a_proof_is_replayed,
        row_6_signers_are_missing,
        row_7_split_views_blame_the_honest,
        row_9_a_rogue_key,
        row_10_lengths_are_checked_first,
        row_13_the_identity,
        row_14_other_commitments_for_other_parties,
    );
}
