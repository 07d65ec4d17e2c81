//! One lane in general registers: no instruction set beyond the target's own.
#![forbid(unsafe_code)]

use super::isa::{Isa, Kernel, MAX_LANES};

const EPSILON: u64 = 0xFFFF_FFFF;

/// One word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

/// `x / 2^64` modulo p, for any `x`: Montgomery's reduction.
///
/// With `m = low (1 + 2^32)` modulo 2^64, `x - m p` is a multiple of 2^64. The high word of `m p` is
/// `m - (m >> 32)`, less one if the sum that made `m` wrapped; it is below p, so that one correction is
/// enough.
#[inline(always)]
fn reduce(x: u128) -> u64 {
    let (low, high) = (x as u64, (x >> 64) as u64);
    let (m, wrapped) = low.overflowing_add(low << 32);
    let carry = m.wrapping_sub(m >> 32).wrapping_sub(u64::from(wrapped));
    let (difference, borrowed) = high.overflowing_sub(carry);
    difference.wrapping_sub(u64::from(0u32.wrapping_sub(u32::from(borrowed))))
}

impl Isa for Portable {
    const LANES: usize = 1;
    const BESIDE: usize = 0;
    type V = u64;

    #[inline]
    fn vectorize<K: Kernel>(self, kernel: K) -> K::Output {
        kernel.run(self)
    }

    #[inline(always)]
    fn splat(self, x: u64) -> u64 {
        x
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> u64 {
        words[0]
    }

    #[inline(always)]
    fn store(self, v: u64, words: &mut [u64; MAX_LANES]) {
        words[0] = v;
    }

    #[inline(always)]
    fn add(self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    #[inline(always)]
    fn sub(self, a: u64, b: u64) -> u64 {
        a.wrapping_sub(b)
    }

    #[inline(always)]
    fn shl<const N: u32>(self, a: u64) -> u64 {
        a << N
    }

    #[inline(always)]
    fn low(self, a: u64) -> u64 {
        a & EPSILON
    }

    #[inline(always)]
    fn high(self, a: u64) -> u64 {
        a >> 32
    }

    #[inline(always)]
    fn join(self, low: u64, high: u64) -> u64 {
        // 2^64 = 2^32 - 1
        let over = high >> 32;
        let (sum, wrapped) = (high << 32).overflowing_add(low + (over << 32) - over);
        // After a wrap the sum is below 2^44.
        sum.wrapping_add(u64::from(0u32.wrapping_sub(u32::from(wrapped))))
    }

    #[inline(always)]
    fn square(self, x: u64) -> u64 {
        reduce(u128::from(x) * u128::from(x))
    }

    #[inline(always)]
    fn mul(self, a: u64, b: u64) -> u64 {
        reduce(u128::from(a) * u128::from(b))
    }
}
