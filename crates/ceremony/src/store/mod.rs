//! A durable state of version 2: an append-only, hash-chained log and snapshots.
//!
//! Operations come in batches. Their signatures are verified beside each other, they are played one
//! after another, those that changed something are appended as one frame, and the frame is synced
//! before anyone is answered: what is acknowledged is on disk.
//!
//! Recovery loads the last snapshot whose root is right and plays the frames behind it. A log that
//! does not reach to a snapshot is an error. A frame that is broken at the end of the log was never acknowledged
//! and is cut off; one that is broken with a good one behind it is an error, for something
//! acknowledged is lost.
//!
//! [`Store::compact`] replaces the log by one that begins with the state and goes on from the hash of
//! its last frame. Who reads that log trusts the state; [`Recovery::base`] says so.
#![forbid(unsafe_code)]

mod base;
mod compact;
mod disk;
mod error;
mod log;
mod snapshot;

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

pub use base::Base;
pub use compact::Compaction;
pub use disk::{Disk, FileDisk};
pub use error::StoreError;
pub use log::{Log, MAX_FRAME, Spent};
pub use snapshot::{Snapshot, Snapshots};

use crate::rules::v2::{Answer, Authentic, BadSignature, Body, Genesis, Operation, State};
use crate::{Digest, keccak256};

/// What [`Store::submit`] says of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The rules' answer; if it is accepted, it is on disk.
    Answered(Answer),
    /// The signature does not verify; the rules never saw it.
    BadSignature,
}

impl Reply {
    /// Whether it is accepted.
    #[must_use]
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Answered(answer) if answer.is_accepted())
    }
}

/// What recovery found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The frame that the snapshot stands behind; 0 if none was used.
    pub snapshot_frame: u64,
    /// Snapshots that were there and not right.
    pub bad_snapshots: u32,
    /// Frames played.
    pub frames: u64,
    /// Operations played.
    pub operations: u64,
    /// Bytes of an unacknowledged frame, cut off.
    pub torn_bytes: u64,
    /// The state that the log begins with, in place of frames that are gone. It was trusted, unless
    /// a snapshot behind it was.
    pub base: Option<Base>,
}

/// Names in a store's folder.
pub(crate) const LOG: &str = "log.fsl";
const SNAPSHOTS: &str = "snapshots.redb";
/// Held by the process that has the store open: the log itself may be replaced.
const LOCK: &str = "lock";

/// A state and its log.
#[derive(Debug)]
pub struct Store<D> {
    state: State,
    log: Log<D>,
    snapshots: Option<Snapshots>,
    /// A write failed: the state is ahead of the disk.
    broken: bool,
    folder: Option<Folder>,
}

/// Where a store lies, and the lock on it.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Store<FileDisk> {
    /// Makes a store in a folder that has none.
    ///
    /// # Errors
    ///
    /// There is one, or the folder cannot be written.
    pub fn create(folder: &Path, genesis: Genesis) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(StoreError::io("create the folder"))?;
        // Nobody else can make it too.
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(folder.join(LOG))
            .map_err(StoreError::io("create the log"))?;
        let lock = lock(folder)?;
        let log = Log::create(FileDisk::new(file), genesis)?;
        sync_folder(folder)?;
        Ok(Self {
            state: State::new(genesis),
            log,
            snapshots: Some(Snapshots::open(&folder.join(SNAPSHOTS))?),
            broken: false,
            folder: Some(lock),
        })
    }

    /// Opens the store in a folder; no other process has it open.
    ///
    /// # Errors
    ///
    /// There is none, it is in use, or the log is not whole.
    pub fn open(folder: &Path) -> Result<(Self, Recovery), StoreError> {
        let path = folder.join(LOG);
        // Before the lock, which would make a file where there is no store.
        std::fs::metadata(&path).map_err(StoreError::io("open the log"))?;
        let lock = lock(folder)?;
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(StoreError::io("open the log"))?;
        let snapshots = Snapshots::open(&folder.join(SNAPSHOTS))?;
        let (mut store, recovery) = Self::recover(FileDisk::new(file), Some(snapshots))?;
        store.folder = Some(lock);
        Ok((store, recovery))
    }
}

fn lock(folder: &Path) -> Result<Folder, StoreError> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(folder.join(LOCK))
        .map_err(StoreError::io("open the lock"))?;
    file.try_lock().map_err(|_| StoreError::InUse)?;
    Ok(Folder {
        path: folder.to_owned(),
        _lock: file,
    })
}

