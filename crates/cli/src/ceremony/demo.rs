//! `ceremony demo`: a FROST key generation and a signature, with the daemon and all parties in this
//! process; they speak HTTP over loopback all the same.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Begin, Body, Genesis, Kind, Suite};
use fieldspar_ceremony::store::Store;
use fieldspar_ceremony::verify::independent::accepts;
use fieldspar_ceremony::verify::transcript::verify_transcript;
use serde_json::json;

use super::common::hex_bytes;
use super::operate::{kind_name, network_id, random};
use super::party::client::{Server, Waiting};
use super::party::{Done, Party};
use super::serve::{Daemon, Options};
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind as FailureKind};
use crate::json;

/// A suite by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Named {
    /// FROST(Ed25519, SHA-512)
    #[default]
    Ed25519,
    /// FROST(ristretto255, SHA-512)
    Ristretto255,
    /// FROST(secp256k1, SHA-256)
    Secp256k1,
    /// FROST(secp256k1, SHA-256) with BIP-340 signatures
    Secp256k1Tr,
}

impl Named {
    const fn suite(self) -> Suite {
        match self {
            Self::Ed25519 => Suite::Ed25519,
            Self::Ristretto255 => Suite::Ristretto255,
            Self::Secp256k1 => Suite::Secp256k1,
            Self::Secp256k1Tr => Suite::Secp256k1Tr,
        }
    }
}

/// Flags of `ceremony demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// How many hold a share
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=32))]
    parties: u16,
    /// How many sign
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u16).range(2..=32))]
    threshold: u16,
    /// The group and hash
    #[arg(long, value_enum, default_value_t)]
    suite: Named,
    /// What is signed
    #[arg(long, default_value = "Fieldspar")]
    message: String,
    /// How many messages are signed, one after another; all but the first have a number behind them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    signatures: u32,
    /// Keep record and shares in this folder, which is made
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Whose code, which made none of it, judges signatures of a suite.
const fn judge(suite: Suite) -> &'static str {
    match suite {
        Suite::Ed25519 => "ed25519-dalek",
        Suite::Secp256k1Tr => "k256",
        Suite::Ristretto255 => "RFC 9591's equation over curve25519-dalek",
        Suite::Secp256k1 => "RFC 9591's equation over k256",
    }
}

/// The cast: an operator, parties, and where they meet.
struct Stage {
    server: Server,
    client: Waiting,
    operator: SigningKey,
    keys: Vec<SigningKey>,
    network: [u8; 32],
    folder: PathBuf,
}

impl Stage {
    fn operate(&mut self, body: Body) -> Result<String, Failure> {
        self.client
            .submit(&body.sign(&self.network, &self.operator))
    }

    /// Begins a ceremony and lets the named parties play it, each in a thread.
    fn play(&mut self, begin: Begin, parties: &[u32]) -> Result<Vec<Done>, Failure> {
        let ceremony = begin.id(&self.network);
        let message = Some(begin.message.clone()).filter(|_| !begin.kind.is_keygen());
        self.operate(Body::Begin(begin))?;
        let roster: Vec<_> = self
            .keys
            .iter()
            .map(|key| key.verifying_key().to_bytes())
            .collect();
        thread::scope(|scope| {
            let running: Vec<_> = parties
                .iter()
                .map(|&i| {
                    let (server, key) = (self.server.clone(), self.keys[i as usize].clone());
                    let (roster, message) = (roster.clone(), message.clone());
                    let secrets = self.folder.join(format!("party-{i}.share"));
                    scope.spawn(move || {
                        let party = Party {
                            server,
                            key,
                            ceremony,
                            secrets: &secrets,
                            roster: Some(roster),
                            message,
                            wait: Duration::from_secs(60),
                        };
                        party.run()
                    })
                })
                .collect();
            running
                .into_iter()
                .map(|party| {
                    party
                        .join()
                        .map_err(|_| Failure::internal("a party panicked"))?
                })
                .collect()
        })
    }
}

fn secret() -> Result<SigningKey, Failure> {
    Ok(SigningKey::from_bytes(&random()?))
}

pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    if args.threshold > args.parties {
        return Err(Failure::usage("more signers than parties").at("--threshold"));
    }
    let temporary = tempfile::tempdir().map_err(|e| Failure::input(e.to_string()))?;
    let folder = match &args.keep {
        None => temporary.path().to_owned(),
        Some(folder) => {
            std::fs::create_dir(folder)
                .map_err(|e| Failure::input(e.to_string()).at(folder.display().to_string()))?;
            folder.clone()
        }
    };
    let operator = secret()?;
    let genesis = Genesis {
        network: network_id("demo"),
        operator: operator.verifying_key().to_bytes(),
    };
    let record = folder.join("record");
    let store = Store::create(&record, genesis)?;
    let daemon = Daemon::start(store, Options::inside(context.threads()))?;
    let server = Server::new(&format!("http://{}", daemon.address()), None)?;
    let keys = (0..args.parties)
        .map(|_| secret())
        .collect::<Result<_, _>>()?;
    let mut stage = Stage {
        client: Waiting::new(server.clone())?,
        server,
        operator,
        keys,
        network: genesis.network,
        folder,
    };
    let played = play(args, &mut stage);
    drop(stage);
    let mut store = daemon.stop()?;
    let played = played?;
    let root = store.state_mut().root().root;
    drop(store);
    let transcript = verify_transcript(&record)?;
    if transcript.state_root != root || !transcript.is_valid() {
        let why = "the record, verified from its log alone, is another or not valid";
        return Err(Failure::new(FailureKind::Mismatch, why));
    }
    Ok(outcome(args, &played, &root))
}

