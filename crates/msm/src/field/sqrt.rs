//! Square roots by Tonelli and Shanks.
#![forbid(unsafe_code)]

use super::{Fp, Modulus, limbs};

impl<M: Modulus<N>, const N: usize> Fp<M, N> {
    /// A square root, the one or the other; `None` if there is none.
    #[must_use]
    pub fn sqrt(&self) -> Option<Self> {
        if self.is_zero() {
            return Some(*self);
        }
        // p - 1 = 2^s t with t odd
        let mut t = limbs::minus_one(&M::P);
        let mut s = 0u32;
        while t[0] & 1 == 0 {
            t = limbs::half(&t);
            s += 1;
        }
        // self^((t - 1) / 2), from which root = self^((t + 1) / 2) and b = self^t
        let power = self.pow(&limbs::half(&t));
        let mut root = self.mul(&power);
        let mut b = root.mul(&power);
        if s == 1 {
            return (b == Self::ONE).then_some(root);
        }
        let mut c = Self::constant(M::ROOT);
        let mut order = s;
        // root^2 = self b, and b has order 2^k with k < order, unless self is no square.
        while b != Self::ONE {
            let mut k = 0;
            let mut square = b;
            while square != Self::ONE {
                square = square.square();
                k += 1;
                if k == order {
                    return None;
                }
            }
            for _ in 0..order - k - 1 {
                c = c.square();
            }
            root = root.mul(&c);
            c = c.square();
            b = b.mul(&c);
            order = k;
        }
        Some(root)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{Bls12_377, Bls12_381, Bn254};

    fn squares<M: Modulus<N>, const N: usize>() {
        let mut roots = 0;
        for value in 0..200 {
            let value = Fp::<M, N>::from_u64(value);
            let square = value.square();
            let root = square.sqrt();
            assert!(root == Some(value) || root == Some(value.neg()));
            if let Some(root) = value.sqrt() {
                assert_eq!(root.square(), value);
                roots += 1;
            }
        }
        // half of them, roughly
        assert!((60..140).contains(&roots), "{roots}");
        let root = Fp::<M, N>::constant(M::ROOT);
        assert_eq!(root.sqrt(), None);
    }

    #[test]
    fn squares_have_roots_and_half_of_all_have_none() {
        squares::<Bls12_377, 6>();
        squares::<Bls12_381, 6>();
        squares::<Bn254, 4>();
    }
}
