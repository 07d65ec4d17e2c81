//! The ceremony verbs, run as a user runs them.

use std::path::Path;

use crate::common::{fieldspar, head};
use serde_json::Value;

fn vector(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../ceremony/tests/vectors")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn lines(stdout: &str) -> Vec<Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn operations_are_replayed_line_by_line() {
    for (name, rounds) in [("full.jsonl", 3), ("fuzz1.jsonl.gz", 60)] {
        let run = fieldspar(&[
            "ceremony",
            "replay-ops",
            "--rules",
            "v1",
            &vector(name),
            "--json",
        ]);
        let lines = lines(&run.exits(0).stdout);
        assert_eq!(lines.len(), rounds);
        assert!(lines.iter().all(|line| line["matches_expect"] == true));
        assert!(lines[0]["drops"]["contribution_duplicate"].is_u64());
    }
}

#[test]
fn another_result_than_expected_is_a_no() {
    let folder = crate::common::Folder::new();
    let text = std::fs::read_to_string(vector("empty.jsonl")).unwrap();
    let path = folder.name("wrong.jsonl");
    std::fs::write(&path, text.replace("\"active\":0", "\"active\":1")).unwrap();
    let run = fieldspar(&[
        "ceremony",
        "replay-ops",
        "--rules",
        "v1",
        &path,
        "--json",
        "-q",
    ]);
    assert_eq!(lines(&run.exits(1).stdout)[0]["matches_expect"], false);
    std::fs::write(&path, "{}\n").unwrap();
    let run = fieldspar(&["ceremony", "replay-ops", "--rules", "v1", &path, "--json"]);
    let error = run.exits(3).error();
    assert!(
        error["at"]
            .as_str()
            .unwrap()
            .ends_with("wrong.jsonl: line 1"),
        "{error}"
    );
    let run = fieldspar(&[
        "ceremony",
        "replay-ops",
        "--rules",
        "v1",
        &path,
        "--ceremonies",
        "3",
    ]);
    run.exits(2);
}

#[test]
fn scenarios_are_measured() {
    let run = fieldspar(&[
        "ceremony",
        "bench",
        "--scenario",
        "small",
        "--rules",
        "v1",
        "--runs",
        "1",
        "--json",
    ]);
    let json = run.exits(0).json();
    head(&json, "ceremony bench");
    let row = &json["rows"][0];
    assert_eq!(
        (&row["scenario"], &row["operations"]),
        (&"small".into(), &80.into())
    );
    assert!(row["ms"].as_f64().unwrap() > 0.0);
    assert_eq!(row["root"].as_str().unwrap().len(), 64);
}

