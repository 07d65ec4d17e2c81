//! Few points: one chain of doublings for all, and for each point a table of odd multiples.
//!
//! Straus' method with digits in width-5 non-adjacent form: a point costs its table of eight and an
//! addition for every sixth bit; the doublings are shared. For the handful of points for which
//! buckets would stay empty.
#![forbid(unsafe_code)]

use crate::{
    cpu::Arithmetic,
    curve::{Affine, Curve, Xyzz},
    digits::Wide,
};

/// Bits of a digit; digits are odd and below `2^(WIDTH - 1)` in absolute value.
const WIDTH: u32 = 5;
/// Odd multiples in a table: 1, 3, 5, ...
const TABLE: usize = 1 << (WIDTH - 2);
/// Places of a scalar of 256 bits, and one for the last carry.
const PLACES: usize = 257;

/// `sum of ±|s_i| P_i` with values as [`crate::digits::signed`] gives them.
pub(crate) fn msm<A: Arithmetic, C: Curve<N>, const N: usize>(
    a: A,
    points: &[Affine<C, N>],
    values: &[Wide],
) -> Affine<C, N> {
    let terms: Vec<(&Affine<C, N>, [i8; PLACES])> = points
        .iter()
        .zip(values)
        .map(|(p, v)| (p, non_adjacent(v)))
        .collect();
    let mut multiples = Vec::with_capacity(TABLE * terms.len());
    for (point, _) in &terms {
        let mut multiple = Xyzz::from_affine(point);
        let double = multiple.double(a);
        multiples.push(multiple);
        for _ in 1..TABLE {
            multiple = multiple.add(a, &double);
            multiples.push(multiple);
        }
    }
    let tables = Xyzz::batch_to_affine(a, &multiples);
    let highest = terms
        .iter()
        .filter_map(|(_, digits)| digits.iter().rposition(|&d| d != 0))
        .max();
    let mut sum = Xyzz::INFINITY;
    for place in (0..=highest.unwrap_or(0)).rev() {
        sum = sum.double(a);
        for ((_, digits), table) in terms.iter().zip(tables.chunks_exact(TABLE)) {
            let digit = digits[place];
            if digit != 0 {
                let entry = &table[usize::from(digit.unsigned_abs() / 2)];
                sum = if digit < 0 {
                    sum.add_affine(a, &entry.neg())
                } else {
                    sum.add_affine(a, entry)
                };
            }
        }
    }
    sum.to_affine(a)
}

/// The digits, lowest first: `sum of d_i 2^i`, each zero or odd, among any five at most one not zero.
fn non_adjacent(value: &Wide) -> [i8; PLACES] {
    let negative = value[3] >> 63 == 1;
    // a limb more, for the bits that shift in
    let limbs = [value[0], value[1], value[2], value[3] & u64::MAX >> 1, 0];
    let mut digits = [0; PLACES];
    let mut place = 0;
    let mut carry = 0;
    while place < PLACES {
        let (limb, shift) = (place / 64, place % 64);
        if (limbs[limb] >> shift & 1) == carry {
            place += 1;
            continue;
        }
        let mut window = limbs[limb] >> shift;
        if shift > 0 && limb < 4 {
            window |= limbs[limb + 1] << (64 - shift);
        }
        let window = (window & ((1 << WIDTH) - 1)) + carry;
        carry = window >> (WIDTH - 1) & 1;
        #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
        let digit = window as i8 - ((carry as i8) << WIDTH);
        digits[place] = if negative { -digit } else { digit };
        place += WIDTH as usize;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_give_the_scalar_again() {
        let mut values: Vec<Wide> = vec![[0; 4], [1, 0, 0, 0], [0xff, 0, 0, 0], [u64::MAX; 4]];
        values[3][3] >>= 1;
        values.extend((0..255).map(|bit: usize| {
            let mut v = [0; 4];
            v[bit / 64] = 1 << (bit % 64);
            v
        }));
        values.extend((1..256).map(|bit: usize| {
            let mut v = [u64::MAX; 4];
            for (i, limb) in v.iter_mut().enumerate() {
                *limb = match bit.saturating_sub(64 * i) {
                    0 => 0,
                    b if b >= 64 => u64::MAX,
                    b => (1 << b) - 1,
                };
            }
            v[3] &= u64::MAX >> 1;
            v
        }));
        for value in values {
            // Horner over two's complement of 320 bits
            let mut sum = [0u64; 5];
            for digit in non_adjacent(&value).into_iter().rev() {
                assert!(digit == 0 || digit & 1 == 1 && digit.unsigned_abs() < 16);
                let mut carry = i128::from(digit);
                for limb in &mut sum {
                    let wide = 2 * i128::from(*limb) + carry;
                    *limb = wide as u64;
                    carry = wide >> 64;
                }
            }
            assert_eq!(sum[..4], value);
            assert_eq!(sum[4], 0);
        }
    }
}
