//! One rule for Ed25519: torsion gets in nowhere, and one signature, a batch, and the independent
//! verifier say the same. Verifiers in use differ on these; see "Taming the many EdDSAs" (ePrint
//! 2020/1244).

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::scalar::Scalar;
use ed25519_dalek::VerifyingKey;
use fieldspar_ceremony::rules::v2::{self, Reason, Suite};
use fieldspar_ceremony::verify::signature::{
    Item, Signature, SignatureError, verify, verify_batch,
};
use fieldspar_ceremony::verify::{self, Ciphersuite, Ed25519, Element, ElementError, independent};
use sha2::{Digest, Sha512};

fn challenge(r: &[u8], a: &[u8], message: &[u8]) -> Scalar {
    let digest = Sha512::digest([r, a, message].concat());
    Scalar::from_bytes_mod_order_wide(&digest.into())
}

/// A signature by `a` with nonce `r`, whose key and commitment have torsion added.
struct Crafted {
    key: [u8; 32],
    message: Vec<u8>,
    signature: [u8; 64],
}

impl Crafted {
    fn new(a: u64, key_torsion: usize, r: u64, r_torsion: usize, message: &[u8]) -> Self {
        let point = |x: u64, torsion: usize| {
            ED25519_BASEPOINT_POINT * Scalar::from(x) + EIGHT_TORSION[torsion]
        };
        let key = point(a, key_torsion).compress().to_bytes();
        let commitment = point(r, r_torsion).compress().to_bytes();
        let c = challenge(&commitment, &key, message);
        let z = Scalar::from(r) + c * Scalar::from(a);
        let mut signature = [0; 64];
        signature[..32].copy_from_slice(&commitment);
        signature[32..].copy_from_slice(&z.to_bytes());
        Self {
            key,
            message: message.to_vec(),
            signature,
        }
    }

    fn ours(&self) -> bool {
        let one = verify::signature(Suite::Ed25519, &self.key, &self.message, &self.signature);
        // A batch of this and of one that is good, by the same key where it is one.
        let batch = Element::<Ed25519>::parse(&self.key).is_ok_and(|key| {
            Signature::parse(&self.signature).is_ok_and(|signature| {
                let item = Item {
                    key,
                    message: &self.message,
                    signature,
                };
                let good = Self::new(3, 0, 5, 0, b"good").item();
                verify_batch(&[good, item, good]).is_ok()
            })
        });
        let theirs =
            independent::accepts(Suite::Ed25519, &self.key, &self.message, &self.signature);
        assert_eq!(one.is_ok(), batch);
        assert_eq!(one.is_ok(), theirs);
        one.is_ok()
    }

    fn item(&self) -> Item<'static, Ed25519> {
        Item {
            key: Element::parse(&self.key).unwrap(),
            message: b"good",
            signature: Signature::parse(&self.signature).unwrap(),
        }
    }

    fn dalek(&self) -> bool {
        use ed25519_dalek::Verifier;
        let signature = ed25519_dalek::Signature::from_bytes(&self.signature);
        VerifyingKey::from_bytes(&self.key)
            .is_ok_and(|key| key.verify(&self.message, &signature).is_ok())
    }

    fn cofactored(&self) -> bool {
        let point = |bytes: &[u8]| {
            curve25519_dalek::edwards::CompressedEdwardsY::from_slice(bytes)
                .unwrap()
                .decompress()
                .unwrap()
        };
        let (r, a) = (&self.signature[..32], &self.key[..]);
        let z = Scalar::from_bytes_mod_order(self.signature[32..].try_into().unwrap());
        let c = challenge(r, a, &self.message);
        let rest: EdwardsPoint = ED25519_BASEPOINT_POINT * z - point(r) - point(a) * c;
        rest.is_small_order()
    }
}

#[test]
fn torsion_gets_in_nowhere() {
    let (mut cofactored, mut dalek) = (0, 0);
    for a in [3, 0] {
        for r in [5, 0] {
            for key_torsion in 0..8 {
                for r_torsion in 0..8 {
                    for n in 0..4u8 {
                        let crafted = Crafted::new(a, key_torsion, r, r_torsion, &[n]);
                        let clean = a != 0 && r != 0 && key_torsion == 0 && r_torsion == 0;
                        assert_eq!(
                            crafted.ours(),
                            clean,
                            "{a} {key_torsion} {r} {r_torsion} {n}"
                        );
                        cofactored += usize::from(crafted.cofactored());
                        dalek += usize::from(crafted.dalek());
                    }
                }
            }
        }
    }
    // The vectors are what they should be: the two rules in use differ on them.
    assert_eq!(cofactored, 2 * 2 * 8 * 8 * 4);
    assert!(dalek > 40 && dalek < cofactored / 2, "{dalek}");
}

