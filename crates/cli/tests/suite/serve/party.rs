//! Real FROST parties, processes of their own, over the daemon.

use std::process::{Child, Stdio};

use ed25519_dalek::SigningKey;
use fieldspar_ceremony::rules::v2::{Body, Contribution, Kind, Suite};
use serde_json::Value;

use super::daemon::Daemon;
use crate::common::{Folder, command, fieldspar};

fn ceremony(words: &[&str]) -> Value {
    let run = fieldspar(&[&["ceremony"], words, &["--json", "-q"]].concat());
    run.exits(0).json()
}

fn text(value: &Value, name: &str) -> String {
    value[name]
        .as_str()
        .unwrap_or_else(|| panic!("{name}: {value}"))
        .to_owned()
}

#[test]
fn a_demonstration_in_one_command() {
    for (suite, library) in [
        ("ed25519", "ed25519-dalek"),
        ("secp256k1-tr", "k256"),
        ("ristretto255", "RFC 9591's equation over curve25519-dalek"),
        ("secp256k1", "RFC 9591's equation over k256"),
    ] {
        let shown = ceremony(&["demo", "--suite", suite]);
        assert_eq!(shown["valid"], true, "{shown}");
        assert_eq!(shown["verified_by"], library);
    }
    fieldspar(&["ceremony", "demo", "--parties", "3", "--threshold", "4"]).exits(2);
}

/// Another certificate than the daemon's.
const STRANGE: &[u8] = include_bytes!("strange.pem");

/// A record with two members, whose daemon speaks TLS.
struct World {
    folder: Folder,
    daemon: Option<Daemon>,
    store: String,
    authority: String,
}

impl World {
    fn new() -> Self {
        let folder = Folder::new();
        let store = folder.name("record");
        let key = |name: &str| text(&ceremony(&["key", &folder.name(name)]), "public_key");
        let operator = key("operator.key");
        ceremony(&[
            "init",
            "--store",
            &store,
            "--network",
            "test",
            "--operator",
            &operator,
        ]);
        let mut roster = String::new();
        for i in 0..2 {
            let public = key(&format!("{i}.key"));
            let operator = folder.name("operator.key");
            ceremony(&[
                "roster",
                "add",
                "--store",
                &store,
                "--operator-key",
                &operator,
                &public,
            ]);
            roster += &format!("{public}\n");
        }
        folder.write("roster", roster.as_bytes());
        let authority = folder.write("ca.pem", include_bytes!("certificate.pem"));
        folder.write("tls.key", include_bytes!("key.pem"));
        Self {
            folder,
            daemon: None,
            store,
            authority,
        }
    }

    /// Where the record is: behind the daemon, if there is one.
    fn place(&self) -> Vec<&str> {
        match &self.daemon {
            None => vec!["--store", &self.store],
            Some(daemon) => vec!["--server", &daemon.url, "--ca", &self.authority],
        }
    }

    /// Begins a ceremony; its id.
    fn begin(&self, kind: &str, deadlines: &str, more: &[&str]) -> String {
        let operator = self.folder.name("operator.key");
        let words = ["begin", "--operator-key", &operator];
        let shape = ["--threshold", "2", "--participants", "0,1", "--kind", kind];
        let rest = ["--deadlines", deadlines];
        text(
            &ceremony(&[&words[..], &self.place(), &shape, &rest, more].concat()),
            "id",
        )
    }

    fn serve(&mut self) {
        let key = self.folder.name("tls.key");
        let flags = ["--tls-cert", &self.authority, "--tls-key", &key];
        self.daemon = Some(Daemon::start(&self.store, &flags));
    }

