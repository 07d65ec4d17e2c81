//! What a careless or hostile command line must not do.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use crate::common::{Folder, Run, command, fieldspar, finish};

/// One row.
const ROW: [&str; 10] = [
    "whir",
    "bench",
    "--n",
    "22",
    "--fold",
    "1",
    "--rate",
    "1",
    "--devices",
    "cpu:portable",
];

fn with(variable: &str, value: &str, args: &[&str]) -> Run {
    finish(command().env(variable, value).args(args))
}

fn bench(flags: &[&str]) -> Run {
    fieldspar(&[&ROW[..], &["--runs", "1"], flags].concat())
}

#[test]
fn a_bench_replaces_nothing_unasked() {
    let folder = Folder::new();
    let precious = folder.write("precious", b"precious");
    let (new, nowhere) = (folder.name("new"), folder.name("no/such"));
    for flag in ["--json-file", "--html", "--json"] {
        let said = bench(&[flag, &precious]).exits(2).stderr;
        assert!(said.contains("--force"), "{said}");
        let said = bench(&[flag, &folder.name("."), "--force"]).exits(2).stderr;
        assert!(
            said.contains("does not name") || said.contains("left alone"),
            "{said}"
        );
        bench(&[flag, &nowhere]).exits(3);
    }
    bench(&["--json-file", &new, "--html", &new]).exits(2);
    bench(&["--json-file", &new, "--trace", &new]).exits(2);
    bench(&["--json-file", "-", "--html", "-"]).exits(2);
    bench(&["--html", "-", "--json"]).exits(2).error();
    #[cfg(unix)]
    for target in ["/dev/null", &nowhere] {
        let link = folder.path("link");
        std::os::unix::fs::symlink(target, &link).unwrap();
        for flag in ["--json-file", "--html"] {
            bench(&[flag, link.to_str().unwrap(), "--force"]).exits(2);
        }
        let demo = ["whir", "demo", "--n", "4", "--trace"];
        fieldspar(&[&demo[..], &[link.to_str().unwrap()]].concat()).exits(2);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(link).unwrap();
    }
    assert_eq!(fs::read(&precious).unwrap(), b"precious");
    assert_eq!(folder.files(), ["precious"]);
}

#[test]
fn a_bench_refuses_what_cannot_run() {
    for flags in [
        &["--n", "99", "--fold", "4", "--rate", "1"][..],
        &["--n", "64", "--fold", "4", "--rate", "1"],
        &["--n", "16", "--fold", "0", "--rate", "1"],
        &["--n", "16", "--fold", "99", "--rate", "1"],
        &["--n", "16", "--fold", "4", "--rate", "99"],
        &["--n", "99"],
        &["--security-level", "0"],
        &["--pow-bits", "99"],
        &["--proven", "--extension", "4"],
    ] {
        let args = [
            &["whir", "bench", "--devices", "cpu:portable", "--json"],
            flags,
        ]
        .concat();
        let error = fieldspar(&args).exits(2).error();
        assert_eq!(error["kind"], "usage");
    }
    let error = bench(&["--max-memory", "20M", "--json"]).exits(5).error();
    assert_eq!(error["have"], 20 << 20);
    assert!(error["need"].as_u64().unwrap() > 20 << 20);
}

