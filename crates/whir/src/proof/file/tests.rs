#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn files_are_written_whole_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.fsp");
    write_file(&path, b"one", false).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert!(matches!(
        write_file(&path, b"two", false),
        Err(ProofError::Exists(_))
    ));
    assert_eq!(fs::read(&path).unwrap(), b"one");
    write_file(&path, b"two", true).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    assert!(matches!(
        write_file(&dir.path().join("no/such.fsp"), b"x", false),
        Err(ProofError::Io { .. })
    ));
    // A directory in the way: the rename fails, and the temporary goes.
    fs::create_dir(dir.path().join("d.fsp")).unwrap();
    assert!(matches!(
        write_file(&dir.path().join("d.fsp"), b"x", true),
        Err(ProofError::Io { .. })
    ));
    assert!(write_file(Path::new("/"), b"x", true).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// RUSTSEC-2026-0067 and its kind: an output path must not be followed out of its directory.
#[cfg(unix)]
#[test]
fn tar_rustsec_2026_0067_symbolic_links_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("target");
    fs::write(&target, b"keep").unwrap();
    let link = dir.path().join("link.fsp");
    std::os::unix::fs::symlink(&target, &link).unwrap();
    assert!(matches!(
        write_file(&link, b"x", false),
        Err(ProofError::Exists(_))
    ));
    write_file(&link, b"new", true).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"keep");
    assert!(!fs::symlink_metadata(&link).unwrap().is_symlink());
    let dangling = dir.path().join("dangling.fsp");
    std::os::unix::fs::symlink(dir.path().join("nothing"), &dangling).unwrap();
    assert!(matches!(
        write_file(&dangling, b"x", false),
        Err(ProofError::Exists(_))
    ));
}
