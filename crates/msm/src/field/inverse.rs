//! Inversion by the binary extended Euclidean algorithm in steps of 31 bits.
//!
//! Thomas Pornin, "Optimized Binary GCD for Modular Inversion" (ePrint 2020/972), here with the
//! early end that a constant-time version must not have: 31 steps are decided on 64-bit
//! approximations of the two numbers, then applied to the numbers and to the cofactors at once.
#![forbid(unsafe_code)]
#![allow(clippy::needless_range_loop)]

use super::limbs::{adc, less, mac, reduce_once};

/// Steps decided at once.
const STEPS: u32 = 31;

/// `value^-1 mod p` as plain numbers, for odd `p` with a free top bit, `inv = -p^-1 mod 2^64`;
/// `None` if `value` is zero.
pub(crate) fn invert<const N: usize>(value: &[u64; N], p: &[u64; N], inv: u64) -> Option<[u64; N]> {
    // a = value u and b = value v (mod p)
    let (mut a, mut b) = (*value, *p);
    let (mut u, mut v) = ([0; N], [0; N]);
    u[0] = 1;
    if is_zero(&a) {
        return None;
    }
    while !is_zero(&a) {
        let steps = decide(&a, &b);
        let (next_a, negative_a) = combine(&a, &b, steps[0]);
        let (next_b, negative_b) = combine(&a, &b, steps[1]);
        let first = with_sign(steps[0], negative_a);
        let second = with_sign(steps[1], negative_b);
        let next_u = combine_mod(&u, &v, first, p, inv);
        v = combine_mod(&u, &v, second, p, inv);
        (a, b, u) = (next_a, next_b, next_u);
    }
    // p is prime, so b is 1 now.
    Some(v)
}

fn is_zero<const N: usize>(value: &[u64; N]) -> bool {
    value.iter().all(|&l| l == 0)
}

/// The factors (f, g) of both rows after 31 steps on approximations of `a` and `b`.
fn decide<const N: usize>(a: &[u64; N], b: &[u64; N]) -> [(i64, i64); 2] {
    let (mut x, mut y) = approximate(a, b);
    let (mut f0, mut g0, mut f1, mut g1) = (1i64, 0i64, 0i64, 1i64);
    let mut left = STEPS;
    loop {
        // Halvings of x are doublings of the other row's factors.
        let zeros = x.trailing_zeros().min(left);
        x >>= zeros;
        f1 <<= zeros;
        g1 <<= zeros;
        left -= zeros;
        if left == 0 {
            return [(f0, g0), (f1, g1)];
        }
        if x < y {
            core::mem::swap(&mut x, &mut y);
            core::mem::swap(&mut f0, &mut f1);
            core::mem::swap(&mut g0, &mut g1);
        }
        x -= y;
        f0 -= f1;
        g0 -= g1;
    }
}

/// The low 31 bits and the high 33 bits, at the same place, of both numbers.
fn approximate<const N: usize>(a: &[u64; N], b: &[u64; N]) -> (u64, u64) {
    let mut top = N - 1;
    while top > 0 && a[top] | b[top] == 0 {
        top -= 1;
    }
    if top == 0 {
        return (a[0], b[0]);
    }
    let shift = (a[top] | b[top]).leading_zeros();
    let high = |x: &[u64; N]| {
        if shift == 0 {
            x[top]
        } else {
            x[top] << shift | x[top - 1] >> (64 - shift)
        }
    };
    let low = (1u64 << STEPS) - 1;
    (high(a) & !low | a[0] & low, high(b) & !low | b[0] & low)
}

fn with_sign((f, g): (i64, i64), negative: bool) -> (i64, i64) {
    if negative { (-f, -g) } else { (f, g) }
}

/// `x f + y g` over the integers as N + 1 limbs in two's complement.
#[inline(always)]
fn linear<const N: usize>(x: &[u64; N], y: &[u64; N], (f, g): (i64, i64)) -> ([u64; N], u64) {
    let mut sum = [0; N];
    let (fa, ga) = (f.unsigned_abs(), g.unsigned_abs());
    // A negative factor is a product with the complement: -x = !x + 1.
    let (fm, gm) = ((f >> 63) as u64, (g >> 63) as u64);
    let (mut cf, mut cg) = (0, 0);
    let (mut bf, mut bg) = (fm & 1, gm & 1);
    let mut carry = 0;
    for i in 0..N {
        let (p, q);
        (p, cf) = mac(0, x[i], fa, cf);
        (q, cg) = mac(0, y[i], ga, cg);
        let (p, q) = {
            let (s, c) = adc(p ^ fm, 0, bf);
            bf = c;
            let (t, d) = adc(q ^ gm, 0, bg);
            bg = d;
            (s, t)
        };
        (sum[i], carry) = adc(p, q, carry);
    }
    let (s, _) = adc(cf ^ fm, 0, bf);
    let (t, _) = adc(cg ^ gm, 0, bg);
    (sum, s.wrapping_add(t).wrapping_add(carry))
}

/// `|x f + y g| / 2^31` and whether the sum was negative; the low 31 bits of it are zero.
fn combine<const N: usize>(x: &[u64; N], y: &[u64; N], factors: (i64, i64)) -> ([u64; N], bool) {
    let (mut sum, mut top) = linear(x, y, factors);
    let negative = (top as i64) < 0;
    if negative {
        let mut carry = 1;
        for limb in &mut sum {
            (*limb, carry) = adc(!*limb, 0, carry);
        }
        top = (!top).wrapping_add(carry);
    }
    (shift(&sum, top), negative)
}

/// `(x f + y g) / 2^31 mod p`, below `p`.
fn combine_mod<const N: usize>(
    x: &[u64; N],
    y: &[u64; N],
    factors: (i64, i64),
    p: &[u64; N],
    inv: u64,
) -> [u64; N] {
    let (mut sum, mut top) = linear(x, y, factors);
    // The multiple of p that clears the low 31 bits.
    let m = sum[0].wrapping_mul(inv) & ((1 << STEPS) - 1);
    let mut carry = 0;
    for i in 0..N {
        (sum[i], carry) = mac(sum[i], m, p[i], carry);
    }
    top = top.wrapping_add(carry);
    let negative = (top as i64) < 0;
    let mut value = shift(&sum, top);
    // Between -p and 2 p now.
    if negative {
        let mut carry = 0;
        for i in 0..N {
            (value[i], carry) = adc(value[i], p[i], carry);
        }
        return value;
    }
    if less(&value, p) {
        value
    } else {
        reduce_once(&value, p)
    }
}

/// The lower N limbs of `(sum + top 2^(64 N)) >> 31`.
fn shift<const N: usize>(sum: &[u64; N], top: u64) -> [u64; N] {
    let mut shifted = [0; N];
    for i in 0..N {
        let above = if i + 1 < N { sum[i + 1] } else { top };
        shifted[i] = sum[i] >> STEPS | above << (64 - STEPS);
    }
    shifted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_of_a_small_field() {
        let p = [65_537];
        let inv = super::super::limbs::negative_inverse(p[0]);
        assert_eq!(invert(&[0], &p, inv), None);
        for a in 1..65_537u64 {
            let b = invert(&[a], &p, inv).map_or(0, |b| b[0]);
            assert_eq!(a * b % p[0], 1, "{a}");
        }
    }
}
