//! Opened rows and paths, gathered on the adapter.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Pending, ReadId};

use super::encode::Code;
use super::engine::Core;
use super::texts::Module;
use super::tree::{DIGEST, Tree, digest};
use crate::field::Digest;

const OP: &str = "whir open";
const THREADS: usize = 256;

/// A gathering that was submitted.
#[derive(Debug)]
pub(super) struct Gathering {
    pending: Pending,
    read: ReadId,
    /// Words of the rows.
    row_words: usize,
}

/// Starts to gather the words of the rows at `indices`, one row after another, and the digests that
/// authenticate them; `None` where there is nothing to gather.
pub(super) fn open(
    core: &Core,
    code: &Code,
    tree: &Tree,
    indices: &[usize],
) -> Result<Option<Gathering>, Error> {
    let missing = tree.shape().missing(indices);
    let row_words = indices.len() * code.columns;
    let words = row_words + DIGEST * missing.len();
    if words == 0 {
        return Ok(None);
    }
    // the rows, then for each part of the tree its digests and where they go
    let mut places: Vec<u32> = indices.iter().map(|&i| i as u32).collect();
    let mut parts = Vec::new();
    for buffer in 0..tree.buffers().len() {
        let first = places.len();
        for (i, &(of, at)) in missing.iter().enumerate() {
            if of == buffer {
                places.extend([at as u32, (row_words + DIGEST * i) as u32]);
            }
        }
        parts.push((first, (places.len() - first) / 2));
    }
    let places = core.gpu.upload(OP, &places)?;
    let out = core.gpu.scratch(OP, 4 * words as u64)?;
    let mut batch = core.gpu.batch(OP);
    let rows = core.kernel(Module::Open, "rows")?;
    for (i, piece) in code.pieces.iter().enumerate() {
        let params = [
            indices.len(),
            code.per_piece,
            i * code.per_piece,
            code.columns,
            1 << code.log_height,
        ];
        let groups = (indices.len() * code.per_piece).div_ceil(THREADS) as u64;
        let bindings = [places.all(), out.all(), piece.all()];
        batch.dispatch(&rows, &bindings, &params.map(|x| x as u32), groups)?;
    }
    let paths = core.kernel(Module::Open, "paths")?;
    for (buffer, &(first, count)) in tree.buffers().iter().zip(&parts) {
        let params = [count, first].map(|x| x as u32);
        let groups = (DIGEST * count).div_ceil(THREADS) as u64;
        let bindings = [places.all(), out.all(), buffer.all()];
        batch.dispatch(&paths, &bindings, &params, groups)?;
    }
    let read = batch.read(&out, 0..4 * words as u64)?;
    Ok(Some(Gathering {
        pending: batch.start()?,
        read,
        row_words,
    }))
}

impl Gathering {
    /// Waits for the rows and the digests.
    pub(super) fn wait(self) -> Result<(Vec<u32>, Vec<Digest>), Error> {
        let mut rows = self.pending.wait()?.get::<u32>(self.read)?;
        let siblings = rows[self.row_words..].chunks_exact(DIGEST).map(digest);
        let siblings = siblings.collect();
        rows.truncate(self.row_words);
        Ok((rows, siblings))
    }
}
