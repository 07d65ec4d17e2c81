//! Writing a file so that its path holds either nothing new or all of it.
#![forbid(unsafe_code)]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ProofError;

static COUNTER: AtomicU64 = AtomicU64::new(0);

/// Removes the temporary file unless it was renamed.
struct Temporary<'a>(Option<&'a Path>);

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if let Some(path) = self.0 {
            // Nothing better can be done with a failure here: the first error is reported.
            let _ = fs::remove_file(path);
        }
    }
}

/// Writes `data` to `path`: a temporary file in the same directory, synced, renamed, and the
/// directory synced. A crash at any moment leaves the old file, nothing, or the whole new one.
///
/// Without `force` an existing path, a dangling symbolic link included, is refused. With `force`
/// a symbolic link is replaced, not followed.
///
/// # Errors
/// [`ProofError::Exists`], or [`ProofError::Io`] with the operation; the temporary is removed.
pub fn write_file(path: &Path, data: &[u8], force: bool) -> Result<(), ProofError> {
    let io_error = |op, at: &Path, source| ProofError::Io {
        op,
        path: at.to_path_buf(),
        source,
    };
    if path.file_name().is_none() {
        return Err(io_error(
            "write",
            path,
            io::Error::from(io::ErrorKind::InvalidFilename),
        ));
    }
    if !force && fs::symlink_metadata(path).is_ok() {
        return Err(ProofError::Exists(path.to_path_buf()));
    }
    let dir = match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir.to_path_buf(),
        _ => PathBuf::from("."),
    };
    let (temporary, mut file) = create_temporary(&dir)
        .map_err(|source| io_error("create a temporary file in", &dir, source))?;
    let mut guard = Temporary(Some(&temporary));
    file.write_all(data)
        .map_err(|source| io_error("write", &temporary, source))?;
    file.sync_all()
        .map_err(|source| io_error("sync", &temporary, source))?;
    drop(file);
    if force {
        fs::rename(&temporary, path).map_err(|source| io_error("rename to", path, source))?;
        guard.0 = None;
    } else {
        place_new(&temporary, path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => ProofError::Exists(path.to_path_buf()),
            _ => io_error("link", path, source),
        })?;
        // The guard removes the temporary name; the file stays under its own.
    }
    drop(guard);
    sync_dir(&dir).map_err(|source| io_error("sync", &dir, source))
}

fn create_temporary(dir: &Path) -> io::Result<(PathBuf, File)> {
    loop {
        let serial = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!(".fieldspar-{}-{serial}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives the file its name only if the name is free, without a moment in between: a hard link
/// fails where a rename would overwrite. File systems without hard links get the rename.
fn place_new(temporary: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(temporary, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            if fs::symlink_metadata(path).is_ok() {
                return Err(io::Error::from(io::ErrorKind::AlreadyExists));
            }
            fs::rename(temporary, path)
        }
        done => done,
    }
}

#[cfg(unix)]
fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Directories cannot be opened for syncing here; the rename is durable with the file system's log.
#[cfg(not(unix))]
fn sync_dir(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
