//! Many clients, good and bad, on loopback: nothing bad gets in, memory stays bounded, and the daemon
//! keeps answering.

use std::io::{Read, Write};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use fieldspar_ceremony::rules::v2::Operation;
use serde_json::Value;

use super::daemon::{Daemon, Http, begin, body_of, message, new_store};
use crate::common::Folder;

/// What a client is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Client {
    Good,
    /// Sends what was accepted before, and other bytes for the same place.
    Replays,
    Forges,
    Malformed,
    Oversized,
    /// Asks for much and does not read it.
    SlowReader,
    /// Sends a byte now and then.
    SlowWriter,
}

impl Client {
    const ALL: [Self; 7] = [
        Self::Good,
        Self::Replays,
        Self::Forges,
        Self::Malformed,
        Self::Oversized,
        Self::SlowReader,
        Self::SlowWriter,
    ];
}

#[derive(Default)]
struct Seen {
    accepted: AtomicU64,
    pushed_back: AtomicU64,
    refused: AtomicU64,
}

impl Seen {
    /// Sends until it is answered otherwise than by `come again`.
    fn send(&self, daemon: &Daemon, http: &mut Http, body: &[u8]) -> Option<(u16, Vec<Value>)> {
        for _ in 0..200 {
            let Some(reply) = http.try_ask("POST", "/v2/operations", Some(body)) else {
                *http = daemon.client();
                continue;
            };
            match reply.status {
                429 | 503 => {
                    assert!(reply.head.contains("retry-after: 1"), "{}", reply.head);
                    self.pushed_back.fetch_add(1, Relaxed);
                    thread::sleep(Duration::from_millis(50));
                    if reply.head.contains("connection: close") {
                        *http = daemon.client();
                    }
                }
                status => {
                    let value = reply.json();
                    let answers = value["answers"].as_array().cloned();
                    return Some((status, answers.unwrap_or_default()));
                }
            }
        }
        None
    }
}

fn play(client: Client, number: u64, daemon: &Daemon, seen: &Seen, end: Instant) {
    let mut http = daemon.client();
    for step in 0..50 {
        if Instant::now() > end {
            return;
        }
        let (id, begun) = begin((number << 20) + step);
        let batch: Vec<Operation> = vec![begun, message(id, 0, 64), message(id, 1, 64)];
        let good = |http: &mut Http| {
            if let Some((status, answers)) = seen.send(daemon, http, &body_of(&batch)) {
                assert_eq!(status, 200);
                assert!(answers.iter().all(|a| a["accepted"] == true), "{answers:?}");
                seen.accepted.fetch_add(3, Relaxed);
            }
        };
        match client {
            Client::Good => good(&mut http),
            Client::Replays => {
                good(&mut http);
                let again = [batch[1].clone(), message(id, 0, 65)];
                if let Some((_, answers)) = seen.send(daemon, &mut http, &body_of(&again))
                    && answers[1]["reason"] != "no such ceremony"
                {
                    assert_eq!(answers[0]["again"], true);
                    assert_eq!(answers[1]["accepted"], false);
                    seen.refused.fetch_add(1, Relaxed);
                }
            }
            Client::Forges => {
                let mut forged = batch.clone();
                for operation in &mut forged {
                    operation.signature.0[(step % 64) as usize] ^= 1;
                }
                if let Some((_, answers)) = seen.send(daemon, &mut http, &body_of(&forged)) {
                    assert!(answers.iter().all(|a| a["accepted"] == false));
                    seen.refused.fetch_add(3, Relaxed);
                }
            }
            Client::Malformed => {
                let mut body = body_of(&batch);
                let middle = body.len() / 2;
                body[middle] = b'!';
                if let Some((status, _)) = seen.send(daemon, &mut http, &body) {
                    assert_eq!(status, 400);
                    seen.refused.fetch_add(1, Relaxed);
                }
            }
            Client::Oversized => {
                // It says so, or it does not.
                let length = if step % 2 == 0 {
                    "content-length: 900000000"
                } else {
                    "transfer-encoding: chunked"
                };
                let mut http = daemon.client();
                let head = format!(
                    "POST /v2/operations HTTP/1.1\r\nhost: x\r\n\
                     content-type: application/json\r\n{length}\r\n\r\n"
                );
                let _ = http.stream().write_all(head.as_bytes());
                let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
                for _ in 0..70 {
                    if http.stream().write_all(chunk.as_bytes()).is_err() {
                        break;
                    }
                }
                assert!(
                    http.read()
                        .is_none_or(|r| matches!(r.status, 413 | 429 | 503))
                );
                seen.refused.fetch_add(1, Relaxed);
            }
            Client::SlowReader => {
                let mut http = daemon.client();
                let ask = "GET /v2/ceremonies?limit=1000 HTTP/1.1\r\nhost: x\r\n\r\n".repeat(20);
                let _ = http.stream().write_all(ask.as_bytes());
                let mut byte = [0];
                for _ in 0..5 {
                    thread::sleep(Duration::from_millis(200));
                    if http.stream().read(&mut byte).is_err() {
                        break;
                    }
                }
            }
            Client::SlowWriter => {
                let mut http = daemon.client();
                for byte in b"POST /v2/operations HTTP/1.1\r\nhost" {
                    thread::sleep(Duration::from_millis(100));
                    if Instant::now() > end || http.stream().write_all(&[*byte]).is_err() {
                        break;
                    }
                }
            }
        }
    }
}

