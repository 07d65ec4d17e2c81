//! Sealed packages, and verdicts over them.
//!
//! A share is sealed to the recipient's one-time X25519 key with ChaCha20-Poly1305; the key is the
//! Keccak-256 of shared secret, both public keys, ceremony, sender and recipient. A key seals one
//! package, so the nonce is zero. The coordinator sees sender, recipient and length.
//!
//! A complaint publishes the one-time secret. Then all can open the package and check the share
//! against the sender's commitments: the sum of `C_k i^k` must be the share times the generator, for
//! the recipient's identifier `i`.
#![forbid(unsafe_code)]

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{ChaCha20Poly1305, Key, Nonce};
use x25519_dalek::{PublicKey, StaticSecret};

use super::kind::{SEALED, Suite};
use super::wire::Writer;
use crate::{Digest, keccak256};

/// Between whom a package goes, in which ceremony.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The ceremony.
    pub ceremony: Digest,
    /// The sender's index.
    pub sender: u16,
    /// The recipient's index.
    pub recipient: u16,
}

impl Route {
    fn bytes(&self) -> Vec<u8> {
        let mut w = Writer::default();
        w.put(b"fieldspar.ceremony.v2.package\0")
            .put(&self.ceremony);
        w.u16(self.sender).u16(self.recipient);
        w.0
    }

    fn cipher(
        &self,
        shared: &[u8; 32],
        ephemeral: &[u8; 32],
        one_time: &[u8; 32],
    ) -> ChaCha20Poly1305 {
        let key = keccak256(&[&self.bytes(), &shared[..], ephemeral, one_time].concat());
        ChaCha20Poly1305::new(&Key::from(key))
    }
}

/// The public key of a one-time secret.
#[must_use]
pub fn one_time_key(secret: &[u8; 32]) -> [u8; 32] {
    PublicKey::from(&StaticSecret::from(*secret)).to_bytes()
}

/// Seals a share to the recipient's one-time key with an ephemeral secret, which must be new and
/// random. For parties; a coordinator never has what this needs. `None` if the recipient's key is of
/// small order.
#[must_use]
pub fn seal(
    route: &Route,
    recipient_key: &[u8; 32],
    ephemeral: &[u8; 32],
    share: &[u8; 32],
) -> Option<[u8; SEALED]> {
    let secret = StaticSecret::from(*ephemeral);
    let shared = secret.diffie_hellman(&PublicKey::from(*recipient_key));
    if !shared.was_contributory() {
        return None;
    }
    let public = PublicKey::from(&secret).to_bytes();
    let aad = route.bytes();
    let payload = Payload {
        msg: share,
        aad: &aad,
    };
    let sealed = route
        .cipher(shared.as_bytes(), &public, recipient_key)
        .encrypt(&Nonce::default(), payload)
        .ok()?;
    let mut package = [0; SEALED];
    package[..2].copy_from_slice(&route.sender.to_le_bytes());
    package[2..4].copy_from_slice(&route.recipient.to_le_bytes());
    package[4..36].copy_from_slice(&public);
    package[36..].copy_from_slice(&sealed);
    Some(package)
}

/// Opens a package with the recipient's one-time secret; `None` if it is not what it should be.
#[must_use]
pub fn open(route: &Route, package: &[u8], secret: &[u8; 32]) -> Option<[u8; 32]> {
    if package.len() != SEALED {
        return None;
    }
    let secret = StaticSecret::from(*secret);
    let ephemeral: [u8; 32] = package[4..36].try_into().ok()?;
    let shared = secret.diffie_hellman(&PublicKey::from(ephemeral));
    if !shared.was_contributory() {
        return None;
    }
    let aad = route.bytes();
    let payload = Payload {
        msg: &package[36..],
        aad: &aad,
    };
    let one_time = PublicKey::from(&secret).to_bytes();
    route
        .cipher(shared.as_bytes(), &ephemeral, &one_time)
        .decrypt(&Nonce::default(), payload)
        .ok()?
        .try_into()
        .ok()
}

/// Whether `share` is that of the party with this index under the commitments, one encoded element
/// after another; scalars as RFC 9591 encodes them. Encodings that are not canonical, the identity, and
/// points outside the prime-order group, never fit.
#[must_use]
pub fn share_fits(suite: Suite, commitments: &[u8], index: u16, share: &[u8; 32]) -> bool {
    crate::verify::share_fits(suite, commitments, index, share)
}
