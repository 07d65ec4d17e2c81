//! The log: a header, and frames of operations chained by hashes.
//!
//! ```text
//! header  "fieldspar ceremony log 2\n" 25 | network 32 | operator 32 | keccak of these 32
//!         or, in a log that was shortened, that of a base
//! frame   length of the body 4 | body | keccak(hash before | length | body) 32
//! body    number of operations 4 | (length 4 | operation)*
//! ```
//!
//! A frame is written by one write and synced before the next, so at most the last one is torn.
#![forbid(unsafe_code)]

use std::time::{Duration, Instant};

use super::base::{self, Base, Beginning};
use super::disk::Disk;
use super::error::StoreError;
use crate::rules::v2::{Genesis, Operation};
use crate::{Digest, keccak256};

const MAGIC: &[u8; 25] = b"fieldspar ceremony log 2\n";

/// Bytes of the header.
const HEADER: usize = 25 + 32 + 32 + 32;

/// The longest body of a frame.
pub const MAX_FRAME: usize = 16 << 20;

/// Bytes read at once when a log is played.
const WINDOW: usize = 1 << 20;

/// An open log.
#[derive(Debug)]
pub struct Log<D> {
    disk: D,
    /// Bytes of good frames so far.
    end: u64,
    /// Bytes on the disk when it was opened.
    len: u64,
    /// Where the frames begin.
    start: u64,
    /// What they go on from, in a log that was shortened.
    base: Option<Base>,
    frames: u64,
    head: Digest,
    spent: Spent,
    /// What was read ahead, from `window_at` on.
    window: Vec<u8>,
    window_at: u64,
}

/// Where the time of [`Log::append`] went.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// Laying out, hashing and writing frames.
    pub write: Duration,
    /// Waiting until they were safe.
    pub sync: Duration,
}

/// What lies at a place.
enum Found {
    Frame(Vec<u8>, Digest),
    Nothing,
    /// With what the hash should have been and where the next frame would be, if the length can be
    /// true.
    Broken(Option<(u64, Digest)>),
}

fn chain(head: &Digest, body: &[u8]) -> Digest {
    // A body has at most 2^24 bytes.
    let len = (body.len() as u32).to_le_bytes();
    keccak256(&[head, &len[..], body].concat())
}

impl<D: Disk> Log<D> {
    /// Writes the header of a new log.
    ///
    /// # Errors
    ///
    /// The disk is not empty or refuses.
    pub fn create(mut disk: D, genesis: Genesis) -> Result<Self, StoreError> {
        if !disk.is_empty().map_err(StoreError::io("look at the log"))? {
            return Err(StoreError::Header("there is something already"));
        }
        let mut header = MAGIC.to_vec();
        header.extend(genesis.network);
        header.extend(genesis.operator);
        let head = keccak256(&header);
        header.extend(head);
        disk.write(0, &header)
            .map_err(StoreError::io("write the log's header"))?;
        disk.sync().map_err(StoreError::io("sync the log"))?;
        let len = HEADER as u64;
        Ok(Self::starting(disk, len, len, None, head))
    }

    /// Writes a log that goes on from a state, on a disk that is empty; the state's bytes are those
    /// that the base was made of.
    ///
    /// # Errors
    ///
    /// The disk is not empty or refuses.
    pub fn create_on(
        mut disk: D,
        genesis: Genesis,
        base: Base,
        state: &[u8],
    ) -> Result<Self, StoreError> {
        if !disk.is_empty().map_err(StoreError::io("look at the log"))? {
            return Err(StoreError::Header("there is something already"));
        }
        let header = base::header(&genesis, &base);
        let start = (header.len() + state.len()) as u64;
        disk.write(0, &header)
            .and_then(|()| disk.write(header.len() as u64, state))
            .map_err(StoreError::io("write the log's base"))?;
        disk.sync().map_err(StoreError::io("sync the log"))?;
        Ok(Self::starting(disk, start, start, Some(base), base.head))
    }

    const fn starting(disk: D, start: u64, len: u64, base: Option<Base>, head: Digest) -> Self {
        Self {
            disk,
            end: start,
            len,
            start,
            base,
            frames: match &base {
                Some(base) => base.frame,
                None => 0,
            },
            head,
            spent: Spent {
                write: Duration::ZERO,
                sync: Duration::ZERO,
            },
            window: Vec::new(),
            window_at: 0,
        }
    }

