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
    let add = |a, b| isa.add(a, b);
    let sub = |a, b| isa.sub(a, b);
    let (mut one, mut minus) = ([s[0]; 3], [s[0]; 3]);
    let (mut re, mut im) = ([s[0]; 3], [s[0]; 3]);
    for k in 0..3 {
        let even = add(s[k], s[k + 6]);
        let odd = add(s[k + 3], s[k + 9]);
        one[k] = add(even, odd);
        minus[k] = sub(even, odd);
        re[k] = sub(s[k], s[k + 6]);
        im[k] = sub(s[k + 3], s[k + 9]);
    }

    // y = 1: 16 (a0 + a1 + a2) - 8 a
    let sixteen = isa.shl::<4>(add(add(one[0], one[1]), one[2]));
    let one = [2, 0, 1].map(|k: usize| sub(sixteen, isa.shl::<3>(one[k])));

    // y = -1
    let [b0, b1, b2] = minus;
    let minus = [
        sub(sub(isa.sub(isa.splat(0), isa.shl::<3>(b0)), b1), b2),
        sub(sub(b0, isa.shl::<3>(b1)), b2),
        sub(add(b0, b1), isa.shl::<3>(b2)),
    ];

    // y = i, with c = re + i im. The products by the rows of
    //   -1 - 2i   8 + 4i   1 - i
    //   -1 - i   -1 - 2i   8 + 4i
    //    4 - 8i  -1 - i   -1 - 2i
    let [r0, r1, r2] = re;
    let [i0, i1, i2] = im;
    // (-1 - 2i) c = (2 im - re) - i (im + 2 re)
    let near = |r, i| {
        (
            sub(add(i, i), r),
            add(i, add(r, r)), // to be subtracted
        )
    };
    // (-1 - i) c = (im - re) - i (im + re)
    let unit = |r, i| (sub(i, r), add(i, r));
    // (2 + i) c = (2 re - im) + i (2 im + re); times 4 is (8 + 4i) c, and -4i times it (4 - 8i) c
    let far = |r, i| (sub(add(r, r), i), add(add(i, i), r));
    let four = |a| isa.shl::<2>(a);
    let (n0, n1, n2) = (near(r0, i0), near(r1, i1), near(r2, i2));
    let (u0, u1) = (unit(r0, i0), unit(r1, i1));
    let (f0, f1, f2) = (far(r0, i0), far(r1, i1), far(r2, i2));
    let re = [
        // (1 - i) c = (re + im) + i (im - re)
        add(add(n0.0, four(f1.0)), add(r2, i2)),
        add(add(u0.0, n1.0), four(f2.0)),
        add(add(four(f0.1), u1.0), n2.0),
    ];
    let im = [
        add(sub(four(f1.1), n0.1), sub(i2, r2)),
        sub(sub(four(f2.1), u0.1), n1.1),
        sub(sub(isa.sub(isa.splat(0), four(f0.0)), u1.1), n2.1),
    ];

    let mut out = s;
    for k in 0..3 {
        let even = add(one[k], minus[k]);
        let odd = sub(one[k], minus[k]);
        out[k] = add(even, re[k]);
        out[k + 6] = sub(even, re[k]);
        out[k + 3] = add(odd, im[k]);
        out[k + 9] = sub(odd, im[k]);
    }
    out
}

/// The matrix times a state, plus canonical constants.
#[inline(always)]
pub(crate) fn mds<I: Isa>(isa: I, state: &mut [I::V; WIDTH], constants: &[u64; WIDTH]) {
    let low = halves(isa, state.map(|x| isa.low(x)));
    let high = halves(isa, state.map(|x| isa.high(x)));
    for i in 0..WIDTH {
        let constant = constants[i];
        let low = isa.add(low[i], isa.splat(constant & 0xFFFF_FFFF));
        let high = isa.add(high[i], isa.splat(constant >> 32));
        state[i] = isa.join(low, high);
    }
}
