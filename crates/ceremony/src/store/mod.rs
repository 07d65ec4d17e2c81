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
#![forbid(unsafe_code)]

mod disk;
mod error;
mod log;
mod snapshot;

use std::fs::{File, OpenOptions};
use std::path::Path;

use rayon::prelude::*;

pub use disk::{Disk, FileDisk};
pub use error::StoreError;
pub use log::{Log, MAX_FRAME};
pub use snapshot::{Snapshot, Snapshots};

use crate::rules::v2::{Answer, Authentic, Body, Genesis, Operation, State};
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
}

/// Names in a store's folder.
pub(crate) const LOG: &str = "log.fsl";
const SNAPSHOTS: &str = "snapshots.redb";

/// A state and its log.
#[derive(Debug)]
pub struct Store<D> {
    state: State,
    log: Log<D>,
    snapshots: Option<Snapshots>,
    /// A write failed: the state is ahead of the disk.
    broken: bool,
}

impl Store<FileDisk> {
    /// Makes a store in a folder that has none.
    ///
    /// # Errors
    ///
    /// There is one, or the folder cannot be written.
    pub fn create(folder: &Path, genesis: Genesis) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(StoreError::io("create the folder"))?;
        let path = folder.join(LOG);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(StoreError::io("create the log"))?;
        lock(&file)?;
        let log = Log::create(FileDisk::new(file), genesis)?;
        // The name must outlive a crash too.
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io("sync the folder"))?;
        Ok(Self {
            state: State::new(genesis),
            log,
            snapshots: Some(Snapshots::open(&folder.join(SNAPSHOTS))?),
            broken: false,
        })
    }

    /// Opens the store in a folder; no other process has it open.
    ///
    /// # Errors
    ///
    /// There is none, it is in use, or the log is not whole.
    pub fn open(folder: &Path) -> Result<(Self, Recovery), StoreError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(folder.join(LOG))
            .map_err(StoreError::io("open the log"))?;
        lock(&file)?;
        let snapshots = Snapshots::open(&folder.join(SNAPSHOTS))?;
        Self::recover(FileDisk::new(file), Some(snapshots))
    }
}

fn lock(file: &File) -> Result<(), StoreError> {
    file.try_lock().map_err(|_| StoreError::InUse)
}

/// Plays a log from its beginning, with nothing but the log.
///
/// With `verify` every signature is verified again; without, the hash chain is trusted.
///
/// # Errors
///
/// The log cannot be read or is broken before its end, a signature does not verify, or an operation
/// changes nothing, which no log holds.
pub fn replay<D: Disk>(disk: D, verify: bool) -> Result<(State, Recovery), StoreError> {
    let (mut log, genesis) = Log::open(disk)?;
    let mut state = State::new(genesis);
    let mut recovery = Recovery::default();
    play(&mut log, &mut state, &mut recovery, verify)?;
    Ok((state, recovery))
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
        })
    }

    /// Recovers from a disk.
    ///
    /// # Errors
    ///
    /// The log cannot be read or is broken before its end.
    pub fn recover(disk: D, snapshots: Option<Snapshots>) -> Result<(Self, Recovery), StoreError> {
        let (mut log, genesis) = Log::open(disk)?;
        let mut recovery = Recovery::default();
        let mut state = State::new(genesis);
        for snapshot in snapshots.iter().flat_map(Snapshots::newest_first) {
            let right = snapshot.ok().and_then(|s| Some((load(&s, &genesis)?, s)));
            let Some((loaded, s)) = right else {
                recovery.bad_snapshots += 1;
                continue;
            };
            if !log.resume((s.frame, s.offset, s.head))? {
                return Err(StoreError::Behind { frame: s.frame });
            }
            recovery.snapshot_frame = log.frames();
            state = loaded;
            break;
        }
        play(&mut log, &mut state, &mut recovery, false)?;
        log.cut()?;
        let store = Self {
            state,
            log,
            snapshots,
            broken: false,
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

    /// Plays operations in order and syncs once. Signatures are verified in the current pool of
    /// threads.
    ///
    /// # Errors
    ///
    /// The disk refuses. Nothing is acknowledged then, what is on disk is unknown, and the store
    /// does nothing more: open it again.
    pub fn submit(&mut self, operations: Vec<Operation>) -> Result<Vec<Reply>, StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        let network = self.state.genesis().network;
        let authentic: Vec<_> = operations
            .into_par_iter()
            .map(|operation| operation.authenticate(&network))
            .collect();
        let mut frame = Vec::new();
        let mut replies = Vec::with_capacity(authentic.len());
        for operation in authentic {
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