    /// Reads the header.
    ///
    /// # Errors
    ///
    /// It is no header, or the disk refuses.
    pub fn open(mut disk: D) -> Result<(Self, Genesis), StoreError> {
        let len = disk.len().map_err(StoreError::io("look at the log"))?;
        let mut header = [0; base::HEADER];
        let read = disk
            .read(0, &mut header)
            .map_err(StoreError::io("read the log"))?;
        let header = &header[..read];
        if let Some(found) = base::read_header(header)? {
            let Beginning { genesis, base } = found;
            let start = (base::HEADER as u64).checked_add(base.state_len);
            // Compared with what is there before anything is read.
            let Some(start) = start.filter(|&start| start <= len) else {
                return Err(StoreError::Header("the base's state is cut off"));
            };
            return Ok((
                Self::starting(disk, start, len, Some(base), base.head),
                genesis,
            ));
        }
        let Some(header) = header.get(..HEADER) else {
            return Err(StoreError::Header("it is shorter than a header"));
        };
        let (told, hash) = header.split_at(HEADER - 32);
        if !told.starts_with(MAGIC) {
            return Err(StoreError::Header("it begins with other bytes"));
        }
        let head = keccak256(told);
        if head != hash {
            return Err(StoreError::Header("the hash of the header is another"));
        }
        let mut genesis = Genesis {
            network: [0; 32],
            operator: [0; 32],
        };
        genesis.network.copy_from_slice(&told[25..57]);
        genesis.operator.copy_from_slice(&told[57..]);
        Ok((
            Self::starting(disk, HEADER as u64, len, None, head),
            genesis,
        ))
    }

    /// What the frames go on from, in a log that was shortened.
    #[must_use]
    pub const fn base(&self) -> Option<&Base> {
        self.base.as_ref()
    }

