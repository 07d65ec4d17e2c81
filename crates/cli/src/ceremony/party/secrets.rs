//! A party's share of a key, in a file for its owner alone.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// What is in the file; bytes are hex.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Secrets {
    pub(super) schema: u32,
    /// The number of the key generation's kind.
    pub(super) kind_number: u8,
    pub(super) network: String,
    /// The key generation.
    pub(super) ceremony: String,
    /// The key's id.
    pub(super) key: String,
    pub(super) group_key: String,
    /// The party's number among the key's parties, from 0.
    pub(super) index: u16,
    /// The parties' public keys.
    pub(super) members: Vec<String>,
    /// frost-core's encoding.
    pub(super) public_key_package: String,
    /// frost-core's encoding; holds the secret share.
    pub(super) key_package: String,
}

pub(super) const SCHEMA: u32 = 1;

impl Secrets {
    /// Makes the file, whole or not at all, readable by its owner alone; there is none yet.
    pub(super) fn save(&self, path: &Path) -> Result<(), Failure> {
        let at = |e: std::io::Error| Failure::input(e.to_string()).at(path.display().to_string());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let text =
            serde_json::to_string_pretty(self).map_err(|e| Failure::internal(e.to_string()))?;
        // Made with mode 0600.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(at)?;
        writeln!(file, "{text}").map_err(at)?;
        file.as_file().sync_all().map_err(at)?;
        file.persist_noclobber(path).map_err(|e| at(e.error))?;
        File::open(folder).and_then(|f| f.sync_all()).map_err(at)
    }

    pub(super) fn load(path: &Path) -> Result<Self, Failure> {
        let at = |e: String| Failure::input(e).at(path.display().to_string());
        let text = std::fs::read_to_string(path).map_err(|e| at(e.to_string()))?;
        let secrets: Self = serde_json::from_str(&text).map_err(|e| at(e.to_string()))?;
        if secrets.schema == SCHEMA {
            Ok(secrets)
        } else {
            Err(at(format!("schema {}, not {SCHEMA}", secrets.schema)))
        }
    }
}
