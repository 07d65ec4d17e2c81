//! Speaking to a daemon.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::Operation;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST, RETRY_AFTER};
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;

use crate::failure::Failure;

/// The longest answer that is read.
const MOST: usize = 8 << 20;

/// For one request.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often is asked again when the daemon is busy.
const TRIES: u32 = 20;

/// A daemon's address.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Host and port.
    authority: String,
    host: String,
    tls: Option<Arc<ClientConfig>>,
}

impl Server {
    /// Of `http://host:port` or `https://host:port`; the latter with whom to trust.
    pub(crate) fn new(url: &str, tls: Option<Arc<ClientConfig>>) -> Result<Self, Failure> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let authority = rest.trim_end_matches('/');
        let host = authority.rsplit_once(':').map(|(host, _)| host);
        let bad = |why: &str| Failure::usage(format!("`{url}` {why}")).at("--server");
        let tls = match scheme {
            "http" => None,
            "https" => Some(tls.ok_or_else(|| bad("needs --ca, the certificate to trust"))?),
            _ => return Err(bad("is neither http:// nor https://")),
        };
        let host = host.filter(|_| !authority.contains('/'));
        let host = host.ok_or_else(|| bad("is no address with a port"))?;
        Ok(Self {
            authority: authority.into(),
            host: host.trim_matches(['[', ']']).into(),
            tls,
        })
    }

    async fn connect(&self) -> Result<SendRequest<Full<Bytes>>, Failure> {
        let failed = |e: String| Failure::input(e).at(self.authority.clone());
        let stream = TcpStream::connect(&self.authority)
            .await
            .map_err(|e| failed(format!("no connection: {e}")))?;
        // A request is small and waits for nothing.
        stream
            .set_nodelay(true)
            .map_err(|e| failed(e.to_string()))?;
        let Some(tls) = &self.tls else {
            let (sender, connection) = http1::handshake(TokioIo::new(stream))
                .await
                .map_err(|e| failed(e.to_string()))?;
            tokio::spawn(connection);
            return Ok(sender);
        };
        let name = ServerName::try_from(self.host.clone()).map_err(|e| failed(e.to_string()))?;
        let stream = TlsConnector::from(Arc::clone(tls))
            .connect(name, stream)
            .await
            .map_err(|e| failed(format!("TLS: {e}")))?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| failed(e.to_string()))?;
        tokio::spawn(connection);
        Ok(sender)
    }
}

/// A connection that asks one thing after another, and again when the daemon is busy.
pub(crate) struct Client {
    server: Server,
    sender: Option<SendRequest<Full<Bytes>>>,
}

/// Status and body, and whether to come again.
struct Got {
    status: u16,
    later: Option<u64>,
    body: Vec<u8>,
}

impl Client {
    pub(crate) const fn new(server: Server) -> Self {
        Self {
            server,
            sender: None,
        }
    }

    fn failed(&self, error: impl core::fmt::Display) -> Failure {
        Failure::input(error.to_string()).at(self.server.authority.clone())
    }

    async fn once(&mut self, path: &str, body: Option<Bytes>) -> Result<Got, Failure> {
        let mut sender = match self.sender.take() {
            Some(sender) if sender.is_ready() => sender,
            _ => self.server.connect().await?,
        };
        let builder = Request::builder()
            .uri(path)
            .header(HOST, &self.server.authority);
        let request = match body {
            None => builder.method("GET").body(Full::default()),
            Some(body) => builder
                .method("POST")
                .header(CONTENT_TYPE, "application/json")
                .body(Full::new(body)),
        };
        let request = request.map_err(|e| self.failed(e))?;
        let response = sender
            .send_request(request)
            .await
            .map_err(|e| self.failed(e))?;
        let status = response.status().as_u16();
        let later = response.headers().get(RETRY_AFTER);
        let later = later.and_then(|v| v.to_str().ok()?.parse().ok());
        let body = Limited::new(response.into_body(), MOST)
            .collect()
            .await
            .map_err(|e| self.failed(e))?
            .to_bytes()
            .to_vec();
        self.sender = Some(sender);
        Ok(Got {
            status,
            later,
            body,
        })
    }

