//! The checks of the frost crates, release 3.0, as a process of their own.
//!
//! Each line of standard input is a workload, `{"scenario": ..., "suite": ..., ...}`, which is read
//! and answered by `{"loaded": true}`, or `"run"`, which does the last workload once and is answered
//! by `{"ms": <time>, "valid": <bool>}`. Reading packages and signatures is outside the timer; where
//! the workload says `"decode": true` it is inside.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::time::Instant;

use frost_core::keys::dkg::{round1, verify_proof_of_knowledge};
use frost_core::keys::{
    PublicKeyPackage, SecretShare, SigningShare, VerifiableSecretSharingCommitment,
};
use frost_core::{Ciphersuite, Identifier, Signature, VerifyingKey, batch};
use serde::Deserialize;
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

#[derive(Deserialize)]
struct Workload {
    scenario: String,
    suite: String,
    #[serde(default)]
    threshold: usize,
    /// Bytes of an element.
    element: usize,
    /// Key generation: commitments and proof of each participant.
    #[serde(default)]
    messages: Vec<String>,
    /// Key generation: sender and share, for participant 0.
    #[serde(default)]
    shares: Vec<(u16, String)>,
    /// Key, message, signature.
    #[serde(default)]
    signatures: Vec<(String, String, String)>,
    #[serde(default)]
    decode: bool,
}

/// Does the workload once: milliseconds, and whether all was valid.
type Run = Box<dyn FnMut() -> Result<(f64, bool)>>;

fn timed(work: impl FnOnce() -> Result<bool>) -> Result<(f64, bool)> {
    let start = Instant::now();
    let valid = black_box(work()?);
    Ok((start.elapsed().as_secs_f64() * 1e3, valid))
}

fn dkg<C: Ciphersuite>(w: &Workload) -> Result<Run> {
    let mut packages = BTreeMap::<Identifier<C>, round1::Package<C>>::new();
    for (i, message) in (1u16..).zip(&w.messages) {
        let bytes = hex::decode(message)?;
        let (commitments, proof) = bytes.split_at(w.threshold * w.element);
        let commitments = commitments.chunks(w.element).map(<[u8]>::to_vec);
        let commitment = VerifiableSecretSharingCommitment::deserialize(commitments)?;
        let package = round1::Package::new(commitment, Signature::deserialize(proof)?);
        packages.insert(i.try_into()?, package);
    }
    if w.scenario == "dkg" {
        return Ok(Box::new(move || {
            timed(|| {
                let mut valid = true;
                for (id, package) in &packages {
                    let proof = package.proof_of_knowledge();
                    valid &= verify_proof_of_knowledge(*id, package.commitment(), proof).is_ok();
                }
                let commitments = packages
                    .iter()
                    .map(|(id, p)| (*id, p.commitment()))
                    .collect();
                black_box(PublicKeyPackage::from_dkg_commitments(&commitments)?);
                Ok(valid)
            })
        }));
    }
    let mut shares = Vec::new();
    for (sender, share) in &w.shares {
        let sender: Identifier<C> = (sender + 1).try_into()?;
        let share = SigningShare::<C>::deserialize(&hex::decode(share)?)?;
        let commitment = packages[&sender].commitment().clone();
        shares.push(SecretShare::new(1u16.try_into()?, share, commitment));
    }
    Ok(Box::new(move || {
        timed(|| Ok(shares.iter().all(|share| black_box(share.verify()).is_ok())))
    }))
}

fn signatures<C: Ciphersuite>(w: &Workload) -> Result<Run> {
    let mut bytes = Vec::new();
    for (key, message, signature) in &w.signatures {
        bytes.push((
            hex::decode(key)?,
            hex::decode(message)?,
            hex::decode(signature)?,
        ));
    }
    let read = |(key, message, signature): &(Vec<u8>, Vec<u8>, Vec<u8>)| -> Result<_> {
        let key = VerifyingKey::<C>::deserialize(key)?;
        Ok((
            key,
            Signature::<C>::deserialize(signature)?,
            message.clone(),
        ))
    };
    let parsed = bytes.iter().map(read).collect::<Result<Vec<_>>>()?;
    let check = |items: &[(VerifyingKey<C>, Signature<C>, Vec<u8>)]| -> Result<bool> {
        let mut verifier = batch::Verifier::<C>::new();
        for (key, signature, message) in items {
            verifier.queue(batch::Item::new(*key, *signature, message)?);
        }
        Ok(verifier.verify(rand_core::OsRng).is_ok())
    };
    let decode = w.decode;
    Ok(Box::new(move || {
        if decode {
            return timed(|| check(&bytes.iter().map(read).collect::<Result<Vec<_>>>()?));
        }
        timed(|| check(&parsed))
    }))
}

fn load<C: Ciphersuite>(w: &Workload) -> Result<Run> {
    match w.scenario.as_str() {
        "dkg" | "own-shares" => dkg::<C>(w),
        "signatures" => signatures::<C>(w),
        other => Err(format!("no scenario `{other}`").into()),
    }
}

fn answer(line: &str, run: &mut Option<Run>) -> Result<Value> {
    if line == "run" {
        let (ms, valid) = run.as_mut().ok_or("nothing is loaded")?()?;
        return Ok(json!({"ms": ms, "valid": valid}));
    }
    let w: Workload = serde_json::from_str(line)?;
    *run = Some(match w.suite.as_str() {
        "ed25519" => load::<frost_ed25519::Ed25519Sha512>(&w)?,
        "ristretto255" => load::<frost_ristretto255::Ristretto255Sha512>(&w)?,
        "secp256k1" => load::<frost_secp256k1::Secp256K1Sha256>(&w)?,
        "secp256k1-tr" => load::<frost_secp256k1_tr::Secp256K1Sha256TR>(&w)?,
        other => return Err(format!("no suite `{other}`").into()),
    });
    Ok(json!({"loaded": true}))
}

fn main() -> std::io::Result<()> {
    let mut run = None;
    for line in std::io::stdin().lock().lines() {
        let answer =
            answer(&line?, &mut run).unwrap_or_else(|error| json!({"error": error.to_string()}));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
