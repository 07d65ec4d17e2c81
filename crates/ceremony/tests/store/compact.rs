//! A log that was shortened: what it keeps, what it says is trusted, and crashes in between.

use std::fs;

use fieldspar_ceremony::rules::v2::{Answer, Body, Contribution, Kind, Reason, Suite, scenario};
use fieldspar_ceremony::rules::v2::{Begin, ImportKey};
use fieldspar_ceremony::store::{FileDisk, Log, Reply, Store, StoreError, replay};

use super::sim::Sim;
use super::{batches, prefixes, random};

/// A run of which the first `count` batches are in the base and the others behind it.
fn shortened(count: usize) -> Sim {
    let long = Sim::default();
    let mut store = Store::on(long.clone(), scenario::genesis()).unwrap();
    let mut batches = batches().into_iter();
    for batch in batches.by_ref().take(count) {
        store.submit(batch).unwrap();
    }
    let short = Sim::default();
    let mut log = store.shorter_log(short.clone()).unwrap();
    assert_eq!(log.head(), store.head());
    // The rest goes to both, so that the chains can be compared.
    for batch in batches {
        let before = store.frames();
        store.submit(batch.clone()).unwrap();
        assert_eq!(store.frames(), before + 1);
        drop(log);
        let (mut again, recovery) = Store::recover(short.clone(), None).unwrap();
        assert_eq!(recovery.base.unwrap().frame, count as u64);
        again.submit(batch).unwrap();
        assert_eq!(again.head(), store.head());
        assert_eq!(again.state_mut().root(), store.state_mut().root());
        log = Log::open(short.clone()).unwrap().0;
    }
    short
}

#[test]
fn the_chain_and_the_state_go_on() {
    let prefixes = prefixes();
    for count in 0..=batches().len() {
        let short = shortened(count);
        for verify in [false, true] {
            let (mut state, recovery) = replay(short.clone(), verify).unwrap();
            assert_eq!(state.root().root, prefixes.last().unwrap().1);
            let base = recovery.base.unwrap();
            assert_eq!(base.root, prefixes[count].1);
            assert_eq!(base.operations, prefixes[count].0);
            assert_eq!(
                recovery.operations,
                prefixes.last().unwrap().0 - base.operations
            );
        }
    }
}

#[test]
fn soak_ceremony_log_shortened_truncated_and_flipped() {
    let prefixes = prefixes();
    let whole = shortened(3).after_the_crash(|| true);
    let base = Log::open(Sim::holding(whole.clone())).unwrap().0.end();
    let root = |bytes: &[u8]| {
        let (mut store, _) = Store::recover(Sim::holding(bytes.to_vec()), None)?;
        Ok::<_, StoreError>(store.state_mut().root().root)
    };
    for len in 0..whole.len() as u64 {
        match root(&whole[..len as usize]) {
            Ok(root) => {
                assert!(len >= base);
                assert!(prefixes[3..].iter().any(|p| p.1 == root));
            }
            Err(StoreError::Header(_)) => assert!(len < base),
            Err(other) => panic!("{len}: {other}"),
        }
    }
    let mut random = random(5);
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (random() % 8);
        match root(&bytes) {
            Ok(root) => assert_eq!(root, prefixes[prefixes.len() - 2].1, "byte {at}"),
            Err(StoreError::Header(_) | StoreError::Base(_)) => assert!((at as u64) < base),
            Err(StoreError::Corrupt { .. }) => assert!(at as u64 >= base),
            Err(other) => panic!("byte {at}: {other}"),
        }
    }
}

/// Until the shorter log takes the name of the old one, what is on its disk does not count; then all
/// of it has been synced.
#[test]
fn the_power_goes_while_the_shorter_log_is_written() {
    let mut store = Store::on(Sim::default(), scenario::genesis()).unwrap();
    for batch in batches() {
        store.submit(batch).unwrap();
    }
    let root = store.state_mut().root();
    for dies_at in 0.. {
        let disk = Sim::default();
        disk.0.borrow_mut().dies_at = Some(dies_at);
        let written = store.shorter_log(disk.clone());
        // The store goes on with its own log either way.
        assert!(!store.tick(1).unwrap().is_accepted());
        let mut random = random(dies_at as u64 + 9);
        let image = disk.after_the_crash(|| random().is_multiple_of(2));
        if written.is_err() {
            assert!(dies_at < 3);
            continue;
        }
        drop(written);
        let (mut again, _) = Store::recover(Sim::holding(image), None).unwrap();
        assert_eq!(again.state_mut().root(), root);
        assert_eq!(again.head(), store.head());
        assert_eq!(dies_at, 3);
        break;
    }
    let disk = Sim::default();
    disk.0.borrow_mut().full_at = Some(300);
    assert!(matches!(
        store.shorter_log(disk),
        Err(StoreError::Io { .. })
    ));
}

