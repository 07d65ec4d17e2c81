//! Where results may be written.
#![forbid(unsafe_code)]

use std::path::Path;

use crate::failure::Failure;

/// Refuses, before any work, a path that the result could not be written to. Even with `force` only
/// a regular file or a symbolic link is replaced, never a device or a directory.
pub(crate) fn check(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.file_name().is_none() {
        return Err(Failure::usage(format!("{shown} does not name a file")));
    }
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() && !found.is_symlink() => Err(Failure::usage(format!(
            "{shown} is not a regular file and is left alone"
        ))),
        Ok(_) if !force => Err(Failure::usage(format!(
            "{shown} exists; pass --force to replace it"
        ))
        .at(shown.to_string())),
        Ok(_) => Ok(()),
        Err(_) => match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() && !dir.is_dir() => {
                Err(Failure::input(format!("{} is no directory", dir.display()))
                    .at(shown.to_string()))
            }
            _ => Ok(()),
        },
    }
}