#[test]
fn soak_ceremony_load_on_loopback() {
    // Clients at the same time, and seconds.
    let count = std::env::var("FIELDSPAR_SOAK_CEREMONY_LOAD");
    let count = count.ok().and_then(|c| c.parse().ok());
    let (clients, seconds) = count.map_or((42, 4), |clients: u64| (clients, 30));
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let flags = [
        "--patience",
        "2",
        "--max-in-flight",
        "16M",
        "--max-queue",
        "64",
    ];
    let daemon = Daemon::start(&store, &flags);
    let seen = Seen::default();
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut looks = 0;
    thread::scope(|scope| {
        for number in 0..clients {
            let client = Client::ALL[number as usize % Client::ALL.len()];
            let (daemon, seen) = (&daemon, &seen);
            scope.spawn(move || play(client, number, daemon, seen, end));
        }
        while Instant::now() < end {
            let begin = Instant::now();
            let mut http = daemon.client();
            assert_eq!(http.ask("GET", "/healthz", None).status, 200);
            assert!(begin.elapsed() < Duration::from_secs(5));
            looks += 1;
            thread::sleep(Duration::from_millis(100));
        }
    });
    let memory = daemon.peak_memory();
    let [accepted, refused, pushed_back] =
        [&seen.accepted, &seen.refused, &seen.pushed_back].map(|n| n.load(Relaxed));
    println!(
        "{clients} clients, {seconds} s: {accepted} accepted, {refused} refused, {pushed_back} \
         pushed back, {looks} looks, {memory} MiB at most"
    );
    assert!(accepted > 0 && refused > 0);
    assert!(memory < 200, "{memory} MiB");
    let mut http = daemon.client();
    let root = http.get("/v2/root");
    // The three members, what was accepted, and an equivocation for each that was tried.
    let operations = root["counters"]["operations"].as_u64().unwrap();
    let evidence = root["counters"]["evidence"].as_u64().unwrap();
    assert!(operations >= 3 + accepted + evidence);
    let state = root["roots"]["state"].as_str().unwrap().to_owned();
    assert_eq!(daemon.stop("TERM")["roots"]["state"], state);
    let log = format!("{store}/log.fsl");
    let replay = [
        "ceremony",
        "replay",
        &log,
        "--verify-signatures",
        "--root",
        &state,
    ];
    crate::common::fieldspar(&replay).exits(0);
}

/// Who comes when all places are taken is told to come again, and the others go on.
#[test]
fn there_are_only_so_many_places() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let daemon = Daemon::start(&store, &["--max-connections", "2", "--max-in-flight", "2K"]);
    let (mut one, mut two) = (daemon.client(), daemon.client());
    assert_eq!(one.get("/healthz")["status"], "ok");
    assert_eq!(two.get("/healthz")["status"], "ok");
    let mut three = daemon.client();
    let reply = three.read().unwrap();
    assert_eq!(reply.status, 503);
    assert!(reply.head.contains("retry-after: 1"));
    // More bytes than may be in flight.
    let reply = one.ask("POST", "/v2/operations", Some(&[b' '; 5000]));
    assert_eq!(reply.status, 429);
    assert!(reply.head.contains("retry-after: 1"));
    assert_eq!(two.get("/healthz")["status"], "ok");
}
