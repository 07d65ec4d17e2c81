//! Scalars as signed digits.
//!
//! With `c` bits a window, a scalar `s` is `sum of d_w 2^(c w)` with `-2^(c-1) <= d_w < 2^(c-1)` in
//! every window but the top one, whose digit is not negative. No carry is ever propagated: with
//! `K = sum of 2^(c-1) 2^(c w)` over the windows below the top, `d_w` is the `w`-th digit of `s + K`
//! less `2^(c-1)`. The top window takes what is left, so there is no window for a last carry alone.
//!
//! For points of the subgroup, a scalar above half the order is replaced by the order less it, and its
//! sign turned: that saves a bit, and makes the small negative numbers small.
#![forbid(unsafe_code)]

use rayon::prelude::*;

use crate::field::{adc, sbb};

/// A scalar: plain value, little-endian limbs.
pub(crate) type Wide = [u64; 4];

/// The bit of a recoded scalar that holds its sign.
const SIGN: u32 = 255;

/// How many scalars have how many bits, after the choice of the sign.
#[derive(Clone, Debug)]
pub(crate) struct Lengths {
    /// How many have a bit at this place or above.
    reaching: [u64; 257],
    /// The largest absolute value.
    max: Wide,
}

impl Lengths {
    /// The lengths of values as [`signed`] gives them.
    pub(crate) fn of(values: &[Wide]) -> Self {
        let mut lengths = values
            .par_iter()
            .with_min_len(1 << 12)
            .fold(Self::none, |l, v| l.with(v))
            .reduce(Self::none, |a, b| a.merge(&b));
        // So far each counts its own highest bit only.
        for bit in (0..256).rev() {
            lengths.reaching[bit] += lengths.reaching[bit + 1];
        }
        lengths
    }

    fn none() -> Self {
        Self {
            reaching: [0; 257],
            max: [0; 4],
        }
    }

    fn with(mut self, value: &Wide) -> Self {
        let mut value = *value;
        value[3] &= u64::MAX >> 1;
        if let Some(highest) = bits(&value).checked_sub(1) {
            self.reaching[highest as usize] += 1;
        }
        if less(&self.max, &value) {
            self.max = value;
        }
        self
    }

    fn merge(mut self, other: &Self) -> Self {
        for (a, b) in self.reaching.iter_mut().zip(&other.reaching) {
            *a += b;
        }
        if less(&self.max, &other.max) {
            self.max = other.max;
        }
        self
    }

    /// Bits of the largest absolute value.
    pub(crate) fn bits(&self) -> u32 {
        bits(&self.max)
    }

    /// How many scalars have a bit at `bit` or above.
    pub(crate) fn reaching(&self, bit: u32) -> u64 {
        self.reaching[(bit as usize).min(256)]
    }
}

/// How scalars are cut into windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Windows {
    /// Bits a window.
    pub(crate) width: u32,
    /// Number of windows.
    pub(crate) count: u32,
    /// Buckets of the top window: its digits run from 0 to here.
    pub(crate) top: u32,
}

impl Windows {
    /// Windows of `width` bits for scalars of those lengths. At least one.
    pub(crate) fn new(width: u32, lengths: &Lengths) -> Self {
        let count = lengths.bits().div_ceil(width).max(1);
        let below = width * (count - 1);
        // What the windows below carry up is 0 or 1.
        let carry = u64::from(count > 1);
        let top = extract(&lengths.max, below, 64) + carry;
        Self {
            width,
            count,
            top: u32::try_from(top).unwrap_or(u32::MAX),
        }
    }

    /// Buckets of a window: the absolute values of its digits are 1 to here.
    pub(crate) fn buckets(&self, window: u32) -> u32 {
        if window + 1 == self.count {
            self.top
        } else {
            1 << (self.width - 1)
        }
    }

    /// The constant `K`.
    pub(crate) fn offset(&self) -> Wide {
        let mut offset = [0; 4];
        for window in 0..self.count - 1 {
            let bit = window * self.width + self.width - 1;
            offset[(bit / 64) as usize] |= 1 << (bit % 64);
        }
        offset
    }
}

/// One vector of scalars, cut into windows.
#[derive(Debug)]
pub(crate) struct Digits {
    /// `|s| + K`, with the sign in bit 255 if there are signs; else `s + K`.
    values: Vec<Wide>,
    /// The highest limb's bits that belong to the value.
    highest: u64,
    windows: Windows,
}

impl Digits {
    /// Recodes `values`, as [`signed`] gives them if there are signs; else below 2^255.
    pub(crate) fn new(mut values: Vec<Wide>, signs: bool, windows: Windows) -> Self {
        let offset = windows.offset();
        values.par_iter_mut().with_min_len(1 << 12).for_each(|v| {
            let sign = v[3] & 1 << (SIGN % 64);
            v[3] ^= sign;
            *v = plus(v, &offset);
            v[3] |= sign;
        });
        Self {
            values,
            highest: if signs { u64::MAX >> 1 } else { u64::MAX },
            windows,
        }
    }

    /// How they are cut.
    pub(crate) fn windows(&self) -> Windows {
        self.windows
    }

