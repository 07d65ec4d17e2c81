//! Every verb, for people and as JSON.

use crate::common::{Folder, fieldspar, finish, has, head};

const PARAMETERS: [&str; 7] = [
    "n",
    "folds",
    "rate",
    "assumption",
    "extension",
    "security_level",
    "pow_bits",
];
const PROVED: [&str; 11] = [
    "commitment",
    "point",
    "value",
    "proof_bytes",
    "proof_sha256",
    "commit_ms",
    "open_ms",
    "prove_ms",
    "grind_ms",
    "phases",
    "peak_memory_bytes",
];

#[test]
fn devices() {
    let text = fieldspar(&["devices"]).exits(0).stdout;
    assert!(text.contains("cpu:portable"));
    // Adapters, or that there are none.
    assert!(text.contains("  wgpu"), "{text}");
    // An NVIDIA GPU, or the reason why there is none.
    assert!(
        text.contains("cuda:0 ") || text.contains("NVIDIA"),
        "{text}"
    );
    let json = fieldspar(&["devices", "--json"]).exits(0).json();
    head(&json, "devices");
    for device in json["devices"].as_array().unwrap() {
        has(
            device,
            &[
                "spec",
                "kind",
                "name",
                "variant",
                "backend",
                "adapter",
                "driver",
                "available",
                "reason",
                "memory_bytes",
                "limits",
            ],
        );
    }
}

#[test]
fn selftest() {
    let json = fieldspar(&["selftest", "--json"]).exits(0).json();
    head(&json, "selftest");
    let rows = json["devices"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["spec"] == "cpu:portable"));
    for row in rows {
        has(row, &["spec", "passed", "operation", "reason"]);
        assert_eq!(row["passed"], true);
    }
    let named = fieldspar(&["selftest", "--device", "cpu:portable", "--json"]);
    let named = named.exits(0).json();
    assert_eq!(named["devices"].as_array().unwrap().len(), 1);
    assert_eq!(named["device"]["spec"], "cpu:portable");
}

