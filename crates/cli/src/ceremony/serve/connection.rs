//! Taking connections, and letting them go.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::api::{Shared, answer};
use super::stream::Patient;

/// How long is waited for whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patiences {
    /// For the head of a request, and for a TLS handshake.
    pub(super) head: Duration,
    /// For anything at all on an open connection.
    pub(super) idle: Duration,
    /// For an answer to be taken.
    pub(super) stall: Duration,
    /// For open requests when the daemon stops.
    pub(super) drain: Duration,
}

/// The most bytes of a request's head.
const HEAD: usize = 16 << 10;

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\n\
    content-length: 0\r\nconnection: close\r\n\r\n";

/// Takes connections until told to stop, then waits for those that are in the middle of a request.
pub(super) async fn serve(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    shared: Arc<Shared>,
    most: usize,
    patiences: Patiences,
    mut stop: watch::Receiver<bool>,
) {
    let places = Arc::new(Semaphore::new(most));
    let mut open = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        // Those that have ended.
        while open.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Too many files are open, most likely; trying at once would spin.
                tracing::warn!("no connection taken: {error}");
                sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            shared.metrics.connections_refused.add(1);
            turn_away(&stream);
            continue;
        };
        let connection = Connection {
            shared: Arc::clone(&shared),
            patiences,
            stop: stop.clone(),
            _place: place,
        };
        open.spawn(connection.run(stream, tls.clone()));
    }
    drop(listener);
    let drained = async { while open.join_next().await.is_some() {} };
    if timeout(patiences.drain, drained).await.is_err() {
        tracing::warn!("{} connections were cut off", open.len());
    }
}

/// A word to whom there is no place for, if it goes without waiting.
fn turn_away(stream: &TcpStream) {
    if let Err(error) = stream.try_write(FULL) {
        tracing::debug!("turned away without a word: {error}");
    }
}

struct Connection {
    shared: Arc<Shared>,
    patiences: Patiences,
    stop: watch::Receiver<bool>,
    _place: OwnedSemaphorePermit,
}

impl Connection {
    async fn run(self, stream: TcpStream, tls: Option<Arc<ServerConfig>>) {
        let shared = Arc::clone(&self.shared);
        shared.metrics.connections.add(1);
        // Answers are small and should not wait for one another.
        let result = match (stream.set_nodelay(true), tls) {
            (Err(error), _) => Err(error),
            (Ok(()), None) => self.speak(stream).await,
            (Ok(()), Some(config)) => {
                let hello = TlsAcceptor::from(config).accept(stream);
                match timeout(self.patiences.head, hello).await {
                    Ok(Ok(stream)) => self.speak(stream).await,
                    Ok(Err(error)) => Err(error),
                    Err(_) => Err(io::ErrorKind::TimedOut.into()),
                }
            }
        };
        shared.metrics.connections.sub(1);
        if let Err(error) = result {
            tracing::debug!("connection: {error}");
        }
    }

    async fn speak<S: AsyncRead + AsyncWrite + Unpin>(mut self, stream: S) -> io::Result<()> {
        let stream = Patient::new(stream, self.patiences.idle, self.patiences.stall);
        let shared = Arc::clone(&self.shared);
        let service = service_fn(move |request| {
            let shared = Arc::clone(&shared);
            async move { Ok::<_, Infallible>(answer(&shared, request).await.response()) }
        });
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.patiences.head)
            .max_buf_size(HEAD)
            .max_headers(64);
        let connection = builder.serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let mut told = false;
        loop {
            tokio::select! {
                done = connection.as_mut() => return done.map_err(io::Error::other),
                _ = self.stop.wait_for(|stop| *stop), if !told => {
                    told = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}
