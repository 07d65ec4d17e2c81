//! A daemon to try, and a plain client for it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Begin, Body, Operation, scenario};
use fieldspar_ceremony::store::{FileDisk, Store};
use serde_json::{Value, json};

use crate::common;

pub type Digest = [u8; 32];

pub struct Daemon {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub url: String,
    pub address: SocketAddr,
}

impl Daemon {
    pub fn start(store: &str, flags: &[&str]) -> Self {
        let mut command = common::command();
        command
            .args(["ceremony", "serve", "--json", "--store", store])
            .args(["--listen", "127.0.0.1:0"])
            .args(flags);
        if !flags.contains(&"--clock") {
            command.args(["--clock", "manual"]);
        }
        Self::of(command)
    }

    /// Whose files have at most so many KiB; writing more is an error, as on a full disk.
    pub fn limited(store: &str, kib: u32) -> Self {
        let mut command = Command::new("bash");
        let program = env!("CARGO_BIN_EXE_fieldspar");
        let line = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$@\"");
        command
            .args(["-c", &line, "bash", program, "ceremony", "serve", "--json"])
            .args([
                "--store",
                store,
                "--listen",
                "127.0.0.1:0",
                "--clock",
                "manual",
            ])
            .stderr(Stdio::null());
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let value: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        assert_eq!(value["event"], "listening");
        let url = value["url"].as_str().unwrap().to_owned();
        let address = url.split_once("://").unwrap().1.parse().unwrap();
        Self {
            child,
            stdout,
            url,
            address,
        }
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.unwrap().success());
    }

    /// Stops it by a signal; its last words.
    pub fn stop(mut self, signal: &str) -> Value {
        self.signal(signal);
        self.ended()
    }

    pub fn ended(&mut self) -> Value {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status} {rest}");
        serde_json::from_str(&rest).unwrap()
    }

    /// Waits until it has ended; the exit code.
    pub fn code(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// The most memory that it ever had, in MiB.
    pub fn peak_memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().find(|l| l.starts_with("VmHWM")).unwrap();
        let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        kib / 1024
    }

    pub fn client(&self) -> Http {
        Http::new(self.address)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Http(BufReader<TcpStream>);

pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }
}

impl Http {
    pub fn new(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    pub fn stream(&mut self) -> &mut TcpStream {
        self.0.get_mut()
    }

    /// An answer; `None` if the connection ends before one.
    pub fn read(&mut self) -> Option<Reply> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match self.0.read_line(&mut head) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let lower = head.to_lowercase();
        let length = lower
            .lines()
            .find_map(|l| l.strip_prefix("content-length: "));
        let mut body = vec![0; length.unwrap().trim().parse().unwrap()];
        self.0.read_exact(&mut body).ok()?;
        Some(Reply {
            status,
            head: lower,
            body,
        })
    }

    pub fn try_ask(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Option<Reply> {
        let mut request = format!("{method} {path} HTTP/1.1\r\nhost: x\r\n");
        if let Some(body) = body {
            let length = body.len();
            request += &format!("content-type: application/json\r\ncontent-length: {length}\r\n");
        }
        request += "\r\n";
        let bytes = [request.as_bytes(), body.unwrap_or_default()].concat();
        // The daemon may answer before it has all.
        let _ = self.stream().write_all(&bytes);
        self.read()
    }

    #[track_caller]
    pub fn ask(&mut self, method: &str, path: &str, body: Option<&[u8]>) -> Reply {
        self.try_ask(method, path, body).unwrap()
    }

    #[track_caller]
    pub fn get(&mut self, path: &str) -> Value {
        let reply = self.ask("GET", path, None);
        assert_eq!(reply.status, 200, "{path}: {}", reply.json());
        reply.json()
    }

    #[track_caller]
    pub fn submit(&mut self, operations: &[Operation]) -> Vec<Value> {
        let reply = self.ask("POST", "/v2/operations", Some(&body_of(operations)));
        assert_eq!(reply.status, 200, "{}", reply.json());
        reply.json()["answers"].as_array().unwrap().clone()
    }
}

pub fn body_of(operations: &[Operation]) -> Vec<u8> {
    let list: Vec<String> = operations
        .iter()
        .map(|o| hex::encode(&o.to_bytes()))
        .collect();
    json!({"operations": list}).to_string().into_bytes()
}

pub fn operate(body: Body) -> Operation {
    body.sign(&scenario::NETWORK, &scenario::operator())
}

pub fn message(ceremony: Digest, index: u16, len: usize) -> Operation {
    scenario::message(ceremony, index, len).sign(&scenario::NETWORK, &scenario::party(index))
}

pub fn begin(number: u64) -> (Digest, Operation) {
    let begin: Begin = scenario::begin(number);
    (begin.id(&scenario::NETWORK), operate(Body::Begin(begin)))
}

/// A record with the three members of the workloads.
pub fn new_store(path: &str) {
    let mut store: Store<FileDisk> = Store::create(path.as_ref(), scenario::genesis()).unwrap();
    let members = scenario::members().into_iter().map(operate).collect();
    store.submit(members).unwrap();
}
