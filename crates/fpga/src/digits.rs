//! Scalars as columns of signed digits.
#![forbid(unsafe_code)]

use fieldspar_msm::curve::{Bls12_377, Curve};

/// Columns that scalars of BLS12-377 need at `bits` bits a digit: with the carry from below, the top
/// digit is less than half the radix, so none is left over.
#[must_use]
pub fn columns(bits: u32) -> u32 {
    let order = <Bls12_377 as Curve<6>>::ORDER;
    let mut count = 253u32.div_ceil(bits);
    while window(&order, bits * (count - 1), bits + 1) + 1 >= 1 << (bits - 1) {
        count += 1;
    }
    count
}

/// The `width` bits from `bit` on.
fn window(value: &[u64; 4], bit: u32, width: u32) -> u32 {
    let (limb, shift) = ((bit / 64) as usize, bit % 64);
    let at = |i: usize| value.get(i).copied().unwrap_or(0);
    let wide = u128::from(at(limb)) | u128::from(at(limb + 1)) << 64;
    ((wide >> shift) & ((1 << width) - 1)) as u32
}

/// Calls `to(column, digit)` for each column, lowest first. Digits are from `-2^(bits-1)` to below
/// `2^(bits-1)`; the scalar is their sum with weights `2^(bits column)`.
pub fn recode(scalar: &[u64; 4], bits: u32, columns: u32, mut to: impl FnMut(u32, i32)) {
    let mut carry = 0;
    for column in 0..columns {
        let digit = window(scalar, bits * column, bits) + carry;
        carry = u32::from(digit >= 1 << (bits - 1));
        to(column, digit as i32 - ((carry as i32) << bits));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fieldspar_msm::inputs::Distribution;

    #[test]
    fn digits_make_the_scalar() {
        let order = <Bls12_377 as Curve<6>>::ORDER;
        let mut scalars = Distribution::Uniform.scalars(1, 50, &order);
        let mut top = order;
        top[0] -= 1;
        scalars.extend([[0; 4], [1, 0, 0, 0], top, [u64::MAX, u64::MAX, 0, 0]]);
        for bits in 3..=16 {
            let count = columns(bits);
            for scalar in &scalars {
                let mut sum = [0i128; 6];
                recode(scalar, bits, count, |column, digit| {
                    assert!((-(1 << (bits - 1))..1 << (bits - 1)).contains(&digit));
                    let bit = bits * column;
                    sum[(bit / 64) as usize] += i128::from(digit) << (bit % 64);
                });
                let mut carry = 0i128;
                for (i, part) in sum.iter().enumerate() {
                    let whole = part + carry;
                    let want = scalar.get(i).copied().unwrap_or(0);
                    assert_eq!(whole as u64, want, "{bits} {i}");
                    carry = (whole - i128::from(want)) >> 64;
                }
                assert_eq!(carry, 0);
            }
        }
        assert_eq!([8, 9, 10, 16].map(columns), [32, 29, 26, 16]);
    }
}
