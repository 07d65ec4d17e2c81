//! Workloads for benchmarks: key generations and signatures whose secrets are known to all.
#![forbid(unsafe_code)]

use super::suite::Ciphersuite;
use super::with_suite;
use crate::keccak256;
use crate::rules::v2::Suite;

/// A key generation after round 1, and the shares that one participant gets.
#[derive(Clone, Debug)]
pub struct Dkg {
    /// How many can sign.
    pub threshold: u16,
    /// Commitments and proof of each participant.
    pub messages: Vec<Vec<u8>>,
    /// For participant 0: sender and share.
    pub shares: Vec<(u16, [u8; 32])>,
}

/// A signature under a key.
#[derive(Clone, Debug)]
pub struct Signed {
    /// The key.
    pub key: Vec<u8>,
    /// What is signed.
    pub message: Vec<u8>,
    /// The signature.
    pub signature: Vec<u8>,
}

/// A scalar that looks random, from a name and two numbers.
fn scalar<S: Ciphersuite>(what: &[u8], a: u64, b: u64) -> S::Scalar {
    let seed = keccak256(&[what, &a.to_le_bytes(), &b.to_le_bytes()].concat());
    S::h1(&[&seed])
}

/// A signature, or a proof of knowledge, by the challenge's function of the commitment's bytes.
fn sign<S: Ciphersuite>(
    secret: S::Scalar,
    nonce: S::Scalar,
    challenge: impl Fn(&S::Encoding) -> S::Scalar,
) -> Option<Vec<u8>> {
    let r = S::encode(&S::mul_base(&nonce))?;
    let (r, nonce) = if S::is_odd(&r) {
        (S::negated(r), -nonce)
    } else {
        (r, nonce)
    };
    let z = nonce + challenge(&r) * secret;
    Some([S::encode_r(&r), &S::encode_scalar(&z)].concat())
}

fn dkg_of<S: Ciphersuite>(n: u16, t: u16) -> Option<Dkg> {
    let (mut messages, mut shares) = (Vec::new(), Vec::new());
    for i in 0..n {
        let coefficients: Vec<S::Scalar> = (0..t)
            .map(|k| scalar::<S>(b"coefficient", i.into(), k.into()))
            .collect();
        let mut message = Vec::new();
        for c in &coefficients {
            message.extend_from_slice(S::encode(&S::mul_base(c))?.as_ref());
        }
        let constant = message.get(..S::ELEMENT)?.to_vec();
        let id = S::encode_scalar(&super::keygen::identifier::<S>(i));
        let nonce = scalar::<S>(b"nonce", i.into(), 0);
        let proof = sign::<S>(*coefficients.first()?, nonce, |r| {
            S::hdkg(&[&id, &constant, r.as_ref()])
        });
        message.extend(proof?);
        messages.push(message);
        if i > 0 {
            let zero = S::Scalar::from(0u64);
            // Participant 0 has the identifier 1.
            let share = coefficients.into_iter().fold(zero, |sum, c| sum + c);
            shares.push((i, S::encode_scalar(&share)));
        }
    }
    Some(Dkg {
        threshold: t,
        messages,
        shares,
    })
}

/// A key generation of `n` participants of whom `t` can sign.
#[must_use]
pub fn dkg(suite: Suite, n: u16, t: u16) -> Option<Dkg> {
    with_suite!(suite, S => dkg_of::<S>(n, t))
}

fn signatures_of<S: Ciphersuite>(count: u64, keys: u64) -> Option<Vec<Signed>> {
    (0..count)
        .map(|i| {
            let mut secret = scalar::<S>(b"key", i % keys.max(1), 0);
            let key = S::encode(&S::mul_base(&secret))?;
            let mut even = key;
            if S::is_odd(&key) {
                secret = -secret;
                even = S::negated(key);
            }
            let message = keccak256(&i.to_le_bytes()).to_vec();
            let nonce = scalar::<S>(b"nonce", i, 1);
            let signature = sign::<S>(secret, nonce, |r| S::challenge(r, &even, &message))?;
            Some(Signed {
                key: key.as_ref().to_vec(),
                message,
                signature,
            })
        })
        .collect()
}

/// Signatures over different messages of 32 bytes, by so many keys in turn.
#[must_use]
pub fn signatures(suite: Suite, count: u64, keys: u64) -> Option<Vec<Signed>> {
    with_suite!(suite, S => signatures_of::<S>(count, keys))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::verify::keygen::Keygen;

    #[test]
    fn workloads_are_good() {
        for suite in Suite::ALL {
            let dkg = dkg(suite, 4, 3).unwrap();
            let messages: Vec<&[u8]> = dkg.messages.iter().map(Vec::as_slice).collect();
            with_suite!(suite, S => {
                let keygen = Keygen::<S>::parse(3, &messages).unwrap();
                keygen.check_proofs().unwrap();
                keygen.public_keys().unwrap();
                keygen.check_own_shares(0, &dkg.shares).unwrap();
            });
            for s in signatures(suite, 9, 4).unwrap() {
                let good = crate::verify::signature(suite, &s.key, &s.message, &s.signature);
                assert_eq!(good, Ok(()));
            }
        }
    }
}
