//! The S-box and its inverse on several elements at a time, in vectors and in general registers.
#![forbid(unsafe_code)]

use super::isa::Isa;

/// Field elements, any number of them, that go through an S-box together. Products bring the factor of
/// [`Isa::square`].
pub(crate) trait Powers: Copy {
    /// To the power 2^n.
    fn squares(self, n: usize) -> Self;
    /// Each times that of `other` in its place.
    fn mul(self, other: Self) -> Self;
}

/// `G` vectors, and beside each of them `S / G` words in general registers. Every product goes over all
/// of them, so that each has the others' latency to hide its own in; `J` vectors at a time are squared
/// step by step.
#[derive(Clone, Copy)]
struct Group<I: Isa, const G: usize, const S: usize, const J: usize> {
    isa: I,
    v: [I::V; G],
    s: [u64; S],
}

impl<I: Isa, const G: usize, const S: usize, const J: usize> Group<I, G, S, J> {
    #[inline(always)]
    fn square(mut self) -> Self {
        const {
            assert!(G.is_multiple_of(J) && S.is_multiple_of(G));
        }
        for block in (0..G).step_by(J) {
            let mut together = [self.v[block]; J];
            together.copy_from_slice(&self.v[block..block + J]);
            let squares = self.isa.square_together(together);
            self.v[block..block + J].copy_from_slice(&squares);
            for k in block * (S / G)..(block + J) * (S / G) {
                self.s[k] = self.isa.square_word(self.s[k]);
            }
        }
        self
    }
}

impl<I: Isa, const G: usize, const S: usize, const J: usize> Powers for Group<I, G, S, J> {
    #[inline(always)]
    fn mul(mut self, other: Self) -> Self {
        for i in 0..G {
            self.v[i] = self.isa.mul(self.v[i], other.v[i]);
            for k in i * (S / G)..(i + 1) * (S / G) {
                self.s[k] = self.isa.mul_word(self.s[k], other.s[k]);
            }
        }
        self
    }

    #[inline(always)]
    fn squares(mut self, n: usize) -> Self {
        for _ in 0..n {
            self = self.square();
        }
        self
    }
}

/// The S-box or its inverse, of vectors and of words beside them.
///
/// Not a function passed as a value: called through one, it would not be compiled for the instruction
/// set of its caller.
#[inline(always)]
pub(crate) fn power<I: Isa, const INVERSE: bool, const G: usize, const S: usize, const J: usize>(
    isa: I,
    v: [I::V; G],
    s: [u64; S],
) -> ([I::V; G], [u64; S]) {
    let out = chain::<_, INVERSE>(Group::<I, G, S, J> { isa, v, s });
    (out.v, out.s)
}

/// The S-box or its inverse.
#[inline(always)]
pub(crate) fn chain<P: Powers, const INVERSE: bool>(x: P) -> P {
    if INVERSE { inverse(x) } else { sbox(x) }
}

/// Seventh powers.
#[inline(always)]
fn sbox<P: Powers>(x: P) -> P {
    let square = x.squares(1);
    let cube = square.mul(x);
    square.squares(1).mul(cube)
}

/// Seventh roots: powers with exponent 1/7 modulo p - 1 = 10540996611094048183, which is
/// `1001001001001001001001001001000 1 1011011011011011011011011011011 0 111` in binary, by 63 squarings
/// and 9 products.
#[inline(always)]
fn inverse<P: Powers>(x: P) -> P {
    let x2 = x.squares(1);
    let x4 = x2.squares(1);
    // 100, then 100100 and so on: the number of digits at the end of the name.
    let d6 = x4.squares(3).mul(x4);
    let d12 = d6.squares(6).mul(d6);
    let d24 = d12.squares(12).mul(d12);
    let d30 = d24.squares(6).mul(d6);
    let d61 = d30.squares(31).mul(d30);
    let ends = d61.squares(1).mul(d30).squares(2);
    let tail = x2.mul(x4).mul(x);
    ends.mul(tail)
}
