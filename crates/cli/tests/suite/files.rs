//! Inputs, proof files, and what is left after a kill.

use std::time::{Duration, Instant};

use crate::common::{Folder, fieldspar};

#[test]
fn bytes_of_an_odd_length() {
    let folder = Folder::new();
    let data: Vec<u8> = (0..10_001_u32).map(|i| ((i * i) >> 3) as u8).collect();
    let (input, output) = (folder.write("photo.jpg", &data), folder.name("p.fsp"));
    let args = [
        "whir",
        "prove",
        &input,
        "-o",
        &output,
        "--encoding",
        "bytes",
        "--json",
    ];
    let json = fieldspar(&args).exits(0).json();
    assert_eq!(json["true_length"], 10_001);
    assert_eq!(json["encoding"], "bytes");
    assert_eq!(json["n"], 12);
    fieldspar(&["whir", "verify", &output]).exits(0);
}

fn npy(descr: &str, body: Vec<u8>, count: usize) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({count},), }}");
    while !(10 + header.len() + 1).is_multiple_of(64) {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(body);
    file
}

#[test]
fn npy_of_both_widths_gives_the_commitment_of_u32() {
    let folder = Folder::new();
    let values: Vec<u32> = (0..300).map(|i| i * 6_000_001).collect();
    let narrow: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let wide = values
        .iter()
        .flat_map(|v| u64::from(*v).to_le_bytes())
        .collect();
    let inputs = [
        ("u32", folder.write("a.u32", &narrow)),
        (
            "npy",
            folder.write("a.npy", &npy("<u4", narrow.clone(), 300)),
        ),
        ("npy", folder.write("b.npy", &npy("<u8", wide, 300))),
    ];
    let mut commitments = Vec::new();
    for (i, (encoding, input)) in inputs.iter().enumerate() {
        let output = folder.name(&format!("{i}.fsp"));
        let args = [
            "whir",
            "prove",
            input,
            "-o",
            &output,
            "--encoding",
            encoding,
            "--json",
        ];
        let json = fieldspar(&args).exits(0).json();
        assert_eq!(json["true_length"], 300);
        fieldspar(&["whir", "verify", &output]).exits(0);
        commitments.push(json["commitment"].clone());
    }
    assert_eq!(commitments[0], commitments[1]);
    assert_eq!(commitments[0], commitments[2]);
}

#[test]
fn one_element_is_padded_to_the_first_fold() {
    let folder = Folder::new();
    let (input, output) = (folder.words("one", 1), folder.name("p.fsp"));
    let args = [
        "whir", "prove", &input, "-o", &output, "--at", "random:9", "--json",
    ];
    let json = fieldspar(&args).exits(0).json();
    assert_eq!(json["n"], 4);
    assert_eq!(json["point"].as_array().unwrap().len(), 4);
    fieldspar(&["whir", "verify", &output, "--at", "random:3"]).exits(0);
    let at = folder.write("at.json", json.to_string().as_bytes());
    fieldspar(&["whir", "verify", &output, "--at", &at]).exits(0);
}

#[test]
fn a_point_from_a_file() {
    let folder = Folder::new();
    let (_, drawn) = folder.proof("drawn.fsp", &["--at", "random:5"]);
    let at = folder.write("point.json", drawn["point"].to_string().as_bytes());
    let (proof, given) = folder.proof("given.fsp", &["--at", &at]);
    assert_eq!(given["proof_sha256"], drawn["proof_sha256"]);
    assert_eq!(given["at"], at.as_str());
    fieldspar(&["whir", "verify", &proof, "--at", "random:5"]).exits(0);
    fieldspar(&["whir", "verify", &proof, "--at", &at]).exits(0);
}

#[test]
fn an_existing_output_needs_force() {
    let folder = Folder::new();
    let input = folder.words("input", 16);
    let output = folder.write("out.fsp", b"precious");
    let error = fieldspar(&["whir", "prove", &input, "-o", &output, "--json"])
        .exits(2)
        .error();
    assert_eq!(error["at"], output.as_str());
    assert_eq!(std::fs::read(&output).unwrap(), b"precious");
    fieldspar(&["whir", "prove", &input, "-o", &output, "--force"]).exits(0);
    fieldspar(&["whir", "verify", &output]).exits(0);
    let folder_itself = folder.name("");
    fieldspar(&["whir", "prove", &input, "-o", &folder_itself, "--force"]).exits(2);
    fieldspar(&["whir", "prove", &input, "-o", &input, "--force"]).exits(2);
    fieldspar(&["whir", "demo", "--n", "4", "--trace", &input]).exits(2);
    #[cfg(unix)]
    fieldspar(&["whir", "prove", &input, "-o", "/dev/null", "--force"]).exits(2);
    assert_eq!(folder.files(), ["input", "out.fsp"]);
}

#[test]
fn damaged_proofs_are_refused() {
    let folder = Folder::new();
    let (proof, _) = folder.proof("good.fsp", &[]);
    let good = std::fs::read(&proof).unwrap();
    let mut bad: Vec<Vec<u8>> = (0..good.len())
        .step_by(good.len() / 23)
        .map(|n| good[..n].to_vec())
        .collect();
    bad.push([&good[..], &[0]].concat());
    bad.push([&good[..12], &[0xff; 10]].concat());
    bad.push(b"\x89FSP\r\n\x1a\n\x01\0\0\0".to_vec());
    bad.push(vec![0; 4096]);
    for data in bad {
        let path = folder.write("bad.fsp", &data);
        for verb in ["verify", "inspect"] {
            let begin = Instant::now();
            let error = fieldspar(&["whir", verb, &path, "--json"]).exits(3).error();
            assert!(error["at"].as_str().unwrap().contains("byte "), "{error}");
            assert!(begin.elapsed() < Duration::from_secs(5));
        }
    }
    for i in (0..good.len()).step_by(good.len() / 40) {
        let mut data = good.clone();
        data[i] ^= 1;
        let path = folder.write("bad.fsp", &data);
        let code = fieldspar(&["whir", "verify", &path]).code;
        assert!(matches!(code, Some(1 | 3)), "byte {i}: {code:?}");
    }
}

/// A kill leaves nothing at the final path, or all of it.
#[test]
fn soak_kill() {
    let kills: u32 = std::env::var("FIELDSPAR_SOAK_KILL").map_or(36, |n| n.parse().unwrap());
    let folder = Folder::new();
    let input = folder.words("input", 1 << 14);
    let output = folder.name("out.fsp");
    let start = || {
        crate::common::command()
            .args(["whir", "prove", &input, "-o", &output])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let whole = (0..3)
        .map(|_| {
            let begin = Instant::now();
            assert!(start().wait().unwrap().success());
            std::fs::remove_file(&output).unwrap();
            begin.elapsed()
        })
        .min()
        .unwrap();
    // A third evenly over the run, the rest closely around its end, where the file is written.
    let (even, close) = (kills / 3, kills - kills / 3);
    let moments = (0..even)
        .map(|i| whole * i / even)
        .chain((0..close).map(|i| whole * (84 * close + 24 * i) / (100 * close)));
    let mut killed = 0_u32;
    for moment in moments {
        let mut child = start();
        std::thread::sleep(moment);
        child.kill().unwrap();
        let finished = child.wait().unwrap().success();
        killed += u32::from(!finished);
        // Nothing, or all of it.
        if std::fs::exists(&output).unwrap() {
            fieldspar(&["whir", "verify", &output]).exits(0);
            std::fs::remove_file(&output).unwrap();
        } else {
            assert!(!finished);
        }
    }
    assert!(killed > kills / 10, "{killed} of {kills}");
}
