//! What a shortened log begins with: a state, and the hash of the frame behind which it stands.
//!
//! ```text
//! header  "fieldspar ceremony base 2\n" 26 | network 32 | operator 32 | frame 8 | operations 8
//!         | hash of that frame 32 | state root 32 | keccak of the state's bytes 32 | their number 8
//!         | keccak of these 32
//! then the state's bytes, then frames whose chain goes on from that hash
//! ```
#![forbid(unsafe_code)]

use super::error::StoreError;
use crate::rules::v2::Genesis;
use crate::{Digest, keccak256};

const MAGIC: &[u8; 26] = b"fieldspar ceremony base 2\n";

/// Bytes of the header.
pub(super) const HEADER: usize = TOLD + 32;

const TOLD: usize = 26 + 32 + 32 + 8 + 8 + 32 + 32 + 32 + 8;

/// What a shortened log goes on from. Whoever reads the log trusts it: the frames before it are not
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Base {
    /// The frame behind which the state stands.
    pub frame: u64,
    /// The operations that had changed something by then.
    pub operations: u64,
    /// The hash of that frame.
    pub head: Digest,
    /// The state's root.
    pub root: Digest,
    /// The hash of the state's bytes.
    pub state_hash: Digest,
    /// Their number.
    pub state_len: u64,
}

/// What a header says.
pub(super) struct Beginning {
    pub(super) genesis: Genesis,
    pub(super) base: Base,
}

pub(super) fn header(genesis: &Genesis, base: &Base) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(genesis.network);
    bytes.extend(genesis.operator);
    bytes.extend(base.frame.to_le_bytes());
    bytes.extend(base.operations.to_le_bytes());
    bytes.extend(base.head);
    bytes.extend(base.root);
    bytes.extend(base.state_hash);
    bytes.extend(base.state_len.to_le_bytes());
    let hash = keccak256(&bytes);
    bytes.extend(hash);
    bytes
}

/// `None` if the bytes begin another sort of log.
pub(super) fn read_header(bytes: &[u8]) -> Result<Option<Beginning>, StoreError> {
    if !bytes.starts_with(MAGIC) {
        return Ok(None);
    }
    let Some((told, hash)) = bytes.split_at_checked(TOLD) else {
        return Err(StoreError::Header("it is shorter than a header"));
    };
    if hash.get(..32) != Some(&keccak256(told)) {
        return Err(StoreError::Header("the hash of the header is another"));
    }
    let mut at = MAGIC.len();
    let mut field = |len: usize| {
        let start = at;
        at += len;
        &told[start..start + len]
    };
    let digest = |bytes: &[u8]| {
        let mut digest = [0; 32];
        digest.copy_from_slice(bytes);
        digest
    };
    let word = |bytes: &[u8]| {
        let mut word = [0; 8];
        word.copy_from_slice(bytes);
        u64::from_le_bytes(word)
    };
    let genesis = Genesis {
        network: digest(field(32)),
        operator: digest(field(32)),
    };
    let base = Base {
        frame: word(field(8)),
        operations: word(field(8)),
        head: digest(field(32)),
        root: digest(field(32)),
        state_hash: digest(field(32)),
        state_len: word(field(8)),
    };
    Ok(Some(Beginning { genesis, base }))
}
