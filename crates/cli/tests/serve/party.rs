//! Real FROST parties, processes of their own, over the daemon.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::common::{Folder, command, fieldspar};
use crate::daemon::Daemon;

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
        ("ristretto255", ""),
        ("secp256k1", ""),
    ] {
        let shown = ceremony(&["demo", "--suite", suite]);
        assert_eq!(shown["valid"], true, "{shown}");
        assert_eq!(shown["verified_by"].as_str().unwrap_or_default(), library);
    }
    fieldspar(&["ceremony", "demo", "--parties", "3", "--threshold", "4"]).exits(2);
}

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

    /// Begins a ceremony while nobody serves the record; its id.
    fn begin(&self, kind: &str, deadlines: &str, more: &[&str]) -> String {
        let operator = self.folder.name("operator.key");
        let words = ["begin", "--store", &self.store, "--operator-key", &operator];
        let shape = ["--threshold", "2", "--participants", "0,1", "--kind", kind];
        let words = [&words[..], &shape, &["--deadlines", deadlines], more].concat();
        text(&ceremony(&words), "id")
    }

    fn serve(&mut self) {
        let key = self.folder.name("tls.key");
        let flags = ["--tls-cert", &self.authority, "--tls-key", &key];
        self.daemon = Some(Daemon::start(&self.store, &flags));
    }

    fn party(&self, index: usize, id: &str, more: &[&str]) -> Child {
        let daemon = self.daemon.as_ref().unwrap();
        assert!(daemon.url.starts_with("https://"));
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
            .args(["--ca", &self.authority, "--wait", "30"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
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
    world.stop();

    let message = "00ff17";
    let sign = ["--key", &key, "--message", message];
    let signing = world.begin("frost-sign-ed25519", "1,2", &sign);
    world.serve();
    // Not what this party is willing to sign; it has said nothing, so that it can still sign.
    assert_eq!(
        code(world.party(0, &signing, &["--message", "00"])),
        Some(3)
    );
    let signed = world.all(&signing, &["--message", message]);
    let signature = text(&signed[0], "signature");
    assert_eq!(signed[1]["signature"], signature.as_str());
    let bytes = |hex: &str| {
        let mut bytes = vec![0; hex.len() / 2];
        fieldspar_ceremony::hex::decode(hex, &mut bytes).unwrap();
        bytes
    };
    let public = ed25519_dalek::VerifyingKey::try_from(&bytes(&group_key)[..]).unwrap();
    let signature = ed25519_dalek::Signature::from_slice(&bytes(&signature)).unwrap();
    public.verify_strict(&bytes(message), &signature).unwrap();
    assert!(public.verify_strict(b"another", &signature).is_err());
    world.stop();
    let other = world
        .folder
        .write("other", format!("{}\n", "0".repeat(64)).as_bytes());
    let id = world.begin("frost-keygen-ed25519", "4,5,6", &[]);
    world.serve();
    std::fs::remove_file(world.folder.path("0.share")).unwrap();
    assert_eq!(code(world.party(0, &id, &["--roster", &other])), Some(3));
}