/// A name must outlive a crash too.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(StoreError::io("sync the folder"))
}

/// Plays a log from its beginning, with nothing but the log.
///
/// With `verify` every signature is verified again; without, the hash chain is trusted. The state that
/// a shortened log begins with is trusted either way, and named in what was found.
///
/// # Errors
///
/// The log cannot be read or is broken before its end, a signature does not verify, or an operation
/// changes nothing, which no log holds.
pub fn replay<D: Disk>(disk: D, verify: bool) -> Result<(State, Recovery), StoreError> {
    let (mut log, genesis) = Log::open(disk)?;
    let mut state = beginning(&mut log, genesis)?;
    let mut recovery = Recovery {
        base: log.base().copied(),
        ..Recovery::default()
    };
    play(&mut log, &mut state, &mut recovery, verify)?;
    Ok((state, recovery))
}

/// The state before the first frame.
fn beginning<D: Disk>(log: &mut Log<D>, genesis: Genesis) -> Result<State, StoreError> {
    let (Some(base), Some(bytes)) = (log.base().copied(), log.base_state()?) else {
        return Ok(State::new(genesis));
    };
    let mut state = State::from_bytes(&bytes)?;
    if *state.genesis() != genesis {
        return Err(StoreError::Base("its state is of another network"));
    }
    if state.operations() != base.operations || state.root().root != base.root {
        return Err(StoreError::Base("its state has another root"));
    }
    Ok(state)
}

/// Plays what is behind the log's reading place.
fn play<D: Disk>(
    log: &mut Log<D>,
    state: &mut State,
    recovery: &mut Recovery,
    verify: bool,
) -> Result<(), StoreError> {
    let network = state.genesis().network;
    while let Some(operations) = log.read_frame()? {
        let frame = log.frames();
        recovery.frames += 1;
        let authentic: Vec<Authentic> = if verify {
            operations
                .into_par_iter()
                .map(|operation| operation.authenticate(&network))
                .collect::<Result<_, _>>()
                .map_err(|_| StoreError::BadSignature { frame })?
        } else {
            operations.into_iter().map(Operation::trust).collect()
        };
        for operation in authentic {
            let before = state.operations();
            state.apply(operation);
            if state.operations() == before {
                return Err(StoreError::Foreign { frame });
            }
            recovery.operations += 1;
        }
    }
    recovery.torn_bytes = log.torn_bytes();
    Ok(())
}

impl<D: Disk> Store<D> {
    /// A new store on a disk that is empty.
    ///
    /// # Errors
    ///
    /// The disk cannot be written.
    pub fn on(disk: D, genesis: Genesis) -> Result<Self, StoreError> {
        Ok(Self {
            state: State::new(genesis),
            log: Log::create(disk, genesis)?,
            snapshots: None,
            broken: false,
            folder: None,
        })
    }

    /// Recovers from a disk.
    ///
    /// # Errors
    ///
    /// The log cannot be read or is broken before its end.
    pub fn recover(disk: D, snapshots: Option<Snapshots>) -> Result<(Self, Recovery), StoreError> {
        let (mut log, genesis) = Log::open(disk)?;
        let mut recovery = Recovery {
            base: log.base().copied(),
            ..Recovery::default()
        };
        let covered = recovery.base.map_or(0, |base| base.frame);
        let mut state = None;
        for snapshot in snapshots.iter().flat_map(Snapshots::newest_first) {
            let right = snapshot.ok().and_then(|s| Some((load(&s, &genesis)?, s)));
            let Some((loaded, s)) = right else {
                recovery.bad_snapshots += 1;
                continue;
            };
            // The places of older ones are those of a log that was shortened since.
            if recovery.base.is_some() && s.frame <= covered {
                break;
            }
            if !log.resume((s.frame, s.offset, s.head))? {
                return Err(StoreError::Behind { frame: s.frame });
            }
            recovery.snapshot_frame = log.frames();
            state = Some(loaded);
            break;
        }
        let mut state = match state {
            Some(state) => state,
            None => beginning(&mut log, genesis)?,
        };
        play(&mut log, &mut state, &mut recovery, false)?;
        log.cut()?;
        let store = Self {
            state,
            log,
            snapshots,
            broken: false,
            folder: None,
        };
        Ok((store, recovery))
    }

