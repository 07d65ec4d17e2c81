//! Sums of many multiples on secp256k1 by buckets (Pippenger's algorithm, signed digits), for k256
//! has only the method that suits few points. Variable time: for public data.
#![forbid(unsafe_code)]

use k256::{ProjectivePoint, Scalar};

/// Bits that all digits together must hold: 256, and one for the sign.
const BITS: usize = 257;

/// The digits' width with the least additions for `points` points.
fn width(points: usize) -> usize {
    let cost = |c: usize| BITS.div_ceil(c) * (points + (1 << c));
    (2..=14).min_by_key(|&c| cost(c)).unwrap_or(8)
}

/// A scalar as signed digits, the lowest first: each from `-2^(c-1)` to `2^(c-1)`.
fn digits(scalar: &Scalar, c: usize, out: &mut [i32]) {
    let mut bytes: [u8; 40] = [0; 40];
    bytes[..32].copy_from_slice(&scalar.to_bytes());
    bytes[..32].reverse();
    let mut carry = 0;
    for (at, digit) in out.iter_mut().enumerate() {
        let bit = at * c;
        let word = bytes[bit / 8..]
            .first_chunk::<4>()
            .map_or(0, |four| u32::from_le_bytes(*four));
        let bits = (word >> (bit % 8)) & ((1 << c) - 1);
        let value = bits as i32 + carry;
        carry = i32::from(value > 1 << (c - 1));
        *digit = value - (carry << c);
    }
}

/// The sum of `scalars[i] points[i]`; what one list has more than the other does not count.
pub(crate) fn buckets(scalars: &[Scalar], points: &[ProjectivePoint]) -> ProjectivePoint {
    let count = scalars.len().min(points.len());
    let c = width(count);
    let windows = BITS.div_ceil(c);
    let mut all = vec![0; count * windows];
    for (scalar, row) in scalars.iter().zip(all.chunks_mut(windows)) {
        digits(scalar, c, row);
    }
    let mut sum = ProjectivePoint::IDENTITY;
    let mut buckets = vec![None; 1 << (c - 1)];
    for window in (0..windows).rev() {
        for _ in 0..c {
            sum.double_in_place();
        }
        buckets.fill(None);
        for (row, point) in all.chunks(windows).zip(points) {
            let digit = row[window];
            if digit != 0 {
                let bucket = &mut buckets[digit.unsigned_abs() as usize - 1];
                let point = if digit < 0 { -*point } else { *point };
                *bucket = Some(match bucket {
                    Some(before) => *before + point,
                    None => point,
                });
            }
        }
        // Bucket i counts i + 1 times: the sum of all running sums from above.
        let mut running: Option<ProjectivePoint> = None;
        for bucket in buckets.iter().rev() {
            running = match (running, bucket) {
                (Some(a), Some(b)) => Some(a + b),
                (a, b) => a.or(*b),
            };
            if let Some(running) = running {
                sum += running;
            }
        }
    }
    sum
}
