//! Whether many points of curve25519 lie in the group of prime order, for less than one check each.
//!
//! A subset sum of points is outside that group with probability at least 1/2 if any of them is.
//! 128 subsets, chosen by bits hashed from the points, leave one chance in 2^128. The sums share
//! their additions by buckets of eight subsets each.
#![forbid(unsafe_code)]

use curve25519_dalek::edwards::EdwardsPoint;
use curve25519_dalek::traits::Identity;

use crate::verify::coefficients::Transcript;

/// From so many points on it is cheaper than a check each.
pub(super) const WORTH_FROM: usize = 192;

/// Subsets whose sums share buckets.
const BITS: usize = 8;

/// Whether all lie in the group of prime order. `encodings` are what the subsets are hashed from.
pub(super) fn all_prime_order(points: &[EdwardsPoint], encodings: &[[u8; 32]]) -> bool {
    let mut transcript = Transcript::new("subgroup", "curve25519");
    for encoding in encodings {
        transcript.put(encoding);
    }
    let mut coefficients = transcript.coefficients();
    let masks: Vec<[u8; 16]> = points
        .iter()
        .map(|_| coefficients.draw().to_le_bytes())
        .collect();
    (0..16).all(|byte| {
        let mut buckets = [EdwardsPoint::identity(); 1 << BITS];
        for (point, mask) in points.iter().zip(&masks) {
            let subsets = usize::from(mask[byte]);
            if subsets != 0 {
                buckets[subsets] += point;
            }
        }
        // The subset of the highest bit is the upper half; folded away, the next is the highest.
        (0..BITS).rev().all(|bit| {
            let (lower, upper) = buckets.split_at_mut(1 << bit);
            let mut sum = EdwardsPoint::identity();
            for (low, high) in lower.iter_mut().zip(upper.iter()) {
                sum += high;
                *low += high;
            }
            sum.is_torsion_free()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use curve25519_dalek::constants::EIGHT_TORSION;
    use curve25519_dalek::scalar::Scalar;

    #[test]
    fn torsion_is_found_wherever_it_is() {
        let good: Vec<EdwardsPoint> = (1..40u64)
            .map(|i| EdwardsPoint::mul_base(&Scalar::from(i)))
            .collect();
        let check = |points: &[EdwardsPoint]| {
            let encodings: Vec<_> = points.iter().map(|p| p.compress().to_bytes()).collect();
            all_prime_order(points, &encodings)
        };
        assert!(check(&good));
        assert!(check(&[]));
        for torsion in &EIGHT_TORSION[1..] {
            for at in [0, 20, 38] {
                let mut bad = good.clone();
                bad[at] += torsion;
                assert!(!check(&bad));
                // One that cancels it.
                bad[1] -= torsion;
                assert!(!check(&bad));
            }
        }
    }
}
