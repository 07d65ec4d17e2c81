//! Constants of BabyBear, p = 15 * 2^27 + 1, and of the Poseidon2 permutation over it.
#![forbid(unsafe_code)]

/// The modulus.
pub(crate) const P: u32 = 0x7800_0001;

/// An element in canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element(pub(crate) u32);

impl Element {
    pub(crate) fn mul(self, other: Self) -> Self {
        let product = u64::from(self.0) * u64::from(other.0) % u64::from(P);
        Self(product as u32)
    }

    pub(crate) fn pow(self, exponent: u64) -> Self {
        let mut result = Self(1);
        for bit in (0..u64::BITS - exponent.leading_zeros()).rev() {
            result = result.mul(result);
            if exponent >> bit & 1 == 1 {
                result = result.mul(self);
            }
        }
        result
    }

    /// x * 2^32: the word that stands for x in the kernels.
    pub(crate) fn montgomery(self) -> u32 {
        ((u64::from(self.0) << 32) % u64::from(P)) as u32
    }

    /// floor(x * 2^32 / p), for products with a factor that is known beforehand.
    pub(crate) fn ratio(self) -> u32 {
        ((u64::from(self.0) << 32) / u64::from(P)) as u32
    }
}

/// A generator of the subgroup of order 2^bits, the one that Plonky3 uses: a power of 31^15.
pub(crate) fn root_of_unity(bits: u32) -> Element {
    Element(31).pow(15).pow(1 << (27 - bits))
}

/// Round constants of Poseidon2 of width 16: 4 * 16 of the first external rounds, 13 of the internal
/// ones, 4 * 16 of the last external rounds. They come from the Grain register as in Poseidon's
/// reference (Grassi et al., "Poseidon", appendix E); the internal rounds take one each.
pub(crate) fn poseidon2_constants() -> Vec<Element> {
    let mut grain = Grain::new(&[(1, 2), (0, 4), (31, 12), (16, 12), (8, 10), (13, 10)]);
    (0..4 * 16 + 13 + 4 * 16).map(|_| grain.element()).collect()
}

/// The Grain register in self-shrinking mode.
struct Grain {
    /// The bit that comes out next is the highest of 80.
    state: u128,
}

impl Grain {
    /// Starts from values of given widths, followed by ones.
    fn new(fields: &[(u32, u32)]) -> Self {
        let mut state = 0_u128;
        let mut length = 0;
        for &(value, width) in fields {
            state = state << width | u128::from(value);
            length += width;
        }
        let ones = 80 - length;
        state = state << ones | ((1 << ones) - 1);
        let mut grain = Self { state };
        for _ in 0..160 {
            grain.step();
        }
        grain
    }

    fn step(&mut self) -> u32 {
        let bit = |i: u32| self.state >> (79 - i) & 1;
        let new = bit(62) ^ bit(51) ^ bit(38) ^ bit(23) ^ bit(13) ^ bit(0);
        self.state = (self.state << 1 | new) & ((1 << 80) - 1);
        new as u32
    }

    /// A bit, if the one before it was 1; else both are dropped.
    fn bit(&mut self) -> u32 {
        while self.step() == 0 {
            self.step();
        }
        self.step()
    }

    /// 31 bits, highest first, below p.
    fn element(&mut self) -> Element {
        loop {
            let word = (0..31).fold(0, |word, _| word << 1 | self.bit());
            if word < P {
                return Element(word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_plonky3s() {
        // First and last of each block, from p3-baby-bear 0.8.0. The arithmetic test of the whir crate
        // compares the whole permutation.
        let constants = poseidon2_constants();
        assert_eq!(constants.len(), 141);
        assert_eq!(constants[0], Element(0x69cb_b6af));
        assert_eq!(constants[63], Element(0x1e36_ea47));
        assert_eq!(constants[64], Element(0x5a80_53c0));
        assert_eq!(constants[76], Element(0x241a_f16d));
        assert_eq!(constants[77], Element(0x7290_a80d));
    }

    #[test]
    fn roots_have_their_order() {
        assert_eq!(root_of_unity(27), Element(0x1a42_7a41));
        assert_eq!(root_of_unity(1), Element(P - 1));
        let root = root_of_unity(4);
        assert_eq!(root.pow(8), Element(P - 1));
        assert_eq!(Element(1).montgomery(), 0x0fff_fffe);
    }
}