    fn party(&self, index: usize, id: &str, more: &[&str]) -> Child {
        let daemon = self.daemon.as_ref().unwrap();
        let key = self.folder.name(&format!("{index}.key"));
        let secrets = self.folder.name(&format!("{index}.share"));
        let mut command = command();
        command
            .args([
                "ceremony",
                "party",
                "run",
                "--json",
                "--server",
                &daemon.url,
            ])
            .args(["--party-key", &key, "--secrets", &secrets, "--ceremony", id])
            .args(["--wait", "30"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if daemon.url.starts_with("https://") {
            command.args(["--ca", &self.authority]);
        }
        command.spawn().unwrap()
    }

    /// All parties at once; what each says.
    fn all(&self, id: &str, more: &[&str]) -> Vec<Value> {
        let running: Vec<Child> = (0..2).map(|i| self.party(i, id, more)).collect();
        running
            .into_iter()
            .map(|party| {
                let output = party.wait_with_output().unwrap();
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{error}");
                serde_json::from_slice(&output.stdout).unwrap()
            })
            .collect()
    }

    fn stop(&mut self) {
        self.daemon.take().unwrap().stop("TERM");
    }
}

#[test]
fn parties_make_a_key_and_sign_over_tls() {
    let mut world = World::new();
    let id = world.begin("frost-keygen-ed25519", "1,2,3", &[]);
    world.serve();
    let roster = world.folder.name("roster");
    let keys = world.all(&id, &["--roster", &roster]);
    let (key, group_key) = (text(&keys[0], "key"), text(&keys[0], "group_key"));
    assert_eq!(keys[1]["group_key"], group_key.as_str());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let share = std::fs::metadata(world.folder.path("0.share")).unwrap();
        assert_eq!(share.permissions().mode() & 0o777, 0o600);
    }
    // A share is never written over, and whoever has another roster in hand does not take part.
    let code = |child: Child| child.wait_with_output().unwrap().status.code();
    assert_eq!(code(world.party(0, &id, &[])), Some(3));

    let message = "00ff17";
    let sign = ["--key", &key, "--message", message];
    let signing = world.begin("frost-sign-ed25519", "1,2", &sign);
    // Not what this party is willing to sign; it has said nothing, so that it can still sign.
    assert_eq!(
        code(world.party(0, &signing, &["--message", "00"])),
        Some(3)
    );
    let signed = world.all(&signing, &["--message", message]);
    let signature = text(&signed[0], "signature");
    assert_eq!(signed[1]["signature"], signature.as_str());
    let public = ed25519_dalek::VerifyingKey::try_from(&bytes(&group_key)[..]).unwrap();
    let signature = ed25519_dalek::Signature::from_slice(&bytes(&signature)).unwrap();
    public.verify_strict(&bytes(message), &signature).unwrap();
    assert!(public.verify_strict(b"another", &signature).is_err());
    // Another roster than the coordinator's.
    let other = world
        .folder
        .write("other", format!("{}\n", "0".repeat(64)).as_bytes());
    let id = world.begin("frost-keygen-ed25519", "4,5,6", &[]);
    std::fs::remove_file(world.folder.path("0.share")).unwrap();
    assert_eq!(code(world.party(0, &id, &["--roster", &other])), Some(3));
    // The operator's other verbs work over the daemon too.
    let operator = world.folder.name("operator.key");
    let by = [&world.place()[..], &["--operator-key", &operator]].concat();
    let third = text(
        &ceremony(&["key", &world.folder.name("2.key")]),
        "public_key",
    );
    assert_eq!(
        ceremony(&[&["roster", "add"], &by[..], &[&third]].concat())["accepted"],
        true
    );
    assert_eq!(
        ceremony(&[&["cancel"], &by[..], &[&id]].concat())["accepted"],
        true
    );
    // Whom it does not know, a client does not trust.
    let key = world.folder.name("1.key");
    let daemon = world.daemon.as_ref().unwrap();
    let strange = world.folder.write("strange.pem", STRANGE);
    let words = [
        "party",
        "run",
        "--server",
        &daemon.url,
        "--party-key",
        &key,
        "--secrets",
        "x",
    ];
    for ca in [vec![], vec!["--ca", strange.as_str()]] {
        let run = fieldspar(&[&["ceremony"], &words[..], &["--ceremony", &id], &ca].concat());
        assert!(matches!(run.code, Some(2 | 3)), "{}", run.stderr);
    }
    world.stop();
}

fn bytes(hex: &str) -> Vec<u8> {
    let mut bytes = vec![0; hex.len() / 2];
    fieldspar_ceremony::hex::decode(hex, &mut bytes).unwrap();
    bytes
}

/// A party whose packages do not open: the honest one complains, and the record names who lied.
#[test]
fn a_bad_share_is_complained_of_and_its_sender_named() {
    let mut world = World::new();
    let id = world.begin("frost-keygen-secp256k1", "1,2,3", &[]);
    // Without TLS, for the client here speaks none.
    world.daemon = Some(Daemon::start(&world.store, &[]));
    let daemon = world.daemon.as_ref().unwrap();
    let honest = world.party(0, &id, &[]);
    let mut http = daemon.client();
    let secret = std::fs::read_to_string(world.folder.path("1.key")).unwrap();
    let key = SigningKey::from_bytes(&bytes(secret.trim()).try_into().unwrap());
    let network = http.get("/v2/network")["network"]
        .as_str()
        .unwrap()
        .to_owned();
    let network = bytes(&network).try_into().unwrap();
    let mut say = |round: u8, payload: Vec<u8>| {
        let contribution = Contribution {
            ceremony: bytes(&id).try_into().unwrap(),
            kind: Kind::FrostKeygen(Suite::Secp256k1),
            round,
            index: 1,
            payload,
        };
        let operation = Body::Contribute(contribution).sign(&network, &key);
        let answers = http.submit(&[operation]);
        assert_eq!(answers[0]["accepted"], true, "{}", answers[0]);
    };
    type Suite256 = frost_secp256k1::Secp256K1Sha256;
    let identifier = frost_core::Identifier::<Suite256>::try_from(2).unwrap();
    let rng = rand_core::OsRng;
    let (_, package) = frost_core::keys::dkg::part1(identifier, 2, 2, rng).unwrap();
    let mut first = [9; 32].to_vec();
    for element in package.commitment().serialize().unwrap() {
        first.extend(element);
    }
    first.extend(package.proof_of_knowledge().serialize().unwrap());
    say(0, first);
    let path = format!("/v2/ceremonies/{id}");
    let mut watch = daemon.client();
    let transcript = loop {
        let value = watch.get(&path);
        if value["round"] == 1 {
            break bytes(value["transcript"].as_str().unwrap());
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let package = [&[1, 0, 0, 0][..], &[5; 80]].concat();
    say(1, [transcript, package].concat());
    let output = honest.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("party 1 sent a bad share"), "{error}");
    let value = watch.get(&path);
    assert_eq!(
        (&value["status"], &value["culprit"]),
        (&"aborted".into(), &1.into())
    );
    assert!(!world.folder.path("0.share").exists());
}

/// Signatures by real parties over the daemon, each checked by code that did not make it, and the
/// record of all of them from its log.
#[test]
fn soak_ceremony_sign_many() {
    let count = std::env::var("FIELDSPAR_SOAK_CEREMONY_SIGN");
    let count: u32 = count.ok().and_then(|c| c.parse().ok()).unwrap_or(20);
    for suite in ["ed25519", "ristretto255", "secp256k1", "secp256k1-tr"] {
        let each = (count / 4).to_string();
        let words = [
            "demo",
            "--suite",
            suite,
            "--parties",
            "4",
            "--threshold",
            "3",
        ];
        let shown = ceremony(&[&words[..], &["--signatures", &each]].concat());
        assert_eq!(shown["signatures_accepted"], count / 4, "{shown}");
    }
}

/// A signer that dies between its two messages: its nonces are gone, so it cannot sign with them, and
/// the ceremony runs out of time with the signer named.
#[test]
fn a_signer_that_dies_never_uses_its_nonces_again() {
    let mut world = World::new();
    let id = world.begin("frost-keygen-ed25519", "1,2,3", &[]);
    world.daemon = Some(Daemon::start(&world.store, &[]));
    let key = text(&world.all(&id, &[])[0], "key");
    let sign = ["--key", &key, "--message", "ab"];
    let signing = world.begin("frost-sign-ed25519", "1,2", &sign);
    let mut http = world.daemon.as_ref().unwrap().client();
    let path = format!("/v2/ceremonies/{signing}");
    let mut first = world.party(0, &signing, &["--message", "ab"]);
    while http.get(&path)["awaited"] != serde_json::json!([1]) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let said = http.get(&format!("{path}/messages?round=0"));
    // It comes again, with other nonces, which the record does not take for the old ones.
    let again = world.party(0, &signing, &["--message", "ab"]);
    let output = again.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("equivocation"));
    assert_eq!(http.get(&format!("{path}/messages?round=0")), said);
    let other = world.party(1, &signing, &["--message", "ab"]);
    while http.get(&path)["round"] != 1 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    while http.get(&path)["awaited"] != serde_json::json!([0]) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    http.ask("POST", "/v2/tick", Some(b"{\"now\":3}"));
    assert_eq!(other.wait_with_output().unwrap().status.code(), Some(3));
    let end = http.get(&path);
    assert_eq!(
        (&end["status"], &end["awaited"][0]),
        (&"expired".into(), &0.into())
    );
}
