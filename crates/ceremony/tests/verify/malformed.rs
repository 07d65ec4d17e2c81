//! Bytes from anywhere: a typed refusal, never a panic.

use fieldspar_ceremony::rules::v2::Suite;
use fieldspar_ceremony::verify::independent::{Prehash, accepts, accepts_ecdsa};
use fieldspar_ceremony::verify::keygen::{Keygen, Round1};
use fieldspar_ceremony::verify::signature::Signature;
use fieldspar_ceremony::verify::signing::{Commitments, Session};
use fieldspar_ceremony::verify::{self, Ciphersuite, Element};
use frost_core as theirs;
use proptest::prelude::*;

use crate::parties::{Generated, generate, slices};

fn read_everything<S: Ciphersuite>(bytes: &[u8], threshold: u16) {
    // What is read is written as it was: one encoding for each value.
    if let Ok(element) = Element::<S>::parse(bytes) {
        assert_eq!(element.bytes().as_ref(), bytes);
        assert_eq!(S::encode(element.point()).unwrap().as_ref(), bytes);
    }
    if let Ok(signature) = Signature::<S>::parse(bytes) {
        assert_eq!(signature.to_bytes(), bytes);
    }
    if let Some(scalar) = S::decode_scalar(bytes) {
        assert_eq!(S::encode_scalar(&scalar), bytes);
    }
    let _ = Round1::<S>::parse(bytes, threshold);
    let _ = Commitments::<S>::parse(bytes);
    let half = bytes.len() / 2;
    let (one, two) = bytes.split_at(half);
    let _ = Keygen::<S>::parse(threshold, &[one, two]);
    let refused = verify::signature(S::SUITE, one, b"m", two).is_err();
    assert_eq!(refused, !accepts(S::SUITE, one, b"m", two));
    if let Ok(share) = one.try_into() {
        let _ = verify::share_fits(S::SUITE, two, threshold, share);
    }
    for prehash in [Prehash::Sha256, Prehash::Keccak256, Prehash::None] {
        assert!(!accepts_ecdsa(one, b"m", prehash, two));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..260), threshold: u16) {
        read_everything::<verify::Ed25519>(&bytes, threshold);
        read_everything::<verify::Ristretto255>(&bytes, threshold);
        read_everything::<verify::Secp256k1>(&bytes, threshold);
        read_everything::<verify::Secp256k1Tr>(&bytes, threshold);
    }
}

/// Every prefix, and every byte changed: refused, or a key generation whose proofs do not hold and
/// whose culprit is the sender.
fn mutated_messages<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(2, 2, 1);
    let good = [made.message(0), made.message(1)];
    for len in 0..good[1].len() {
        let bad = [good[0].as_slice(), &good[1][..len]];
        let fault = Keygen::<S>::parse(2, &bad).unwrap_err();
        assert_eq!(fault.culprits(), [1]);
    }
    let constant = S::ELEMENT;
    let proof = 2 * S::ELEMENT;
    for at in (0..good[1].len()).step_by(3) {
        for change in [1u8, 0x80] {
            let mut bad = good.clone();
            bad[1][at] ^= change;
            match Keygen::<S>::parse(2, &slices(&bad)) {
                Err(fault) => assert_eq!(fault.culprits(), [1]),
                Ok(keygen) if at < constant || at >= proof => {
                    assert_eq!(keygen.check_proofs().unwrap_err().culprits(), [1]);
                }
                // The proof is of the constant alone; shares and group key show the rest.
                Ok(keygen) => {
                    keygen.check_proofs().unwrap();
                    let share = made.shares[&(1, 0)];
                    assert!(!keygen.packages()[1].share_fits(0, &share));
                }
            }
        }
    }
}

fn mutated_signings<S: Ciphersuite, C: theirs::Ciphersuite>() {
    let made: Generated<C> = generate(3, 2, 2);
    let signed = made.sign(&[0, 2], b"m", 1);
    let verifying = made.verifying::<S>(&[0, 2]);
    let finish = |commitments: &[Vec<u8>], shares: &[Vec<u8>]| {
        let session = Session::parse(made.key::<S>(), b"m", &[0, 2], &slices(commitments))?;
        session.finish(&slices(shares), Some(&verifying))
    };
    assert!(finish(&signed.commitments, &signed.shares).is_ok());
    for at in (0..2 * S::ELEMENT).step_by(5) {
        let mut commitments = signed.commitments.clone();
        commitments[1][at] ^= 1;
        // With another commitment every binding factor is another: all shares are wrong.
        let fault = finish(&commitments, &signed.shares).unwrap_err();
        assert!(!fault.culprits().is_empty());
        commitments[1].truncate(at);
        let fault = finish(&commitments, &signed.shares).unwrap_err();
        assert_eq!(fault.culprits(), [1]);
    }
    for at in 0..32 {
        let mut shares = signed.shares.clone();
        shares[0][at] ^= 4;
        let fault = finish(&signed.commitments, &shares).unwrap_err();
        assert_eq!(fault.culprits(), [0]);
        shares[0].truncate(at);
        let fault = finish(&signed.commitments, &shares).unwrap_err();
        assert_eq!(fault.culprits(), [0]);
    }
}

#[test]
fn empty_lists_and_numbers_at_the_edge() {
    for suite in Suite::ALL {
        assert!(!verify::share_fits(suite, &[], 0, &[0; 32]));
        assert!(!verify::share_fits(suite, &[], u16::MAX, &[0xff; 32]));
        assert!(verify::signature(suite, &[], &[], &[]).is_err());
        assert!(!accepts(suite, &[], &[], &[]));
    }
}

mod each {
    crate::for_each_suite!(mutated_messages, mutated_signings);
}
