//! The verbs that change a record, and those that make keys and messages.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::{
    Begin, Body, Contribution, Genesis, ImportKey, Kind, Operation, Suite,
};
use fieldspar_ceremony::store::Store;
use fieldspar_ceremony::{hex, keccak256};
use serde_json::json;

use super::common::{OperatorArgs, StoreArgs, answered, hex_bytes, hex32, read_key, roots};
use super::place::PlaceArgs;
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;

/// Flags of `ceremony key`.
#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// The file to make; it holds the secret key in hex, for its owner alone
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Flags of `ceremony init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The network's name; ids and signatures are for this network only
    #[arg(long, value_name = "NAME")]
    network: String,
    /// The operator's public key
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    operator: [u8; 32],
}

/// `ceremony roster`.
#[derive(Debug, Subcommand)]
pub(crate) enum RosterCommand {
    /// Put a key at the next place
    Add(RosterAddArgs),
    /// Show the keys by place
    List(StoreArgs),
}

/// Flags of `ceremony roster add`.
#[derive(Debug, Args)]
pub(crate) struct RosterAddArgs {
    #[command(flatten)]
    operator: OperatorArgs,
    /// The member's public key
    #[arg(value_name = "HEX", value_parser = hex32)]
    key: [u8; 32],
}

/// Flags of `ceremony import-key`.
#[derive(Debug, Args)]
pub(crate) struct ImportKeyArgs {
    #[command(flatten)]
    operator: OperatorArgs,
    /// The key generation it would have come from
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// How many can sign
    #[arg(long)]
    threshold: u16,
    /// The parties' places in the roster, by index
    #[arg(long, value_delimiter = ',', required = true)]
    members: Vec<u32>,
    /// The encoded group key
    #[arg(value_name = "HEX")]
    key: String,
}

/// Flags of `ceremony begin`.
#[derive(Debug, Args)]
pub(crate) struct BeginArgs {
    #[command(flatten)]
    operator: OperatorArgs,
    /// frost-keygen-SUITE, frost-sign-SUITE, cggmp-keygen, cggmp-sign, corona-keygen, corona-sign;
    /// suites are ed25519, ristretto255, secp256k1, secp256k1-tr
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// How many can sign
    #[arg(long)]
    threshold: u16,
    /// Key generation: places in the roster. Signing: places among the key's parties
    #[arg(long, value_delimiter = ',', required = true)]
    participants: Vec<u32>,
    /// The last moment of each round
    #[arg(long, value_delimiter = ',', required = true)]
    deadlines: Vec<u64>,
    /// Signing: the id of the group key
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    key: Option<[u8; 32]>,
    /// Signing: what is signed
    #[arg(long, value_name = "HEX")]
    message: Option<String>,
    /// What makes the id new [default: random]
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    salt: Option<[u8; 32]>,
}

/// Flags of `ceremony sign`.
#[derive(Debug, Args)]
pub(crate) struct SignArgs {
    /// The party's secret key, made by `ceremony key`
    #[arg(long, value_name = "FILE")]
    party_key: PathBuf,
    /// The network's name
    #[arg(long, value_name = "NAME")]
    network: String,
    /// The ceremony
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    ceremony: [u8; 32],
    /// Its kind, named as for `ceremony begin`
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// The round, from 0
    #[arg(long)]
    round: u8,
    /// The party's number in the ceremony, from 0
    #[arg(long)]
    index: u16,
    /// The payload
    #[arg(value_name = "HEX")]
    payload: String,
}

/// Flags of `ceremony contribute`.
#[derive(Debug, Args)]
pub(crate) struct ContributeArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Signed operations, one a line in hex, as `ceremony sign` prints them
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Flags of `ceremony cancel`.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    #[command(flatten)]
    operator: OperatorArgs,
    /// The ceremony
    #[arg(value_name = "ID", value_parser = hex32)]
    ceremony: [u8; 32],
}

/// Flags of `ceremony tick`.
#[derive(Debug, Args)]
pub(crate) struct TickArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The time, in the unit of the deadlines
    #[arg(long)]
    now: u64,
}

/// The kind of a name.
fn kind(name: &str) -> Result<Kind, String> {
    (0..=u8::MAX)
        .filter_map(Kind::from_number)
        .find(|kind| kind_name(*kind) == name)
        .ok_or_else(|| "no such kind".into())
}

pub(super) fn kind_name(kind: Kind) -> String {
    let suite = match kind.suite() {
        Some(Suite::Ed25519) => "ed25519",
        Some(Suite::Ristretto255) => "ristretto255",
        Some(Suite::Secp256k1) => "secp256k1",
        Some(Suite::Secp256k1Tr) => "secp256k1-tr",
        None => "",
    };
    match kind {
        Kind::FrostKeygen(_) => format!("frost-keygen-{suite}"),
        Kind::FrostSign(_) => format!("frost-sign-{suite}"),
        Kind::CggmpKeygen => "cggmp-keygen".into(),
        Kind::CggmpSign => "cggmp-sign".into(),
        Kind::CoronaKeygen => "corona-keygen".into(),
        Kind::CoronaSign => "corona-sign".into(),
        _ => format!("kind-{}", kind.number()),
    }
}

pub(super) fn network_id(name: &str) -> [u8; 32] {
    keccak256(&[b"fieldspar.ceremony.network\0", name.as_bytes()].concat())
}

pub(super) fn random() -> Result<[u8; 32], Failure> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| Failure::internal(format!("no randomness: {e}")))?;
    Ok(bytes)
}

pub(crate) fn key(args: &KeyArgs) -> Result<Outcome, Failure> {
    let secret = random()?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(&args.file)
        .and_then(|mut file| writeln!(file, "{}", hex::encode(&secret)))
        .map_err(|e| Failure::input(e.to_string()).at(args.file.display().to_string()))?;
    let public = hex::encode(&SigningKey::from_bytes(&secret).verifying_key().to_bytes());
    let fields = json::fields(json!({"public_key": public, "file": args.file}));
    Ok(Outcome::new(format!("{public}\n"), fields))
}

pub(crate) fn init(args: &InitArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let genesis = Genesis {
        network: network_id(&args.network),
        operator: args.operator,
    };
    let mut store = Store::create(&args.store.store, genesis)
        .map_err(|e| Failure::from(e).at(args.store.store.display().to_string()))?;
    let (roots, _) = roots(store.state_mut());
    let network = hex::encode(&genesis.network);
    let text = format!(
        "network  {network}\nfolder   {}\n",
        args.store.store.display()
    );
    let fields = json!({"accepted": true, "id": network, "roots": roots});
    Ok(Outcome::new(text, json::fields(fields)))
}

pub(crate) fn roster(command: &RosterCommand, context: &Context) -> Result<Outcome, Failure> {
    match command {
        RosterCommand::Add(args) => {
            // The place is the next one.
            let index = args.operator.place.open(context)?.members()?;
            let key = args.key;
            let body = Body::AddMember { index, key };
            args.operator.operate(body, context)
        }
        RosterCommand::List(args) => {
            let store = args.open(context)?;
            let keys: Vec<String> = store
                .state()
                .members()
                .iter()
                .map(|k| hex::encode(k))
                .collect();
            let lines = keys
                .iter()
                .enumerate()
                .map(|(i, key)| format!("{i:<5}{key}\n"));
            let text = lines.collect();
            Ok(Outcome::new(text, json::fields(json!({"members": keys}))))
        }
    }
}

fn bytes(text: &str, what: &str) -> Result<Vec<u8>, Failure> {
    hex_bytes(text).map_err(|e| Failure::usage(format!("{what}: {e}")))
}

pub(crate) fn import_key(args: &ImportKeyArgs, context: &Context) -> Result<Outcome, Failure> {
    let body = Body::ImportKey(ImportKey {
        kind: args.kind,
        threshold: args.threshold,
        members: args.members.clone(),
        group_key: bytes(&args.key, "the key")?,
    });
    args.operator.operate(body, context)
}

pub(crate) fn begin(args: &BeginArgs, context: &Context) -> Result<Outcome, Failure> {
    let body = Body::Begin(Begin {
        kind: args.kind,
        salt: args.salt.map_or_else(random, Ok)?,
        threshold: args.threshold,
        participants: args.participants.clone(),
        deadlines: args.deadlines.clone(),
        key: args.key.unwrap_or_default(),
        message: bytes(args.message.as_deref().unwrap_or_default(), "the message")?,
    });
    args.operator.operate(body, context)
}

pub(crate) fn sign(args: &SignArgs) -> Result<Outcome, Failure> {
    let key = read_key(&args.party_key)?;
    let body = Body::Contribute(Contribution {
        ceremony: args.ceremony,
        kind: args.kind,
        round: args.round,
        index: args.index,
        payload: bytes(&args.payload, "the payload")?,
    });
    let operation = hex::encode(&body.sign(&network_id(&args.network), &key).to_bytes());
    let fields = json::fields(json!({"operation": operation}));
    Ok(Outcome::new(format!("{operation}\n"), fields))
}

pub(crate) fn contribute(args: &ContributeArgs, context: &Context) -> Result<Outcome, Failure> {
    let at = |e: String| Failure::input(e).at(args.file.display().to_string());
    let text = std::fs::read_to_string(&args.file).map_err(|e| at(e.to_string()))?;
    let mut operations = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let bad = |e: String| {
            Failure::input(e)
                .at(format!("line {number}"))
                .in_file(&args.file)
        };
        let bytes = hex_bytes(line.trim()).map_err(|e| bad(e.to_string()))?;
        let operation = Operation::from_bytes(&bytes).map_err(|e| bad(e.to_string()))?;
        if matches!(operation.body, Body::Tick { .. }) {
            return Err(bad(
                "time comes from `ceremony tick`, not from parties".into()
            ));
        }
        operations.push(operation);
    }
    if operations.is_empty() {
        return Err(at("no operation is in it".into()));
    }
    args.place.open(context)?.submit(operations)
}

pub(crate) fn cancel(args: &CancelArgs, context: &Context) -> Result<Outcome, Failure> {
    let ceremony = args.ceremony;
    args.operator.operate(Body::Cancel { ceremony }, context)
}

pub(crate) fn tick(args: &TickArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut store = args.store.open(context)?;
    let reply = store.tick(args.now)?;
    Ok(answered(&mut store, &[reply]))
}