#[test]
fn demo() {
    let json = fieldspar(&["whir", "demo", "--n", "12", "--json"])
        .exits(0)
        .json();
    head(&json, "whir demo");
    has(&json, &PARAMETERS);
    has(&json, &PROVED);
    has(&json, &["verify_ms", "valid"]);
    assert!(json["device_open_ms"].as_f64().unwrap() > 0.0);
    for name in ["peak_device_memory_bytes", "planned_device_memory_bytes"] {
        // The processor has no memory of its own.
        assert_eq!(
            json[name].is_u64(),
            json["device"]["kind"] == "cuda",
            "{name}"
        );
    }
    assert_eq!(json["valid"], true);
    assert_eq!(json["n"], 12);
    assert_eq!(json["extension"], 5);
    assert_eq!(json["security_level"], 100);
    assert_eq!(json["assumption"], "johnson");
    assert_eq!(json["folds"], serde_json::json!([4, 4]));
    assert_eq!(json["point"].as_array().unwrap().len(), 12);
    assert_eq!(json["value"].as_array().unwrap().len(), 5);
    let (prove, commit, open) = (&json["prove_ms"], &json["commit_ms"], &json["open_ms"]);
    let sum = commit.as_f64().unwrap() + open.as_f64().unwrap();
    assert!((prove.as_f64().unwrap() - sum).abs() < 0.01);
    assert!(json["phases"]["merkle"].as_f64().unwrap() > 0.0);
    if cfg!(target_os = "linux") {
        assert!(json["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    }
    let text = fieldspar(&["whir", "demo", "--n", "8"]).exits(0).stdout;
    let spec = json["device"]["spec"].as_str().unwrap();
    for words in ["device ", spec, "security ", "merkle", "bytes", "valid"] {
        assert!(text.contains(words), "{words} is missing in {text}");
    }
}

#[test]
fn one_proof_for_every_device_and_number_of_threads() {
    let sha = |flags: &[&str]| {
        let json = fieldspar(&[&["whir", "demo", "--n", "10", "--json"], flags].concat());
        json.exits(0).json()["proof_sha256"].clone()
    };
    let expected = sha(&[]);
    for threads in ["1", "2", "7"] {
        assert_eq!(sha(&["--threads", threads]), expected);
    }
    let devices = fieldspar(&["devices", "--json"]).json();
    for device in devices["devices"].as_array().unwrap() {
        if device["available"] == true {
            assert_eq!(
                sha(&["--device", device["spec"].as_str().unwrap()]),
                expected
            );
        }
    }
    assert_ne!(sha(&["--seed", "1"]), expected);
}

#[test]
fn prove_verify_inspect() {
    let folder = Folder::new();
    let (proof, made) = folder.proof("proof.fsp", &[]);
    head(&made, "whir prove");
    has(&made, &PARAMETERS);
    has(&made, &PROVED);
    assert_eq!(made["at"], "random:0");
    assert_eq!(made["n"], 10);
    assert_eq!(made["true_length"], 1000);
    assert_eq!(folder.files(), ["input.u32", "proof.fsp"]);
    let length = std::fs::metadata(folder.path("proof.fsp")).unwrap().len();
    assert_eq!(made["proof_bytes"], length);

    let verified = fieldspar(&["whir", "verify", &proof, "--json"])
        .exits(0)
        .json();
    head(&verified, "whir verify");
    has(&verified, &PARAMETERS);
    has(&verified, &["valid", "reason", "verify_ms"]);
    assert_eq!(verified["valid"], true);
    assert!(verified["reason"].is_null());
    let inspected = fieldspar(&["whir", "inspect", &proof, "--json"])
        .exits(0)
        .json();
    head(&inspected, "whir inspect");
    has(&inspected, &PARAMETERS);
    for name in ["commitment", "point", "value", "n", "folds", "rate"] {
        assert_eq!(verified[name], made[name], "{name}");
        assert_eq!(inspected[name], made[name], "{name}");
    }
    let sizes = inspected["sizes"].as_array().unwrap();
    let sum: u64 = sizes
        .iter()
        .map(|part| part["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, length);

    let text = fieldspar(&["whir", "verify", &proof]).exits(0).stdout;
    assert!(text.starts_with("VALID"));
    assert_eq!(text.matches("the file's own").count(), 3);
    let text = fieldspar(&["whir", "inspect", &proof]).exits(0).stdout;
    assert!(text.contains("NOT verified"));
}

#[test]
fn plan() {
    let json = fieldspar(&["whir", "plan", "--n", "24", "--json"])
        .exits(0)
        .json();
    head(&json, "whir plan");
    has(&json, &PARAMETERS);
    has(
        &json,
        &[
            "queries",
            "pow_bits_per_round",
            "proof_bytes_estimate",
            "peak_memory_bytes",
        ],
    );
    assert_eq!(json["accepted"], true);
    assert!(json["reason"].is_null());
    let log = fieldspar(&["whir", "plan", "--log-n", "24", "--json"])
        .exits(0)
        .json();
    assert_eq!(log["queries"], json["queries"]);

    let refused = fieldspar(&[
        "whir",
        "plan",
        "--extension",
        "4",
        "--security-level",
        "120",
        "--json",
    ])
    .exits(1)
    .json();
    assert_eq!(refused["accepted"], false);
    assert!(refused["reason"].as_str().unwrap().contains("the highest"));
    let text = fieldspar(&[
        "whir",
        "plan",
        "--extension",
        "4",
        "--security-level",
        "120",
    ])
    .exits(1)
    .stdout;
    assert!(text.starts_with("REFUSED"));
}

#[test]
fn a_gpu_agrees_and_keeps_to_its_plan() {
    if !crate::common::has_gpu() {
        eprintln!("no GPU");
        return;
    }
    let run = |verb: &[&str]| {
        let args = [verb, &["--device", "cuda", "--json"]].concat();
        fieldspar(&args).exits(0).json()
    };
    assert_eq!(run(&["selftest"])["devices"][0]["spec"], "cuda:0");
    let plan = run(&["whir", "plan", "--n", "20"]);
    let planned = plan["planned_device_memory_bytes"].as_u64().unwrap();
    assert!(planned < plan["free_device_memory_bytes"].as_u64().unwrap());
    let made = run(&["whir", "demo", "--n", "20"]);
    assert_eq!(made["device"]["spec"], "cuda:0");
    assert_eq!(made["planned_device_memory_bytes"], planned);
    let peak = made["peak_device_memory_bytes"].as_u64().unwrap();
    assert!(peak <= planned && peak > planned / 2, "{peak} of {planned}");
}

#[test]
fn the_first_use_of_a_gpu_leaves_a_mark_where_it_can() {
    if !crate::common::has_gpu() {
        eprintln!("no GPU");
        return;
    }
    let folder = Folder::new();
    let run = |cache: &str| {
        let mut command = crate::common::command();
        command.env("XDG_CACHE_HOME", cache);
        let args = ["whir", "demo", "--n", "8", "--device", "cuda"];
        finish(command.args(args)).exits(0)
    };
    for _ in 0..2 {
        run(&folder.name("cache"));
        let marks = crate::common::list(&folder.path("cache/fieldspar"));
        assert!(marks.len() == 1 && marks[0].starts_with("selftest-"));
    }
    run(&folder.write("a file", b""));
}

#[test]
fn every_parameter_has_a_flag() {
    let flags = [
        "--security-level",
        "90",
        "--assumption",
        "unique-decoding",
        "--folds",
        "4,3,3",
        "--rate",
        "2",
        "--rate-schedule",
        "article",
        "--pow-bits",
        "18",
        "--extension",
        "5",
        "--cap-height",
        "2",
        "--n",
        "16",
        "--json",
    ];
    let json = fieldspar(&[&["whir", "plan"][..], &flags].concat())
        .exits(0)
        .json();
    assert_eq!(json["security_level"], 90);
    assert_eq!(json["assumption"], "unique-decoding");
    assert_eq!(json["folds"], serde_json::json!([4, 3, 3]));
    assert_eq!(json["rate"], 2);
    assert_eq!(json["rate_schedule"], "article");
    assert_eq!(json["round_rates"], serde_json::json!([3, 5]));
    assert_eq!(json["pow_bits"], 18);
    assert_eq!(json["cap_height"], 2);
    let flags = [
        "--fold",
        "3",
        "--rate-schedule",
        "3,4",
        "--n",
        "14",
        "--json",
    ];
    let json = fieldspar(&[&["whir", "plan"][..], &flags].concat())
        .exits(0)
        .json();
    assert_eq!(json["folds"], serde_json::json!([3, 3, 3]));
    assert_eq!(json["round_rates"], serde_json::json!([3, 4]));
}

#[test]
fn the_capacity_bound_says_that_it_is_conjectural() {
    let flags = [
        "whir",
        "plan",
        "--assumption",
        "capacity",
        "--extension",
        "4",
    ];
    let flags = [&flags[..], &["--security-level", "80"]].concat();
    let said = fieldspar(&flags).exits(0);
    assert_eq!(said.stderr.lines().count(), 1);
    assert!(said.stderr.contains("the capacity bound is conjectural"));
    let json = fieldspar(&[&flags[..], &["--json", "-q"]].concat()).exits(0);
    assert_eq!(json.stderr, "");
    let warnings = json.json()["warnings"].clone();
    assert!(warnings[0].as_str().unwrap().contains("conjectural"));
}

#[test]
fn completions_and_manual() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = fieldspar(&["completions", shell]).exits(0).stdout;
        assert!(
            script.contains("fieldspar") && script.contains("selftest"),
            "{shell}"
        );
    }
    let page = fieldspar(&["man"]).exits(0).stdout;
    assert!(page.contains(".TH fieldspar"));
    for words in [
        "FIELDSPAR WHIR VERIFY",
        "allow\\-conjectured",
        "Exit codes",
        "\\-\\-device",
    ] {
        assert!(page.contains(words), "{words}");
    }
    head(&fieldspar(&["man", "--json"]).exits(0).json(), "man");
}

#[test]
fn version_and_help() {
    let version = fieldspar(&["--version"]).exits(0).stdout;
    assert!(version.starts_with("fieldspar ") && version.contains("p3 0.8.0"));
    for args in [
        &["--help"][..],
        &["whir", "--help"],
        &["whir", "prove", "--help"],
    ] {
        assert!(fieldspar(args).exits(0).stdout.contains("Usage: fieldspar"));
    }
}

#[test]
fn threads_come_from_the_flag_then_from_the_environment() {
    let threads = |flag: &[&str], variable: Option<&str>| {
        let mut command = crate::common::command();
        command.args(["devices", "--json"]).args(flag);
        if let Some(value) = variable {
            command.env("RAYON_NUM_THREADS", value);
        }
        finish(&mut command).exits(0).json()["threads"].clone()
    };
    assert_eq!(threads(&["--threads", "3"], Some("5")), 3);
    assert_eq!(threads(&[], Some("5")), 5);
    fieldspar(&["devices", "--threads", "0"]).exits(2);
}

#[test]
fn a_trace_has_the_phases() {
    let folder = Folder::new();
    let trace = folder.name("trace.json");
    fieldspar(&["whir", "demo", "--n", "10", "--trace", &trace]).exits(0);
    let text = std::fs::read_to_string(&trace).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let whole = events.iter().find(|e| e["name"] == "whir demo").unwrap();
    let end = |e: &serde_json::Value| e["ts"].as_f64().unwrap() + e["dur"].as_f64().unwrap();
    for name in ["encode", "merkle", "grind", "verify"] {
        let event = events.iter().find(|e| e["name"] == name).unwrap();
        has(event, &["ph", "ts", "dur", "pid", "tid"]);
        assert_eq!(event["ph"], "X");
        assert!(event["ts"].as_f64() >= whole["ts"].as_f64() && end(event) <= end(whole));
    }
}
