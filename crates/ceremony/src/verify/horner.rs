//! Polynomials whose coefficients are points, at small identifiers.
//!
//! A share check needs the sum of `C_k i^k`. The identifier is a small number, so Horner's rule
//! multiplies by it with a handful of doublings and additions, where powers of it are full-width
//! scalars.
#![forbid(unsafe_code)]

use super::suite::Ciphersuite;

/// `times P`, by doubling and adding: for small numbers.
fn small_mul<S: Ciphersuite>(point: S::Point, times: u64) -> S::Point {
    let Some(top) = times.checked_ilog2() else {
        return S::identity();
    };
    (0..top).rev().fold(point, |acc, bit| {
        let twice = S::double(&acc);
        if times >> bit & 1 == 1 {
            twice + point
        } else {
            twice
        }
    })
}

/// The polynomial at `x`: `C_0 + x (C_1 + x (C_2 + ...))`.
pub(crate) fn evaluate<S: Ciphersuite>(coefficients: &[S::Point], x: u64) -> S::Point {
    let mut points = coefficients.iter().rev();
    let Some(&last) = points.next() else {
        return S::identity();
    };
    points.fold(last, |acc, &point| small_mul::<S>(acc, x) + point)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::verify::suite::{Ed25519, Ristretto255, Secp256k1};

    fn agrees<S: Ciphersuite>() {
        let coefficients: Vec<_> = [3u64, 0, 5, 7]
            .map(|c| S::mul_base(&S::Scalar::from(c)))
            .to_vec();
        for x in [0u64, 1, 2, 3, 10, 127, 128, 65_535] {
            let value = 3 + 5 * u128::from(x).pow(2) + 7 * u128::from(x).pow(3);
            let want = S::mul_base(&S::Scalar::from(value));
            assert_eq!(evaluate::<S>(&coefficients, x), want, "{x}");
        }
        assert_eq!(evaluate::<S>(&[], 3), S::identity());
    }

    #[test]
    fn horner_is_the_polynomial() {
        agrees::<Ed25519>();
        agrees::<Ristretto255>();
        agrees::<Secp256k1>();
    }
}
