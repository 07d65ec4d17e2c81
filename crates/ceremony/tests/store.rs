//! The store over a simulated disk that loses, reorders and refuses, and over files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

#[path = "store/compact.rs"]
mod compact;
#[path = "store/sim.rs"]
mod sim;

use fieldspar_ceremony::rules::v2::{Body, Operation, scenario};
use fieldspar_ceremony::store::{FileDisk, Reply, Snapshot, Snapshots, Store, StoreError, replay};
use sim::Sim;

type Digest = [u8; 32];

/// A small run in batches: a roster, ceremonies, messages, an equivocation, time.
fn batches() -> Vec<Vec<Operation>> {
    let operate = |body: Body| body.sign(&scenario::NETWORK, &scenario::operator());
    let begins: Vec<_> = (0..3).map(scenario::begin).collect();
    let ids: Vec<Digest> = begins.iter().map(|b| b.id(&scenario::NETWORK)).collect();
    let say = |id: Digest, index: u16, len: usize| {
        scenario::message(id, index, len).sign(&scenario::NETWORK, &scenario::party(index))
    };
    vec![
        scenario::members().into_iter().map(operate).collect(),
        begins
            .into_iter()
            .map(|b| operate(Body::Begin(b)))
            .collect(),
        vec![say(ids[0], 0, 40), say(ids[1], 0, 300), say(ids[0], 1, 70)],
        vec![Operation::tick(5), say(ids[0], 2, 10)],
        vec![
            say(ids[1], 0, 301),
            operate(Body::Cancel { ceremony: ids[2] }),
        ],
        vec![say(ids[1], 1, 9), say(ids[1], 1, 9), say(ids[2], 1, 9)],
    ]
}

/// Number of operations and root after each batch, from none on.
fn prefixes() -> Vec<(u64, Digest)> {
    let mut store = Store::on(Sim::default(), scenario::genesis()).unwrap();
    let mut all = vec![(0, store.state_mut().root().root)];
    for batch in batches() {
        store.submit(batch).unwrap();
        all.push((store.state().operations(), store.state_mut().root().root));
    }
    all
}

/// Recovers and checks that it is one of the prefixes; which one.
#[track_caller]
fn recovered(image: Vec<u8>, prefixes: &[(u64, Digest)]) -> usize {
    let (mut store, _) = Store::recover(Sim::holding(image), None).unwrap();
    let state = (store.state().operations(), store.state_mut().root().root);
    let prefix = prefixes
        .iter()
        .position(|p| *p == state)
        .unwrap_or_else(|| panic!("no prefix, or not its root"));
    // It goes on from there, and what it says then is kept.
    store.tick(1_000_000).unwrap();
    prefix
}

/// How many outcomes of a crash are looked at for each of its moments.
fn seeds() -> u64 {
    match std::env::var_os("FIELDSPAR_SOAK_CEREMONY_LOG") {
        Some(_) => 1000,
        None => 40,
    }
}

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    }
}

