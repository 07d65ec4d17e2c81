//! Opened rows and paths: gathered on the device, brought over in one copy.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};

use super::kernels::Kernels;
use super::tree::{Tree, digest};
use crate::field::Digest;

const THREADS: u32 = 256;

/// The words of the rows at `indices`, one row after another, and the digests that authenticate
/// them.
pub(super) fn open(
    stream: &Stream,
    kernels: &Kernels,
    code: &Buffer<u32>,
    columns: usize,
    log_height: usize,
    tree: &Tree,
    indices: &[usize],
) -> Result<(Vec<u32>, Vec<Digest>), Error> {
    let missing = tree.missing(indices);
    let rows: Vec<u32> = indices.iter().map(|&i| i as u32).collect();
    let row_words = rows.len() * columns;
    let words = row_words + 8 * missing.len();
    if words == 0 {
        return Ok((Vec::new(), Vec::new()));
    }
    let out = stream.alloc::<u32>(words)?;
    if row_words > 0 {
        let at = stream.upload(&rows)?;
        let args = [
            Arg::Ptr(code.as_ptr()),
            Arg::U32(columns as u32),
            Arg::U64(1 << log_height),
            Arg::Ptr(at.as_ptr()),
            Arg::U32(rows.len() as u32),
            Arg::Ptr(out.as_ptr()),
        ];
        let grid = ((row_words as u32).div_ceil(THREADS), 1, 1);
        stream.launch(&kernels.gather_rows, grid, (THREADS, 1, 1), 0, &args)?;
    }
    if !missing.is_empty() {
        let at = stream.upload(&missing)?;
        let args = [
            Arg::Ptr(tree.digests().as_ptr()),
            Arg::Ptr(at.as_ptr()),
            Arg::U32(missing.len() as u32),
            Arg::Ptr(out.ptr_at(row_words)),
        ];
        let grid = ((8 * missing.len() as u32).div_ceil(THREADS), 1, 1);
        stream.launch(&kernels.gather_digests, grid, (THREADS, 1, 1), 0, &args)?;
    }
    let mut rows = stream.download(&out, 0..words)?;
    let siblings = rows[row_words..].chunks_exact(8).map(digest).collect();
    rows.truncate(row_words);
    Ok((rows, siblings))
}
