//! What went wrong decides the exit code, and `--json` puts one object on stderr.

use crate::common::{Folder, fieldspar, finish, has_gpu};

#[test]
fn two_for_the_command_line() {
    for args in [
        &["nothing"][..],
        &[],
        &["whir", "prove"],
        &["whir", "demo", "--fold", "x"],
        &["whir", "demo", "--extension", "6"],
        &["whir", "demo", "--assumption", "hope"],
        &["whir", "demo", "--fold", "4", "--folds", "4,4"],
        &["whir", "demo", "--device", "gpu"],
        &[
            "whir",
            "demo",
            "--extension",
            "4",
            "--security-level",
            "120",
        ],
        &["whir", "demo", "--max-memory", "lots"],
        &["whir", "verify", "x", "--at", "random:-1"],
    ] {
        assert!(!fieldspar(args).exits(2).stderr.is_empty(), "{args:?}");
    }
    let error = fieldspar(&["whir", "demo", "--fold", "x", "--json"])
        .exits(2)
        .error();
    assert_eq!(error["kind"], "usage");
    let error = fieldspar(&[
        "whir",
        "demo",
        "--extension",
        "4",
        "--security-level",
        "120",
        "--json",
    ])
    .exits(2)
    .error();
    assert!(error["message"].as_str().unwrap().contains("the highest"));
}

#[test]
fn three_for_files() {
    let folder = Folder::new();
    let output = folder.name("out.fsp");
    let prove = |input: &str, encoding: &str| {
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
        let error = fieldspar(&args).exits(3).error();
        assert_eq!(error["kind"], "bad_input");
        error
    };
    let missing = folder.name("missing");
    assert_eq!(prove(&missing, "u32")["at"], missing.as_str());
    prove(&folder.write("empty", b""), "bytes");
    prove(&folder.write("odd", b"12345"), "u32");
    prove(&folder.write("not.npy", b"12345678"), "npy");
    let mut words = vec![0_u8; 4 * 100];
    words[4 * 17..][..4].copy_from_slice(&2_013_265_921_u32.to_le_bytes());
    let error = prove(&folder.write("large", &words), "u32");
    assert!(error["at"].as_str().unwrap().ends_with("element 17"));
    let shown = fieldspar(&["whir", "prove", &folder.name("large"), "-o", &output]).exits(3);
    assert!(shown.stderr.contains("element 17"), "{}", shown.stderr);
    prove(&folder.name(""), "u32");

    let good = folder.words("good", 16);
    let nowhere = folder.name("no/such/folder.fsp");
    fieldspar(&["whir", "prove", &good, "-o", &nowhere]).exits(3);
    for (name, point) in [
        ("short", "[[1,2,3,4,5]]"),
        ("words", "[\"x\"]"),
        ("large", "[[2013265921,0,0,0,0]]"),
        ("text", "no hex"),
    ] {
        let at = folder.write(name, point.as_bytes());
        let args = ["whir", "prove", &good, "-o", &output, "--at", &at, "--json"];
        let error = fieldspar(&args).exits(3).error();
        assert!(error["at"].as_str().unwrap().starts_with(&at), "{error}");
    }
    assert!(!folder.files().contains(&"out.fsp".to_owned()));
}