#[test]
fn torsion_that_cancels_in_a_batch() {
    // Commitments with opposite torsion: a sum without coefficients would vanish.
    let pair = [(1, 7), (2, 6), (4, 4)]
        .map(|(one, other)| [one, other].map(|torsion| Crafted::new(3, 0, 5, torsion, b"good")));
    for crafted in pair.iter().flatten() {
        assert!(crafted.cofactored());
        assert!(!crafted.ours());
        let parsed = Signature::<Ed25519>::parse(&crafted.signature);
        assert!(parsed.is_err(), "it does not even get into a batch");
    }
}

#[test]
fn torsion_among_many() {
    let good: Vec<Crafted> = (1..400)
        .map(|r| Crafted::new(3, 0, r, 0, b"good"))
        .collect();
    let bytes: Vec<&[u8]> = good.iter().map(|c| &c.signature[..]).collect();
    let parsed = Signature::<Ed25519>::parse_many(&bytes).unwrap();
    assert!(parsed.iter().zip(&bytes).all(|(s, b)| s.to_bytes() == *b));
    for torsion in 1..8 {
        // Alone, and with one that cancels it in the sum.
        let one = Crafted::new(3, 0, 5, torsion, b"good");
        let other = Crafted::new(3, 0, 6, 8 - torsion, b"good");
        let mut bad = bytes.clone();
        bad[7] = &one.signature;
        for second in [None, Some(&other)] {
            if let Some(second) = second {
                bad[390] = &second.signature;
            }
            let error = Signature::<Ed25519>::parse_many(&bad).unwrap_err();
            let why = SignatureError::Commitment(ElementError::Subgroup);
            assert_eq!(error, (7, why));
        }
    }
}

#[test]
fn encodings_that_are_not_canonical() {
    let p_minus = |y: u8, sign: u8| {
        // 2^255 - 19 + y: another encoding of y.
        let mut bytes = [0xff; 32];
        bytes[0] = 0xed + y;
        bytes[31] = 0x7f | sign << 7;
        bytes
    };
    for y in 0..19 {
        for sign in 0..2 {
            let parsed = Element::<Ed25519>::parse(&p_minus(y, sign));
            assert!(parsed.is_err(), "{y} {sign}");
        }
    }
    let mut identity = [0; 32];
    identity[0] = 1;
    assert_eq!(
        Element::<Ed25519>::parse(&identity),
        Err(ElementError::Identity)
    );
    for torsion in &EIGHT_TORSION[1..] {
        let parsed = Element::<Ed25519>::parse(&torsion.compress().to_bytes());
        assert_eq!(parsed, Err(ElementError::Subgroup));
    }
}

#[test]
fn a_response_above_the_order() {
    let good = Crafted::new(3, 0, 5, 0, b"good");
    assert!(good.ours());
    assert_eq!(verify(&good.item()), Ok(()));
    // z + L, which fits in 32 bytes.
    let order: [u8; 32] = {
        let minus_one = Ed25519::encode_scalar(&-Scalar::ONE);
        let mut order = minus_one;
        order[0] += 1;
        order
    };
    let mut carry = 0;
    let mut bad = Crafted::new(3, 0, 5, 0, b"good");
    for (digit, add) in bad.signature[32..].iter_mut().zip(order) {
        let sum = u16::from(*digit) + u16::from(add) + carry;
        *digit = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    assert!(!bad.ours());
}

/// The roster has the same rule: then `verify_strict`, which rules use for messages, is it.
#[test]
fn the_roster_takes_only_keys_of_prime_order() {
    let operator = ed25519_dalek::SigningKey::from_bytes(&[1; 32]);
    let network = [2; 32];
    let mut state = v2::State::new(v2::Genesis {
        network,
        operator: operator.verifying_key().to_bytes(),
    });
    for torsion in (0..8).rev() {
        let key = Crafted::new(3, torsion, 5, 0, b"").key;
        let body = v2::Body::AddMember { index: 0, key };
        let operation = body
            .sign(&network, &operator)
            .authenticate(&network)
            .unwrap();
        let answer = state.apply(operation);
        if torsion == 0 {
            assert!(answer.is_accepted());
        } else {
            let reason = Reason::BadMemberKey;
            assert_eq!(answer, v2::Answer::Rejected { reason });
        }
    }
}
