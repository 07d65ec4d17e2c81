//! Montgomery arithmetic on limbs of 52 bits, eight elements at a time, lazily reduced.
//!
//! # Bounds
//! `L` limbs hold `R = 2^(52 L)`: 416 bits for the moduli of 377 and 381 bits, 260 for BN254's 254,
//! so `R / p` is at least 84. An [`Element`]'s limbs are below `2^52` unless said otherwise, and its
//! value is a small multiple of `p` that each function states.
//! - A Montgomery product of `a <= m p` and `b <= n p` is at most `(1 + m n / 84) p`; the largest
//!   `m n` in use is 10, so every product is below `1.2 p`.
//! - A difference is taken as `k p - b + a` with the limbs of `k p` padded: each limb but the top
//!   one lends enough from the limb above that no limb falls below zero. So carries are never
//!   negative and are taken by logical shifts.
//! - [`Field::fold`] brings a value in `[p, 8 p)` below `1.1 p` by a quotient from its top limb.
//!
//! Sums of columns: a column of a product holds at most `4 L` halves of products below `2^52` and a
//! padded constant, together below `2^58`.
#![forbid(unsafe_code)]
// Indices run over several arrays at once, and closures would lose the instruction set.
#![allow(clippy::needless_range_loop, clippy::manual_memcpy)]

use core::marker::PhantomData;

use super::Lanes;
use crate::field::Modulus;

/// Bits of a limb.
pub(crate) const BITS: usize = 52;
/// A limb of ones.
pub(crate) const MASK: u64 = (1 << BITS) - 1;
/// Columns of the widest product.
const COLUMNS: usize = 16;

/// Eight field elements: limb `j` of all of them in vector `j`.
pub(crate) type Element<A, const L: usize> = [<A as Lanes>::V; L];

/// The field with modulus `M` of `W` 64-bit words, as `L` limbs in the lanes of `A`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<A, M, const W: usize, const L: usize> {
    /// The instruction set.
    pub(crate) lanes: A,
    modulus: PhantomData<M>,
}

/// The limbs of a number of 64-bit words.
const fn to_limbs<const W: usize, const L: usize>(words: &[u64; W]) -> [u64; L] {
    let mut limbs = [0; L];
    let mut j = 0;
    while j < L {
        let (word, shift) = (BITS * j / 64, BITS * j % 64);
        if word < W {
            limbs[j] = words[word] >> shift;
        }
        if shift > 64 - BITS && word + 1 < W {
            limbs[j] |= words[word + 1] << (64 - shift);
        }
        limbs[j] &= MASK;
        j += 1;
    }
    limbs
}

/// `times p`, whose limbs but the top one lend `pad` from the limb above.
const fn padded<const L: usize>(p: &[u64; L], times: u64, pad: u64) -> [u64; L] {
    let mut limbs = [0; L];
    let mut carry = 0;
    let mut j = 0;
    while j < L {
        let value = p[j] * times + carry;
        limbs[j] = value & MASK;
        carry = value >> BITS;
        if j + 1 < L {
            limbs[j] += pad << BITS;
        }
        if j > 0 {
            limbs[j] -= pad;
        }
        j += 1;
    }
    limbs
}

/// `2^(52 L) - p`.
const fn complement<const L: usize>(p: &[u64; L]) -> [u64; L] {
    let mut limbs = [0; L];
    let mut carry = 1;
    let mut j = 0;
    while j < L {
        let value = (p[j] ^ MASK) + carry;
        limbs[j] = value & MASK;
        carry = value >> BITS;
        j += 1;
    }
    limbs
}

/// `floor(2^(52 L) / p)` by long division; it fits a limb.
const fn quotient_of_radix<const L: usize>(p: &[u64; L]) -> u64 {
    let mut remainder = [0u64; L];
    let mut quotient = 0u64;
    let mut bit = BITS * L + 1;
    while bit > 0 {
        bit -= 1;
        // remainder = 2 remainder + the bit of 2^(52 L)
        let mut carry = (bit == BITS * L) as u64;
        let mut j = 0;
        while j < L {
            let value = remainder[j] << 1 | carry;
            remainder[j] = value & MASK;
            carry = value >> BITS;
            j += 1;
        }
        let mut difference = [0u64; L];
        let mut borrow = 0;
        j = 0;
        while j < L {
            let value = remainder[j].wrapping_sub(p[j]).wrapping_sub(borrow);
            difference[j] = value & MASK;
            borrow = value >> 63;
            j += 1;
        }
        quotient <<= 1;
        if borrow == 0 {
            remainder = difference;
            quotient |= 1;
        }
    }
    quotient
}

