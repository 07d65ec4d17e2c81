//! Opened rows and paths, gathered on the device.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Mailbox, Stream};

use super::kernels::Kernels;
use super::tree::{Tree, digest};
use super::workspace::{Letters, MAIL, NO_MAIL, ask, halves};
use crate::field::Digest;

const THREADS: usize = 256;
/// Blocks of a gathering.
const MAX_BLOCKS: usize = 128;

/// A gathering that was launched.
#[derive(Debug)]
pub(super) struct Gathering {
    from: From,
    /// Words of the rows, and of all.
    row_words: usize,
    words: usize,
}

#[derive(Debug)]
enum From {
    /// The results come by mail.
    Letter(Mailbox),
    /// There are too many for that, or none.
    Buffer(Buffer<u32>),
}

/// Starts to gather the words of the rows at `indices`, one row after another, and the digests that
/// authenticate them.
pub(super) fn open(
    stream: &Stream,
    kernels: &Kernels,
    arrived: &Buffer<u32>,
    letters: &Letters,
    (code, columns): (&Buffer<u32>, usize),
    tree: &Tree,
    indices: &[usize],
) -> Result<Gathering, Error> {
    let missing = tree.missing(indices);
    let row_words = indices.len() * columns;
    let words = row_words + 8 * missing.len();
    let at: Vec<u32> = indices.iter().chain(&missing).map(|&i| i as u32).collect();
    let [low, high] = halves(1 << tree.log_height());
    let counts = [columns, indices.len(), missing.len()].map(|n| n as u32);
    let shape = [low, high, counts[0], counts[1], counts[2], 0];
    let gather = |at, to, mail: &[u32; 6]| {
        let args = [
            Arg::Ptr(code.as_ptr()),
            Arg::Ptr(tree.digests().as_ptr()),
            Arg::Ptr(at),
            Arg::Words(&shape),
            Arg::Ptr(to),
            Arg::Ptr(arrived.as_ptr()),
            Arg::Words(mail),
        ];
        let blocks = words.div_ceil(THREADS).min(MAX_BLOCKS);
        let block = (THREADS as u32, 1, 1);
        stream.launch(&kernels.gather, (blocks as u32, 1, 1), block, 0, &args)
    };
    let from = if words == 0 {
        From::Buffer(stream.alloc(0)?)
    } else if words <= MAIL {
        // no more indices than words
        let mut letter = letters.take(stream)?;
        let mail = ask(&mut letter);
        let list = letter.results() + 4 * MAIL as u64;
        letter.put(MAIL, &at)?;
        gather(list, letter.results(), &mail)?;
        From::Letter(letter)
    } else {
        let at = stream.upload(&at)?;
        let out = stream.alloc::<u32>(words)?;
        gather(at.as_ptr(), out.as_ptr(), &NO_MAIL)?;
        From::Buffer(out)
    };
    Ok(Gathering {
        from,
        row_words,
        words,
    })
}

impl Gathering {
    /// Waits for the rows and the digests.
    pub(super) fn wait(
        self,
        stream: &Stream,
        letters: &Letters,
    ) -> Result<(Vec<u32>, Vec<Digest>), Error> {
        let mut rows = match self.from {
            From::Letter(letter) => {
                let words = letter.wait(self.words);
                letters.put(letter);
                words?
            }
            From::Buffer(buffer) => stream.download(&buffer, 0..self.words)?,
        };
        let siblings = rows[self.row_words..].chunks_exact(8).map(digest).collect();
        rows.truncate(self.row_words);
        Ok((rows, siblings))
    }
}
