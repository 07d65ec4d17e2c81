//! `ceremony party run`: a FROST participant on frost-core over the daemon's API, for demonstrations
//! and tests. The coordinator never sees what is in its files.
#![forbid(unsafe_code)]

pub(crate) mod client;
mod frost;
mod keygen;
mod secrets;
mod session;
mod sign;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Kind, PublicKey, Suite};
use serde_json::json;

use super::common::{hex_bytes, hex32, read_key};
use super::operate::kind_name;
use super::serve::tls;
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;
use client::{Server, Waiting};
use frost::Known;
use secrets::Secrets;
use session::Session;

/// `ceremony party`.
#[derive(Debug, Subcommand)]
pub(crate) enum PartyCommand {
    /// Take part in a FROST key generation or signing, for demonstrations and tests
    Run(Box<RunArgs>),
}

/// Flags of `ceremony party run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The daemon, http://HOST:PORT or https://HOST:PORT
    #[arg(long, value_name = "URL")]
    server: String,
    /// The certificate in PEM that the daemon's is signed by, or the daemon's own
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The party's secret key, made by `ceremony key`
    #[arg(long, value_name = "FILE")]
    party_key: PathBuf,
    /// The party's share of the key: a key generation makes the file, a signing reads it
    #[arg(long, value_name = "FILE")]
    secrets: PathBuf,
    /// Key generation: the members' public keys, one a line by place; without it the daemon's roster
    /// is believed
    #[arg(long, value_name = "FILE")]
    roster: Option<PathBuf>,
    /// Signing: what the party is willing to sign
    #[arg(long, value_name = "HEX")]
    message: Option<String>,
    /// Seconds to wait for the others, a round
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
    /// The ceremony
    #[arg(long, value_name = "ID", value_parser = hex32)]
    ceremony: [u8; 32],
}

/// Who takes part in what.
pub(super) struct Party<'a> {
    pub(super) server: Server,
    pub(super) key: SigningKey,
    pub(super) ceremony: [u8; 32],
    pub(super) secrets: &'a Path,
    pub(super) roster: Option<Vec<PublicKey>>,
    pub(super) message: Option<Vec<u8>>,
    pub(super) wait: Duration,
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) kind: Kind,
    pub(super) index: u16,
    /// The key's id.
    pub(super) key: String,
    pub(super) group_key: String,
    /// Of a signing.
    pub(super) signature: Option<Vec<u8>>,
}

impl Party<'_> {
    pub(super) fn run(self) -> Result<Done, Failure> {
        let client = Waiting::new(self.server.clone())?;
        let roster = self.roster.as_deref();
        let mut session =
            Session::join(client, self.key.clone(), self.ceremony, roster, self.wait)?;
        match session.begin.kind.suite() {
            Some(Suite::Ed25519) => self.play::<frost_ed25519::Ed25519Sha512>(&mut session),
            Some(Suite::Ristretto255) => {
                self.play::<frost_ristretto255::Ristretto255Sha512>(&mut session)
            }
            Some(Suite::Secp256k1) => self.play::<frost_secp256k1::Secp256K1Sha256>(&mut session),
            Some(Suite::Secp256k1Tr) => {
                self.play::<frost_secp256k1_tr::Secp256K1Sha256TR>(&mut session)
            }
            None => {
                let kind = kind_name(session.begin.kind);
                Err(Failure::usage(format!(
                    "no party for ceremonies of kind {kind}"
                )))
            }
        }
    }

    fn play<C: Known>(&self, session: &mut Session) -> Result<Done, Failure> {
        let done = |session: &Session, secrets: Secrets, signature| Done {
            kind: session.begin.kind,
            index: session.index,
            key: secrets.key,
            group_key: secrets.group_key,
            signature,
        };
        if session.begin.kind.is_keygen() {
            let secrets = keygen::run::<C>(session, self.secrets)?;
            return Ok(done(session, secrets, None));
        }
        if self.message.as_ref() != Some(&session.begin.message) {
            return Err(Failure::input(format!(
                "the ceremony signs {}, which is not what --message says",
                hex::encode(&session.begin.message)
            )));
        }
        let secrets = Secrets::load(self.secrets)?;
        let signature = sign::run::<C>(session, &secrets)?;
        Ok(done(session, secrets, Some(signature)))
    }
}

fn read_roster(path: &Path) -> Result<Vec<PublicKey>, Failure> {
    let at = |e: String| Failure::input(e).at(path.display().to_string());
    let text = std::fs::read_to_string(path).map_err(|e| at(e.to_string()))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| hex32(line.trim()).map_err(at)).collect()
}

pub(crate) fn run(command: &PartyCommand, context: &Context) -> Result<Outcome, Failure> {
    let PartyCommand::Run(args) = command;
    context.unused_device()?;
    let trusted = args.ca.as_deref().map(tls::client).transpose()?;
    let message = args.message.as_deref().map(hex_bytes).transpose();
    let message = message.map_err(|e| Failure::usage(format!("--message: {e}")))?;
    let party = Party {
        server: Server::new(&args.server, trusted)?,
        key: read_key(&args.party_key)?,
        ceremony: args.ceremony,
        secrets: &args.secrets,
        roster: args.roster.as_deref().map(read_roster).transpose()?,
        message,
        wait: Duration::from_secs(args.wait),
    };
    let done = party.run()?;
    let signature = done.signature.as_deref().map(hex::encode);
    let text = match &signature {
        Some(signature) => format!("signature  {signature}\n"),
        None => format!("key        {}\ngroup key  {}\n", done.key, done.group_key),
    };
    let fields = json!({
        "ceremony": hex::encode(&args.ceremony),
        "kind": kind_name(done.kind),
        "index": done.index,
        "key": done.key,
        "group_key": done.group_key,
        "signature": signature,
        "secrets": args.secrets,
    });
    Ok(Outcome::new(text, json::fields(fields)))
}
