//! The three sponges that are called RPO-256, over any permutation.
//!
//! All overwrite the rate with what they absorb, start from zeros elsewhere, and take the first four
//! elements of the rate as digest. An input of no elements is not permuted at all: its digest is four
//! zeros in each of them. They differ in where the rate lies and in how an input's end is marked:
//!
//! | | elements: first of the capacity; end | bytes: first of the capacity; end |
//! |---|---|---|
//! | [`Sponge::Miden022`], [`Sponge::Miden013`] | length mod 8; zeros | 8 + (chunks mod 8); a byte 1 after the last chunk, zeros |
//! | [`Sponge::Paper2023`] | 1 if the length is no multiple of 8; then 1, 0, .. | 1 if the number of bytes is no multiple of 8; a byte 1 after a short chunk; then 1, 0, .. if a block is open |
//!
//! Bytes are taken seven to an element, little-endian. `merge` absorbs two digests with a capacity of
//! zeros, so it is the hash of their eight elements; `merge_in_domain` has the domain as second element
//! of the capacity.
//!
//! Of [`Sponge::Paper2023`] be warned that it does not separate all byte strings: the flag speaks of
//! bytes and the blocks of chunks. It is here for those who have digests of it.
#![forbid(unsafe_code)]

use core::fmt;
use core::ops::Range;
use core::str::FromStr;

use crate::{DIGEST, Digest, Error, RATE, State, WIDTH, check_canonical};

/// Bytes to an element.
pub const CHUNK: usize = 7;

/// Which of the hash functions that are called RPO-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Sponge {
    /// miden-crypto 0.22 to 0.28: the rate first.
    Miden022,
    /// miden-crypto 0.13 to 0.20: the capacity first.
    Miden013,
    /// The paper and miden-crypto 0.8: the capacity first, the end marked by 1, 0, ...
    Paper2023,
}

impl Sponge {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Miden022, Self::Miden013, Self::Paper2023];

    /// `miden-0.22`, `miden-0.13`, `paper-2023`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Miden022 => "miden-0.22",
            Self::Miden013 => "miden-0.13",
            Self::Paper2023 => "paper-2023",
        }
    }

    /// Index of the first element of the rate; the digest is there too.
    #[must_use]
    pub const fn rate_start(self) -> usize {
        match self {
            Self::Miden022 => 0,
            Self::Miden013 | Self::Paper2023 => WIDTH - RATE,
        }
    }

    /// Index of the first element of the capacity.
    #[must_use]
    pub const fn capacity_start(self) -> usize {
        match self {
            Self::Miden022 => RATE,
            Self::Miden013 | Self::Paper2023 => 0,
        }
    }

    /// Where the rate lies.
    #[must_use]
    pub const fn rate(self) -> Range<usize> {
        self.rate_start()..self.rate_start() + RATE
    }

    /// First element of the capacity for an input of `len` elements.
    #[must_use]
    pub const fn elements_flag(self, len: usize) -> u64 {
        let rest = (len % RATE) as u64;
        match self {
            Self::Miden022 | Self::Miden013 => rest,
            Self::Paper2023 => (rest != 0) as u64,
        }
    }

    /// First element of the capacity for an input of `len` bytes.
    #[must_use]
    pub const fn bytes_flag(self, len: usize) -> u64 {
        match self {
            Self::Miden022 | Self::Miden013 => (RATE + len.div_ceil(CHUNK) % RATE) as u64,
            Self::Paper2023 => !len.is_multiple_of(RATE) as u64,
        }
    }

    /// What stands right after the last element of a block that is not full; zeros follow.
    #[must_use]
    pub const fn end_mark(self) -> u64 {
        match self {
            Self::Miden022 | Self::Miden013 => 0,
            Self::Paper2023 => 1,
        }
    }

    /// `bytes` as elements, seven to one, the end marked as this sponge does it. All are canonical.
    #[must_use]
    pub fn pack_bytes(self, bytes: &[u8]) -> Vec<u64> {
        let last = bytes.len().div_ceil(CHUNK).saturating_sub(1);
        bytes
            .chunks(CHUNK)
            .enumerate()
            .map(|(i, chunk)| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                let marked = match self {
                    Self::Miden022 | Self::Miden013 => i == last,
                    Self::Paper2023 => chunk.len() < CHUNK,
                };
                if marked {
                    word[chunk.len()] = 1;
                }
                u64::from_le_bytes(word)
            })
            .collect()
    }

    /// The state before the first permutation of an input with this flag.
    #[must_use]
    pub const fn start(self, flag: u64) -> State {
        let mut state = [0; WIDTH];
        state[self.capacity_start()] = flag;
        state
    }

    /// Overwrites the rate with at most [`RATE`] elements and their end.
    pub fn absorb(self, state: &mut State, block: &[u64]) {
        for (i, x) in state[self.rate()].iter_mut().enumerate() {
            *x = match block.get(i) {
                Some(&element) => element,
                None if i == block.len() => self.end_mark(),
                None => 0,
            };
        }
    }

    /// The state whose permutation merges two digests; `domain` 0 is that of `merge`.
    #[must_use]
    pub fn merge_state(self, pair: &[Digest; 2], domain: u64) -> State {
        let mut state = [0; WIDTH];
        state[self.capacity_start() + 1] = domain;
        let rate = &mut state[self.rate()];
        rate[..DIGEST].copy_from_slice(pair[0].elements());
        rate[DIGEST..].copy_from_slice(pair[1].elements());
        state
    }

    /// The digest in a state that was permuted, whose elements are canonical.
    pub(crate) fn squeeze(self, state: &State) -> Digest {
        let mut elements = [0; DIGEST];
        elements.copy_from_slice(&state[self.rate()][..DIGEST]);
        Digest::trusted(elements)
    }

    /// Elements that are canonical, after `flag`.
    fn run(self, permute: impl Fn(&mut State), flag: u64, elements: &[u64]) -> Digest {
        let mut state = self.start(flag);
        for block in elements.chunks(RATE) {
            self.absorb(&mut state, block);
            permute(&mut state);
        }
        self.squeeze(&state)
    }

    /// Hash of elements with a permutation that gives canonical states.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`].
    pub fn hash_elements_with(
        self,
        permute: impl Fn(&mut State),
        elements: &[u64],
    ) -> Result<Digest, Error> {
        check_canonical(elements)?;
        Ok(self.run(permute, self.elements_flag(elements.len()), elements))
    }

    /// Hash of bytes with a permutation that gives canonical states.
    pub fn hash_bytes_with(self, permute: impl Fn(&mut State), bytes: &[u8]) -> Digest {
        self.run(
            permute,
            self.bytes_flag(bytes.len()),
            &self.pack_bytes(bytes),
        )
    }

    /// Two digests into one, with a permutation that gives canonical states.
    pub fn merge_with(self, permute: impl Fn(&mut State), pair: &[Digest; 2]) -> Digest {
        let mut state = self.merge_state(pair, 0);
        permute(&mut state);
        self.squeeze(&state)
    }

    /// [`Self::merge_with`] apart from that of other domains.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] for the domain, with index 0.
    pub fn merge_in_domain_with(
        self,
        permute: impl Fn(&mut State),
        pair: &[Digest; 2],
        domain: u64,
    ) -> Result<Digest, Error> {
        check_canonical(&[domain])?;
        let mut state = self.merge_state(pair, domain);
        permute(&mut state);
        Ok(self.squeeze(&state))
    }
}

impl fmt::Display for Sponge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Sponge {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|s| s.name() == name)
            .ok_or_else(|| Error::UnknownSponge {
                name: name.chars().take(80).collect(),
            })
    }
}
