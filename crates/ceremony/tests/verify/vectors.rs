//! The vectors of RFC 9591 and of the frost crates' key generation.

use fieldspar_ceremony::rules::v2::Suite;
use fieldspar_ceremony::verify::keygen::{Keygen, Round1};
use fieldspar_ceremony::verify::signature::{Item, Signature, verify};
use fieldspar_ceremony::verify::signing::{Commitments, Session};
use fieldspar_ceremony::verify::{Ciphersuite, Element, independent};
use serde_json::Value;

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    let mut bytes = vec![0; text.len() / 2];
    fieldspar_ceremony::hex::decode(text, &mut bytes).unwrap();
    bytes
}

macro_rules! files {
    ($kind:literal) => {
        |suite| match suite {
            Suite::Ed25519 => include_str!(concat!("../vectors/frost/ed25519.", $kind, ".json")),
            Suite::Ristretto255 => {
                include_str!(concat!("../vectors/frost/ristretto255.", $kind, ".json"))
            }
            Suite::Secp256k1 => {
                include_str!(concat!("../vectors/frost/secp256k1.", $kind, ".json"))
            }
            Suite::Secp256k1Tr => {
                include_str!(concat!("../vectors/frost/secp256k1-tr.", $kind, ".json"))
            }
        }
    };
}

fn read(suite: Suite, file: impl Fn(Suite) -> &'static str) -> Value {
    serde_json::from_str(file(suite)).unwrap()
}

fn signing<S: Ciphersuite>(vectors: &Value) {
    let inputs = &vectors["inputs"];
    let key_bytes = unhex(&inputs["verifying_key_key"]);
    let key = Element::<S>::parse(&key_bytes).unwrap();
    let message = unhex(&inputs["message"]);
    let outputs = vectors["round_one_outputs"]["outputs"].as_array().unwrap();
    let ids: Vec<u64> = outputs
        .iter()
        .map(|o| o["identifier"].as_u64().unwrap())
        .collect();
    let commitments: Vec<Commitments<S>> = outputs
        .iter()
        .map(|o| {
            let element = |name: &str| Element::parse(&unhex(&o[name])).unwrap();
            Commitments {
                hiding: element("hiding_nonce_commitment"),
                binding: element("binding_nonce_commitment"),
            }
        })
        .collect();
    let scalars: Vec<S::Scalar> = ids.iter().map(|&i| S::Scalar::from(i)).collect();
    let session = Session::new(key, &message, &scalars, &commitments).unwrap();
    // The vectors have the participants' secrets.
    let secrets = inputs["participant_shares"].as_array().unwrap();
    let verifying: Vec<S::Point> = ids
        .iter()
        .map(|id| {
            let secret = secrets.iter().find(|s| s["identifier"] == *id).unwrap();
            let secret = S::decode_scalar(&unhex(&secret["participant_share"])).unwrap();
            S::mul_base(&secret)
        })
        .collect();
    let outputs = vectors["round_two_outputs"]["outputs"].as_array().unwrap();
    let shares: Vec<Vec<u8>> = outputs.iter().map(|o| unhex(&o["sig_share"])).collect();
    for (place, share) in shares.iter().enumerate() {
        let share = S::decode_scalar(share).unwrap();
        assert!(session.share_holds(place, &share, &verifying[place]));
        let other = share + S::Scalar::from(1u64);
        assert!(!session.share_holds(place, &other, &verifying[place]));
    }
    let shares: Vec<&[u8]> = shares.iter().map(Vec::as_slice).collect();
    let signature = session.finish(&shares, Some(&verifying)).unwrap();
    let want = unhex(&vectors["final_output"]["sig"]);
    assert_eq!(signature.to_bytes(), want);
    assert!(independent::accepts(S::SUITE, &key_bytes, &message, &want));
    let signature = Signature::parse(&want).unwrap();
    let item = Item {
        key,
        message: &message,
        signature,
    };
    assert_eq!(verify(&item), Ok(()));
}

fn rfc_9591<S: Ciphersuite, C: frost_core::Ciphersuite>() {
    assert_eq!(S::ID, C::ID);
    signing::<S>(&read(S::SUITE, files!("vectors")));
}

fn big_identifiers<S: Ciphersuite, C: frost_core::Ciphersuite>() {
    assert_eq!(S::ID, C::ID);
    signing::<S>(&read(S::SUITE, files!("vectors-big-identifier")));
}

fn key_generation<S: Ciphersuite, C: frost_core::Ciphersuite>() {
    assert_eq!(S::ID, C::ID);
    let vectors = read(S::SUITE, files!("vectors_dkg"));
    let inputs = &vectors["inputs"];
    let n = vectors["config"]["MAX_PARTICIPANTS"].as_u64().unwrap() as u16;
    let t = vectors["config"]["MIN_PARTICIPANTS"].as_u64().unwrap() as u16;
    let participant = |i: u16| &inputs[(i + 1).to_string()];
    let messages: Vec<Vec<u8>> = (0..n)
        .map(|i| {
            let commitments = participant(i)["vss_commitments"].as_array().unwrap();
            let mut message: Vec<u8> = commitments.iter().flat_map(unhex).collect();
            message.extend(unhex(&participant(i)["proof_of_knowledge"]));
            message
        })
        .collect();
    let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let keygen = Keygen::<S>::parse(t, &messages).unwrap();
    assert!((0..n).all(|i| keygen.packages()[usize::from(i)].proof_holds(i)));
    assert!(
        !keygen.packages()[0].proof_holds(1),
        "bound to the identifier"
    );
    keygen.check_proofs().unwrap();
    let keys = keygen.public_keys().unwrap();
    assert_eq!(keys.threshold, t);
    assert_eq!(
        keys.group_key.bytes().as_ref(),
        unhex(&inputs["verifying_key"])
    );
    for i in 0..n {
        let share = S::encode(&keys.shares[usize::from(i)]).unwrap();
        assert_eq!(share.as_ref(), unhex(&participant(i)["verifying_share"]));
        for j in (0..n).filter(|j| *j != i) {
            let share = unhex(&participant(i)["signing_shares"][(j + 1).to_string()]);
            let share: [u8; 32] = share.try_into().unwrap();
            let sender: &Round1<S> = &keygen.packages()[usize::from(j)];
            assert!(sender.share_fits(i, &share));
            assert!(!sender.share_fits(j, &share));
        }
    }
}

mod each {
    crate::for_each_suite!(rfc_9591, big_identifiers, key_generation);
}
