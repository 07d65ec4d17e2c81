//! `ceremony serve`: the record behind HTTP.
//!
//! Handlers read bodies under a budget and verify signatures on a pool; one thread has the store
//! ([`writer`]) and answers when what it played is on disk. Everything that waits is bounded, and who
//! comes when it is full is told to come again.
#![forbid(unsafe_code)]

mod api;
mod body;
mod connection;
mod metrics;
mod reply;
mod request;
mod stream;
pub(crate) mod tls;
pub(super) mod view;
mod writer;

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::store::{FileDisk, Store};
use fieldspar_device::parse_bytes;
use rustls::ServerConfig;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::common::{StoreArgs, read_key};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;
use api::Shared;
use body::Budget;
use connection::Patiences;
use metrics::Metrics;
pub(crate) use request::MOST;
pub(crate) use writer::Clock;
use writer::{Settings, Thread, Writer};

/// Flags of `ceremony serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The address to listen on; port 0 takes a free one, which is printed
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7310")]
    listen: SocketAddr,
    /// Speak TLS, with this certificate chain in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's secret key in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Listen without TLS on an address that is not this machine's alone, behind a proxy say
    #[arg(long)]
    plain_http: bool,
    /// Sign roots with this key, made by `ceremony key`, so that two views of the record show
    #[arg(long, value_name = "FILE")]
    root_key: Option<PathBuf>,
    /// Where time comes from
    #[arg(long, value_enum, default_value_t)]
    clock: Clock,
    /// The most open connections; further ones are told to come again
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_connections: u32,
    /// The longest body of a request
    #[arg(long, value_name = "SIZE", default_value = "4M", value_parser = parse_bytes)]
    max_body: u64,
    /// The most bytes of bodies in memory, of requests and answers
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_bytes)]
    max_in_flight: u64,
    /// The most requests that wait for the disk
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=65536))]
    max_queue: u32,
    /// Operations between snapshots
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    snapshot_every: u64,
    /// Seconds that a client has for the head of a request, for its body, and for taking an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=3600))]
    patience: u64,
}

/// How a daemon works.
pub(crate) struct Options {
    pub(crate) listen: SocketAddr,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    pub(crate) root_key: Option<SigningKey>,
    pub(crate) clock: Clock,
    pub(crate) max_connections: usize,
    pub(crate) max_body: usize,
    pub(crate) max_in_flight: usize,
    pub(crate) max_queue: usize,
    pub(crate) snapshot_every: u64,
    pub(crate) patience: Duration,
    /// Threads that verify signatures.
    pub(crate) threads: usize,
}

impl Options {
    /// For a daemon inside another verb: loopback, a free port, time by hand.
    pub(crate) fn inside(threads: usize) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            tls: None,
            root_key: None,
            clock: Clock::Manual,
            max_connections: 512,
            max_body: 4 << 20,
            max_in_flight: 64 << 20,
            max_queue: 1024,
            snapshot_every: u64::MAX,
            patience: Duration::from_secs(20),
            threads,
        }
    }
}

/// A daemon that runs.
pub(crate) struct Daemon {
    runtime: Runtime,
    task: tokio::task::JoinHandle<()>,
    stop: watch::Sender<bool>,
    failed: watch::Receiver<bool>,
    thread: Thread,
    address: SocketAddr,
}

fn no_threads(error: impl core::fmt::Display) -> Failure {
    Failure::internal(format!("a thread cannot be started: {error}"))
}