impl<A: Lanes, M: Modulus<W>, const W: usize, const L: usize> Field<A, M, W, L> {
    /// The modulus.
    pub(crate) const P: [u64; L] = to_limbs(&M::P);
    /// `-p^-1 mod 2^52`.
    const MINUS_INVERSE: u64 = M::INV & MASK;
    /// `p^-1 mod 2^52`.
    const INVERSE: u64 = M::INV.wrapping_neg() & MASK;
    /// `R - p`.
    const COMPLEMENT: [u64; L] = complement(&Self::P);
    /// `floor(R / p)`.
    const RECIPROCAL: u64 = quotient_of_radix(&Self::P);
    /// `2 p` for one subtrahend.
    pub(crate) const TWO: [u64; L] = padded(&Self::P, 2, 1);
    /// `3 p` for one subtrahend.
    pub(crate) const THREE: [u64; L] = padded(&Self::P, 3, 1);
    /// `4 p` for two subtrahends.
    pub(crate) const FOUR: [u64; L] = padded(&Self::P, 4, 2);
    /// `7 p` for three subtrahends.
    pub(crate) const SEVEN: [u64; L] = padded(&Self::P, 7, 3);

    /// The field in these lanes.
    #[inline(always)]
    pub(crate) fn new(lanes: A) -> Self {
        const { assert!(L >= 2 && 2 * L <= COLUMNS && BITS * L > 64 * W && W <= 6) };
        // What the quotient of `fold` and the padding assume of the top limb.
        const { assert!(Self::P[L - 1] > 64 * 64 && Self::RECIPROCAL >= 84) };
        const { assert!(Self::RECIPROCAL <= MASK) };
        Self {
            lanes,
            modulus: PhantomData,
        }
    }

    /// All lanes the number with these limbs.
    #[inline(always)]
    pub(crate) fn splat(self, limbs: &[u64; L]) -> Element<A, L> {
        let mut v = [self.lanes.splat(0); L];
        for j in 0..L {
            v[j] = self.lanes.splat(limbs[j]);
        }
        v
    }

    /// All lanes the number with these words.
    #[inline(always)]
    pub(crate) fn splat_words(self, words: &[u64; W]) -> Element<A, L> {
        self.splat(&to_limbs(words))
    }

    /// Takes the carries along; the value is below `R`.
    #[inline(always)]
    pub(crate) fn carry(self, v: &mut Element<A, L>) {
        let a = self.lanes;
        let mask = a.splat(MASK);
        let mut carry = a.shr(v[0], BITS);
        v[0] = a.and(v[0], mask);
        for j in 1..L {
            let value = a.add(v[j], carry);
            carry = a.shr(value, BITS);
            v[j] = a.and(value, mask);
        }
    }

    /// The columns of `x y`.
    #[inline(always)]
    fn product(self, x: &Element<A, L>, y: &Element<A, L>) -> [A::V; COLUMNS] {
        let a = self.lanes;
        let mut t = [a.splat(0); COLUMNS];
        for i in 0..L {
            for j in 0..L {
                t[i + j] = a.madd_low(t[i + j], x[i], y[j]);
            }
            for j in 0..L {
                t[i + j + 1] = a.madd_high(t[i + j + 1], x[i], y[j]);
            }
        }
        t
    }

    /// The columns of `x^2`.
    #[inline(always)]
    fn square_product(self, x: &Element<A, L>) -> [A::V; COLUMNS] {
        let a = self.lanes;
        let mut t = [a.splat(0); COLUMNS];
        for i in 0..L {
            for j in i + 1..L {
                t[i + j] = a.madd_low(t[i + j], x[i], x[j]);
                t[i + j + 1] = a.madd_high(t[i + j + 1], x[i], x[j]);
            }
        }
        for k in 1..2 * L {
            t[k] = a.add(t[k], t[k]);
        }
        for i in 0..L {
            t[2 * i] = a.madd_low(t[2 * i], x[i], x[i]);
            t[2 * i + 1] = a.madd_high(t[2 * i + 1], x[i], x[i]);
        }
        t
    }

