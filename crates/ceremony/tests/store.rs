//! The store over a simulated disk that loses, reorders and refuses, and over files.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use fieldspar_ceremony::rules::v2::{Body, Operation, scenario};
use fieldspar_ceremony::store::{
    Disk, FileDisk, Reply, Snapshot, Snapshots, Store, StoreError, replay,
};

type Digest = [u8; 32];

#[derive(Clone, Debug)]
enum Change {
    Write(u64, Vec<u8>),
    Truncate(u64),
}

/// A disk whose unsynced changes are lost in part when the power goes.
#[derive(Clone, Debug, Default)]
struct Sim(Rc<RefCell<Inner>>);

#[derive(Clone, Debug, Default)]
struct Inner {
    durable: Vec<u8>,
    pending: Vec<Change>,
    /// Changes and syncs so far.
    steps: usize,
    /// The step at which the power goes.
    dies_at: Option<usize>,
    /// No byte is written at or behind this place; what fits of a write is.
    full_at: Option<u64>,
}

const SECTOR: usize = 64;

fn apply(image: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Write(at, bytes) => {
            let at = *at as usize;
            if image.len() < at + bytes.len() {
                image.resize(at + bytes.len(), 0);
            }
            image[at..at + bytes.len()].copy_from_slice(bytes);
        }
        Change::Truncate(len) => image.resize(*len as usize, 0),
    }
}

impl Inner {
    fn view(&self) -> Vec<u8> {
        let mut image = self.durable.clone();
        self.pending
            .iter()
            .for_each(|change| apply(&mut image, change));
        image
    }

    fn step(&mut self) -> io::Result<()> {
        if self.dies_at.is_some_and(|at| self.steps >= at) {
            return Err(io::Error::other("the power is gone"));
        }
        self.steps += 1;
        Ok(())
    }
}

impl Sim {
    fn holding(bytes: Vec<u8>) -> Self {
        Self(Rc::new(RefCell::new(Inner {
            durable: bytes,
            ..Inner::default()
        })))
    }

    /// What is on the disk after the power went: of the unsynced writes any sectors, in any order,
    /// as `chance` says.
    fn after_the_crash(&self, mut chance: impl FnMut() -> bool) -> Vec<u8> {
        let inner = self.0.borrow();
        let mut image = inner.durable.clone();
        for change in &inner.pending {
            match change {
                Change::Truncate(_) if chance() => apply(&mut image, change),
                Change::Truncate(_) => {}
                Change::Write(at, bytes) => {
                    for (i, sector) in bytes.chunks(SECTOR).enumerate() {
                        if chance() {
                            let at = at + (i * SECTOR) as u64;
                            apply(&mut image, &Change::Write(at, sector.to_vec()));
                        }
                    }
                }
            }
        }
        image
    }
}

impl Disk for Sim {
    fn len(&mut self) -> io::Result<u64> {
        Ok(self.0.borrow().view().len() as u64)
    }

    fn read(&mut self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let view = self.0.borrow().view();
        let rest = view.get(at as usize..).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        let room = inner.full_at.map_or(bytes.len(), |full| {
            (full.saturating_sub(at) as usize).min(bytes.len())
        });
        inner
            .pending
            .push(Change::Write(at, bytes[..room].to_vec()));
        match room == bytes.len() {
            true => Ok(()),
            false => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        inner.pending.push(Change::Truncate(len));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        inner.step()?;
        inner.durable = inner.view();
        inner.pending.clear();
        Ok(())
    }
}

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
fn the_power_goes_at_every_step() {
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
        for seed in 0..40 {
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
fn the_disk_is_full_at_every_byte() {
    let prefixes = prefixes();
    let whole = whole();
    for full_at in (0..whole.len() as u64).step_by(7) {
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
fn truncated_at_every_byte_it_is_a_prefix() {
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

#[test]
fn flipped_at_every_byte_it_is_an_error_or_a_prefix() {
    let (prefixes, whole) = (prefixes(), whole());
    let (mut errors, mut cut) = (0, 0);
    for at in 0..whole.len() {
        for bit in [0, 3, 7] {
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
