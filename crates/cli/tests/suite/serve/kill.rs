//! kill -9 at random moments under load: what was acknowledged is there, and the state is that of the
//! log.

use std::fs::File;
use std::path::Path;
use std::thread;
use std::time::Duration;

use fieldspar_ceremony::rules::v2::{Answer, Operation};
use fieldspar_ceremony::store::{FileDisk, Reply, Store, replay};

use super::daemon::{Daemon, Http, begin, body_of, message, new_store};
use crate::common::{self, Folder};

/// Clients that send at the same time.
const CLIENTS: u64 = 4;

fn random(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 11) % below
    }
}

/// Batches one after another until the daemon is gone: all that was sent, and how much of it was
/// acknowledged.
fn load(mut http: Http, mut number: u64) -> (Vec<Operation>, usize) {
    let mut random = random(number + 1);
    let (mut sent, mut acknowledged) = (Vec::new(), 0);
    loop {
        let mut batch = Vec::new();
        for _ in 0..1 + random(8) {
            let (id, begun) = begin(number);
            number += 1;
            batch.push(begun);
            batch.push(message(id, 0, 1 + random(200) as usize));
            batch.push(message(id, 1, 64));
        }
        batch.truncate(1 + random(24) as usize);
        sent.extend(batch.iter().cloned());
        let Some(reply) = http.try_ask("POST", "/v2/operations", Some(&body_of(&batch))) else {
            return (sent, acknowledged);
        };
        assert_eq!(reply.status, 200);
        let value = reply.json();
        let answers = value["answers"].as_array().unwrap();
        assert!(answers.iter().all(|a| a["accepted"] == true), "{value}");
        acknowledged = sent.len();
    }
}

/// Opens the store and checks it; the number of operations.
fn check(path: &str, sent: Vec<(Vec<Operation>, usize)>, before: u64) -> u64 {
    let (mut store, recovery) = Store::open(path.as_ref()).unwrap();
    assert_eq!(recovery.bad_snapshots, 0);
    let root = store.state_mut().root().root;
    let file = File::open(Path::new(path).join("log.fsl")).unwrap();
    let (mut again, _) = replay(FileDisk::new(file), false).unwrap();
    assert_eq!(again.root().root, root);
    let found = store.state().operations();
    let acknowledged: usize = sent.iter().map(|(_, acknowledged)| acknowledged).sum();
    let most: usize = sent.iter().map(|(sent, _)| sent.len()).sum();
    assert!(found >= before + acknowledged as u64);
    assert!(found <= before + most as u64);
    for (sent, acknowledged) in sent {
        // Of each client's operations the first ones are there, and all that were acknowledged.
        let replies = store.submit(sent).unwrap();
        let known = replies.iter().take_while(|reply| is_known(reply)).count();
        assert!(known >= acknowledged, "{known} of {acknowledged}");
        assert!(!replies[known..].iter().any(is_known));
    }
    store.state().operations()
}

/// Begun before counts as known: a begin is never accepted twice.
fn is_known(reply: &Reply) -> bool {
    match reply {
        Reply::Answered(Answer::Accepted { again, .. }) => *again,
        Reply::Answered(Answer::Rejected { .. }) => true,
        Reply::BadSignature => false,
    }
}

#[test]
fn soak_ceremony_kill_under_load() {
    let count = std::env::var("FIELDSPAR_SOAK_CEREMONY_KILL");
    let count: u64 = count.ok().and_then(|c| c.parse().ok()).unwrap_or(12);
    let folder = Folder::new();
    let mut acknowledged = 0;
    let (mut path, mut operations) = (String::new(), 0);
    for run in 0..count {
        // A record lives through some deaths.
        if run % 20 == 0 {
            path = folder.name(&format!("record-{run}"));
            new_store(&path);
            operations = 3;
        }
        let mut random = random(run + 77);
        let mut daemon = Daemon::start(&path, &["--snapshot-every", "50"]);
        let sent: Vec<_> = thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| {
                    let http = daemon.client();
                    scope.spawn(move || load(http, (run * CLIENTS + client) << 20))
                })
                .collect();
            thread::sleep(Duration::from_micros(2_000 + random(100_000)));
            daemon.kill();
            clients.into_iter().map(|c| c.join().unwrap()).collect()
        });
        acknowledged += sent.iter().map(|(_, a)| a).sum::<usize>();
        operations = check(&path, sent, operations);
        // A compaction dies too.
        if run % 3 == 0 {
            let mut compact = common::command()
                .args(["ceremony", "compact", "--store", &path])
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_micros(random(40_000)));
            compact.kill().unwrap();
            compact.wait().unwrap();
            assert_eq!(check(&path, Vec::new(), operations), operations);
        }
    }
    assert!(acknowledged as u64 > count);
}
