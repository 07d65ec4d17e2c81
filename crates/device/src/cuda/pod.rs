//! What may lie in device memory.
#![allow(unsafe_code)]

use crate::{Error, OutOfMemory};

/// A value that is its bytes: what is copied between host and device.
///
/// # Safety
///
/// Every pattern of bits is a value, there is no padding, and the alignment is at most 16.
pub unsafe trait Pod: Copy + Send + Sync + 'static {}

// SAFETY: an integer of the machine.
unsafe impl Pod for u8 {}
// SAFETY: an integer of the machine.
unsafe impl Pod for u32 {}
// SAFETY: an integer of the machine.
unsafe impl Pod for i32 {}
// SAFETY: an integer of the machine.
unsafe impl Pod for u64 {}
// SAFETY: every pattern of bits is a number or a NaN.
unsafe impl Pod for f32 {}
// SAFETY: an array has no padding of its own.
unsafe impl<T: Pod, const N: usize> Pod for [T; N] {}

/// The bytes of a slice.
pub(super) fn bytes_of<T: Pod>(slice: &[T]) -> &[u8] {
    // SAFETY: `Pod` has no padding, so each of the bytes that the slice covers is initialised.
    unsafe { core::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of a slice, to write.
pub(super) fn bytes_of_mut<T: Pod>(slice: &mut [T]) -> &mut [u8] {
    let bytes = size_of_val(slice);
    // SAFETY: as for `bytes_of`, and whatever is written is a value of `T`.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), bytes) }
}

/// A vector of zeros.
pub(super) fn zeroed<T: Pod>(len: usize) -> Vec<T> {
    // SAFETY: every pattern of bits is a value of `T`, and so are zeros.
    let zero: T = unsafe { core::mem::zeroed() };
    vec![zero; len]
}

/// Bytes of `len` values of `T`.
///
/// # Errors
///
/// [`Error::OutOfMemory`] where no address space could hold them.
pub(super) fn size<T: Pod>(op: &'static str, len: usize) -> Result<usize, Error> {
    match len.checked_mul(size_of::<T>()) {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(bytes),
        _ => {
            let need = (len as u64).saturating_mul(size_of::<T>() as u64);
            Err(OutOfMemory::new(op, need, isize::MAX as u64).into())
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_overflows_is_refused() {
        assert_eq!(size::<u32>("test", 3).unwrap(), 12);
        assert_eq!(size::<u64>("test", 0).unwrap(), 0);
        for len in [usize::MAX, usize::MAX / 4 + 1, isize::MAX as usize / 4 + 1] {
            let error = size::<u32>("test", len).unwrap_err();
            let Error::OutOfMemory(error) = error else {
                panic!("{error}");
            };
            assert!(error.need > error.have, "{error}");
        }
    }

    #[test]
    fn bytes_are_those_of_the_values() {
        let mut words = [0x0403_0201u32.to_le(), 0x0807_0605u32.to_le()];
        assert_eq!(bytes_of(&words), [1, 2, 3, 4, 5, 6, 7, 8]);
        bytes_of_mut(&mut words)[4] = 9;
        assert_eq!(u32::from_le(words[1]), 0x0807_0609);
        assert_eq!(zeroed::<[u32; 4]>(2), [[0; 4]; 2]);
    }
}
