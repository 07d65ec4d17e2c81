//! `msm` through the real binary.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn msm(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldspar"))
        .arg("msm")
        .args(args)
        .output()
        .unwrap()
}

fn json(output: &Output) -> Value {
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Writes inputs and gives their paths.
fn generate(folder: &Path, curve: &str, encoding: &str) -> (String, String) {
    let path = |name: &str| folder.join(format!("{curve}-{encoding}.{name}"));
    let text = |p: std::path::PathBuf| p.to_str().unwrap().to_owned();
    let (points, scalars) = (text(path("points")), text(path("scalars")));
    let flags = ["--log-n", "8", "--seed", "5", "--encoding", encoding];
    let files = ["--points", &points, "--scalars", &scalars];
    let output = msm(&[&["gen", "--curve", curve, "--json"][..], &flags, &files].concat());
    assert_eq!(json(&output)["files"][0], points.as_str());
    (points, scalars)
}

#[test]
fn one_point_on_every_variant_and_encoding() {
    let folder = tempfile::tempdir().unwrap();
    for curve in ["bls12-377", "bls12-381", "bn254"] {
        let mut results = Vec::new();
        for encoding in ["compressed", "uncompressed", "limbs"] {
            let (points, scalars) = generate(folder.path(), curve, encoding);
            for (device, check) in [
                ("cpu", "subgroup"),
                ("cpu:portable", "curve"),
                ("cpu", "none"),
            ] {
                let output = msm(&[
                    "run",
                    "--curve",
                    curve,
                    "--points",
                    &points,
                    "--scalars",
                    &scalars,
                    "--encoding",
                    encoding,
                    "--check",
                    check,
                    "--device",
                    device,
                    "--json",
                ]);
                let answer = json(&output);
                assert_eq!(
                    (&answer["n"], &answer["curve"]),
                    (&256.into(), &curve.into())
                );
                assert!(answer["ms"].as_f64().unwrap() > 0.0);
                results.push(answer["result"].clone());
            }
        }
        results.dedup();
        assert_eq!(results.len(), 1, "{results:?}");
    }
}

#[test]
fn mistakes_have_their_exit_codes() {
    let folder = tempfile::tempdir().unwrap();
    let (points, scalars) = generate(folder.path(), "bn254", "limbs");
    let run = |more: &[&str]| {
        let files = ["run", "--points", &points, "--scalars", &scalars];
        let output = msm(&[&files[..], more].concat());
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    // the wrong encoding is no whole number of points, or points that are none
    let (code, error) = run(&["--curve", "bls12-377", "--encoding", "limbs"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("16384 bytes"), "{error}");
    let (code, error) = run(&["--curve", "bn254", "--encoding", "uncompressed"]);
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("byte "), "{error}");
    let (code, error) = run(&[
        "--curve",
        "bn254",
        "--encoding",
        "limbs",
        "--device",
        "cpu:avx2",
    ]);
    assert_eq!(code, Some(4), "{error}");
    let little = [
        "--curve",
        "bn254",
        "--encoding",
        "limbs",
        "--max-memory",
        "1M",
    ];
    let (code, error) = run(&little);
    assert_eq!(code, Some(5), "{error}");
    let (code, error) = run(&["--curve", "secp256k1"]);
    assert_eq!(code, Some(2), "{error}");
    // the files are there already
    let again = [
        "gen",
        "--curve",
        "bn254",
        "--log-n",
        "1",
        "--points",
        &points,
        "--scalars",
        "x",
    ];
    assert_eq!(msm(&again).status.code(), Some(2));
}

#[test]
fn a_bench_checks_its_sums() {
    let output = msm(&[
        "bench",
        "--curve",
        "bn254,bls12-377",
        "--log-n",
        "4..6",
        "--runs",
        "1",
        "--skew",
        "uniform,zipf",
        "--json",
    ]);
    let answer = json(&output);
    let rows = answer["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 3 * 2);
    for row in rows {
        assert_eq!(row["equal"], true);
        assert!(row["ms"].as_f64().unwrap() > 0.0);
        assert_eq!(row["rivals"], Value::Object(serde_json::Map::new()));
    }
}

fn fpga(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fieldspar"))
        .arg("fpga")
        .args(args)
        .output()
        .unwrap()
}

#[test]
fn the_simulated_accelerator_gives_the_sum() {
    let found = json(&fpga(&["run", "--log-n", "6", "--seed", "5", "--json"]));
    assert_eq!(found["engine"], "model");
    assert_eq!(found["equal"], true);
    assert_eq!(found["n"], 64);
    let stalls = found["stalls"].as_object().unwrap().values();
    let stalled: u64 = stalls.map(|s| s.as_u64().unwrap()).sum();
    // All cycles have a cause, but for the command that starts each of the groups.
    let cycles = found["cycles"].as_u64().unwrap();
    assert_eq!(cycles, stalled + found["issued"].as_u64().unwrap() + 8);
    let refused = fpga(&["run", "--design", "none"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn designs_are_explored() {
    let folder = tempfile::tempdir().unwrap();
    let html = folder.path().join("sweep.html");
    let flags = [
        "explore",
        "--latency",
        "50,100",
        "--buckets",
        "8,12",
        "--simulate",
        "4096",
    ];
    let more = ["--html", html.to_str().unwrap(), "--json"];
    let found = json(&fpga(&[&flags[..], &more].concat()));
    assert_eq!(found["rows"].as_array().unwrap().len(), 4);
    assert!(
        found["label"]
            .as_str()
            .unwrap()
            .contains("no hardware was run")
    );
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("<svg") && !page.contains("http"));
    assert_eq!(
        fpga(&["explore", "--preset", "none"]).status.code(),
        Some(2)
    );
}
