//! The permutation of one state: for the transcript, which has one at a time and on which a GPU
//! waits. What counts is how long one takes, so its 16 words lie in two vectors where there are any.
#![forbid(unsafe_code)]

use p3_challenger::DuplexChallenger;
use p3_symmetric::{CryptographicPermutation, Permutation};

use super::portable::Portable;
use super::poseidon2::{WIDTH, constants, permute};
use crate::field::F;

/// Plonky3's `default_babybear_poseidon2_16`, one state as fast as this processor can. Plonky3's own
/// takes two to three times as long in a program that is built for every processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One;

/// Plonky3's transcript over [`One`].
pub(crate) type OwnChallenger = DuplexChallenger<F, One, WIDTH, 8>;

impl Permutation<[F; WIDTH]> for One {
    fn permute_mut(&self, state: &mut [F; WIDTH]) {
        #[cfg(target_arch = "x86_64")]
        if let Some(isa) = super::x86_64::avx2::Avx2::detect() {
            return super::x86_64::single::permute(isa, state);
        }
        let mut lanes = [*state];
        permute(Portable, constants(), &mut lanes);
        *state = lanes[0];
    }
}

impl CryptographicPermutation<[F; WIDTH]> for One {}

#[cfg(test)]
mod tests {
    use p3_baby_bear::default_babybear_poseidon2_16;
    use p3_field::PrimeCharacteristicRing;
    use p3_symmetric::Permutation;

    use super::One;
    use crate::field::F;

    #[test]
    fn one_state_is_permuted_as_by_plonky3() {
        let plonky3 = default_babybear_poseidon2_16();
        let mut states = vec![[F::ZERO; 16], [F::ONE; 16], [-F::ONE; 16]];
        for k in 0..16 {
            let mut unit = [F::ZERO; 16];
            unit[k] = -F::ONE;
            states.push(unit);
        }
        let mut state = core::array::from_fn(F::from_usize);
        for mut given in states {
            for s in [&mut given, &mut state] {
                for _ in 0..50 {
                    let mut expected = *s;
                    plonky3.permute_mut(&mut expected);
                    One.permute_mut(s);
                    assert_eq!(*s, expected);
                }
            }
        }
    }
}