#[test]
fn soak_ceremony_log_the_power_goes_at_every_step() {
    let prefixes = prefixes();
    let mut steps = 0;
    for dies_at in 0.. {
        let disk = Sim::default();
        disk.0.borrow_mut().dies_at = Some(dies_at);
        let mut acknowledged = 0;
        let mut made = false;
        if let Ok(mut store) = Store::on(disk.clone(), scenario::genesis()) {
            made = true;
            for batch in batches() {
                match store.submit(batch) {
                    Ok(_) => acknowledged += 1,
                    Err(StoreError::Io { .. }) => {
                        assert!(matches!(store.submit(Vec::new()), Err(StoreError::Broken)));
                        break;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
        steps = dies_at;
        for seed in 0..seeds() {
            let mut random = random(seed + 1);
            // Everything, nothing, and mixtures.
            let image = disk.after_the_crash(|| match seed {
                0 => true,
                1 => false,
                _ => random() % 4 < seed % 5,
            });
            if made {
                let found = recovered(image, &prefixes);
                assert!(
                    found >= acknowledged,
                    "{found} of {acknowledged} at step {dies_at}"
                );
                assert!(found <= acknowledged + 1);
            } else if let Err(error) = Store::recover(Sim::holding(image), None) {
                assert!(matches!(error, StoreError::Header(_)), "{error}");
            }
        }
        if acknowledged == batches().len() {
            break;
        }
    }
    assert_eq!(steps, 2 + 2 * batches().len());
}

#[test]
fn soak_ceremony_log_the_disk_is_full_at_every_byte() {
    let prefixes = prefixes();
    let whole = whole();
    for full_at in (0..whole.len() as u64).step_by(if seeds() > 40 { 1 } else { 7 }) {
        let disk = Sim::default();
        disk.0.borrow_mut().full_at = Some(full_at);
        let Ok(mut store) = Store::on(disk.clone(), scenario::genesis()) else {
            continue;
        };
        let mut acknowledged = 0;
        for batch in batches() {
            match store.submit(batch) {
                Ok(_) => acknowledged += 1,
                Err(StoreError::Io { .. }) => break,
                Err(other) => panic!("{other}"),
            }
        }
        let image = disk.after_the_crash(|| true);
        assert_eq!(recovered(image, &prefixes), acknowledged);
    }
}

fn whole() -> Vec<u8> {
    let disk = Sim::default();
    let mut store = Store::on(disk.clone(), scenario::genesis()).unwrap();
    for batch in batches() {
        store.submit(batch).unwrap();
    }
    disk.after_the_crash(|| true)
}

#[test]
fn soak_ceremony_log_truncated_at_every_byte() {
    let (prefixes, whole) = (prefixes(), whole());
    let mut last = 0;
    for len in 0..=whole.len() {
        match Store::recover(Sim::holding(whole[..len].to_vec()), None) {
            Err(StoreError::Header(_)) => assert!(len < 121, "{len}"),
            Err(other) => panic!("{other}"),
            Ok((_, recovery)) => {
                let found = recovered(whole[..len].to_vec(), &prefixes);
                assert!(found == last || found == last + 1);
                assert_eq!(recovery.frames, found as u64);
                last = found;
            }
        }
    }
    assert_eq!(last, prefixes.len() - 1);
}

/// How many bits of every byte are flipped: all eight in a soak.
fn bits() -> Vec<u32> {
    let soak = std::env::var("FIELDSPAR_SOAK_CEREMONY_LOG");
    match soak.ok().and_then(|count| count.parse().ok()) {
        Some(count) => (0..8).take(count).collect(),
        None => vec![0, 3, 7],
    }
}

#[test]
fn soak_ceremony_log_flipped_at_every_byte() {
    let (prefixes, whole) = (prefixes(), whole());
    let (mut errors, mut cut) = (0, 0);
    for at in 0..whole.len() {
        for bit in bits() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            match Store::recover(Sim::holding(bytes.clone()), None) {
                Err(StoreError::Header(_)) => assert!(at < 121),
                Err(StoreError::Corrupt { .. }) => errors += 1,
                Err(other) => panic!("byte {at}: {other}"),
                Ok(_) => {
                    // Only the last frame may be taken for one that was never acknowledged.
                    assert_eq!(recovered(bytes, &prefixes), prefixes.len() - 2, "byte {at}");
                    cut += 1;
                }
            }
        }
    }
    assert!(errors > 0 && cut > 0);
}

#[test]
fn a_log_is_replayed_with_and_without_signatures() {
    let (prefixes, whole) = (prefixes(), whole());
    for verify in [false, true] {
        let (mut state, recovery) = replay(Sim::holding(whole.clone()), verify).unwrap();
        assert_eq!(state.root().root, prefixes.last().unwrap().1);
        assert_eq!(recovery.operations, state.operations());
    }
    // A log with right hashes and a wrong signature: trusted without, found with.
    let disk = Sim::default();
    let mut log =
        fieldspar_ceremony::store::Log::create(disk.clone(), scenario::genesis()).unwrap();
    let forged: Vec<_> = scenario::members()
        .into_iter()
        .map(|body| scenario::unsigned(body).to_bytes())
        .collect();
    log.append(&forged).unwrap();
    assert_eq!(replay(disk.clone(), false).unwrap().0.members().len(), 3);
    assert!(matches!(
        replay(disk.clone(), true),
        Err(StoreError::BadSignature { frame: 1 })
    ));
    // What changes nothing is in no log.
    log.append(&forged[..1]).unwrap();
    assert!(matches!(
        replay(disk.clone(), false),
        Err(StoreError::Foreign { frame: 2 })
    ));
    log.append(&[b"nothing".to_vec()]).unwrap();
    assert!(matches!(
        replay(disk, false),
        Err(StoreError::Foreign { frame: 2 })
    ));
}

#[test]
fn files_snapshots_and_a_second_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let prefixes = prefixes();
    let mut store = Store::create(&path, scenario::genesis()).unwrap();
    assert!(matches!(
        Store::create(&path, scenario::genesis()),
        Err(StoreError::Io { .. })
    ));
    assert!(matches!(Store::open(&path), Err(StoreError::InUse)));
    let mut batches = batches().into_iter();
    for batch in batches.by_ref().take(3) {
        store.submit(batch).unwrap();
    }
    store.snapshot().unwrap();
    store.submit(batches.next().unwrap()).unwrap();
    store.snapshot().unwrap();
    store.submit(batches.next().unwrap()).unwrap();
    drop(store);
    let (mut store, recovery) = Store::open(&path).unwrap();
    assert_eq!((recovery.snapshot_frame, recovery.frames), (4, 1));
    assert_eq!(store.state_mut().root().root, prefixes[5].1);
    let replies = store.submit(batches.next().unwrap()).unwrap();
    assert!(replies[0].is_accepted() && replies[1].is_accepted() && !replies[2].is_accepted());
    let mut forged = Operation::tick(1);
    forged.body = Body::Cancel { ceremony: [0; 32] };
    assert_eq!(store.submit_one(forged).unwrap(), Reply::BadSignature);
    drop(store);
    // A snapshot that is not right is passed over.
    let snapshots = Snapshots::open(&path.join("snapshots.redb")).unwrap();
    snapshots
        .put(&Snapshot {
            frame: 99,
            offset: 500,
            head: [0; 32],
            root: [0; 32],
            hash: [0; 32],
            state: vec![1, 2, 3],
        })
        .unwrap();
    drop(snapshots);
    let (mut store, recovery) = Store::open(&path).unwrap();
    assert_eq!((recovery.bad_snapshots, recovery.snapshot_frame), (1, 4));
    assert_eq!(store.state_mut().root().root, prefixes[6].1);
    drop(store);
    let file = std::fs::File::open(path.join("log.fsl")).unwrap();
    let (mut state, _) = replay(FileDisk::new(file), true).unwrap();
    assert_eq!(state.root().root, prefixes[6].1);
    // A log that lost what a snapshot holds is not taken for a shorter history.
    let log = path.join("log.fsl");
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::Behind { frame: 4 })
    ));
}
