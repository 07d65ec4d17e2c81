//! Arithmetic on little-endian limbs, usable in constants.
#![forbid(unsafe_code)]
// `for` and iterators do not exist in constant functions.
#![allow(clippy::needless_range_loop)]

/// `a + b + carry` as (low, carry out).
#[inline(always)]
#[must_use]
pub const fn adc(a: u64, b: u64, carry: u64) -> (u64, u64) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry);
    (sum, first as u64 | second as u64)
}

/// `a - b - borrow` as (low, borrow out).
#[inline(always)]
#[must_use]
pub const fn sbb(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(borrow);
    (difference, first as u64 | second as u64)
}

/// `a + b * c + carry` as (low, high); it always fits.
#[inline(always)]
#[must_use]
pub const fn mac(a: u64, b: u64, c: u64, carry: u64) -> (u64, u64) {
    let wide = a as u128 + b as u128 * c as u128 + carry as u128;
    (wide as u64, (wide >> 64) as u64)
}

/// `-p^-1 mod 2^64` for odd `p`, by Newton's iteration.
pub(crate) const fn negative_inverse(p: u64) -> u64 {
    let mut inverse = 1u64;
    let mut step = 0;
    while step < 6 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(p.wrapping_mul(inverse)));
        step += 1;
    }
    inverse.wrapping_neg()
}

/// `2^exponent mod p`.
pub(crate) const fn power_of_two<const N: usize>(exponent: usize, p: &[u64; N]) -> [u64; N] {
    let mut value = [0; N];
    value[0] = 1;
    let mut step = 0;
    while step < exponent {
        let mut double = [0; N];
        let mut carry = 0;
        let mut i = 0;
        while i < N {
            (double[i], carry) = adc(value[i], value[i], carry);
            i += 1;
        }
        value = reduce_once(&double, p);
        step += 1;
    }
    value
}

/// `p - 1` for odd `p`.
pub(crate) const fn minus_one<const N: usize>(p: &[u64; N]) -> [u64; N] {
    let mut less = *p;
    less[0] -= 1;
    less
}

/// Bits of a number.
pub(crate) const fn bits<const N: usize>(value: &[u64; N]) -> u32 {
    let mut i = N;
    while i > 0 {
        if value[i - 1] != 0 {
            return 64 * i as u32 - value[i - 1].leading_zeros();
        }
        i -= 1;
    }
    0
}

/// `a < b`.
pub(crate) const fn less<const N: usize>(a: &[u64; N], b: &[u64; N]) -> bool {
    let mut borrow = 0;
    let mut i = 0;
    while i < N {
        (_, borrow) = sbb(a[i], b[i], borrow);
        i += 1;
    }
    borrow == 1
}

/// `floor(value / 2)`.
pub(crate) const fn half<const N: usize>(value: &[u64; N]) -> [u64; N] {
    let mut half = [0; N];
    let mut i = 0;
    while i < N {
        let above = if i + 1 < N { value[i + 1] << 63 } else { 0 };
        half[i] = value[i] >> 1 | above;
        i += 1;
    }
    half
}

/// `value mod p` for `value < 2 p`.
#[inline(always)]
pub(crate) const fn reduce_once<const N: usize>(value: &[u64; N], p: &[u64; N]) -> [u64; N] {
    let mut reduced = [0; N];
    let mut borrow = 0;
    let mut i = 0;
    while i < N {
        (reduced[i], borrow) = sbb(value[i], p[i], borrow);
        i += 1;
    }
    // all ones where it was below p already
    let keep = borrow.wrapping_neg();
    i = 0;
    while i < N {
        reduced[i] = reduced[i] & !keep | value[i] & keep;
        i += 1;
    }
    reduced
}

/// Montgomery's product `a b 2^(-64 N) mod p`, for `a, b < p`.
///
/// Operand scanning with the reduction interleaved. The highest limb of `p` is below `2^63 - 1`, so
/// that the two carries of a row add up without overflow and no further limb is needed
/// (gnark-crypto, "Faster big-integer modular multiplication for most moduli").
///
/// The rows are written out: left to itself, the compiler keeps the outer loop, and the sum in memory.
#[inline(always)]
pub(crate) const fn mul<const N: usize>(
    a: &[u64; N],
    b: &[u64; N],
    p: &[u64; N],
    inv: u64,
) -> [u64; N] {
    const { assert!(N <= 6) };
    let mut t = row(&[0; N], a, b[0], p, inv);
    if N > 1 {
        t = row(&t, a, b[1 % N], p, inv);
    }
    if N > 2 {
        t = row(&t, a, b[2 % N], p, inv);
    }
    if N > 3 {
        t = row(&t, a, b[3 % N], p, inv);
    }
    if N > 4 {
        t = row(&t, a, b[4 % N], p, inv);
    }
    if N > 5 {
        t = row(&t, a, b[5 % N], p, inv);
    }
    reduce_once(&t, p)
}

/// `(t + a b + m p) / 2^64` with the `m` that makes it whole.
#[inline(always)]
const fn row<const N: usize>(
    t: &[u64; N],
    a: &[u64; N],
    b: u64,
    p: &[u64; N],
    inv: u64,
) -> [u64; N] {
    let mut next = [0; N];
    let (low, mut high) = mac(t[0], a[0], b, 0);
    let m = low.wrapping_mul(inv);
    let (_, mut carry) = mac(low, m, p[0], 0);
    let mut j = 1;
    while j < N {
        let low;
        (low, high) = mac(t[j], a[j], b, high);
        (next[j - 1], carry) = mac(low, m, p[j], carry);
        j += 1;
    }
    next[N - 1] = carry + high;
    next
}
