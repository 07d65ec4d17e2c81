//! The verbs of `rpo`, run as a user runs them.

use crate::common::{Folder, fieldspar, head};
use fieldspar_rpo::{Digest, MODULUS, Sponge, reference};
use serde_json::Value;

const SPONGES: [&str; 3] = ["miden-0.22", "miden-0.13", "paper-2023"];

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

#[test]
fn files_are_hashed_as_elements_or_as_bytes() {
    let folder = Folder::new();
    let words: Vec<u64> = (0..19).collect();
    let a = folder.write("a", &bytes(&words));
    let b = folder.write("b", &bytes(&words[..8]));
    for name in SPONGES {
        let sponge: Sponge = name.parse().unwrap();
        let run = fieldspar(&[
            "rpo",
            "hash",
            &a,
            &b,
            "--sponge",
            name,
            "--elements",
            "--json",
        ]);
        let json = run.exits(0).json();
        head(&json, "rpo hash");
        assert_eq!(json["sponge"], name);
        for (i, n) in [(0, 19), (1, 8)] {
            let want = sponge
                .hash_elements_with(reference::permute, &words[..n])
                .unwrap();
            assert_eq!(json["digests"][i]["digest"], want.to_string());
        }
        assert_eq!(json["digests"][0]["input"], a.as_str());
        let run = fieldspar(&["rpo", "hash", &b, "--sponge", name]).exits(0);
        let want = sponge.hash_bytes_with(reference::permute, &bytes(&words[..8]));
        assert_eq!(run.stdout, format!("{want}  {b}\n"));
    }
}

#[test]
fn a_sponge_has_to_be_named() {
    let folder = Folder::new();
    let a = folder.write("a", b"abc");
    fieldspar(&["rpo", "hash", &a]).exits(2);
    fieldspar(&["rpo", "hash", &a, "--sponge", "rpo"]).exits(2);
    fieldspar(&["rpo", "merkle", "root", &a]).exits(2);
    fieldspar(&[
        "rpo",
        "hash",
        &a,
        "--sponge",
        "miden-0.22",
        "--elements",
        "--bytes",
    ])
    .exits(2);
}

#[test]
fn elements_that_are_not_canonical_are_refused_with_their_index() {
    let folder = Folder::new();
    let a = folder.write("a", &bytes(&[1, 2, MODULUS, 3, 0, 0, 0, 0]));
    for verb in [
        &["rpo", "hash", "--elements"][..],
        &["rpo", "merkle", "root"],
        &["rpo", "merkle", "root", "--width", "4"],
    ] {
        let args = [verb, &[&a, "--sponge", "miden-0.22", "--json"]].concat();
        let error = fieldspar(&args).exits(3).error();
        assert!(
            error["at"].as_str().unwrap().ends_with("element 2"),
            "{error}"
        );
    }
    let short = folder.write("short", b"12345");
    fieldspar(&[
        "rpo",
        "hash",
        "--elements",
        &short,
        "--sponge",
        "miden-0.22",
    ])
    .exits(3);
    fieldspar(&[
        "rpo",
        "hash",
        &folder.name("none"),
        "--sponge",
        "miden-0.22",
    ])
    .exits(3);
}

