//! Where a verb changes a record: in a folder that nobody serves, or behind a daemon.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;
use fieldspar_ceremony::rules::v2::Operation;
use fieldspar_ceremony::store::{FileDisk, Store};
use serde_json::Value;

use super::common::{StoreArgs, answered, hex32, said};
use super::party::client::{Server, Waiting};
use super::serve::{MOST, tls};
use crate::context::{Context, Outcome};
use crate::failure::Failure;

/// Where the record is.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The folder of the record, which nobody serves meanwhile
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "server",
        conflicts_with = "server"
    )]
    store: Option<PathBuf>,
    /// The daemon that serves the record, http://HOST:PORT or https://HOST:PORT
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// The certificate in PEM that the daemon's is signed by, or the daemon's own
    #[arg(long, value_name = "FILE", requires = "server")]
    ca: Option<PathBuf>,
}

/// An open record.
pub(super) enum Place {
    Folder(Box<Store<FileDisk>>),
    Daemon(Waiting),
}

impl PlaceArgs {
    pub(super) fn open(&self, context: &Context) -> Result<Place, Failure> {
        match (&self.store, &self.server) {
            (Some(store), _) => {
                let store = store.clone();
                Ok(Place::Folder(Box::new(StoreArgs { store }.open(context)?)))
            }
            (None, Some(url)) => {
                context.unused_device()?;
                let trusted = self.ca.as_deref().map(tls::client).transpose()?;
                Ok(Place::Daemon(Waiting::new(Server::new(url, trusted)?)?))
            }
            (None, None) => Err(Failure::usage("neither --store nor --server")),
        }
    }
}

impl Place {
    pub(super) fn network(&mut self) -> Result<[u8; 32], Failure> {
        match self {
            Self::Folder(store) => Ok(store.state().genesis().network),
            Self::Daemon(client) => {
                let value = client.get("/v2/network")?;
                let network = value["network"].as_str().unwrap_or_default();
                hex32(network).map_err(|e| Failure::input(format!("no network: {e}")))
            }
        }
    }

    /// How many members there are.
    pub(super) fn members(&mut self) -> Result<u32, Failure> {
        let count = match self {
            Self::Folder(store) => Some(store.state().members().len() as u64),
            Self::Daemon(client) => client.get("/v2/root")?["counters"]["members"].as_u64(),
        };
        count
            .and_then(|count| u32::try_from(count).ok())
            .ok_or_else(|| Failure::input("the number of members is not known"))
    }

    /// Submits operations, and says what came of them.
    pub(super) fn submit(&mut self, operations: Vec<Operation>) -> Result<Outcome, Failure> {
        match self {
            Self::Folder(store) => {
                let replies = store.submit(operations)?;
                Ok(answered(store, &replies))
            }
            Self::Daemon(client) => {
                let mut answers: Vec<Value> = Vec::new();
                for some in operations.chunks(MOST) {
                    answers.extend(client.submit_all(some)?);
                }
                let roots = client.get("/v2/root")?["roots"].take();
                Ok(said(answers, roots))
            }
        }
    }
}