#[test]
fn four_for_a_device_that_cannot_be_had() {
    // The list looks a named device up; the last number is no GPU of any machine.
    let mut specs = vec!["cuda:4294967295", "wgpu:no such adapter", "cpu:adx"];
    if !has_gpu() {
        specs.push("cuda");
    }
    let folder = Folder::new();
    let (input, output) = (folder.words("input", 16), folder.name("out.fsp"));
    let prove = ["whir", "prove", &input, "-o", &output];
    for spec in specs {
        for verb in [
            &["whir", "demo"][..],
            &prove,
            &["whir", "plan"],
            &["whir", "bench"],
            &["selftest"],
            &["devices"],
        ] {
            let args = [verb, &["--device", spec, "--json"]].concat();
            let error = fieldspar(&args).exits(4).error();
            assert_eq!(error["kind"], "device_unavailable");
            assert_eq!(error["at"], spec);
            if spec.starts_with("cuda") {
                // What is missing: the driver, a newer one, or this GPU.
                let said = error["message"].as_str().unwrap();
                assert!(said.contains("NVIDIA"), "{said}");
            }
        }
        let args = ["whir", "bench", "--devices", spec, "--json"];
        assert_eq!(fieldspar(&args).exits(4).error()["at"], spec);
    }
    assert_eq!(folder.files(), ["input"]);
    let foreign = if cfg!(target_arch = "x86_64") {
        "cpu:neon"
    } else {
        "cpu:avx2"
    };
    let said = fieldspar(&["whir", "demo", "--device", foreign]).exits(4);
    assert!(said.stderr.contains("is unavailable"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
}

#[test]
fn the_flag_goes_before_the_environment() {
    let run = |flag: &[&str], variable: &str| {
        let mut command = crate::common::command();
        command.env("FIELDSPAR_DEVICE", variable);
        finish(
            command
                .args(["whir", "demo", "--n", "6", "--json"])
                .args(flag),
        )
    };
    let json = run(&[], "cpu:portable").exits(0).json();
    assert_eq!(json["device"]["spec"], "cpu:portable");
    let absent = "cuda:4294967295";
    assert_eq!(run(&[], absent).exits(4).error()["at"], absent);
    run(&["--device", "cpu"], absent).exits(0);
    run(&["--device", "wgpu:no such adapter"], "cpu").exits(4);
    let error = run(&[], "tpu").exits(2).error();
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("FIELDSPAR_DEVICE")
    );
    run(&[], "").exits(0);
    // The list helps who set it.
    let mut command = crate::common::command();
    command
        .env("FIELDSPAR_DEVICE", "wgpu:no such adapter")
        .args(["devices", "--json"]);
    let json = finish(&mut command).exits(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("wgpu"));
}

#[test]
fn a_warning_does_not_spoil_the_error() {
    let args = [
        "whir",
        "demo",
        "--assumption",
        "capacity",
        "--device",
        "cpu",
    ];
    let json = fieldspar(&[&args[..], &["--max-memory", "1M", "--json"]].concat()).exits(5);
    json.error();
    assert!(json.stderr.contains("conjectural"));
    let talk = fieldspar(&["devices", "-v"]).exits(0);
    assert!(talk.stderr.contains("device chosen"), "{}", talk.stderr);
    assert!(
        !fieldspar(&["nothing", "--color=never"])
            .stderr
            .contains('\u{1b}')
    );
    assert!(
        fieldspar(&["nothing", "--color", "always"])
            .stderr
            .contains('\u{1b}')
    );
}

#[test]
fn five_for_memory_with_need_and_have() {
    let folder = Folder::new();
    let input = folder.words("input", 1 << 16);
    let output = folder.name("out.fsp");
    let prove = ["whir", "prove", &input, "-o", &output];
    let cpu = ["--device", "cpu"];
    for args in [&["whir", "demo", "--n", "16"][..], &prove] {
        let args = [args, &cpu, &["--max-memory", "1M", "--json"]].concat();
        let error = fieldspar(&args).exits(5).error();
        assert_eq!(error["kind"], "out_of_memory");
        assert_eq!(error["have"], 1 << 20);
        assert!(error["need"].as_u64().unwrap() > 1 << 20);
    }
    let mut command = crate::common::command();
    command
        .env("FIELDSPAR_MAX_MEMORY", "2M")
        .args(["whir", "demo", "--json"]);
    assert_eq!(finish(&mut command).exits(5).error()["have"], 2 << 20);
    let large = ["whir", "demo", "--n", "27", "--max-memory", "1G"];
    let said = fieldspar(&[&large[..], &cpu].concat()).exits(5);
    assert!(said.stderr.contains("1.00 GiB"), "{}", said.stderr);
    assert_eq!(folder.files(), ["input"]);
}

#[test]
fn six_for_a_device_that_differs() {
    // Only builds with debug assertions can be told to differ.
    if cfg!(debug_assertions) {
        let mut command = crate::common::command();
        command
            .env("FIELDSPAR_TEST_FAULT", "1")
            .args(["selftest", "--json"]);
        let json = finish(&mut command).exits(6).json();
        assert_eq!(json["devices"][0]["passed"], false);
        assert!(json["devices"][0]["reason"].is_string());
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for args in [
        &["man"][..],
        &["whir", "demo", "--n", "6"],
        &["--help"],
        &["devices", "--json"],
    ] {
        let mut child = crate::common::command()
            .args(args)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let status = crate::common::command()
        .arg("man")
        .stdout(full)
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(3));
}