/// What a demonstration shows: the first signature, and how many of all were good.
struct Played {
    key: Done,
    signature: Vec<u8>,
    /// Signatures that the judge accepts.
    accepted: u32,
    keygen_ms: f64,
    sign_ms: f64,
}

fn play(args: &DemoArgs, stage: &mut Stage) -> Result<Played, Failure> {
    let suite = args.suite.suite();
    let everyone: Vec<u32> = (0..args.parties.into()).collect();
    for &index in &everyone {
        let key = stage.keys[index as usize].verifying_key().to_bytes();
        stage.operate(Body::AddMember { index, key })?;
    }
    let begin = Instant::now();
    let keygen = Begin {
        kind: Kind::FrostKeygen(suite),
        salt: random()?,
        threshold: args.threshold,
        participants: everyone.clone(),
        deadlines: vec![1, 2, 3],
        key: [0; 32],
        message: Vec::new(),
    };
    let keys = stage.play(keygen, &everyone)?;
    let keygen_ms = json::ms(begin.elapsed());
    let key = keys.into_iter().next();
    let key = key.ok_or_else(|| Failure::internal("no party has a key"))?;
    let bad = |e: hex::HexError| Failure::internal(e.to_string());
    let mut key_id = [0; 32];
    hex::decode(&key.key, &mut key_id).map_err(bad)?;
    let group_key = hex_bytes(&key.group_key).map_err(bad)?;
    let begin = Instant::now();
    let mut played = Played {
        key,
        signature: Vec::new(),
        accepted: 0,
        keygen_ms,
        sign_ms: 0.0,
    };
    for number in 0..args.signatures {
        let mut message = args.message.clone().into_bytes();
        if number > 0 {
            message.extend(format!(" {number}").into_bytes());
        }
        // Other signers each time, at first the last ones, so that places and indices differ.
        let first = usize::from(args.parties - args.threshold) + number as usize;
        let mut signers: Vec<u32> = everyone
            .iter()
            .copied()
            .cycle()
            .skip(first)
            .take(args.threshold.into())
            .collect();
        signers.sort_unstable();
        let sign = Begin {
            kind: Kind::FrostSign(suite),
            salt: random()?,
            threshold: args.threshold,
            participants: signers.clone(),
            deadlines: vec![1, 2],
            key: key_id,
            message: message.clone(),
        };
        let signed = stage.play(sign, &signers)?;
        let signature = signed.into_iter().find_map(|done| done.signature);
        let signature = signature.ok_or_else(|| Failure::internal("no signer has a signature"))?;
        let good = accepts(suite, &group_key, &message, &signature);
        played.accepted += u32::from(good);
        if number == 0 {
            played.signature = signature;
        }
    }
    played.sign_ms = json::ms(begin.elapsed()) / f64::from(args.signatures);
    Ok(played)
}

fn outcome(args: &DemoArgs, played: &Played, root: &[u8; 32]) -> Outcome {
    let suite = args.suite.suite();
    let kind = kind_name(Kind::FrostSign(suite));
    let signature = hex::encode(&played.signature);
    let by = judge(suite);
    let text = format!(
        "{kind}, {} of {}\nkey generation  {} ms, three rounds\ngroup key       {}\n\
         signing         {} ms, two rounds\nsignature       {signature}\n\
         accepted        {} of {}, by {by}\n\
         state root      {}\n                the record, verified from its log alone, has it too\n",
        args.threshold,
        args.parties,
        played.keygen_ms,
        played.key.group_key,
        played.sign_ms,
        played.accepted,
        args.signatures,
        hex::encode(root),
    );
    let accepted = played.accepted == args.signatures;
    let fields = json!({
        "kind": kind,
        "parties": args.parties,
        "threshold": args.threshold,
        "key": played.key.key,
        "group_key": played.key.group_key,
        "message": hex::encode(args.message.as_bytes()),
        "signature": signature,
        "valid": accepted,
        "signatures": args.signatures,
        "signatures_accepted": played.accepted,
        "verified_by": by,
        "keygen_ms": played.keygen_ms,
        "sign_ms": played.sign_ms,
        "roots": {"state": hex::encode(root)},
        "kept": args.keep,
    });
    Outcome::new(text, json::fields(fields)).answer(accepted)
}
