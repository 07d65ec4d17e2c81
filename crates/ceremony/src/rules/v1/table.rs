//! Open addressing with linear probes, as roots depend on it: an entry's slot says its place in the
//! root. Nothing is ever deleted.
#![forbid(unsafe_code)]

/// Which entry lies in which slot.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// The entry's number plus one; 0 is free. As many as a power of two.
    slots: Vec<u32>,
    /// One bit a slot: taken.
    taken: Vec<u64>,
}

/// Where a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probe {
    /// At the entry.
    Found(u32),
    /// At a free slot: the entry is not there and could be put here.
    Free(u32),
    /// Nowhere: the entry is not there and every slot is taken.
    Full,
}

impl Table {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            slots: vec![0; capacity as usize],
            taken: vec![0; (capacity as usize).div_ceil(64)],
        }
    }

    /// Looks from `hash` on for an entry that `is_it`.
    #[inline]
    pub(super) fn probe(&self, hash: u32, mut is_it: impl FnMut(u32) -> bool) -> Probe {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        for _ in 0..self.slots.len() {
            match self.slots[slot] {
                // At most 2^31 slots.
                0 => return Probe::Free(slot as u32),
                number if is_it(number - 1) => return Probe::Found(number - 1),
                _ => slot = (slot + 1) & mask,
            }
        }
        Probe::Full
    }

    /// Puts `entry` in a free slot.
    #[inline]
    pub(super) fn put(&mut self, slot: u32, entry: u32) {
        self.slots[slot as usize] = entry + 1;
        self.taken[slot as usize / 64] |= 1 << (slot % 64);
    }

    /// The entry in `slot`, if one is there.
    pub(super) fn get(&self, slot: u32) -> Option<u32> {
        self.slots.get(slot as usize)?.checked_sub(1)
    }

    /// Slots and entries, in the order of the slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.taken.iter().zip(0_u32..).flat_map(move |(&word, i)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros())?;
                word &= word - 1;
                let slot = 64 * i + bit;
                Some((slot, self.slots[slot as usize] - 1))
            })
        })
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.taken.fill(0);
    }
}
