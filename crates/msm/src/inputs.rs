//! Inputs for benchmarks and tests: points with known logarithms, scalars of several distributions.
//!
//! Everything follows from a seed, by a generator (SplitMix64) that is good enough to spread values and
//! for nothing else.
#![forbid(unsafe_code)]

use core::{fmt, str::FromStr};

use crate::{
    cpu::{Best, Scalar},
    curve::{Affine, Curve},
    digits::{Wide, less, minus},
    field::{adc, mac},
    kernel::{Kernel, Operands, Pair},
    schedule::straus,
};

/// A stream of numbers from a seed.
#[derive(Clone, Debug)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `seed`; `what` keeps the streams of one seed apart.
    #[must_use]
    pub fn new(seed: u64, what: u64) -> Self {
        let mut stream = Self(seed ^ what.wrapping_mul(0xd134_2543_de82_ef95));
        stream.next_u64();
        stream
    }

    /// The next number (Steele, Lea, Flood, "Fast splittable pseudorandom number generators").
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `order`, by rejection.
    pub fn below(&mut self, order: &Wide) -> Wide {
        let bits = 256 - order[3].leading_zeros();
        loop {
            let mut value = [0; 4].map(|_: u64| self.next_u64());
            value[3] &= u64::MAX >> (256 - bits);
            if less(&value, order) {
                return value;
            }
        }
    }
}

/// How scalars are distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distribution {
    /// Anywhere below the order.
    Uniform,
    /// Zero or one.
    ZeroOne,
    /// Below 2^64.
    U64,
    /// All the same.
    Same,
    /// Few values often and many seldom: the k-th of 65,536 uniform ones with a chance like 1 / k.
    Zipf,
    /// Nothing below bit 240: all digits but the top ones are zero.
    TopWindow,
}

impl Distribution {
    /// Every distribution.
    pub const ALL: [Self; 6] = [
        Self::Uniform,
        Self::ZeroOne,
        Self::U64,
        Self::Same,
        Self::Zipf,
        Self::TopWindow,
    ];

    /// The name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::ZeroOne => "zero-one",
            Self::U64 => "u64",
            Self::Same => "same",
            Self::Zipf => "zipf",
            Self::TopWindow => "top-window",
        }
    }

    /// `count` scalars below `order`.
    #[must_use]
    pub fn scalars(self, seed: u64, count: usize, order: &Wide) -> Vec<Wide> {
        let mut stream = Stream::new(seed, 1);
        let same = stream.below(order);
        let values: Vec<Wide> = match self {
            Self::Zipf => (0..1 << 16).map(|_| stream.below(order)).collect(),
            _ => Vec::new(),
        };
        let scalar = |_| match self {
            Self::Uniform => stream.below(order),
            Self::ZeroOne => [stream.next_u64() & 1, 0, 0, 0],
            Self::U64 => [stream.next_u64(), 0, 0, 0],
            Self::Same => same,
            Self::Zipf => {
                // The logarithm of the rank is uniform: a number of bits, and then bits.
                let bits = stream.next_u64() % 17;
                let rank = (1 << bits) + (stream.next_u64() & ((1 << bits) - 1));
                values[(rank - 1) as usize % values.len()]
            }
            Self::TopWindow => {
                let mut value = stream.below(order);
                value[..3].fill(0);
                value[3] &= u64::MAX << 48;
                value
            }
        };
        (0..count).map(scalar).collect()
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Distribution {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let found = Self::ALL.into_iter().find(|d| d.name() == s);
        found.ok_or_else(|| format!("there is no distribution `{s}`, only: {}", names()))
    }
}

/// The logarithms of [`points`]: `start + i step`.
#[must_use]
pub fn logarithms(seed: u64, order: &Wide) -> (Wide, Wide) {
    let mut stream = Stream::new(seed, 2);
    (stream.below(order), stream.below(order))
}

