//! Verification of FROST and CGGMP24, judged by the frost crates, their vectors, dalek, k256 and
//! OpenSSL.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

#[path = "verify/attacks.rs"]
mod attacks;
#[path = "verify/ed25519_rule.rs"]
mod ed25519_rule;
#[path = "verify/malformed.rs"]
mod malformed;
#[path = "verify/parties.rs"]
mod parties;
#[path = "verify/signatures.rs"]
mod signatures;
#[path = "verify/transcripts.rs"]
mod transcripts;
#[path = "verify/vectors.rs"]
mod vectors;
#[path = "verify/world.rs"]
mod world;

/// Runs a generic test for each suite, as `test::<ours, theirs>()`.
macro_rules! for_each_suite {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        fn $name() {
            super::$name::<
                fieldspar_ceremony::verify::Ed25519,
                frost_ed25519::Ed25519Sha512,
            >();
            super::$name::<
                fieldspar_ceremony::verify::Ristretto255,
                frost_ristretto255::Ristretto255Sha512,
            >();
            super::$name::<
                fieldspar_ceremony::verify::Secp256k1,
                frost_secp256k1::Secp256K1Sha256,
            >();
            super::$name::<
                fieldspar_ceremony::verify::Secp256k1Tr,
                frost_secp256k1_tr::Secp256K1Sha256TR,
            >();
        }
    )+};
}
pub(crate) use for_each_suite;