#[cfg(target_os = "linux")]
#[test]
fn a_child_ends_with_its_parent() {
    let mut parent = command()
        .args(ROW)
        .args(["--threads", "1"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let of_parent = format!("PPid:\t{}\n", parent.id());
    let patient = Instant::now() + Duration::from_secs(60);
    let child = loop {
        let found = crate::common::list("/proc".as_ref())
            .into_iter()
            .find_map(|name| {
                let pid = name.parse().ok()?;
                status(pid).contains(&of_parent).then_some(pid)
            });
        match found {
            Some(child) => break child,
            None => assert!(Instant::now() < patient, "no child was started"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    // Into a proof, which takes much longer than the child may.
    std::thread::sleep(Duration::from_millis(1500));
    parent.kill().unwrap();
    parent.wait().unwrap();
    let runs = |pid| {
        let status = status(pid);
        !status.is_empty() && !status.contains("State:\tZ")
    };
    let patient = Instant::now() + Duration::from_secs(3);
    while runs(child) {
        assert!(Instant::now() < patient, "the child still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_number_of_threads_has_bounds_in_the_environment_too() {
    for value in ["100000", "0", "-1", "many"] {
        for verb in [
            &["devices"][..],
            &["man"],
            &["whir", "plan"],
            &["whir", "demo"],
        ] {
            let args = [verb, &["--json"]].concat();
            let error = with("RAYON_NUM_THREADS", value, &args).exits(2).error();
            assert_eq!(error["at"], "RAYON_NUM_THREADS");
        }
    }
    with("RAYON_NUM_THREADS", "", &["man"]).exits(0);
    // The flag counts alone.
    with("RAYON_NUM_THREADS", "100000", &["man", "--threads", "2"]).exits(0);
}

#[test]
fn of_no_proof_only_the_beginning_is_read() {
    let folder = Folder::new();
    let zeros = folder.name("zeros");
    File::create(&zeros).unwrap().set_len(1 << 33).unwrap();
    let (proof, made) = folder.proof("p.fsp", &[]);
    let longer = folder.write("longer.fsp", &fs::read(&proof).unwrap());
    let file = File::options().write(true).open(&longer).unwrap();
    file.set_len(1 << 33).unwrap();
    let target = folder.name("export");
    for verb in [&["verify"][..], &["inspect"], &["export", "--to", &target]] {
        let run = |file: &str, flags: &[&str]| {
            let args = [&["whir"], verb, &[file, "--json"], flags].concat();
            fieldspar(&args)
        };
        let error = run(&zeros, &[]).exits(3).error();
        assert!(error["at"].as_str().unwrap().contains("byte 0"), "{error}");
        let error = run(&longer, &[]).exits(3).error();
        assert_eq!(error["kind"], "bad_input");
        let error = run(&proof, &["--max-memory", "1K"]).exits(5).error();
        assert_eq!(error["have"], 1024);
        assert!(error["need"].as_u64() > made["proof_bytes"].as_u64());
    }
}

#[test]
fn an_error_names_its_verb() {
    for (args, verb) in [
        (&["whir", "demo", "--fold", "x", "--json"][..], "whir demo"),
        (&["--json", "whir", "verify"], "whir verify"),
        (&["whir", "verify", "nothing", "--json"], "whir verify"),
        (&["whir", "bench", "--n", "23", "--json"], "whir bench"),
        (&["whir", "bench", "--n", "23", "--json", "-"], "whir bench"),
        (
            &["whir", "bench", "--runs", "0", "--json", "-"],
            "whir bench",
        ),
        (
            &["ceremony", "roster", "add", "--json"],
            "ceremony roster add",
        ),
    ] {
        let run = fieldspar(args);
        run.error();
        let whole: serde_json::Value = serde_json::from_str(&run.stderr).unwrap();
        assert_eq!(whole["command"], verb);
    }
}

#[test]
fn one_file_is_not_two() {
    let folder = Folder::new();
    let input = folder.words("input", 16);
    let at = folder.write("at", b"[]");
    let (new, dotted) = (folder.name("new"), folder.name("./new"));
    let prove = ["whir", "prove", &input, "--force", "--json", "-o"];
    for flags in [&[&*new, "--trace", &dotted][..], &[&at, "--at", &at]] {
        let error = fieldspar(&[&prove[..], flags].concat()).exits(2).error();
        assert!(error["message"].as_str().unwrap().contains("same file"));
    }
    assert_eq!(fs::read(&at).unwrap(), b"[]");
    assert_eq!(folder.files(), ["at", "input"]);
}

#[test]
fn a_message_says_where_the_slip_is() {
    let error = with("FIELDSPAR_MAX_MEMORY", "x", &["whir", "demo", "--json"]);
    let error = error.exits(2).error();
    let said = error["message"].as_str().unwrap();
    assert!(said.contains("FIELDSPAR_MAX_MEMORY"), "{said}");
    let large = ["whir", "plan", "--device", "cuda:99999999999999999999"];
    let said = fieldspar(&large).exits(2).stderr;
    assert!(said.contains("too large"), "{said}");
}

#[test]
fn a_terminal_obeys_no_file_name() {
    let name = "no\u{1b}[31m\nerror: such";
    let said = fieldspar(&["whir", "verify", name]).exits(3).stderr;
    assert!(
        !said.contains('\u{1b}') && said.lines().count() == 1,
        "{said}"
    );
    assert!(said.contains("\\u{1b}[31m\\n"), "{said}");
}