    /// Calls `each(index, bucket, negative)` for every digit of a window that is not zero, with the
    /// bucket counted from 0.
    #[inline(always)]
    pub(crate) fn for_each(&self, window: u32, mut each: impl FnMut(usize, u32, bool)) {
        let Windows { width, count, .. } = self.windows;
        let low = window * width;
        let (limb, shift) = ((low / 64) as usize, low % 64);
        let top = window + 1 == count;
        let (mask, middle) = if top {
            (u64::MAX, 0)
        } else {
            ((1 << width) - 1, 1i64 << (width - 1))
        };
        for (i, v) in self.values.iter().enumerate() {
            let negative = v[3] & !self.highest != 0;
            // the sign is none of the digit's bits
            let limbs = [v[0], v[1], v[2], v[3] & self.highest];
            let mut digit = limbs[limb] >> shift;
            if limb < 3 && shift > 0 {
                digit |= limbs[limb + 1] << (64 - shift);
            }
            #[allow(clippy::cast_possible_wrap)]
            let digit = (digit & mask) as i64 - middle;
            if digit != 0 {
                #[allow(clippy::cast_possible_truncation)]
                let bucket = (digit.unsigned_abs() - 1) as u32;
                each(i, bucket, negative != (digit < 0));
            }
        }
    }
}

/// The scalar's absolute value with its sign in the top bit: of `s` and `order - s` the smaller.
#[inline(always)]
pub(crate) fn signed(scalar: &Wide, order: &Wide) -> Wide {
    let (other, _) = minus(order, scalar);
    if less(&other, scalar) {
        let mut value = other;
        value[3] |= 1 << (SIGN % 64);
        value
    } else {
        *scalar
    }
}

/// The `count <= 64` bits from `low`.
fn extract(value: &Wide, low: u32, count: u32) -> u64 {
    let (limb, shift) = ((low / 64) as usize, low % 64);
    let mut bits = value.get(limb).map_or(0, |l| l >> shift);
    if shift > 0 {
        bits |= value.get(limb + 1).map_or(0, |l| l << (64 - shift));
    }
    if count < 64 {
        bits &= (1 << count) - 1;
    }
    bits
}

fn bits(value: &Wide) -> u32 {
    for (i, limb) in (0u32..4).zip(value).rev() {
        if *limb != 0 {
            return 64 * i + 64 - limb.leading_zeros();
        }
    }
    0
}

#[inline(always)]
fn plus(a: &Wide, b: &Wide) -> Wide {
    let mut sum = [0; 4];
    let mut carry = 0;
    for i in 0..4 {
        (sum[i], carry) = adc(a[i], b[i], carry);
    }
    sum
}

#[inline(always)]
pub(crate) fn minus(a: &Wide, b: &Wide) -> (Wide, bool) {
    let mut difference = [0; 4];
    let mut borrow = 0;
    for i in 0..4 {
        (difference[i], borrow) = sbb(a[i], b[i], borrow);
    }
    (difference, borrow == 1)
}

/// `a < b`.
#[inline(always)]
pub(crate) fn less(a: &Wide, b: &Wide) -> bool {
    minus(a, b).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Bls12_377, Bls12_381, Bn254, Curve};

    /// The scalar again, modulo the order, from its digits.
    fn value(digits: &Digits, order: &Wide) -> Wide {
        let windows = digits.windows();
        let mut sum = [0; 4];
        for window in (0..windows.count).rev() {
            for _ in 0..windows.width {
                sum = add_mod(&sum, &sum, order);
            }
            digits.for_each(window, |_, bucket, negative| {
                assert!(bucket < windows.buckets(window), "{windows:?} {window}");
                let digit = [u64::from(bucket) + 1, 0, 0, 0];
                let digit = if negative {
                    minus(order, &digit).0
                } else {
                    digit
                };
                sum = add_mod(&sum, &digit, order);
            });
        }
        sum
    }

    fn add_mod(a: &Wide, b: &Wide, order: &Wide) -> Wide {
        let sum = plus(a, b);
        if less(&sum, order) {
            sum
        } else {
            minus(&sum, order).0
        }
    }

    #[test]
    fn digits_give_the_scalar_again_at_every_width() {
        for order in [Bls12_377::ORDER, Bls12_381::ORDER, Bn254::ORDER] {
            let mut scalars = vec![[0; 4], [1, 0, 0, 0], [u64::MAX, 0, 0, 0]];
            for k in 1..=3 {
                scalars.push(minus(&order, &[k, 0, 0, 0]).0);
            }
            let half = [
                order[0] >> 1 | order[1] << 63,
                order[1] >> 1 | order[2] << 63,
                order[2] >> 1 | order[3] << 63,
                order[3] >> 1,
            ];
            scalars.push(half);
            scalars.push(plus(&half, &[1, 0, 0, 0]));
            for bit in 0..252 {
                let mut power = [0; 4];
                power[bit / 64] = 1 << (bit % 64);
                scalars.push(power);
                scalars.push(minus(&power, &[1, 0, 0, 0]).0);
            }
            for width in 1..=24 {
                for scalar in &scalars {
                    let one = vec![signed(scalar, &order)];
                    let windows = Windows::new(width, &Lengths::of(&one));
                    assert_eq!(value(&Digits::new(one, true, windows), &order), *scalar);
                    // and cut as the longest scalar is
                    let longest = Windows::new(width, &Lengths::of(&[half]));
                    let one = vec![signed(scalar, &order)];
                    assert_eq!(value(&Digits::new(one, true, longest), &order), *scalar);
                    // and without signs
                    let plain =
                        Windows::new(width, &Lengths::of(&[minus(&order, &[1, 0, 0, 0]).0]));
                    let digits = Digits::new(vec![*scalar], false, plain);
                    assert_eq!(value(&digits, &order), *scalar);
                }
            }
        }
    }

    #[test]
    fn a_carry_alone_stays_in_the_top_window() {
        // 24 bits of ones at 12 bits a window: the carry of the upper one goes nowhere else.
        let lengths = Lengths::of(&[[0xff_ffff, 0, 0, 0]]);
        let windows = Windows::new(12, &lengths);
        assert_eq!((windows.count, windows.top), (2, 0x1000));
    }
}
