//! The MDS matrix in the frequency domain.
//!
//! A circulant matrix is a polynomial modulo `x^12 - 1`. With `y = x^3` that is a polynomial of degree
//! 2 over the numbers modulo `y^4 - 1 = (y - 1)(y + 1)(y^2 + 1)`: a Fourier transform of length 4 over
//! the integers, then three products of length 3, modulo `x^3 - 1`, `x^3 + 1` and `x^3 - i`. The
//! matrix was chosen so that its coefficients there are powers of two (with the 1/4 of the inverse
//! transform in them):
//!
//! | y | 1 | x | x^2 |
//! |---|---|---|---|
//! | 1 | 16 | 8 | 16 |
//! | -1 | -8 | 1 | 1 |
//! | i | -1 - 2i | -1 - i | 4 - 8i |
//!
//! The words are halves of elements, so nothing is reduced before the end: entries add up to 160, the
//! results lie below 2^40.
#![forbid(unsafe_code)]

use super::isa::Isa;
use crate::WIDTH;

/// The matrix times 12 words below 2^32, over the integers; intermediate words may be negative.
#[inline(always)]
fn halves<I: Isa>(isa: I, s: [I::V; WIDTH]) -> [I::V; WIDTH] {
    let (mut one, mut minus) = ([s[0]; 3], [s[0]; 3]);
    let (mut re, mut im) = ([s[0]; 3], [s[0]; 3]);
    for k in 0..3 {
        let even = isa.add(s[k], s[k + 6]);
        let odd = isa.add(s[k + 3], s[k + 9]);
        one[k] = isa.add(even, odd);
        minus[k] = isa.sub(even, odd);
        re[k] = isa.sub(s[k], s[k + 6]);
        im[k] = isa.sub(s[k + 3], s[k + 9]);
    }
    let one = block_one(isa, one);
    let minus = block_minus(isa, minus);
    let (re, im) = block_i(isa, re, im);

    let mut out = s;
    for k in 0..3 {
        let even = isa.add(one[k], minus[k]);
        let odd = isa.sub(one[k], minus[k]);
        out[k] = isa.add(even, re[k]);
        out[k + 6] = isa.sub(even, re[k]);
        out[k + 3] = isa.add(odd, im[k]);
        out[k + 9] = isa.sub(odd, im[k]);
    }
    out
}

// No closures here: a closure does not have the instruction set of the function that it stands in, and
// vectors would pass through memory.

/// The product modulo `x^3 - 1`: `16 (a0 + a1 + a2) - 8 a`, turned.
#[inline(always)]
fn block_one<I: Isa>(isa: I, a: [I::V; 3]) -> [I::V; 3] {
    let sum = isa.shl::<4>(isa.add(isa.add(a[0], a[1]), a[2]));
    [
        isa.sub(sum, isa.shl::<3>(a[2])),
        isa.sub(sum, isa.shl::<3>(a[0])),
        isa.sub(sum, isa.shl::<3>(a[1])),
    ]
}

/// The product modulo `x^3 + 1`.
#[inline(always)]
fn block_minus<I: Isa>(isa: I, [b0, b1, b2]: [I::V; 3]) -> [I::V; 3] {
    let zero = isa.splat(0);
    [
        isa.sub(isa.sub(zero, isa.shl::<3>(b0)), isa.add(b1, b2)),
        isa.sub(isa.sub(b0, isa.shl::<3>(b1)), b2),
        isa.sub(isa.add(b0, b1), isa.shl::<3>(b2)),
    ]
}

/// The product modulo `x^3 - i` of `c = re + i im`, whose matrix is
/// ```text
/// -1 - 2i   8 + 4i   1 - i
/// -1 - i   -1 - 2i   8 + 4i
///  4 - 8i  -1 - i   -1 - 2i
/// ```
/// With `near = (-1 - 2i) c`, `unit = (-1 - i) c`, `far = (2 + i) c`.
#[inline(always)]
fn block_i<I: Isa>(
    isa: I,
    [r0, r1, r2]: [I::V; 3],
    [i0, i1, i2]: [I::V; 3],
) -> ([I::V; 3], [I::V; 3]) {
    let (near0, near1, near2) = (near(isa, r0, i0), near(isa, r1, i1), near(isa, r2, i2));
    let (unit0, unit1) = (unit(isa, r0, i0), unit(isa, r1, i1));
    let (far0, far1, far2) = (far(isa, r0, i0), far(isa, r1, i1), far(isa, r2, i2));
    let re = [
        isa.add(isa.add(near0.0, isa.shl::<2>(far1.0)), isa.add(r2, i2)),
        isa.add(isa.add(unit0.0, near1.0), isa.shl::<2>(far2.0)),
        isa.add(isa.add(isa.shl::<2>(far0.1), unit1.0), near2.0),
    ];
    let im = [
        isa.add(isa.sub(isa.shl::<2>(far1.1), near0.1), isa.sub(i2, r2)),
        isa.sub(isa.sub(isa.shl::<2>(far2.1), unit0.1), near1.1),
        isa.sub(
            isa.sub(isa.splat(0), isa.shl::<2>(far0.0)),
            isa.add(unit1.1, near2.1),
        ),
    ];
    (re, im)
}

/// `(-1 - 2i) (r + i im)`, the imaginary part negated.
#[inline(always)]
fn near<I: Isa>(isa: I, r: I::V, im: I::V) -> (I::V, I::V) {
    (isa.sub(isa.add(im, im), r), isa.add(im, isa.add(r, r)))
}

/// `(-1 - i) (r + i im)`, the imaginary part negated.
#[inline(always)]
fn unit<I: Isa>(isa: I, r: I::V, im: I::V) -> (I::V, I::V) {
    (isa.sub(im, r), isa.add(im, r))
}

/// `(2 + i) (r + i im)`.
#[inline(always)]
fn far<I: Isa>(isa: I, r: I::V, im: I::V) -> (I::V, I::V) {
    (isa.sub(isa.add(r, r), im), isa.add(isa.add(im, im), r))
}

/// The matrix times a state, plus canonical constants.
#[inline(always)]
pub(crate) fn mds<I: Isa>(isa: I, state: &mut [I::V; WIDTH], constants: &[u64; WIDTH]) {
    let (mut low, mut high) = (*state, *state);
    for i in 0..WIDTH {
        low[i] = isa.low(state[i]);
        high[i] = isa.high(state[i]);
    }
    let (low, high) = (halves(isa, low), halves(isa, high));
    for i in 0..WIDTH {
        let constant = constants[i];
        let low = isa.add(low[i], isa.splat(constant & 0xFFFF_FFFF));
        let high = isa.add(high[i], isa.splat(constant >> 32));
        state[i] = isa.join(low, high);
    }
}