/// Runs `ceremony` with arguments that are separated by spaces; the JSON it prints.
fn ceremony(line: &str, code: i32) -> Value {
    let words: Vec<&str> = line.split(' ').collect();
    let run = fieldspar(&[&["ceremony"], &words[..], &["--json", "-q"]].concat());
    run.exits(code).json()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn a_record_from_its_beginning_to_a_proof() {
    let folder = crate::common::Folder::new();
    let store = folder.name("record");
    let operator_key = folder.name("operator.key");
    let operator = text(&ceremony(&format!("key {operator_key}"), 0)["public_key"]);
    ceremony(
        &format!("init --store {store} --network test --operator {operator}"),
        0,
    );
    let mut keys = Vec::new();
    for i in 0..2 {
        let file = folder.name(&format!("{i}.key"));
        let public = text(&ceremony(&format!("key {file}"), 0)["public_key"]);
        let add = format!("roster add --store {store} --operator-key {operator_key} {public}");
        assert_eq!(ceremony(&add, 0)["accepted"], true);
        keys.push(file);
    }
    assert_eq!(
        ceremony(&format!("roster list --store {store}"), 0)["members"][1]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    let by = format!("--store {store} --operator-key");
    let shape = "--kind corona-keygen --threshold 2 --participants 0,1 --deadlines 10,20";
    let stranger = &keys[0];
    let refused = ceremony(&format!("begin {by} {stranger} {shape}"), 1);
    assert!(text(&refused["reason"]).contains("operator"));
    let begun = ceremony(&format!("begin {by} {operator_key} {shape}"), 0);
    let id = text(&begun["id"]);
    let sign = |party: usize, payload: &str| {
        let key = &keys[party];
        let what = format!("--ceremony {id} --kind corona-keygen --round 0 --index {party}");
        text(
            &ceremony(
                &format!("sign --party-key {key} --network test {what} {payload}"),
                0,
            )["operation"],
        )
    };
    let file = folder.name("messages.hex");
    let contribute = format!("contribute --store {store} {file}");
    std::fs::write(&file, sign(0, "aa") + "\n").unwrap();
    assert_eq!(ceremony(&contribute, 0)["again"], false);
    assert_eq!(ceremony(&contribute, 0)["again"], true);
    std::fs::write(&file, sign(0, "bb") + "\n").unwrap();
    assert!(text(&ceremony(&contribute, 1)["reason"]).starts_with("equivocation"));
    let mut forged = sign(1, "aa");
    forged.replace_range(forged.len() - 2.., "00");
    std::fs::write(&file, forged + "\n").unwrap();
    assert!(text(&ceremony(&contribute, 1)["reason"]).contains("signature"));
    std::fs::write(&file, "zz\n").unwrap();
    fieldspar(&["ceremony", "contribute", "--store", &store, &file]).exits(3);
    let status = ceremony(&format!("status --awaited --store {store}"), 0);
    assert_eq!(status["ceremonies"][0]["awaited"], serde_json::json!([1]));
    assert_eq!(status["evidence"][0]["index"], 0);
    ceremony(&format!("compact --store {store}"), 0);
    ceremony(&format!("tick --store {store} --now 11"), 0);
    assert!(
        text(&ceremony(&format!("tick --store {store} --now 3"), 1)["reason"]).contains("already")
    );
    let status = ceremony(&format!("status --store {store}"), 0);
    assert_eq!(status["ceremonies"][0]["status"], "expired");
    let root = text(&ceremony(&format!("root --store {store}"), 0)["roots"]["state"]);
    let proof = ceremony(&format!("prove --store {store} {id}"), 0);
    let file = folder.name("proof.json");
    std::fs::write(&file, proof.to_string()).unwrap();
    assert_eq!(
        ceremony(&format!("verify-proof {file} --root {root}"), 0)["valid"],
        true
    );
    let other = "0".repeat(64);
    assert_eq!(
        ceremony(&format!("verify-proof {file} --root {other}"), 1)["valid"],
        false
    );
    ceremony(&format!("prove --store {store} {other}"), 1);
    let log = format!("{store}/log.fsl");
    for verify in ["", " --verify-signatures"] {
        let replayed = ceremony(&format!("replay {log} --root {root}{verify}"), 0);
        assert_eq!(replayed["matches"], true);
    }
    ceremony(&format!("replay {log} --root {other}"), 1);
    let mut bytes = std::fs::read(&log).unwrap();
    bytes[200] ^= 1;
    std::fs::write(&log, bytes).unwrap();
    fieldspar(&["ceremony", "replay", &log]).exits(3);
}

/// A store with a FROST key generation of 2 of 3, in which `liar` has another's proof.
fn frost_record(folder: &str, liar: Option<usize>) -> String {
    use ed25519_dalek::SigningKey;
    use fieldspar_ceremony::rules::v2::{
        Begin, Body, Contribution, Genesis, Kind, SEALED, State, Suite,
    };
    use fieldspar_ceremony::store::Store;
    use fieldspar_ceremony::verify::{Ed25519, keygen::Keygen, scenario};

    let keys = [1u8, 2, 3, 4].map(|i| SigningKey::from_bytes(&[i; 32]));
    let network = [7; 32];
    let operator = keys[3].verifying_key().to_bytes();
    let genesis = Genesis { network, operator };
    let mut store = Store::create(Path::new(folder), genesis).unwrap();
    let mut submit = |body: Body, key: usize| {
        let reply = store.submit_one(body.sign(&network, &keys[key])).unwrap();
        assert!(reply.is_accepted(), "{reply:?}");
        store.state().clone()
    };
    for (index, key) in (0..).zip(&keys[..3]) {
        let key = key.verifying_key().to_bytes();
        submit(Body::AddMember { index, key }, 3);
    }
    let kind = Kind::FrostKeygen(Suite::Ed25519);
    let begin = Begin {
        kind,
        salt: [0; 32],
        threshold: 2,
        participants: vec![0, 1, 2],
        deadlines: vec![1, 2, 3],
        key: [0; 32],
        message: Vec::new(),
    };
    let ceremony = begin.id(&network);
    let mut state = submit(Body::Begin(begin), 3);
    let dkg = scenario::dkg(Suite::Ed25519, 3, 2).unwrap();
    let messages: Vec<&[u8]> = dkg.messages.iter().map(Vec::as_slice).collect();
    let keygen = Keygen::<Ed25519>::parse(2, &messages).unwrap();
    let group = keygen.public_keys().unwrap().group_key.bytes().to_vec();
    for round in 0..3 {
        let view = state.ceremony(&ceremony).unwrap().transcript;
        for index in 0..3u16 {
            let i = usize::from(index);
            let payload = match round {
                0 => {
                    let proof = if liar == Some(i) { (i + 1) % 3 } else { i };
                    [&[9; 32][..], &messages[i][..64], &messages[proof][64..]].concat()
                }
                1 => {
                    let others = (0..3u16).filter(|other| *other != index);
                    let sealed = others.flat_map(|other| {
                        let mut package = [0; SEALED];
                        package[..2].copy_from_slice(&index.to_le_bytes());
                        package[2..4].copy_from_slice(&other.to_le_bytes());
                        package
                    });
                    view.into_iter().chain(sealed).collect()
                }
                _ => [&view[..], &group].concat(),
            };
            let body = Body::Contribute(Contribution {
                ceremony,
                kind,
                round,
                index,
                payload,
            });
            state = submit(body, i);
        }
    }
    let _: State = state;
    fieldspar_ceremony::hex::encode(&group)
}

#[test]
fn a_transcript_is_verified_and_the_culprit_is_named() {
    let folder = crate::common::Folder::new();
    let (good, bad) = (folder.name("good"), folder.name("bad"));
    let group = frost_record(&good, None);
    let run = fieldspar(&["ceremony", "verify-transcript", &good, "--json"]);
    let said = run.exits(0).json();
    assert_eq!(said["valid"], true);
    assert_eq!(said["suite"], "ed25519");
    assert_eq!(said["group_key"], group.as_str());
    assert!(said["reason"].is_null() && said["culprit"].is_null());
    assert!(said["signature"].is_null());
    let root = said["state_root"].as_str().unwrap().to_owned();
    let args = ["ceremony", "verify-transcript", &good, "--root", &root];
    fieldspar(&args).exits(0);
    fieldspar(&["ceremony", "verify-transcript", &good, "--root", &group]).exits(1);
    fieldspar(&["ceremony", "verify-transcript", &good, "--ceremony", &group]).exits(1);

    frost_record(&bad, Some(1));
    let run = fieldspar(&["ceremony", "verify-transcript", &bad, "--json"]);
    let said = run.exits(1).json();
    assert_eq!(said["valid"], false);
    assert_eq!(said["culprit"]["index"], 1);
    assert!(said["reason"].as_str().unwrap().contains("[1]"));
    let run = fieldspar(&["ceremony", "verify-transcript", &bad]);
    assert!(run.exits(1).stdout.contains("REFUSED"));

    fieldspar(&["ceremony", "verify-transcript", &folder.name("none")]).exits(3);
}
