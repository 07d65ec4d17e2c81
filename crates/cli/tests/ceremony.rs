//! The ceremony verbs, run as a user runs them.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::{fieldspar, head};
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
    let folder = common::Folder::new();
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
