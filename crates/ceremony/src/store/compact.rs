//! Making the log shorter.
#![forbid(unsafe_code)]

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::base::Base;
use super::disk::{Disk, FileDisk};
use super::error::StoreError;
use super::log::Log;
use super::{LOG, Store, sync_folder};
use crate::keccak256;

/// The shorter log's name until it is whole and safe.
const NEXT: &str = "log.fsl.next";

/// What a compaction did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// What the log begins with now.
    pub base: Base,
    /// Bytes of the log before.
    pub before: u64,
    /// Bytes now.
    pub after: u64,
}

impl<D: Disk> Store<D> {
    /// A log on an empty disk that begins with the state as it is; the store goes on with its own.
    ///
    /// # Errors
    ///
    /// The disk is not empty or refuses.
    pub fn shorter_log(&mut self, disk: D) -> Result<Log<D>, StoreError> {
        if self.broken {
            return Err(StoreError::Broken);
        }
        let state = self.state.to_bytes()?;
        let base = Base {
            frame: self.log.frames(),
            operations: self.state.operations(),
            head: self.log.head(),
            root: self.state.root().root,
            state_hash: keccak256(&state),
            state_len: state.len() as u64,
        };
        Log::create_on(disk, *self.state.genesis(), base, &state)
    }
}

impl Store<FileDisk> {
    /// Replaces the log by one that begins with the state: live and ended ceremonies, evidence, keys
    /// and all nonce commitments are in it, and its chain goes on from the last frame's hash. With
    /// `archive` the old log stays under that name, in the same file system.
    ///
    /// The shorter log is written beside the old one, synced, and takes its name in one step, so that
    /// after a crash one of them is there whole.
    ///
    /// # Errors
    ///
    /// The disk refuses, or `archive` is there already. The store is as it was then, but for a folder
    /// that cannot be synced, after which it does nothing more.
    pub fn compact(&mut self, archive: Option<&Path>) -> Result<Compaction, StoreError> {
        let folder = match &self.folder {
            Some(folder) => folder.path.clone(),
            None => return Err(StoreError::NoFolder),
        };
        let (path, next) = (folder.join(LOG), folder.join(NEXT));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&next)
            .map_err(StoreError::io("create the shorter log"))?;
        let log = self.shorter_log(FileDisk::new(file))?;
        if let Some(archive) = archive {
            fs::hard_link(&path, archive).map_err(StoreError::io("keep the old log"))?;
        }
        fs::rename(&next, &path).map_err(StoreError::io("put the shorter log in place"))?;
        if let Err(error) = sync_folder(&folder) {
            // The old log may come back, without what would be written now.
            self.broken = true;
            return Err(error);
        }
        let before = self.log.end();
        self.log = log;
        // Those that stay after a crash here are passed over: the base covers them.
        if let Some(snapshots) = &self.snapshots {
            snapshots.clear()?;
        }
        let base = self.log.base().copied();
        Ok(Compaction {
            base: base.ok_or(StoreError::Base("it is not there"))?,
            before,
            after: self.log.end(),
        })
    }
}
