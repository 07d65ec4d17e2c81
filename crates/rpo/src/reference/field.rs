//! The Goldilocks field, canonical words, by division.
#![forbid(unsafe_code)]

use crate::MODULUS;

/// The canonical representative.
#[must_use]
pub const fn canonical(x: u64) -> u64 {
    x % MODULUS
}

/// `a + b`.
#[must_use]
pub const fn add(a: u64, b: u64) -> u64 {
    ((a as u128 + b as u128) % MODULUS as u128) as u64
}

/// `a * b`.
#[must_use]
pub const fn mul(a: u64, b: u64) -> u64 {
    ((a as u128 * b as u128) % MODULUS as u128) as u64
}

/// `x` to the power `exponent`.
#[must_use]
pub const fn pow(x: u64, exponent: u64) -> u64 {
    let (mut result, mut square, mut left) = (1, canonical(x), exponent);
    while left > 0 {
        if left & 1 == 1 {
            result = mul(result, square);
        }
        square = mul(square, square);
        left >>= 1;
    }
    result
}
