//! Opened rows and paths, gathered on the device.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};

use super::kernels::Kernels;
use super::tree::{Tree, digest};
use super::workspace::{MAIL, NO_MAIL, Workspace, halves};
use crate::field::Digest;

const THREADS: usize = 256;
/// Blocks of a gathering.
const MAX_BLOCKS: usize = 128;

/// The words of the rows at `indices`, one row after another, and the digests that authenticate
/// them.
pub(super) fn open(
    stream: &Stream,
    kernels: &Kernels,
    workspace: &mut Workspace,
    code: &Buffer<u32>,
    columns: usize,
    tree: &Tree,
    indices: &[usize],
) -> Result<(Vec<u32>, Vec<Digest>), Error> {
    let missing = tree.missing(indices);
    let row_words = indices.len() * columns;
    let words = row_words + 8 * missing.len();
    if words == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let at: Vec<u32> = indices.iter().chain(&missing).map(|&i| i as u32).collect();
    let at = stream.upload(&at)?;
    let by_mail = words <= MAIL;
    let out = stream.alloc::<u32>(if by_mail { 0 } else { words })?;
    let (to, mail) = if by_mail {
        (workspace.mail.results(), workspace.ask())
    } else {
        (out.as_ptr(), NO_MAIL)
    };
    let [low, high] = halves(1 << tree.log_height());
    let counts = [columns, indices.len(), missing.len()].map(|n| n as u32);
    let args = [
        Arg::Ptr(code.as_ptr()),
        Arg::Ptr(tree.digests().as_ptr()),
        Arg::Ptr(at.as_ptr()),
        Arg::Words(&[low, high, counts[0], counts[1], counts[2], 0]),
        Arg::Ptr(to),
        Arg::Ptr(workspace.arrived.as_ptr()),
        Arg::Words(&mail),
    ];
    let blocks = words.div_ceil(THREADS).min(MAX_BLOCKS);
    let block = (THREADS as u32, 1, 1);
    stream.launch(&kernels.gather, (blocks as u32, 1, 1), block, 0, &args)?;
    let mut rows = if by_mail {
        workspace.mail.wait(words)?
    } else {
        stream.download(&out, 0..words)?
    };
    let siblings = rows[row_words..].chunks_exact(8).map(digest).collect();
    rows.truncate(row_words);
    Ok((rows, siblings))
}
