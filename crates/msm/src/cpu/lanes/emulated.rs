//! The lanes in plain Rust, so that the algorithm is tested on every machine.
#![forbid(unsafe_code)]

use super::{Lanes, Task};

/// Eight words in an array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Emulated;

const LOW: u128 = (1 << 52) - 1;

fn product(a: u64, b: u64) -> u128 {
    (u128::from(a) & LOW) * (u128::from(b) & LOW)
}

fn mask(test: impl Fn(usize) -> bool) -> u8 {
    (0..8).fold(0, |mask, lane| mask | u8::from(test(lane)) << lane)
}

impl Lanes for Emulated {
    type V = [u64; 8];

    fn detect() -> Option<Self> {
        Some(Self)
    }
    fn enter<T: Task>(self, task: T) -> T::Output {
        task.run(self)
    }

    fn splat(self, x: u64) -> [u64; 8] {
        [x; 8]
    }
    fn load(self, from: &[u64]) -> [u64; 8] {
        core::array::from_fn(|lane| from[lane])
    }
    fn store(self, v: [u64; 8], to: &mut [u64]) {
        to[..8].copy_from_slice(&v);
    }
    fn store_half<const HIGH: bool>(self, v: [u64; 8], to: &mut [u64]) {
        let first = if HIGH { 4 } else { 0 };
        to[..4].copy_from_slice(&v[first..first + 4]);
    }

    fn add(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| a[lane].wrapping_add(b[lane]))
    }
    fn sub(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| a[lane].wrapping_sub(b[lane]))
    }
    fn add_signed(self, minus: u8, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        self.select(minus, self.sub(a, b), self.add(a, b))
    }
    fn and(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| a[lane] & b[lane])
    }
    fn or(self, a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| a[lane] | b[lane])
    }
    fn shl(self, a: [u64; 8], bits: usize) -> [u64; 8] {
        a.map(|a| a << bits)
    }
    fn shr(self, a: [u64; 8], bits: usize) -> [u64; 8] {
        a.map(|a| a >> bits)
    }
    fn shr_wide(self, low: [u64; 8], high: [u64; 8], bits: usize) -> [u64; 8] {
        core::array::from_fn(|lane| low[lane] >> bits | high[lane] << (64 - bits))
    }
    fn select(self, mask: u8, yes: [u64; 8], no: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| {
            if mask >> lane & 1 == 1 {
                yes[lane]
            } else {
                no[lane]
            }
        })
    }
    fn equal(self, a: [u64; 8], b: [u64; 8]) -> u8 {
        mask(|lane| a[lane] == b[lane])
    }
    fn at_most(self, a: [u64; 8], b: [u64; 8]) -> u8 {
        mask(|lane| a[lane] <= b[lane])
    }

    fn madd_low(self, sum: [u64; 8], a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| {
            sum[lane].wrapping_add((product(a[lane], b[lane]) & LOW) as u64)
        })
    }
    fn madd_high(self, sum: [u64; 8], a: [u64; 8], b: [u64; 8]) -> [u64; 8] {
        core::array::from_fn(|lane| {
            sum[lane].wrapping_add((product(a[lane], b[lane]) >> 52) as u64)
        })
    }

    fn transpose(self, rows: [[u64; 8]; 8]) -> [[u64; 8]; 8] {
        core::array::from_fn(|column| core::array::from_fn(|row| rows[row][column]))
    }
    fn four_columns_to_rows(self, columns: [[u64; 8]; 4]) -> [[u64; 8]; 4] {
        [(0, 2), (4, 6), (1, 3), (5, 7)].map(|(first, second)| {
            core::array::from_fn(|word| columns[word % 4][if word < 4 { first } else { second }])
        })
    }

    fn prefetch<const SOON: bool>(self, _: &[u64]) {}
}
