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
        let mut t = M::P;
        t[0] -= 1;
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
        let mut c = non_residue::<M, N>().pow(&t);
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

/// The smallest number that is no square.
fn non_residue<M: Modulus<N>, const N: usize>() -> Fp<M, N> {
    let half = limbs::half(&M::P);
    let minus_one = Fp::ONE.neg();
    let mut candidate = Fp::ONE;
    loop {
        candidate = candidate.add(&Fp::ONE);
        if candidate.pow(&half) == minus_one {
            return candidate;
        }
    }
}