    /// The state.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The state, for its root and proofs.
    pub const fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// The hash of the last frame; of all frames, for each holds that of the one before.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.log.head()
    }

    /// Frames in the log.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.log.frames()
    }

    /// What the log began with, if it was shortened.
    #[must_use]
    pub const fn base(&self) -> Option<&Base> {
        self.log.base()
    }

    /// Bytes of the log.
    #[must_use]
    pub const fn log_bytes(&self) -> u64 {
        self.log.end()
    }

    /// Where the time of writing went.
    #[must_use]
    pub const fn spent(&self) -> Spent {
        self.log.spent()
    }

    /// Plays operations in order and syncs once. Signatures are verified in the current pool of
    /// threads.
    ///
    /// # Errors
    ///
    /// The disk refuses. Nothing is acknowledged then, what is on disk is unknown, and the store
    /// does nothing more: open it again.
    pub fn submit(&mut self, operations: Vec<Operation>) -> Result<Vec<Reply>, StoreError> {
        let network = self.state.genesis().network;
        self.submit_checked(check(operations, &network))
    }

    /// [`Self::submit`] of operations whose signatures were verified before, as by [`check`].
    ///
    /// # Errors
    ///
    /// As [`Self::submit`].
    pub fn submit_checked(
        &mut self,
        operations: Vec<Result<Authentic, BadSignature>>,
    ) -> Result<Vec<Reply>, StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        let mut frame = Vec::new();
        let mut replies = Vec::with_capacity(operations.len());
        for operation in operations {
            let Ok(operation) = operation else {
                replies.push(Reply::BadSignature);
                continue;
            };
            // A full frame is written; the sync of the last one counts for all.
            let bytes = operation.operation().to_bytes();
            if frame_len(&frame) + bytes.len() + 4 > MAX_FRAME {
                self.write(&mut frame)?;
            }
            let before = self.state.operations();
            let answer = self.state.apply(operation);
            if self.state.operations() != before {
                frame.push(bytes);
            }
            replies.push(Reply::Answered(answer));
        }
        self.write(&mut frame)?;
        Ok(replies)
    }

    fn write(&mut self, frame: &mut Vec<Vec<u8>>) -> Result<(), StoreError> {
        if frame.is_empty() {
            return Ok(());
        }
        let written = self.log.append(frame);
        self.broken = written.is_err();
        frame.clear();
        written
    }

    /// Plays and syncs one operation.
    ///
    /// # Errors
    ///
    /// As [`Self::submit`].
    pub fn submit_one(&mut self, operation: Operation) -> Result<Reply, StoreError> {
        let replies = self.submit(vec![operation])?;
        replies.first().copied().ok_or(StoreError::Broken)
    }

    /// Lets time go on.
    ///
    /// # Errors
    ///
    /// As [`Self::submit`].
    pub fn tick(&mut self, now: u64) -> Result<Reply, StoreError> {
        self.submit_one(Operation {
            body: Body::Tick { now },
            ..Operation::tick(now)
        })
    }

    /// Writes a snapshot, so that the next recovery is short; the last two are kept.
    ///
    /// # Errors
    ///
    /// There is nowhere to put it, or it cannot be written.
    pub fn snapshot(&mut self) -> Result<(), StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        let state = self.state.to_bytes()?;
        let snapshot = Snapshot {
            frame: self.log.frames(),
            offset: self.log.end(),
            head: self.log.head(),
            root: self.state.root().root,
            hash: keccak256(&state),
            state,
        };
        match &self.snapshots {
            Some(snapshots) => snapshots.put(&snapshot),
            None => Err(StoreError::NoSnapshots),
        }
    }
}

/// Verifies signatures in the current pool of threads; the state is not needed.
#[must_use]
pub fn check(
    operations: Vec<Operation>,
    network: &[u8; 32],
) -> Vec<Result<Authentic, BadSignature>> {
    operations
        .into_par_iter()
        .map(|operation| operation.authenticate(network))
        .collect()
}

fn frame_len(frame: &[Vec<u8>]) -> usize {
    frame.iter().map(|bytes| 4 + bytes.len()).sum()
}

/// The state of a snapshot that is right.
fn load(snapshot: &Snapshot, genesis: &Genesis) -> Option<State> {
    if keccak256(&snapshot.state) != snapshot.hash {
        return None;
    }
    let mut state = State::from_bytes(&snapshot.state).ok()?;
    let right = state.genesis() == genesis && state.root().root == snapshot.root;
    right.then_some(state)
}
