//! `whir bench` through the real binary.

use std::process::{Command, Output};

use serde_json::Value;

fn bench(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldspar"))
        .args(["whir", "bench"])
        .args(args)
        .output()
        .unwrap()
}

const TINY: [&str; 10] = [
    "--n",
    "10",
    "--fold",
    "4",
    "--rate",
    "1",
    "--runs",
    "2",
    "--devices",
    "cpu:portable",
];

#[test]
fn one_tiny_row_without_a_rival() {
    let folder = tempfile::tempdir().unwrap();
    let (json, html) = (folder.path().join("r.json"), folder.path().join("r.html"));
    let files = [
        "--json",
        json.to_str().unwrap(),
        "--html",
        html.to_str().unwrap(),
    ];
    let output = bench(&[&TINY[..], &files[..]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("cpu:portable"), "{table}");

    let report: Value = serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
    for name in [
        "schema", "version", "command", "device", "threads", "host", "warnings", "rows",
    ] {
        assert!(report.get(name).is_some(), "{name}");
    }
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    let row = &rows[0];
    assert_eq!((&row["n"], &row["fold"]), (&10.into(), &4.into()));
    assert_eq!(row["verified"], true);
    assert_eq!(row["device"], "cpu:portable");
    assert_eq!(row["extension"], 4);
    assert_eq!(row["p3"], Value::Array(Vec::new()));
    assert!(row["prove_ms"].as_f64().unwrap() > 0.0);
    assert!(row["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
}

#[test]
fn a_level_that_p3_refuses_is_lowered_and_said() {
    let output = bench(&[&TINY[..], &["--security-level", "150", "--json", "-"]].concat());
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &report["rows"][0];
    let level = row["security_level"].as_u64().unwrap();
    assert!(level < 150 && row["requested_security_level"] == 150);
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|w| w.as_str().unwrap().contains("150")),
        "{warnings:?}"
    );
}

#[test]
fn what_does_not_exist_is_an_error() {
    assert!(!bench(&["--n", "23"]).status.success());
    assert!(!bench(&["--devices", "cpu:adx"]).status.success());
    assert!(!bench(&["--runs", "0"]).status.success());
}
