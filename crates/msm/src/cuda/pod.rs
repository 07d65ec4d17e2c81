//! Points as device memory.
#![allow(unsafe_code)]

use fieldspar_device::cuda::Pod;

use crate::curve::{Affine, Curve};

// SAFETY: a point is two arrays of 64-bit limbs and nothing else (`repr(C)` of two `repr(transparent)`),
// and every pattern of bits is such limbs; that they are below the modulus is what the kernels see to, not
// the type's layout.
unsafe impl<C: Curve<N>, const N: usize> Pod for Affine<C, N> {}

/// The limbs of the points, x before y.
pub(super) fn limbs<C: Curve<N>, const N: usize>(points: &[Affine<C, N>]) -> &[u64] {
    const { assert!(size_of::<Affine<C, N>>() == 16 * N && align_of::<Affine<C, N>>() == 8) };
    // SAFETY: a point is 2 N limbs without padding, see above.
    unsafe { core::slice::from_raw_parts(points.as_ptr().cast(), 2 * N * points.len()) }
}