    /// Status and JSON.
    pub(crate) async fn ask(
        &mut self,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<(u16, Value), Failure> {
        let (status, bytes) = self.ask_bytes(path, body).await?;
        let value = serde_json::from_slice(&bytes).map_err(|e| self.failed(e))?;
        Ok((status, value))
    }

    /// Status and body. Asks again while the daemon is busy; a connection that was closed in between
    /// is made anew once.
    pub(crate) async fn ask_bytes(
        &mut self,
        path: &str,
        body: Option<Bytes>,
    ) -> Result<(u16, Vec<u8>), Failure> {
        let mut broken = false;
        for _ in 0..TRIES {
            let reused = self.sender.is_some();
            let got = timeout(PATIENCE, self.once(path, body.clone()))
                .await
                .map_err(|_| self.failed("no answer in time"))?;
            let got = match got {
                // What was accepted before is accepted again, so asking again does no harm.
                Err(_) if reused && !broken => {
                    broken = true;
                    continue;
                }
                got => got?,
            };
            if let (429 | 503, Some(seconds)) = (got.status, got.later) {
                sleep(Duration::from_secs(seconds.min(30))).await;
                continue;
            }
            return Ok((got.status, got.body));
        }
        Err(self.failed("the daemon stays busy"))
    }
}

/// What to send for operations.
pub(crate) fn operations_body(operations: &[Operation]) -> Bytes {
    let list: Vec<String> = operations
        .iter()
        .map(|operation| hex::encode(&operation.to_bytes()))
        .collect();
    json!({"operations": list}).to_string().into()
}

/// A client for a caller that waits.
pub(crate) struct Waiting {
    runtime: Runtime,
    client: Client,
}

impl Waiting {
    pub(crate) fn new(server: Server) -> Result<Self, Failure> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| Failure::internal(format!("no runtime: {e}")))?;
        Ok(Self {
            runtime,
            client: Client::new(server),
        })
    }

    fn ask(&mut self, path: &str, body: Option<Bytes>) -> Result<(u16, Value), Failure> {
        self.runtime.block_on(self.client.ask(path, body))
    }

    /// What is at a path.
    pub(crate) fn get(&mut self, path: &str) -> Result<Value, Failure> {
        match self.ask(path, None)? {
            (200, value) => Ok(value),
            (status, value) => Err(refused(path, status, &value)),
        }
    }

    /// Sends operations; the answer of each.
    pub(crate) fn submit_all(&mut self, operations: &[Operation]) -> Result<Vec<Value>, Failure> {
        let path = "/v2/operations";
        match self.ask(path, Some(operations_body(operations)))? {
            (200, mut value) => match value["answers"].take() {
                Value::Array(answers) if answers.len() == operations.len() => Ok(answers),
                _ => Err(Failure::input("the daemon does not answer each operation")),
            },
            (status, value) => Err(refused(path, status, &value)),
        }
    }

    /// Sends one operation; the id that it is accepted under.
    pub(crate) fn submit(&mut self, operation: &Operation) -> Result<String, Failure> {
        let answers = self.submit_all(std::slice::from_ref(operation))?;
        let answer = answers.first().unwrap_or(&Value::Null);
        match (answer["id"].as_str(), answer["reason"].as_str()) {
            (Some(id), _) => Ok(id.into()),
            (None, reason) => Err(Failure::input(format!(
                "the coordinator rejects it: {}",
                reason.unwrap_or("without a reason")
            ))),
        }
    }
}

fn refused(path: &str, status: u16, value: &Value) -> Failure {
    let message = value["error"]["message"].as_str().unwrap_or_default();
    Failure::input(format!("{path}: {status} {message}"))
}