    /// Montgomery's reduction limb by limb after the whole product: with both interleaved, the
    /// columns and the operands did not fit the registers. The result is columns, not limbs.
    #[inline(always)]
    fn reduce(self, mut t: [A::V; COLUMNS]) -> Element<A, L> {
        let a = self.lanes;
        let inverse = a.splat(Self::MINUS_INVERSE);
        for i in 0..L {
            let m = a.madd_low(a.splat(0), t[i], inverse);
            for j in 0..L {
                t[i + j] = a.madd_low(t[i + j], m, a.splat(Self::P[j]));
            }
            let carry = a.shr(t[i], BITS);
            for j in 0..L {
                t[i + j + 1] = a.madd_high(t[i + j + 1], m, a.splat(Self::P[j]));
            }
            t[i + 1] = a.add(t[i + 1], carry);
        }
        let mut r = [a.splat(0); L];
        for j in 0..L {
            r[j] = t[L + j];
        }
        r
    }

    /// The columns of the Montgomery product.
    #[inline(always)]
    pub(crate) fn mul_columns(self, x: &Element<A, L>, y: &Element<A, L>) -> Element<A, L> {
        self.reduce(self.product(x, y))
    }

    /// The columns of the Montgomery square.
    #[inline(always)]
    pub(crate) fn square_columns(self, x: &Element<A, L>) -> Element<A, L> {
        self.reduce(self.square_product(x))
    }

    /// The Montgomery product `x y / R`.
    #[inline(always)]
    pub(crate) fn mul(self, x: &Element<A, L>, y: &Element<A, L>) -> Element<A, L> {
        let mut r = self.mul_columns(x, y);
        self.carry(&mut r);
        r
    }

    /// The Montgomery square `x^2 / R`.
    #[inline(always)]
    pub(crate) fn square(self, x: &Element<A, L>) -> Element<A, L> {
        let mut r = self.square_columns(x);
        self.carry(&mut r);
        r
    }

    /// `x - y + 2 p` for `x, y <= 2 p`: in `[0, 4 p]`.
    #[inline(always)]
    pub(crate) fn sub(self, x: &Element<A, L>, y: &Element<A, L>) -> Element<A, L> {
        let a = self.lanes;
        let mut r = *x;
        for j in 0..L {
            r[j] = a.sub(a.add(x[j], a.splat(Self::TWO[j])), y[j]);
        }
        self.carry(&mut r);
        r
    }

    /// `± x ± y + 4 p` for `x, y <= 2 p`, with minus in the lanes of the masks: in `[0, 8 p]`.
    #[inline(always)]
    pub(crate) fn add_signed(
        self,
        x: &Element<A, L>,
        minus_x: u8,
        y: &Element<A, L>,
        minus_y: u8,
    ) -> Element<A, L> {
        let a = self.lanes;
        let mut r = *x;
        for j in 0..L {
            let first = a.add_signed(minus_x, a.splat(Self::FOUR[j]), x[j]);
            r[j] = a.add_signed(minus_y, first, y[j]);
        }
        self.carry(&mut r);
        r
    }

    /// Columns of a value in `[p, 8 p)` to limbs of the same residue below `1.1 p`.
    ///
    /// The quotient `floor(top floor(R / p) / 2^52)` is never too large, since the pending carries
    /// are not negative. It falls short of `value / p` by less than 1 and three small terms: the top
    /// limb lacks carries of at most 64 (`64 2^(52 (L - 1)) / p < 0.01`), the floor of `R / p` costs
    /// at most `value / R < 0.1`, and neither occurs together: where `R / p` is small, the top limb
    /// of `p` is large. The multiple of `p` is subtracted by adding that of `R - p`; what exceeds `R`
    /// falls off the top limb.
    #[inline(always)]
    pub(crate) fn fold(self, mut v: Element<A, L>) -> Element<A, L> {
        let a = self.lanes;
        let q = a.madd_high(a.splat(0), v[L - 1], a.splat(Self::RECIPROCAL));
        for j in 0..L {
            v[j] = a.madd_low(v[j], q, a.splat(Self::COMPLEMENT[j]));
        }
        for j in 1..L {
            v[j] = a.madd_high(v[j], q, a.splat(Self::COMPLEMENT[j - 1]));
        }
        self.carry(&mut v);
        v
    }

