//! `ceremony bench --scenario live`: durable ingest of messages that were signed before, in process
//! and over HTTP on loopback.
#![forbid(unsafe_code)]

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Body, Operation, scenario};
use fieldspar_ceremony::store::{FileDisk, Store, check};
use hyper::body::Bytes;
use rayon::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use super::party::client::{Client, Server, operations_body};
use super::serve::{Daemon, Options};
use crate::context::Context;
use crate::failure::Failure;

/// Ceremonies; each gets a message of each party.
const LIVE: u64 = 10_000;

/// Operations of a batch, and of a frame.
const BATCH: usize = 1024;

/// Bytes of a message.
const PAYLOAD: usize = 64;

/// Messages of a request, and connections that send them one after another.
const HTTP: [(usize, usize); 2] = [(256, 8), (1, 64)];

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// The messages, signed.
struct Workload {
    begins: Vec<Operation>,
    messages: Vec<Operation>,
}

impl Workload {
    fn new() -> Self {
        let operator = scenario::operator();
        let begins: Vec<_> = (0..LIVE).map(scenario::begin).collect();
        let messages = begins
            .par_iter()
            .flat_map_iter(|begin| {
                let id = begin.id(&scenario::NETWORK);
                (0..scenario::PARTIES).map(move |index| {
                    scenario::message(id, index, PAYLOAD)
                        .sign(&scenario::NETWORK, &scenario::party(index))
                })
            })
            .collect();
        let begins = begins
            .into_par_iter()
            .map(|begin| Body::Begin(begin).sign(&scenario::NETWORK, &operator))
            .collect();
        Self { begins, messages }
    }

    /// A record in which all ceremonies have begun.
    fn store(&self, folder: &Path) -> Result<Store<FileDisk>, Failure> {
        let mut store = Store::create(folder, scenario::genesis())?;
        let operator = scenario::operator();
        let sign = |body: Body| body.sign(&scenario::NETWORK, &operator);
        store.submit(scenario::members().into_iter().map(sign).collect())?;
        for batch in self.begins.chunks(BATCH) {
            store.submit(batch.to_vec())?;
        }
        Ok(store)
    }
}

fn row(fields: Value, accepted: usize, wall: Duration, store: &mut Store<FileDisk>) -> Value {
    let root = store.state_mut().root().root;
    let mut row = json!({
        "scenario": "live",
        "rules": "v2",
        "operations": accepted,
        "ms": milliseconds(wall),
        "durable": true,
        "ops_per_s": accepted as f64 / wall.as_secs_f64(),
        "root": hex::encode(&root),
        "rivals": {},
    });
    if let (Value::Object(row), Value::Object(fields)) = (&mut row, fields) {
        row.extend(fields);
    }
    row
}

/// Signatures of one batch are verified in all threads while the batch before is played and synced.
fn in_process(work: &Workload, folder: &Path, context: &Context) -> Result<Value, Failure> {
    let mut store = work.store(folder)?;
    let batches: Vec<Vec<Operation>> = work.messages.chunks(BATCH).map(<[_]>::to_vec).collect();
    let (before, begin) = (store.spent(), Instant::now());
    let (send, receive) = sync_channel(2);
    let mut verify = Duration::ZERO;
    let written = thread::scope(|scope| {
        let store = &mut store;
        let writer = scope.spawn(move || {
            let (mut accepted, mut busy) = (0, Duration::ZERO);
            for batch in receive {
                let begin = Instant::now();
                let replies = store.submit_checked(batch)?;
                busy += begin.elapsed();
                accepted += replies.iter().filter(|reply| reply.is_accepted()).count();
            }
            Ok::<_, Failure>((accepted, busy))
        });
        for batch in batches {
            let begin = Instant::now();
            let checked = check(batch, &scenario::NETWORK);
            verify += begin.elapsed();
            if send.send(checked).is_err() {
                break;
            }
        }
        drop(send);
        writer.join()
    });
    let wall = begin.elapsed();
    let (accepted, busy) = written.map_err(|_| Failure::internal("the writer panicked"))??;
    let spent = store.spent();
    let (write, sync) = (spent.write - before.write, spent.sync - before.sync);
    let play = busy.saturating_sub(write + sync);
    let bound = if verify > busy {
        "verifying signatures"
    } else {
        "playing and syncing"
    };
    let fields = json!({
        "transport": "in process",
        "threads": context.threads(),
        "batch": BATCH,
        "verify_ms": milliseconds(verify),
        "play_ms": milliseconds(play),
        "write_ms": milliseconds(write),
        "sync_ms": milliseconds(sync),
        "bound_by": bound,
    });
    Ok(row(fields, accepted, wall, &mut store))
}

/// Clients and daemon share the machine. Each connection sends a request when the one before is
/// answered.
fn over_http(
    work: &Workload,
    folder: &Path,
    (each, connections): (usize, usize),
    context: &Context,
) -> Result<Value, Failure> {
    let bodies: Vec<Bytes> = work
        .messages
        .par_chunks(each)
        .map(operations_body)
        .collect();
    let daemon = Daemon::start(work.store(folder)?, Options::inside(context.threads()))?;
    let server = Server::new(&format!("http://{}", daemon.address()), None)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|e| Failure::internal(e.to_string()))?;
    let begin = Instant::now();
    let accepted = runtime.block_on(async {
        let mut clients = JoinSet::new();
        for lane in 0..connections {
            let mut client = Client::new(server.clone());
            let own: Vec<Bytes> = bodies
                .iter()
                .skip(lane)
                .step_by(connections)
                .cloned()
                .collect();
            clients.spawn(async move {
                let mut accepted = 0;
                for body in own {
                    let (_, bytes) = client.ask_bytes("/v2/operations", Some(body)).await?;
                    let yes = b"\"accepted\":true";
                    accepted += bytes.windows(yes.len()).filter(|w| w == yes).count();
                }
                Ok::<_, Failure>(accepted)
            });
        }
        let mut accepted = 0;
        while let Some(done) = clients.join_next().await {
            accepted += done.map_err(|e| Failure::internal(e.to_string()))??;
        }
        Ok::<_, Failure>(accepted)
    });
    let wall = begin.elapsed();
    let mut store = daemon.stop()?;
    let fields = json!({
        "transport": "http",
        "threads": context.threads(),
        "per_request": each,
        "connections": connections,
    });
    Ok(row(fields, accepted?, wall, &mut store))
}

pub(super) fn rows(folder: &Path, context: &Context) -> Result<Vec<Value>, Failure> {
    let work = Workload::new();
    let mut rows = vec![in_process(&work, &folder.join("live"), context)?];
    for way in HTTP {
        let folder = folder.join(format!("live-{}", way.0));
        rows.push(over_http(&work, &folder, way, context)?);
    }
    Ok(rows)
}