#[test]
fn a_tree_is_built_opened_verified_and_grown() {
    let folder = Folder::new();
    let words: Vec<u64> = (0..40).collect();
    let rows = folder.write("rows", &bytes(&words));
    let (tree, opening) = (folder.name("tree"), folder.name("opening"));
    let sponge = ["--sponge", "miden-0.13"];
    let build = |extra: &[&str]| {
        let verb = [
            "rpo", "merkle", "build", &rows, "--out", &tree, "--width", "8", "--json",
        ];
        fieldspar(&[&verb[..], &sponge, extra].concat())
    };
    // Five leaves.
    build(&[]).exits(3);
    let built = build(&["--pad"]).exits(0).json();
    head(&built, "rpo merkle build");
    assert_eq!((&built["leaves"], &built["depth"]), (&5.into(), &3.into()));
    build(&["--pad"]).exits(2);
    let root = built["root"].as_str().unwrap().to_owned();
    let verb = [
        "rpo", "merkle", "root", &rows, "--width", "8", "--pad", "--json",
    ];
    let streamed = fieldspar(&[&verb[..], &sponge].concat()).exits(0).json();
    assert_eq!(streamed["root"], root.as_str());

    let open = |indices: &[&str]| {
        let run = fieldspar(&[&["rpo", "merkle", "open", &tree], indices, &sponge[..]].concat());
        std::fs::write(&opening, run.exits(0).stdout).unwrap();
    };
    let verify = |root: &str, depth: &str| {
        let verb = [
            "rpo", "merkle", "verify", &opening, "--root", root, "--depth", depth,
        ];
        fieldspar(&[&verb[..], &sponge, &["--json"]].concat())
    };
    for indices in [&["4"][..], &["0", "3", "4"], &["1", "0"]] {
        open(indices);
        assert_eq!(verify(&root, "3").exits(0).json()["valid"], true);
        let refused = verify(&root, "4").exits(1).json();
        assert_eq!(refused["valid"], false);
        assert!(refused["reason"].is_string());
        verify(&Digest::ZERO.to_string(), "3").exits(1);
        verify("00", "3").exits(2);
    }
    fieldspar(&[&["rpo", "merkle", "open", &tree, "5"][..], &sponge].concat()).exits(2);
    let text = std::fs::read_to_string(&opening).unwrap();
    let mut wrong: Value = serde_json::from_str(&text).unwrap();
    wrong["leaf"] = 7.into();
    std::fs::write(&opening, wrong.to_string()).unwrap();
    verify(&root, "3").exits(3);

    let more = folder.write("more", &bytes(&[9; 24]));
    let verb = [
        "rpo", "merkle", "append", &tree, &more, "--width", "8", "--json",
    ];
    let grown = fieldspar(&[&verb[..], &sponge].concat()).exits(0).json();
    assert_eq!(grown["leaves"], 8);
    let all = folder.write("all", &bytes(&[&words[..], &[9; 24]].concat()));
    let verb = ["rpo", "merkle", "root", &all, "--width", "8", "--json"];
    let whole = fieldspar(&[&verb[..], &sponge].concat()).exits(0).json();
    assert_eq!(grown["root"], whole["root"]);
    // Nine leaves are no power of two.
    let verb = ["rpo", "merkle", "append", &tree, &more, "--width", "24"];
    fieldspar(&[&verb[..], &sponge].concat()).exits(3);
    // A damaged tree is found, not passed on.
    let mut damaged = std::fs::read(&tree).unwrap();
    damaged[24] ^= 1;
    std::fs::write(&tree, damaged).unwrap();
    fieldspar(&[&["rpo", "merkle", "open", &tree, "1"][..], &sponge].concat()).exits(3);
    fieldspar(&[
        "rpo",
        "merkle",
        "open",
        &tree,
        "1",
        "--sponge",
        "miden-0.22",
    ])
    .exits(3);
}

#[test]
fn every_variant_prints_the_same() {
    let folder = Folder::new();
    let words: Vec<u64> = (0..1000).collect();
    let rows = folder.write("rows", &bytes(&words));
    let root = |device: &str, threads: &str| {
        let verb = ["rpo", "merkle", "root", &rows, "--width", "4", "--pad"];
        let flags = [
            "--sponge",
            "miden-0.22",
            "--device",
            device,
            "--threads",
            threads,
        ];
        fieldspar(&[&verb[..], &flags].concat()).exits(0).stdout
    };
    let want = root("cpu:portable", "1");
    for device in fieldspar_device::variants_to_test().unwrap() {
        for threads in ["1", "2", "7"] {
            assert_eq!(root(&format!("cpu:{device}"), threads), want);
        }
    }
    fieldspar(&[
        "rpo",
        "hash",
        &rows,
        "--sponge",
        "miden-0.22",
        "--device",
        "cpu:adx",
    ])
    .exits(4);
}

#[test]
fn a_bench_compares_variants() {
    let run = fieldspar(&[
        "rpo",
        "bench",
        "--runs",
        "1",
        "--count",
        "60",
        "--log-leaves",
        "4",
        "--json",
    ]);
    let json = run.exits(0).json();
    head(&json, "rpo bench");
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.len() >= 4);
    for row in rows {
        assert!(row["ns_per_permutation"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["equal"].is_null() && row["rivals"].is_object());
    }
}
