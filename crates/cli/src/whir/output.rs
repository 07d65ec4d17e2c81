//! Where results may be written.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use fieldspar_whir::proof::write_file;

use crate::failure::Failure;

/// Refuses, before any work, a path that the result could not be written to. Even with `force` only
/// a regular file is replaced, never a device or a directory; a symbolic link counts as what it
/// leads to, and is an error if that is nothing.
pub(crate) fn check(path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    let refuse = |why: &str| Failure::usage(format!("{shown} {why}")).at(shown.to_string());
    if path.file_name().is_none() {
        return Err(refuse("does not name a file"));
    }
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(refuse("is not a regular file and is left alone")),
        Ok(_) if !force => Err(refuse("exists; pass --force to replace it")),
        Ok(_) => Ok(()),
        Err(_) if std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) => Err(
            refuse("is a symbolic link that leads to no file and is left alone"),
        ),
        Err(_) => match path.parent() {
            Some(dir) if !dir.as_os_str().is_empty() && !dir.is_dir() => {
                Err(Failure::input(format!("{} is no directory", dir.display()))
                    .at(shown.to_string()))
            }
            _ => Ok(()),
        },
    }
}

/// Writes a result whole or not at all, to where a symbolic link leads; checks the path once more.
pub(crate) fn write(path: &Path, data: &[u8], force: bool) -> Result<(), Failure> {
    check(path, force)?;
    let linked = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    let target = if linked { real(path) } else { None };
    Ok(write_file(target.as_deref().unwrap_or(path), data, force)?)
}

/// Refuses outputs that would replace one another, or what is read. Each has the name that the user
/// knows it by.
pub(crate) fn distinct(outputs: &[(&str, &Path)], inputs: &[(&str, &Path)]) -> Result<(), Failure> {
    for (i, (name, path)) in outputs.iter().enumerate() {
        let Some(own) = real(path) else { continue };
        let others = outputs[i + 1..].iter().chain(inputs);
        for (other_name, other) in others {
            if real(other).as_ref() == Some(&own) {
                let shown = path.display();
                return Err(Failure::usage(format!(
                    "{name} and {other_name} are the same file, {shown}"
                ))
                .at(shown.to_string()));
            }
        }
    }
    Ok(())
}

/// The one name of a file that is there, or that a folder that is there may get.
fn real(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
        let folder = std::fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;
    use crate::failure::Kind;

    #[test]
    fn one_file_has_many_names() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("x");
        let dotted = folder.path().join("./x");
        let other = folder.path().join("y");
        let same = |a: &Path, b: &Path| distinct(&[("--a", a), ("--b", b)], &[]).is_err();
        assert!(same(&plain, &dotted) && !same(&plain, &other));
        assert!(distinct(&[("--a", &plain)], &[("--at", &dotted)]).is_err());
        // Only an output can do harm.
        distinct(&[("--a", &other)], &[("--at", &plain), ("IN", &dotted)]).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_as_what_it_leads_to() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "old").unwrap();
        for (target, link) in [
            (path("file"), "to-file"),
            (path("nothing"), "dangling"),
            (folder.path().to_owned(), "to-folder"),
            ("/dev/null".into(), "to-device"),
        ] {
            symlink(target, path(link)).unwrap();
        }
        for link in ["dangling", "to-folder", "to-device"] {
            for force in [false, true] {
                assert_eq!(check(&path(link), force).unwrap_err().kind, Kind::Usage);
            }
            assert!(write(&path(link), b"x", true).is_err());
            assert!(fs::symlink_metadata(path(link)).unwrap().is_symlink());
        }
        let error = check(&path("to-file"), false).unwrap_err();
        assert!(error.message.contains("--force"), "{}", error.message);
        write(&path("to-file"), b"new", true).unwrap();
        assert_eq!(fs::read(path("file")).unwrap(), b"new");
        assert!(fs::symlink_metadata(path("to-file")).unwrap().is_symlink());
        let (file, link) = (path("file"), path("to-file"));
        assert!(distinct(&[("--a", &file), ("--b", &link)], &[]).is_err());
    }
}
