//! Results that outlive the run: written whole or not at all.
#![forbid(unsafe_code)]

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use crate::Result;

/// Writes `value` to `path` so that a reader finds the old file or the new one, never a part, also
/// after a crash.
pub(crate) fn write(path: &Path, value: &Value) -> Result {
    let folder = path.parent().ok_or("a record needs a folder")?;
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    let written = (|| -> std::io::Result<()> {
        let mut file = File::create(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)?;
        // The rename itself has to reach the disk too; Windows cannot open folders.
        if cfg!(unix) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    })();
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(format!("{}: {error}", path.display()).into());
    }
    Ok(())
}

/// Reads a record; `None` if there is none.
pub(crate) fn read(path: &Path) -> Result<Option<Value>> {
    match fs::read_to_string(path) {
        Ok(text) => {
            let value = serde_json::from_str(&text)
                .map_err(|e| format!("{} is no record: {e}", path.display()))?;
            Ok(Some(value))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display()).into()),
    }
}

/// Now, in UTC, such as `2026-11-30T16:14:26Z`.
pub(crate) fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    utc(since.map_or(0, |d| d.as_secs()))
}

fn utc(unix: u64) -> String {
    let (days, rest) = (unix / 86_400, unix % 86_400);
    // Civil date from the day number, in a year that starts on 1 March so that leap days come last
    // (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_796_055_266), "2026-11-30T16:14:26Z");
    }

    #[test]
    fn a_record_comes_back_and_leaves_nothing_beside_it() {
        let folder = std::env::temp_dir().join(format!("xtask-record-{}", std::process::id()));
        let path = folder.join("sub/r.json");
        assert!(read(&path).unwrap().is_none());
        for n in [1, 2] {
            write(&path, &serde_json::json!({ "n": n })).unwrap();
            assert_eq!(read(&path).unwrap().unwrap()["n"], n);
        }
        assert_eq!(fs::read_dir(folder.join("sub")).unwrap().count(), 1);
        fs::write(&path, "{").unwrap();
        read(&path).unwrap_err();
        fs::remove_dir_all(&folder).unwrap();
    }
}
