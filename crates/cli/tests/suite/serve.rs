//! The daemon, run as a user runs it.

#[allow(dead_code, unreachable_pub)]
mod daemon;
mod kill;
mod load;
mod party;

use std::io::Write;
use std::time::{Duration, Instant};

use crate::common::{Folder, fieldspar};
use daemon::{Daemon, begin, body_of, message, new_store, operate};
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Body, Operation, scenario};
use serde_json::{Value, json};

fn accepted(answers: &[Value]) -> usize {
    answers.iter().filter(|a| a["accepted"] == true).count()
}

#[test]
fn a_record_over_http_from_its_beginning_to_a_proof() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let root_key = folder.name("root.key");
    fieldspar(&["ceremony", "key", &root_key]).exits(0);
    let daemon = Daemon::start(&store, &["--root-key", &root_key]);
    let mut http = daemon.client();
    assert_eq!(http.get("/healthz")["status"], "ok");
    assert_eq!(
        http.get("/v2/roster")["members"].as_array().unwrap().len(),
        3
    );
    let (id, begun) = begin(0);
    assert_eq!(http.submit(std::slice::from_ref(&begun))[0]["again"], false);
    assert_eq!(http.submit(&[begun])[0]["accepted"], false);
    let path = format!("/v2/ceremonies/{}", hex::encode(&id));
    let value = http.get(&path);
    assert_eq!(value["awaited"], json!([0, 1, 2]));
    assert_eq!(value["schema"], 1);
    // One a request, then several, then again, then others.
    assert_eq!(accepted(&http.submit(&[message(id, 0, 40)])), 1);
    let two = [message(id, 1, 40), message(id, 0, 40)];
    let answers = http.submit(&two);
    assert_eq!(
        (accepted(&answers), &answers[1]["again"]),
        (2, &json!(true))
    );
    let mut forged = message(id, 2, 40);
    forged.signature.0[5] ^= 1;
    let answers = http.submit(&[forged, message(id, 0, 41), message(id, 2, 40)]);
    assert!(answers[0]["reason"].as_str().unwrap().contains("signature"));
    assert!(
        answers[1]["reason"]
            .as_str()
            .unwrap()
            .contains("equivocation")
    );
    assert_eq!(answers[2]["accepted"], true);
    assert_eq!(http.get("/v2/evidence")["evidence"][0]["index"], 0);
    let heard = http.get(&format!("{path}/messages?round=0&from=1"));
    assert_eq!(heard["messages"].as_array().unwrap().len(), 2);
    assert_eq!(heard["messages"][0]["index"], 1);
    assert_eq!(http.get(&path)["round"], 1);
    // Many at once, and lists in pages.
    let many: Vec<Operation> = (1..257).map(|n| begin(n).1).collect();
    assert_eq!(accepted(&http.submit(&many)), 256);
    let page = http.get("/v2/ceremonies?from=250&limit=5");
    assert_eq!(page["ceremonies"].as_array().unwrap().len(), 5);
    assert_eq!(page["next"], 255);
    assert_eq!(http.get("/v2/ceremonies?from=256")["next"], Value::Null);
    // Time.
    let tick = |http: &mut daemon::Http, now: u64| {
        http.ask(
            "POST",
            "/v2/tick",
            Some(json!({"now": now}).to_string().as_bytes()),
        )
        .json()["answers"][0]["accepted"]
            .clone()
    };
    assert_eq!(
        (tick(&mut http, 9), tick(&mut http, 3)),
        (json!(true), json!(false))
    );
    assert_eq!(
        http.submit(&[operate(Body::Cancel { ceremony: id })])[0]["accepted"],
        true
    );
    assert_eq!(
        http.get("/v2/ceremonies?status=ended")["ceremonies"][0]["status"],
        "cancelled"
    );
    let root = http.get("/v2/root");
    assert_eq!(root["signature"].as_str().unwrap().len(), 128);
    let proof = http.get(&format!("{path}/proof"));
    let file = folder.write("proof.json", proof.to_string().as_bytes());
    let state = root["roots"]["state"].as_str().unwrap();
    fieldspar(&["ceremony", "verify-proof", &file, "--root", state]).exits(0);
    let metrics = http.ask("GET", "/metrics", None);
    let metrics = String::from_utf8(metrics.body).unwrap();
    for line in [
        "fieldspar_ceremony_operations_total{answer=\"bad_signature\"} 1",
        "fieldspar_ceremony_operations_total{answer=\"again\"} 1",
        "fieldspar_ceremony_connections 1",
        "fieldspar_ceremony_evidence 1",
    ] {
        assert!(
            metrics.lines().any(|l| l == line),
            "{line} is not in\n{metrics}"
        );
    }
    // Nobody else has it open meanwhile.
    fieldspar(&["ceremony", "root", "--store", &store]).exits(3);
    let last = daemon.stop("TERM");
    assert_eq!(
        (&last["why"], &last["event"]),
        (&json!("SIGTERM"), &json!("stopped"))
    );
    assert_eq!(last["roots"]["state"], state);
    let log = format!("{store}/log.fsl");
    fieldspar(&[
        "ceremony",
        "replay",
        &log,
        "--verify-signatures",
        "--root",
        state,
    ])
    .exits(0);
}

