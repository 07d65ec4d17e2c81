//! Public verification of threshold ceremonies, with blame.
//!
//! Everything here works on public data and holds no secrets, save that a party may check its own
//! shares with it. Suites are types ([`suite::Ciphersuite`]); functions that take a
//! [`Suite`] and bytes choose among them.
//!
//! | what | where | how |
//! |---|---|---|
//! | round 1 of a key generation: lengths, elements, proofs of knowledge | [`keygen`] | one random linear combination, each alone where it fails |
//! | group key, verifying shares, a party's own shares | [`keygen`] | Horner's rule in the exponent with small identifiers |
//! | signature shares | [`signing`] | the signature first; shares only where it fails, to name who spoiled it |
//! | signatures | [`mod@signature`] | one random linear combination, each alone where it fails |
//! | final signatures, by code of others | [`independent`] | ed25519-dalek, k256; RFC 9591's equation for the other two |
//! | whole ceremonies from a store's log | [`transcript`] | replay, then all of the above |
//! | packages and keys of the frost crates | [`frost`] | through their encodings |
//!
//! **What is not checked.** CGGMP24: envelope, order, signatures of the senders and the final ECDSA
//! signature; not the proofs inside. Corona: the envelope alone. A dealer's or a coordinator's split
//! view shows as two signed transcripts, not here.
//!
//! **One rule for Ed25519.** Keys and commitments are canonical encodings of points of prime order,
//! none the identity, and the equation holds as it stands. Then it holds with the cofactor too, so
//! that one signature and a batch, ed25519-dalek, OpenSSL and the frost crates agree; see
//! [`mod@signature`].
//!
//! **Randomness** of the linear combinations is hashed from what is checked: 128 bits each, and the
//! same input gives the same answer.
#![forbid(unsafe_code)]

mod coefficients;
pub mod frost;
mod horner;
pub mod independent;
pub mod keygen;
mod msm;
pub mod scenario;
pub mod signature;
pub mod signing;
pub mod suite;
pub mod transcript;

pub use suite::{
    Ciphersuite, Ed25519, Element, ElementError, Ristretto255, Secp256k1, Secp256k1Tr,
};

use crate::rules::v2::Suite;

/// Runs an expression with a suite's type in the place of `$S`.
macro_rules! with_suite {
    ($suite:expr, $S:ident => $body:expr) => {
        match $suite {
            $crate::rules::v2::Suite::Ed25519 => {
                type $S = $crate::verify::Ed25519;
                $body
            }
            $crate::rules::v2::Suite::Ristretto255 => {
                type $S = $crate::verify::Ristretto255;
                $body
            }
            $crate::rules::v2::Suite::Secp256k1 => {
                type $S = $crate::verify::Secp256k1;
                $body
            }
            $crate::rules::v2::Suite::Secp256k1Tr => {
                type $S = $crate::verify::Secp256k1Tr;
                $body
            }
        }
    };
}
pub(crate) use with_suite;

/// Checks a signature of a suite from its bytes.
///
/// # Errors
///
/// What is wrong with key or signature.
pub fn signature(
    suite: Suite,
    key: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), signature::SignatureError> {
    with_suite!(suite, S => {
        let key = Element::<S>::parse(key).map_err(signature::SignatureError::Key)?;
        let signature = signature::Signature::<S>::parse(signature)?;
        signature::verify(&signature::Item { key, message, signature })
    })
}

/// Whether `share` is that of the participant with index `recipient` under a sender's commitments,
/// one encoded element after another. Bytes that are no elements or no scalar never fit.
#[must_use]
pub fn share_fits(suite: Suite, commitments: &[u8], recipient: u16, share: &[u8; 32]) -> bool {
    fn fits<S: Ciphersuite>(commitments: &[u8], recipient: u16, share: &[u8; 32]) -> Option<bool> {
        let points: Vec<S::Point> = commitments
            .chunks(S::ELEMENT)
            .map(|bytes| Element::<S>::parse(bytes).map(|e| *e.point()))
            .collect::<Result<_, _>>()
            .ok()?;
        let share = S::decode_scalar(share)?;
        let want = horner::evaluate::<S>(&points, u64::from(recipient) + 1);
        Some(!points.is_empty() && want == S::mul_base(&share))
    }
    with_suite!(suite, S => fits::<S>(commitments, recipient, share)).unwrap_or(false)
}