impl Daemon {
    pub(crate) fn start(store: Store<FileDisk>, options: Options) -> Result<Self, Failure> {
        let metrics = Arc::new(Metrics::default());
        let (stop, stopping) = watch::channel(false);
        let (fail, failed) = watch::channel(false);
        let network = store.state().genesis().network;
        let settings = Settings {
            clock: options.clock,
            queue: options.max_queue,
            snapshot_every: options.snapshot_every,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(options.threads)
            .thread_name(|i| format!("verifier {i}"))
            .build()
            .map_err(no_threads)?;
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("http")
            .enable_all()
            .build()
            .map_err(no_threads)?;
        let at = |e: std::io::Error| Failure::input(e.to_string()).at(options.listen.to_string());
        let listener = runtime
            .block_on(TcpListener::bind(options.listen))
            .map_err(at)?;
        let address = listener.local_addr().map_err(at)?;
        let (writer, thread) =
            Writer::start(store, settings, Arc::clone(&metrics), fail).map_err(no_threads)?;
        let shared = Arc::new(Shared {
            writer,
            budget: Budget::new(options.max_in_flight, Arc::clone(&metrics)),
            metrics,
            pool,
            network,
            clock: options.clock,
            root_key: options.root_key,
            max_body: options.max_body,
            patience: options.patience,
            stopping: stopping.clone(),
            failed: failed.clone(),
        });
        let patiences = Patiences {
            head: options.patience,
            idle: options.patience * 3,
            stall: options.patience,
            drain: options.patience,
        };
        let most = options.max_connections;
        let task = runtime.spawn(connection::serve(
            listener,
            options.tls,
            shared,
            most,
            patiences,
            stopping,
        ));
        Ok(Self {
            runtime,
            task,
            stop,
            failed,
            thread,
            address,
        })
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Waits for a signal to stop, or for the disk to refuse; the signal's name.
    fn wait(&self) -> Result<&'static str, Failure> {
        let mut failed = self.failed.clone();
        self.runtime.block_on(async {
            let signal = signals().map_err(|e| Failure::internal(format!("signals: {e}")))?;
            tokio::select! {
                name = signal => Ok(name),
                _ = failed.wait_for(|failed| *failed) => Ok("a failure of the disk"),
            }
        })
    }

    /// Takes no more connections, finishes what has begun, syncs, and gives the store back.
    pub(crate) fn stop(self) -> Result<Store<FileDisk>, Failure> {
        self.stop.send_replace(true);
        // The task has the last handle of the writer, unless connections were cut off, whose tasks
        // end with the runtime.
        let ended = self.runtime.block_on(self.task);
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        ended.map_err(|e| Failure::internal(e.to_string()))?;
        let result = self
            .thread
            .join()
            .map_err(|_| Failure::internal("the writer panicked"))?;
        Ok(result?)
    }
}

#[cfg(unix)]
fn signals() -> std::io::Result<impl Future<Output = &'static str>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        }
    })
}

#[cfg(not(unix))]
fn signals() -> std::io::Result<impl Future<Output = &'static str>> {
    Ok(async {
        // Without a way to be told, it runs until it is killed.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        "ctrl-c"
    })
}

fn length(bytes: u64, what: &str) -> Result<usize, Failure> {
    usize::try_from(bytes)
        .ok()
        .filter(|&n| (1024..=u32::MAX as usize).contains(&n))
        .ok_or_else(|| Failure::usage(format!("{what} is from 1K to 4G")))
}

pub(crate) fn run(args: &ServeArgs, context: &Context) -> Result<Outcome, Failure> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(certificate), Some(key)) => Some(tls::server(certificate, key)?),
        _ => None,
    };
    if !args.listen.ip().is_loopback() && tls.is_none() && !args.plain_http {
        let why = "others could read and change what goes to this address: --tls-cert and \
            --tls-key, or --plain-http";
        return Err(Failure::usage(why).at("--listen"));
    }
    if args.clock == Clock::Manual && !args.listen.ip().is_loopback() {
        let why = "with --clock manual anyone who reaches the address sets the time";
        return Err(Failure::usage(why).at("--clock"));
    }
    let root_key = args.root_key.as_deref().map(read_key).transpose()?;
    let options = Options {
        listen: args.listen,
        root_key,
        clock: args.clock,
        max_connections: args.max_connections as usize,
        max_body: length(args.max_body, "--max-body")?,
        max_in_flight: length(args.max_in_flight, "--max-in-flight")?,
        max_queue: args.max_queue as usize,
        snapshot_every: args.snapshot_every,
        patience: Duration::from_secs(args.patience),
        threads: context.threads(),
        tls,
    };
    let scheme = if options.tls.is_some() {
        "https"
    } else {
        "http"
    };
    let store = args.store.open(context)?;
    let daemon = Daemon::start(store, options)?;
    let url = format!("{scheme}://{}", daemon.address());
    say(context, &url)?;
    let why = daemon.wait()?;
    tracing::info!("stopping: {why}");
    let mut store = daemon.stop()?;
    let root = hex::encode(&store.state_mut().root().root);
    let operations = store.state().operations();
    let fields = json!({
        "event": "stopped",
        "url": url,
        "why": why,
        "operations": operations,
        "frames": store.frames(),
        "roots": {"state": root},
    });
    let text = format!("stopped by {why} behind {operations} operations, state root {root}\n");
    Ok(Outcome::new(text, json::fields(fields)))
}

/// Says where the daemon listens, before anything else.
fn say(context: &Context, url: &str) -> Result<(), Failure> {
    let line = if context.json() {
        json!({"schema": 1, "event": "listening", "url": url}).to_string()
    } else {
        format!("listening on {url}")
    };
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{line}")
        .and_then(|()| stdout.flush())
        .map_err(|e| Failure::input(format!("cannot say where it listens: {e}")).at("stdout"))
}