#[test]
fn what_is_no_request_is_refused_and_nothing_comes_of_it() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let daemon = Daemon::start(&store, &["--max-body", "64K"]);
    let mut http = daemon.client();
    let before = http.get("/v2/root")["roots"].clone();
    let status = |method: &str, path: &str, body: Option<&[u8]>| {
        let reply = daemon.client().ask(method, path, body);
        assert_eq!(reply.json()["error"]["status"], reply.status);
        reply.status
    };
    assert_eq!(status("GET", "/", None), 404);
    assert_eq!(status("GET", "/v2/ceremonies/zz", None), 400);
    let unknown = format!("/v2/ceremonies/{}", "0".repeat(64));
    for rest in ["", "/messages", "/proof"] {
        assert_eq!(status("GET", &format!("{unknown}{rest}"), None), 404);
    }
    assert_eq!(status("GET", "/v2/roster?from=-1", None), 400);
    assert_eq!(status("GET", "/v2/ceremonies?status=x", None), 400);
    let wrong = daemon.client().ask("DELETE", "/v2/operations", None);
    assert_eq!(wrong.status, 405);
    assert!(wrong.head.contains("allow: post"));
    let path = "/v2/operations";
    let tick = body_of(&[Operation::tick(7)]);
    let many = body_of(&vec![Operation::tick(7); 257]);
    let bodies: [&[u8]; 9] = [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"{\"operations\":[\"0\"]}",
        b"{\"operations\":[\"04ffffff\"]}",
        b"{\"operations\":[],\"operations\":[]}",
        &tick,
        &many,
    ];
    for body in bodies {
        assert_eq!(status("POST", path, Some(body)), 400, "{body:?}");
    }
    assert_eq!(status("POST", path, Some(&vec![b' '; 100_000])), 413);
    // More than was said, without a length.
    let mut chunked = daemon.client();
    let head = "POST /v2/operations HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        transfer-encoding: chunked\r\n\r\n";
    chunked.stream().write_all(head.as_bytes()).unwrap();
    let chunk = format!("4000\r\n{}\r\n", " ".repeat(0x4000));
    for _ in 0..8 {
        // The daemon stops listening in the middle.
        let _ = chunked.stream().write_all(chunk.as_bytes());
    }
    assert_eq!(chunked.read().unwrap().status, 413);
    // A web page can send this unasked, so it is not taken.
    let mut plain = daemon.client();
    let text = "POST /v2/operations HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\n\
        content-length: 2\r\n\r\n{}";
    plain.stream().write_all(text.as_bytes()).unwrap();
    assert_eq!(plain.read().unwrap().status, 415);
    // No HTTP at all.
    let mut noise = daemon.client();
    noise
        .stream()
        .write_all(b"\x16\x03\x01 hello\r\n\r\n")
        .unwrap();
    assert!(noise.read().is_none_or(|reply| reply.status == 400));
    let mut long = daemon.client();
    let line = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(100_000));
    let _ = long.stream().write_all(line.as_bytes());
    assert!(
        long.read()
            .is_none_or(|reply| (400..500).contains(&reply.status))
    );
    assert_eq!(http.get("/v2/root")["roots"], before);
}

#[test]
fn addresses_that_others_reach_need_tls() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let serve = ["ceremony", "serve", "--store", &store, "--listen"];
    fieldspar(&[&serve[..], &["0.0.0.0:0"]].concat()).exits(2);
    let manual = ["0.0.0.0:0", "--plain-http", "--clock", "manual"];
    fieldspar(&[&serve[..], &manual].concat()).exits(2);
    fieldspar(&[&serve[..], &["127.0.0.1:0", "--tls-cert", "x"]].concat()).exits(2);
    let missing = [
        "127.0.0.1:0",
        "--tls-cert",
        "none.pem",
        "--tls-key",
        "none.pem",
    ];
    fieldspar(&[&serve[..], &missing].concat()).exits(3);
}

#[test]
fn whoever_is_slow_is_let_go() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let daemon = Daemon::start(&store, &["--patience", "1"]);
    let begin = Instant::now();
    // A head and a body that never end, and a connection that says nothing.
    let mut head = daemon.client();
    head.stream()
        .write_all(b"GET /healthz HTTP/1.1\r\nx: ")
        .unwrap();
    let mut body = daemon.client();
    let text = "POST /v2/operations HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
        content-length: 100\r\n\r\n{";
    body.stream().write_all(text.as_bytes()).unwrap();
    let mut silent = daemon.client();
    assert_eq!(body.read().unwrap().status, 408);
    assert!(head.read().is_none_or(|reply| reply.status == 408));
    assert!(silent.read().is_none_or(|reply| reply.status == 408));
    assert!(begin.elapsed() < Duration::from_secs(20));
    assert_eq!(daemon.client().get("/healthz")["status"], "ok");
}

