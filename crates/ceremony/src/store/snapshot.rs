//! Snapshots of the state, in a redb database: the last two.
#![forbid(unsafe_code)]

use std::path::Path;

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::error::StoreError;
use crate::Digest;

/// Place in the log, hash of the frame, state root, hash of the state's bytes, those bytes.
type Row<'a> = (u64, [u8; 32], [u8; 32], [u8; 32], &'a [u8]);

/// By frame.
const TABLE: TableDefinition<'_, u64, Row<'_>> = TableDefinition::new("snapshots");

/// A state and its place in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The frame it stands behind.
    pub frame: u64,
    /// Where that frame ends.
    pub offset: u64,
    /// Its hash.
    pub head: Digest,
    /// The state's root.
    pub root: Digest,
    /// The hash of `state`.
    pub hash: Digest,
    /// The state.
    pub state: Vec<u8>,
}

/// Where snapshots are.
#[derive(Debug)]
pub struct Snapshots(Database);

fn failed(error: impl core::fmt::Display) -> StoreError {
    StoreError::Database(error.to_string())
}

impl Snapshots {
    /// Opens a database, or makes one.
    ///
    /// # Errors
    ///
    /// It cannot be opened or is none.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let database = Database::create(path).map_err(failed)?;
        let writing = database.begin_write().map_err(failed)?;
        writing.open_table(TABLE).map_err(failed)?;
        writing.commit().map_err(failed)?;
        Ok(Self(database))
    }

    /// The snapshots, the newest first.
    pub(super) fn newest_first(&self) -> Vec<Result<Snapshot, StoreError>> {
        self.read().unwrap_or_else(|error| vec![Err(error)])
    }

    fn read(&self) -> Result<Vec<Result<Snapshot, StoreError>>, StoreError> {
        let reading = self.0.begin_read().map_err(failed)?;
        let table = reading.open_table(TABLE).map_err(failed)?;
        let all = table.iter().map_err(failed)?.rev();
        Ok(all
            .map(|entry| {
                let (frame, value) = entry.map_err(failed)?;
                let (offset, head, root, hash, state) = value.value();
                Ok(Snapshot {
                    frame: frame.value(),
                    offset,
                    head,
                    root,
                    hash,
                    state: state.to_vec(),
                })
            })
            .collect())
    }

    /// Forgets all: their places are those of a log that is gone.
    pub(super) fn clear(&self) -> Result<(), StoreError> {
        let writing = self.0.begin_write().map_err(failed)?;
        writing.delete_table(TABLE).map_err(failed)?;
        writing.open_table(TABLE).map_err(failed)?;
        writing.commit().map_err(failed)
    }

    /// Keeps a snapshot and the newest of those before it.
    ///
    /// # Errors
    ///
    /// The database refuses.
    pub fn put(&self, s: &Snapshot) -> Result<(), StoreError> {
        let writing = self.0.begin_write().map_err(failed)?;
        {
            let mut table = writing.open_table(TABLE).map_err(failed)?;
            table
                .insert(
                    s.frame,
                    (s.offset, s.head, s.root, s.hash, s.state.as_slice()),
                )
                .map_err(failed)?;
            let mut frames = Vec::new();
            for entry in table.iter().map_err(failed)?.rev() {
                frames.push(entry.map_err(failed)?.0.value());
            }
            for old in frames.into_iter().skip(2) {
                table.remove(old).map_err(failed)?;
            }
        }
        writing.commit().map_err(failed)
    }
}
