//! Field elements as the words that the device works on: Montgomery form, below p, as the host
//! holds them.
#![allow(unsafe_code)]

use crate::field::{Extension, F};

const _: () = assert!(size_of::<F>() == 4 && align_of::<F>() == 4);

/// The words of base elements.
pub(crate) fn words(elements: &[F]) -> &[u32] {
    // SAFETY: `F` is `#[repr(transparent)]` over a `u32`, and every `F` is an initialised word.
    unsafe { core::slice::from_raw_parts(elements.as_ptr().cast(), elements.len()) }
}

/// One word.
pub(crate) fn word(element: F) -> u32 {
    words(&[element])[0]
}

/// The element of a word that the device made.
///
/// A word that is not below p would break the field's invariant, so it is reduced; the device makes
/// none.
pub(crate) fn base(word: u32) -> F {
    let word = if word < P { word } else { word % P };
    // SAFETY: `F` is `#[repr(transparent)]` over a `u32`, of which each below p is an element.
    unsafe { core::mem::transmute::<u32, F>(word) }
}

const P: u32 = 0x7800_0001;

/// Words of extension elements, the coefficients of one element side by side.
pub(crate) fn extension_words<EF: Extension>(elements: &[EF]) -> Vec<u32> {
    elements
        .iter()
        .flat_map(|x| words(x.as_basis_coefficients_slice()))
        .copied()
        .collect()
}

/// The element whose coefficients the words are.
pub(crate) fn extension<EF: Extension>(words: &[u32]) -> EF {
    EF::from_basis_coefficients_fn(|d| base(words[d]))
}

/// An element as a kernel's argument: five words, the last ones unused for degree 4.
pub(crate) fn argument<EF: Extension>(x: EF) -> [u32; 5] {
    let mut out = [0; 5];
    let coefficients = x.as_basis_coefficients_slice();
    out[..coefficients.len()].copy_from_slice(words(coefficients));
    out
}

#[cfg(test)]
mod tests {
    use p3_field::{PrimeCharacteristicRing, PrimeField32};

    use super::{base, extension, extension_words, word};
    use crate::field::{EF5, F};

    #[test]
    fn words_are_elements_and_back() {
        for x in [F::ZERO, F::ONE, -F::ONE, F::from_u32(12345)] {
            assert_eq!(base(word(x)), x);
        }
        assert_eq!(
            word(F::ONE),
            ((1_u64 << 32) % u64::from(F::ORDER_U32)) as u32
        );
        let x = [EF5::ONE, EF5::from(F::from_u32(7))];
        let words = extension_words(&x);
        assert_eq!(words.len(), 10);
        assert_eq!(extension::<EF5>(&words[5..]), x[1]);
    }
}