/// The daemon's own clock lets deadlines pass, and nobody else sets it.
#[test]
fn time_is_the_systems() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let daemon = Daemon::start(&store, &["--clock", "system"]);
    let mut http = daemon.client();
    let tick = http.ask("POST", "/v2/tick", Some(b"{\"now\":5}"));
    assert_eq!(tick.status, 403);
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let now = since.as_millis() as u64;
    let mut late = scenario::begin(0);
    late.deadlines = vec![now - 60_000; 3];
    let mut soon = scenario::begin(1);
    soon.deadlines = vec![now + 3_000; 3];
    let id = soon.id(&scenario::NETWORK);
    let begins = [late, soon].map(|begin| operate(Body::Begin(begin)));
    let answers = http.submit(&begins);
    assert!(answers[0]["reason"].as_str().unwrap().contains("deadline"));
    assert_eq!(answers[1]["accepted"], true);
    let path = format!("/v2/ceremonies/{}", hex::encode(&id));
    let begin = Instant::now();
    while http.get(&path)["status"] != "expired" {
        assert!(begin.elapsed() < Duration::from_secs(30));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(http.get("/v2/root")["counters"]["now"].as_u64().unwrap() > now + 3_000);
}

/// A log that was shortened while nobody served it.
#[test]
fn a_shorter_log_is_served_and_says_what_is_trusted() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let archive = folder.name("old.fsl");
    let compact = [
        "ceremony",
        "compact",
        "--store",
        &store,
        "--archive",
        &archive,
    ];
    let made = fieldspar(&[&compact[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(made["trusted_base"]["operations"], 3);
    let daemon = Daemon::start(&store, &[]);
    let mut http = daemon.client();
    assert_eq!(http.submit(&[begin(0).1])[0]["accepted"], true);
    let root = http.get("/v2/root");
    assert_eq!(root["trusted_base"], made["trusted_base"]);
    daemon.stop("TERM");
    let state = root["roots"]["state"].as_str().unwrap();
    let log = format!("{store}/log.fsl");
    let replay = [
        "ceremony",
        "replay",
        &log,
        "--verify-signatures",
        "--root",
        state,
    ];
    let said = fieldspar(&replay).exits(0);
    assert!(
        said.stdout
            .starts_with("trusted: the state behind frame 1,"),
        "{}",
        said.stdout
    );
    let old = made["trusted_base"]["root"].as_str().unwrap();
    fieldspar(&["ceremony", "replay", &archive, "--root", old]).exits(0);
    // What the ceremonies before it said is not there to be verified, which is nobody's fault.
    let run = fieldspar(&["ceremony", "verify-transcript", &store, "--json"]).exits(3);
    assert!(
        run.error()["message"]
            .as_str()
            .unwrap()
            .contains("shortened")
    );
}

#[test]
fn requests_in_flight_are_finished_when_it_stops() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let mut daemon = Daemon::start(&store, &[]);
    let operations: Vec<Operation> = (0..256).map(|n| begin(n).1).collect();
    let text = body_of(&operations);
    let mut http = daemon.client();
    let head = format!(
        "POST /v2/operations HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        text.len()
    );
    http.stream().write_all(head.as_bytes()).unwrap();
    http.stream().write_all(&text[..1000]).unwrap();
    // So that the request has begun before the signal comes.
    std::thread::sleep(Duration::from_millis(200));
    daemon.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    http.stream().write_all(&text[1000..]).unwrap();
    let reply = http.read().unwrap();
    assert_eq!(reply.status, 200);
    assert_eq!(accepted(reply.json()["answers"].as_array().unwrap()), 256);
    let last = daemon.ended();
    assert_eq!(last["operations"], 259);
    assert_eq!(last["why"], "SIGINT");
}

/// A disk on which no file grows beyond some mebibytes: the daemon says so once, stops, and what it
/// acknowledged is there.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_it_and_loses_nothing() {
    let folder = Folder::new();
    let store = folder.name("record");
    new_store(&store);
    let batches = (0..40).map(|n| {
        let (id, begun) = begin(n);
        [begun, message(id, 0, 131_072), message(id, 1, 131_072)]
    });
    let mut daemon = Daemon::limited(&store, 4 << 10);
    let mut http = daemon.client();
    let mut acknowledged = 0;
    for batch in batches {
        match http.ask("POST", "/v2/operations", Some(&body_of(&batch))) {
            reply if reply.status == 200 => acknowledged += 1,
            reply => {
                assert_eq!(reply.status, 500);
                break;
            }
        }
    }
    assert!((1..40).contains(&acknowledged), "{acknowledged}");
    assert_eq!(daemon.code(), Some(3));
    drop(daemon);
    let daemon = Daemon::start(&store, &[]);
    let mut http = daemon.client();
    let found = http.get("/v2/ceremonies?limit=100")["ceremonies"]
        .as_array()
        .unwrap()
        .len();
    assert!(found == acknowledged || found == acknowledged + 1);
    daemon.stop("TERM");
}