    /// The bytes of the base's state; their hash is right.
    ///
    /// # Errors
    ///
    /// It is another, or the disk refuses.
    pub fn base_state(&mut self) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(base) = self.base else {
            return Ok(None);
        };
        // No longer than the log, which was looked at when it was opened.
        let mut state = vec![0; base.state_len as usize];
        let read = self
            .disk
            .read(base::HEADER as u64, &mut state)
            .map_err(StoreError::io("read the log's base"))?;
        if read < state.len() || keccak256(&state) != base.state_hash {
            return Err(StoreError::Base("its bytes have another hash"));
        }
        Ok(Some(state))
    }

    /// Goes to the end of a frame, whose number, place and hash are known. False if it is not there.
    ///
    /// # Errors
    ///
    /// The disk refuses.
    pub fn resume(
        &mut self,
        (frame, offset, head): (u64, u64, Digest),
    ) -> Result<bool, StoreError> {
        if offset < self.start || offset > self.len {
            return Ok(false);
        }
        let mut hash = [0; 32];
        let read = self.disk.read(offset - 32, &mut hash);
        if read.map_err(StoreError::io("read the log"))? < 32 || hash != head {
            return Ok(false);
        }
        (self.frames, self.end, self.head) = (frame, offset, head);
        Ok(true)
    }

    /// The next frame's operations; `None` at the end of what is good.
    ///
    /// # Errors
    ///
    /// A frame is broken and a good one follows, a good one holds no operations, or the disk refuses.
    pub fn read_frame(&mut self) -> Result<Option<Vec<Operation>>, StoreError> {
        match self.find(self.end, &self.head.clone())? {
            Found::Nothing => Ok(None),
            Found::Broken(next) => match self.good_frame_behind(next)? {
                true => Err(StoreError::Corrupt {
                    frame: self.frames + 1,
                    at: self.end,
                }),
                false => Ok(None),
            },
            Found::Frame(body, hash) => {
                self.end += 4 + body.len() as u64 + 32;
                self.head = hash;
                self.frames += 1;
                operations(&body, self.frames).map(Some)
            }
        }
    }

    /// Bytes at a place: as many as asked for, or as there are.
    fn bytes(&mut self, at: u64, need: usize) -> Result<&[u8], StoreError> {
        let inside =
            at >= self.window_at && at + need as u64 <= self.window_at + self.window.len() as u64;
        if !inside {
            self.window.resize(need.max(WINDOW), 0);
            let read = self
                .disk
                .read(at, &mut self.window)
                .map_err(StoreError::io("read the log"))?;
            self.window.truncate(read);
            self.window_at = at;
        }
        // The window begins at most here and its end is what there is.
        let start = (at - self.window_at) as usize;
        let rest = self.window.get(start..).unwrap_or_default();
        Ok(&rest[..need.min(rest.len())])
    }

    /// The frame at a place whose chain goes on from `head`.
    fn find(&mut self, at: u64, head: &Digest) -> Result<Found, StoreError> {
        let left = self.len.saturating_sub(at);
        if left == 0 {
            return Ok(Found::Nothing);
        }
        let Some(len) = self.bytes(at, 4)?.as_array::<4>().copied() else {
            return Ok(Found::Broken(None));
        };
        // Compared with what is there before anything is read.
        let len = u32::from_le_bytes(len) as usize;
        if len > MAX_FRAME || (len + 36) as u64 > left {
            return Ok(Found::Broken(None));
        }
        let rest = self.bytes(at + 4, len + 32)?;
        let (Some(body), Some(hash)) = (rest.get(..len), rest.get(len..)) else {
            return Ok(Found::Broken(None));
        };
        let want = chain(head, body);
        if want != hash {
            return Ok(Found::Broken(Some((at + len as u64 + 36, want))));
        }
        Ok(Found::Frame(body.to_vec(), want))
    }

    /// Whether any place behind the broken frame has a good one: its hash is that of the 32 bytes
    /// before it, its length and its body; or of what those 32 bytes should have been.
    fn good_frame_behind(&mut self, next: Option<(u64, Digest)>) -> Result<bool, StoreError> {
        if let Some((at, head)) = next
            && matches!(self.find(at, &head)?, Found::Frame(..))
        {
            return Ok(true);
        }
        for at in self.end + 36..self.len {
            let Some(head) = self.bytes(at - 32, 32)?.as_array::<32>().copied() else {
                return Ok(false);
            };
            if matches!(self.find(at, &head)?, Found::Frame(..)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Cuts off what is behind the last good frame.
    ///
    /// # Errors
    ///
    /// The disk refuses.
    pub fn cut(&mut self) -> Result<(), StoreError> {
        if self.len > self.end {
            self.disk
                .truncate(self.end)
                .and_then(|()| self.disk.sync())
                .map_err(StoreError::io("cut off a torn frame"))?;
            self.len = self.end;
        }
        self.window.clear();
        Ok(())
    }

    /// Appends a frame and syncs.
    ///
    /// # Errors
    ///
    /// The frame is too long, or the disk refuses.
    pub fn append(&mut self, operations: &[Vec<u8>]) -> Result<(), StoreError> {
        let body: usize = operations
            .iter()
            .map(|bytes| 4 + bytes.len())
            .sum::<usize>()
            + 4;
        if body > MAX_FRAME {
            return Err(StoreError::FrameLength {
                have: body,
                most: MAX_FRAME,
            });
        }
        let begin = Instant::now();
        let mut frame = Vec::with_capacity(4 + body + 32);
        frame.extend((body as u32).to_le_bytes());
        frame.extend((operations.len() as u32).to_le_bytes());
        for bytes in operations {
            frame.extend((bytes.len() as u32).to_le_bytes());
            frame.extend_from_slice(bytes);
        }
        let hash = chain(&self.head, &frame[4..]);
        frame.extend(hash);
        self.disk
            .write(self.end, &frame)
            .map_err(StoreError::io("write the log"))?;
        let written = Instant::now();
        self.disk.sync().map_err(StoreError::io("sync the log"))?;
        self.spent.write += written - begin;
        self.spent.sync += written.elapsed();
        self.end += frame.len() as u64;
        self.len = self.end;
        self.head = hash;
        self.frames += 1;
        Ok(())
    }

    /// Where the time of all appends went.
    #[must_use]
    pub const fn spent(&self) -> Spent {
        self.spent
    }

    /// Frames read or written, those before the base too.
    #[must_use]
    pub const fn frames(&self) -> u64 {
        self.frames
    }

    /// The hash of the last of them.
    #[must_use]
    pub const fn head(&self) -> Digest {
        self.head
    }

    /// Where it ends.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.end
    }

    /// Bytes behind the last good frame.
    #[must_use]
    pub const fn torn_bytes(&self) -> u64 {
        self.len.saturating_sub(self.end)
    }
}

fn operations(body: &[u8], frame: u64) -> Result<Vec<Operation>, StoreError> {
    let lost = |at: usize, need: usize| StoreError::Wire {
        frame,
        source: crate::rules::v2::WireError::Truncated {
            at,
            need,
            have: body.len() - at.min(body.len()),
        },
    };
    let word = |at: usize| {
        let bytes = body.get(at..at + 4).and_then(|b| b.as_array::<4>());
        bytes
            .map(|b| u32::from_le_bytes(*b) as usize)
            .ok_or(lost(at, 4))
    };
    let count = word(0)?;
    let mut operations = Vec::new();
    let mut at = 4;
    for _ in 0..count {
        let len = word(at)?;
        at += 4;
        let bytes = body.get(at..at + len).ok_or(lost(at, len))?;
        let operation =
            Operation::from_bytes(bytes).map_err(|source| StoreError::Wire { frame, source })?;
        operations.push(operation);
        at += len;
    }
    if at != body.len() {
        return Err(StoreError::Wire {
            frame,
            source: crate::rules::v2::WireError::Trailing {
                left: body.len() - at,
            },
        });
    }
    Ok(operations)
}