#[test]
fn files_at_each_step_of_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let (log, next) = (path.join("log.fsl"), path.join("log.fsl.next"));
    let prefixes = prefixes();
    let mut store = Store::create(&path, scenario::genesis()).unwrap();
    for batch in batches().into_iter().take(4) {
        store.submit(batch).unwrap();
    }
    store.snapshot().unwrap();
    drop(store);
    let before = fs::read(&log).unwrap();
    let snapshots = fs::read(path.join("snapshots.redb")).unwrap();
    let archive = folder.path().join("old.fsl");
    let opened = |folder: &std::path::Path| {
        let (mut store, recovery) = Store::open(folder).unwrap();
        assert_eq!(store.state_mut().root().root, prefixes[4].1);
        (store, recovery)
    };
    let compaction = opened(&path).0.compact(Some(&archive)).unwrap();
    assert_eq!(compaction.before, before.len() as u64);
    assert_eq!(fs::read(&archive).unwrap(), before);
    let after = fs::read(&log).unwrap();
    assert_eq!(compaction.after, after.len() as u64);
    // Written in part, and not renamed: the old log counts.
    for len in [0, 1, after.len() / 2, after.len()] {
        fs::write(&log, &before).unwrap();
        fs::write(&next, &after[..len]).unwrap();
        fs::write(path.join("snapshots.redb"), &snapshots).unwrap();
        let (mut store, recovery) = opened(&path);
        assert_eq!((recovery.base, recovery.snapshot_frame), (None, 4));
        // It can be tried again.
        store.compact(None).unwrap();
        assert!(!next.exists());
    }
    // Renamed, and the snapshots of the old log still there.
    fs::write(&log, &after).unwrap();
    fs::write(path.join("snapshots.redb"), &snapshots).unwrap();
    let (mut store, recovery) = opened(&path);
    assert_eq!(recovery.base, Some(compaction.base));
    assert_eq!((recovery.snapshot_frame, recovery.bad_snapshots), (0, 0));
    // An archive is not written over.
    assert!(matches!(
        store.compact(Some(&archive)),
        Err(StoreError::Io { .. })
    ));
    for batch in batches().into_iter().skip(4) {
        store.submit(batch).unwrap();
    }
    store.snapshot().unwrap();
    drop(store);
    let (mut store, recovery) = Store::open(&path).unwrap();
    assert_eq!((recovery.snapshot_frame, recovery.frames), (6, 0));
    assert_eq!(store.state_mut().root().root, prefixes[6].1);
    // The old log ends where the new one begins.
    let (mut state, _) = replay(FileDisk::new(fs::File::open(&archive).unwrap()), true).unwrap();
    assert_eq!(state.root().root, compaction.base.root);
    let old = Store::recover(Sim::holding(before), None).unwrap().0;
    assert_eq!(old.head(), compaction.base.head);
}

/// What was ever seen is still known: nonces, ended ceremonies, evidence, keys.
#[test]
fn nothing_is_forgotten() {
    let suite = Suite::Ed25519;
    let mut store = Store::on(Sim::default(), scenario::genesis()).unwrap();
    let operate = |body: Body| body.sign(&scenario::NETWORK, &scenario::operator());
    store
        .submit(scenario::members().into_iter().map(operate).collect())
        .unwrap();
    let import = ImportKey {
        kind: Kind::FrostKeygen(suite),
        threshold: 2,
        members: vec![0, 1, 2],
        group_key: vec![7; 32],
    };
    let Reply::Answered(Answer::Accepted { id: key, .. }) =
        store.submit_one(operate(Body::ImportKey(import))).unwrap()
    else {
        panic!("the key is refused");
    };
    let begin = |salt: u8| Begin {
        kind: Kind::FrostSign(suite),
        salt: [salt; 32],
        threshold: 2,
        participants: vec![0, 1],
        deadlines: vec![10, 20],
        key,
        message: b"message".to_vec(),
    };
    let say = |ceremony: [u8; 32], nonce: u8| {
        let contribution = Contribution {
            ceremony,
            kind: Kind::FrostSign(suite),
            round: 0,
            index: 0,
            payload: [[nonce; 32], [nonce + 1; 32]].concat(),
        };
        Body::Contribute(contribution).sign(&scenario::NETWORK, &scenario::party(0))
    };
    let first = begin(1).id(&scenario::NETWORK);
    store.submit_one(operate(Body::Begin(begin(1)))).unwrap();
    assert!(store.submit_one(say(first, 8)).unwrap().is_accepted());
    assert!(!store.submit_one(say(first, 10)).unwrap().is_accepted());
    store.tick(11).unwrap();
    let short = Sim::default();
    drop(store.shorter_log(short.clone()).unwrap());
    let (mut again, _) = Store::recover(short, None).unwrap();
    let mut second = begin(2);
    second.deadlines = vec![30, 40];
    let id = second.id(&scenario::NETWORK);
    again.submit_one(operate(Body::Begin(second))).unwrap();
    let refused = Reply::Answered(Answer::Rejected {
        reason: Reason::NonceReused,
    });
    assert_eq!(again.submit_one(say(id, 8)).unwrap(), refused);
    let used = Reply::Answered(Answer::Rejected {
        reason: Reason::UsedId,
    });
    assert_eq!(
        again.submit_one(operate(Body::Begin(begin(1)))).unwrap(),
        used
    );
    assert_eq!(again.state().evidence().len(), 1);
    assert_eq!(again.state().archive().len(), 1);
}