    /// `yes` in the lanes of `mask`, `no` in the others.
    #[inline(always)]
    pub(crate) fn select(self, mask: u8, yes: &Element<A, L>, no: &Element<A, L>) -> Element<A, L> {
        let mut r = *no;
        for j in 0..L {
            r[j] = self.lanes.select(mask, yes[j], no[j]);
        }
        r
    }

    /// Lanes whose low limb is that of one of `0, p, .., MAX p`: a cheap sieve for
    /// [`Field::zeros`], which a random value passes once in `2^52 / (MAX + 1)`.
    #[inline(always)]
    pub(crate) fn maybe_zeros<const MAX: u64>(self, v: &Element<A, L>) -> u8 {
        let a = self.lanes;
        let multiple = a.madd_low(a.splat(0), v[0], a.splat(Self::INVERSE));
        a.at_most(multiple, a.splat(MAX))
    }

    /// Lanes that are zero modulo `p`, for values of at most `MAX p`: those that equal one of
    /// `0, p, .., MAX p`.
    #[inline(always)]
    pub(crate) fn zeros<const MAX: u64>(self, v: &Element<A, L>) -> u8 {
        let a = self.lanes;
        let maybe = self.maybe_zeros::<MAX>(v);
        let multiple = a.madd_low(a.splat(0), v[0], a.splat(Self::INVERSE));
        let mut product = [a.splat(0); L];
        for j in 0..L {
            product[j] = a.madd_low(product[j], multiple, a.splat(Self::P[j]));
        }
        for j in 1..L {
            product[j] = a.madd_high(product[j], multiple, a.splat(Self::P[j - 1]));
        }
        self.carry(&mut product);
        let mut zeros = maybe;
        for j in 0..L {
            zeros &= a.equal(product[j], v[j]);
        }
        zeros
    }

    /// Lanes whose limbs are all zero.
    #[inline(always)]
    pub(crate) fn all_zero(self, v: &Element<A, L>) -> u8 {
        let a = self.lanes;
        let mut any = v[0];
        for j in 1..L {
            any = a.or(any, v[j]);
        }
        a.equal(any, a.splat(0))
    }

    /// Limbs from the `W` vectors of 64-bit words that begin at `first`.
    #[inline(always)]
    pub(crate) fn unpack(self, words: &[A::V; 8], first: usize) -> Element<A, L> {
        let a = self.lanes;
        let mask = a.splat(MASK);
        let mut v = [a.splat(0); L];
        for j in 0..L {
            let (word, shift) = (BITS * j / 64, BITS * j % 64);
            let low = words[first + word];
            let bits = if shift > 64 - BITS && word + 1 < W {
                a.shr_wide(low, words[first + word + 1], shift)
            } else if shift > 0 {
                a.shr(low, shift)
            } else {
                low
            };
            // the top limb's word has nothing above it
            v[j] = if j + 1 < L { a.and(bits, mask) } else { bits };
        }
        v
    }

    /// The `W` vectors of 64-bit words of a value below `2^(64 W)`; the others are zero.
    #[inline(always)]
    pub(crate) fn pack(self, v: &Element<A, L>) -> [A::V; 8] {
        let a = self.lanes;
        let mut words = [a.splat(0); 8];
        for k in 0..W {
            let mut started = false;
            for j in 0..L {
                let (low, high) = (BITS * j, BITS * (j + 1));
                if high <= 64 * k || low >= 64 * (k + 1) {
                    continue;
                }
                let bits = if low > 64 * k {
                    a.shl(v[j], low - 64 * k)
                } else if low < 64 * k {
                    a.shr(v[j], 64 * k - low)
                } else {
                    v[j]
                };
                words[k] = if started { a.or(words[k], bits) } else { bits };
                started = true;
            }
        }
        words
    }
}
