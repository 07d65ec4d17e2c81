//! Digests as device memory.
#![allow(unsafe_code)]

use fieldspar_device::cuda::Pod;

use crate::Digest;

// SAFETY: a digest is four words of 64 bits and nothing else (`repr(transparent)`), and every pattern
// of bits is such words; that they are canonical is what the kernels see to, not the type's layout.
unsafe impl Pod for Digest {}
