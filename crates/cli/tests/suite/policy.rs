//! `verify` never trusts the file's own claims in silence; `export` lets anyone check.

use crate::common::{Folder, fieldspar, head};
use serde_json::Value;

const WEAK: [&str; 4] = ["--security-level", "80", "--extension", "4"];
const CONJECTURED: [&str; 6] = [
    "--assumption",
    "capacity",
    "--security-level",
    "80",
    "--extension",
    "4",
];

fn refused(args: &[&str], words: &str) {
    let json = fieldspar(&[&["whir", "verify"], args, &["--json", "-q"]].concat());
    let json = json.exits(1).json();
    assert_eq!(json["valid"], false);
    let reason = json["reason"].as_str().unwrap();
    assert!(reason.contains(words), "{reason}");
    let text = fieldspar(&[&["whir", "verify"], args].concat())
        .exits(1)
        .stdout;
    assert!(text.starts_with("REFUSED: "), "{text}");
}

#[test]
fn a_low_level_needs_leave() {
    let folder = Folder::new();
    let (proof, _) = folder.proof("weak.fsp", &WEAK);
    refused(&[&proof], "80 bits, below 100");
    refused(&[&proof, "--min-security", "81"], "below 81");
    fieldspar(&["whir", "verify", &proof, "--min-security", "80"]).exits(0);
    let (strong, _) = folder.proof("strong.fsp", &[]);
    refused(&[&strong, "--min-security", "101"], "below 101");
}

#[test]
fn a_conjecture_needs_leave() {
    let folder = Folder::new();
    let (proof, made) = folder.proof("capacity.fsp", &CONJECTURED);
    assert!(
        made["warnings"][0]
            .as_str()
            .unwrap()
            .contains("conjectural")
    );
    let low = ["--min-security", "80"];
    refused(&[&proof, "--allow-conjectured"], "below 100");
    refused(&[&[&proof[..]], &low[..]].concat(), "conjecture");
    let args = [&["whir", "verify", &proof, "--allow-conjectured"], &low[..]].concat();
    let said = fieldspar(&args).exits(0);
    assert!(said.stderr.contains("conjectural"));
}

#[test]
fn what_is_given_must_match() {
    let folder = Folder::new();
    let (proof, made) = folder.proof("proof.fsp", &[]);
    let commitment = made["commitment"].as_str().unwrap();
    let value: Vec<u64> = serde_json::from_value(made["value"].clone()).unwrap();
    let list = |value: &[u64]| {
        value
            .iter()
            .map(u64::to_string)
            .collect::<Vec<_>>()
            .join(",")
    };
    let hex: String = value
        .iter()
        .map(|v| format!("{:08x}", (*v as u32).swap_bytes()))
        .collect();
    for value in [list(&value), hex] {
        let args = [
            "--commitment",
            commitment,
            "--at",
            "random:0",
            "--value",
            &value,
        ];
        let args = [&["whir", "verify", &proof], &args[..]].concat();
        let text = fieldspar(&args).exits(0).stdout;
        assert_eq!(text.matches("as given").count(), 3);
        assert!(!text.contains("the file's own"));
    }
    let mut other = value.clone();
    other[4] ^= 1;
    refused(&[&proof, "--value", &list(&other)], "another value");
    refused(&[&proof, "--at", "random:1"], "another point");
    let zeros = "0".repeat(64);
    refused(&[&proof, "--commitment", &zeros], "another commitment");
    for (flag, text) in [
        ("--value", "1,2"),
        ("--value", "xyz"),
        ("--value", "1"),
        ("--commitment", "zz"),
        ("--commitment", "ffffffff"),
        ("--commitment", "12"),
    ] {
        let args = ["whir", "verify", &proof, flag, text, "--json"];
        let error = fieldspar(&args).exits(2).error();
        assert_eq!(error["kind"], "usage");
        assert!(error["message"].as_str().unwrap().starts_with(flag));
    }
}

#[test]
fn a_valid_file_with_another_statement_is_refused() {
    let folder = Folder::new();
    let (proof, made) = folder.proof("proof.fsp", &[]);
    let mut data = std::fs::read(&proof).unwrap();
    // The value's last word stands before the length of the proof and the proof.
    let value: Vec<u32> = serde_json::from_value(made["value"].clone()).unwrap();
    let words: Vec<u8> = value.iter().flat_map(|w| w.to_le_bytes()).collect();
    let at = data.windows(words.len()).position(|w| w == words).unwrap();
    data[at] ^= 1;
    let forged = folder.write("forged.fsp", &data);
    let json = fieldspar(&["whir", "verify", &forged, "--json"])
        .exits(1)
        .json();
    assert_eq!(json["valid"], false);
    assert!(json["reason"].is_string() && json["verify_ms"].is_number());
}

#[test]
fn an_export_is_checked_by_plonky3_alone() {
    let folder = Folder::new();
    for (name, flags) in [
        ("default", &[][..]),
        ("degree4", &WEAK[..]),
        ("capacity", &CONJECTURED[..]),
        (
            "article",
            &[
                "--rate-schedule",
                "article",
                "--cap-height",
                "2",
                "--rate",
                "2",
            ],
        ),
        ("folds", &["--folds", "3,2", "--rate-schedule", "3"]),
        (
            "unique",
            &["--assumption", "unique-decoding", "--pow-bits", "20"],
        ),
    ] {
        let (proof, _) = folder.proof(&format!("{name}.fsp"), flags);
        let target = folder.name(name);
        let json = fieldspar(&["whir", "export", &proof, "--to", &target, "--json"])
            .exits(0)
            .json();
        head(&json, "whir export");
        assert_eq!(json["files"].as_array().unwrap().len(), 3);
        let files = crate::common::list(target.as_ref());
        assert_eq!(
            files,
            ["commitment.postcard", "proof.postcard", "statement.json"]
        );
        assert_eq!(
            fieldspar_export_check::check(target.as_ref()),
            Ok(()),
            "{name}"
        );
        // Files that are there are left alone.
        fieldspar(&["whir", "export", &proof, "--to", &target]).exits(2);
        fieldspar(&["whir", "export", &proof, "--to", &target, "--force"]).exits(0);
    }
}

#[test]
fn a_changed_export_is_refused_by_plonky3() {
    let folder = Folder::new();
    let (proof, _) = folder.proof("proof.fsp", &[]);
    let target = folder.name("export");
    fieldspar(&["whir", "export", &proof, "--to", &target]).exits(0);
    let path = folder.path("export/statement.json");
    let statement: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let changes: [fn(&mut Value); 6] = [
        |s| s["value"][0] = 1.into(),
        |s| s["point"][3][0] = 1.into(),
        |s| s["transcript_preamble"][5] = 1.into(),
        |s| s["commitment"][0][0] = 1.into(),
        |s| s["protocol_parameters"]["security_level"] = 99.into(),
        |s| s["permutation"] = "another".into(),
    ];
    for change in changes {
        let mut changed = statement.clone();
        change(&mut changed);
        std::fs::write(&path, changed.to_string()).unwrap();
        assert!(fieldspar_export_check::check(target.as_ref()).is_err());
    }
    std::fs::write(&path, statement.to_string()).unwrap();
    assert_eq!(fieldspar_export_check::check(target.as_ref()), Ok(()));
}