/// `count` different points of the subgroup: `(start + i step) G` with the numbers of [`logarithms`].
#[must_use]
pub fn points<C: Curve<N>, const N: usize>(seed: u64, count: usize) -> Vec<Affine<C, N>> {
    let (start, step) = logarithms(seed, &C::ORDER);
    let best = Best::new();
    let multiple = |s: &Wide| straus::msm(best, &[Affine::<C, N>::generator()], &[*s]);
    let kernel = Scalar(best);
    let mut points = vec![Affine::INFINITY; count];
    let (mut have, mut stride) = (1.min(count), step);
    if let Some(first) = points.first_mut() {
        *first = multiple(&start);
    }
    // Each round adds the same point to all there are.
    while have < count {
        let shift = [multiple(&stride)];
        let (old, new) = points.split_at_mut(have);
        for (old, new) in old.chunks(1 << 13).zip(new.chunks_mut(1 << 13)) {
            let pairs: Vec<Pair> = (0..new.len().min(old.len()))
                .map(|i| {
                    #[allow(clippy::cast_possible_truncation)]
                    let i = i as u32;
                    Pair { a: i, b: 0, out: i }
                })
                .collect();
            let mut scratch = Kernel::<C, N>::scratch(kernel, pairs.len());
            kernel.add(old, &shift, &pairs, new, &mut scratch, Operands::Near);
        }
        have = (2 * have).min(count);
        stride = add_mod(&stride, &stride, &C::ORDER);
    }
    points
}

/// The MSM of [`points`] with `scalars`, from the logarithms: `(sum of s_i (start + i step)) G`.
#[must_use]
pub fn expected<C: Curve<N>, const N: usize>(seed: u64, scalars: &[Wide]) -> Affine<C, N> {
    let (start, step) = logarithms(seed, &C::ORDER);
    // sum of s_i, and sum of i s_i: below 2^352 for fewer than 2^32 scalars
    let (mut plain, mut weighted) = ([0; 6], [0; 6]);
    for (i, scalar) in (0u64..).zip(scalars) {
        multiply_add(&mut plain, scalar, 1);
        multiply_add(&mut weighted, scalar, i);
    }
    let order = &C::ORDER;
    let plain = multiply_mod(&start, &plain, order);
    let log = add_mod(&plain, &multiply_mod(&step, &weighted, order), order);
    straus::msm(Best::new(), &[Affine::generator()], &[log])
}

/// `sum += value factor`.
fn multiply_add(sum: &mut [u64; 6], value: &Wide, factor: u64) {
    let mut carry = 0;
    let limbs = value.iter().chain(&[0; 2]);
    for (sum, &limb) in sum.iter_mut().zip(limbs) {
        (*sum, carry) = mac(*sum, limb, factor, carry);
    }
}

/// `a factor mod order`, bit after bit.
fn multiply_mod(a: &Wide, factor: &[u64; 6], order: &Wide) -> Wide {
    let mut product = [0; 4];
    for limb in factor.iter().rev() {
        for bit in (0..64).rev() {
            product = add_mod(&product, &product, order);
            if limb >> bit & 1 == 1 {
                product = add_mod(&product, a, order);
            }
        }
    }
    product
}

/// `a + b mod order`.
fn add_mod(a: &Wide, b: &Wide, order: &Wide) -> Wide {
    let mut carry = 0;
    let sum: Wide = core::array::from_fn(|i| {
        let limb;
        (limb, carry) = adc(a[i], b[i], carry);
        limb
    });
    let (less_order, below) = minus(&sum, order);
    if below { sum } else { less_order }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{curve::Bls12_377, reference};

    #[test]
    fn points_have_the_logarithms_that_they_say() {
        let order = Bls12_377::ORDER;
        let (mut log, step) = logarithms(7, &order);
        let g = Affine::<Bls12_377, 6>::generator();
        for point in points::<Bls12_377, 6>(7, 11) {
            assert_eq!(point, reference::multiply(&g, &log));
            log = add_mod(&log, &step, &order);
        }
        assert!(points::<Bls12_377, 6>(7, 0).is_empty());
        let scalars = Distribution::Uniform.scalars(3, 5, &order);
        let sum = reference::msm(&points::<Bls12_377, 6>(7, 5), &scalars);
        assert_eq!(expected::<Bls12_377, 6>(7, &scalars), sum);
    }

    #[test]
    fn scalars_are_below_the_order() {
        for distribution in Distribution::ALL {
            let scalars = distribution.scalars(1, 1000, &Bls12_377::ORDER);
            assert!(
                scalars.iter().all(|s| less(s, &Bls12_377::ORDER)),
                "{distribution}"
            );
            assert!(scalars.iter().any(|s| *s != [0; 4]), "{distribution}");
            assert_eq!(distribution.name().parse(), Ok(distribution));
        }
    }
}
