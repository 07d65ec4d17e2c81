//! Writes and reads archives of compiled kernels. The format is described where the binary reads it:
//! crates/device/src/cuda/archive.rs. That code is not used here, so that a broken crate cannot stop
//! xtask; a test holds the two against each other.
#![forbid(unsafe_code)]

use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};
use sha2::{Digest, Sha256};

use super::nvrtc::Target;
use crate::Result;

const MAGIC: &[u8; 8] = b"FSPKERNL";
const VERSION: u32 = 1;
/// miniz_oxide's best.
const LEVEL: u8 = 10;

/// One compiled module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Module {
    pub(crate) name: String,
    pub(crate) target: Target,
    /// 90 is `sm_90`.
    pub(crate) arch: u16,
    pub(crate) bytes: Vec<u8>,
}

impl Module {
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.name, self.target.architecture(self.arch))
    }
}

/// What an archive holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents {
    pub(crate) sources: [u8; 32],
    pub(crate) modules: Vec<Module>,
}

pub(crate) fn write(contents: &Contents) -> Result<Vec<u8>> {
    let mut modules: Vec<&Module> = contents.modules.iter().collect();
    modules.sort();
    let mut out = MAGIC.to_vec();
    out.extend(VERSION.to_le_bytes());
    out.extend(u32::try_from(modules.len())?.to_le_bytes());
    out.extend(contents.sources);
    let mut images = Vec::new();
    for module in modules {
        let packed = compress_to_vec_zlib(&module.bytes, LEVEL);
        out.push(u8::try_from(module.name.len())?);
        out.extend(module.name.as_bytes());
        out.push(match module.target {
            Target::Cubin => 0,
            Target::Ptx => 1,
        });
        out.extend(module.arch.to_le_bytes());
        out.extend(u32::try_from(module.bytes.len())?.to_le_bytes());
        out.extend(u32::try_from(packed.len())?.to_le_bytes());
        out.extend(Sha256::digest(&module.bytes));
        images.extend(packed);
    }
    out.extend(images);
    Ok(out)
}

pub(crate) fn read(archive: &[u8]) -> Result<Contents> {
    let mut rest = archive;
    if take(&mut rest, 8)? != MAGIC || u32::from_le_bytes(array(&mut rest)?) != VERSION {
        return Err("no archive of version 1".into());
    }
    let count = u32::from_le_bytes(array(&mut rest)?);
    let sources = array(&mut rest)?;
    let mut table = Vec::new();
    for _ in 0..count {
        let [length] = array(&mut rest)?;
        let name = String::from_utf8(take(&mut rest, length.into())?.to_vec())?;
        let target = match array(&mut rest)? {
            [0] => Target::Cubin,
            [1] => Target::Ptx,
            [other] => return Err(format!("an image of kind {other}").into()),
        };
        let arch = u16::from_le_bytes(array(&mut rest)?);
        let length = u32::from_le_bytes(array(&mut rest)?) as usize;
        let packed = u32::from_le_bytes(array(&mut rest)?) as usize;
        let sha256: [u8; 32] = array(&mut rest)?;
        table.push((name, target, arch, length, packed, sha256));
    }
    let mut modules = Vec::new();
    for (name, target, arch, length, packed, sha256) in table {
        let bytes = decompress_to_vec_zlib_with_limit(take(&mut rest, packed)?, length)
            .map_err(|e| format!("{name}: {e}"))?;
        if bytes.len() != length || Sha256::digest(&bytes).as_slice() != sha256 {
            return Err(format!("{name}: not what the table says").into());
        }
        modules.push(Module {
            name,
            target,
            arch,
            bytes,
        });
    }
    if !rest.is_empty() || !modules.is_sorted() {
        return Err("bytes left over, or modules out of order".into());
    }
    Ok(Contents { sources, modules })
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (taken, after) = rest
        .split_at_checked(length)
        .ok_or("the archive ends early")?;
    *rest = after;
    Ok(taken)
}

fn array<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    Ok(take(rest, N)?.try_into()?)
}

#[cfg(test)]
#[path = "../../../crates/device/src/cuda/archive.rs"]
#[allow(dead_code, missing_docs, unreachable_pub)]
mod device;

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{device::Archive, *};

    #[test]
    fn what_is_written_is_read_here_and_in_the_binary() {
        let module = |name: &str, target, arch, length: usize| Module {
            name: name.to_owned(),
            target,
            arch,
            bytes: (0..length).map(|i| (i * i / 7) as u8).collect(),
        };
        let contents = Contents {
            sources: [7; 32],
            modules: vec![
                module("ntt", Target::Cubin, 80, 5000),
                module("ntt", Target::Cubin, 90, 0),
                module("ntt", Target::Ptx, 75, 1),
                module("tree_16", Target::Cubin, 120, 70_000),
            ],
        };
        let bytes = write(&contents).unwrap();
        assert_eq!(read(&bytes).unwrap(), contents);
        let archive = Archive::parse(&bytes).unwrap();
        assert_eq!(archive.sources(), contents.sources);
        assert_eq!(archive.modules(), ["ntt", "tree_16"]);
        for (module, capability) in contents
            .modules
            .iter()
            .zip([(8, 0), (9, 0), (7, 5), (12, 0)])
        {
            let image = archive.image(&module.name, capability).unwrap();
            assert_eq!(image.bytes, module.bytes);
            assert_eq!(image.arch, u32::from(module.arch));
        }
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err());
        }
    }
}
