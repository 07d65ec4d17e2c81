//! The kernels of GPUs: the arithmetic of those for CUDA compiled for the host, and the engines against
//! the processor's on the devices that are here. What only an NVIDIA GPU can show (inline PTX, shuffles)
//! is not covered where there is none.
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

#[cfg(feature = "wgpu")]
mod conformance;
#[cfg(unix)]
mod host;
#[cfg(unix)]
mod library;

use fieldspar_device::cuda::{Archive, ImageKind};
use fieldspar_rpo::{MODULUS, State};

/// Words where carries and corrections change.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    MODULUS - 1,
    MODULUS - 2,
    MODULUS,
    MODULUS + 1,
    u64::MAX,
    u64::MAX - 1,
    0xFFFF_FFFF,
    1 << 32,
    (1 << 32) + 1,
    MODULUS - (1 << 32),
    0xFFFF_FFFF_0000_0000,
];

/// Words of xorshift64.
struct Random(u64);

impl Random {
    const fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

    const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// An edge or any word.
    fn word(&mut self) -> u64 {
        let x = self.next();
        match self.next() % 3 {
            0 => EDGES[(x % EDGES.len() as u64) as usize],
            _ => x,
        }
    }

    fn states(&mut self, count: usize) -> Vec<State> {
        (0..count)
            .map(|_| std::array::from_fn(|_| self.word()))
            .collect()
    }
}

/// The committed archive has what the loader looks for, on every card from compute capability 7.5 on.
#[test]
fn the_archive_serves_every_card() {
    let archive = Archive::parse(include_bytes!("../../src/cuda/kernels.bin")).unwrap();
    assert_eq!(archive.modules(), ["rpo"]);
    for (capability, arch) in [
        ((8, 0), 80),
        ((8, 6), 86),
        ((8, 9), 89),
        ((9, 0), 90),
        ((10, 0), 100),
        ((12, 0), 120),
    ] {
        let image = archive.image("rpo", capability).unwrap();
        assert_eq!((image.kind, image.arch), (ImageKind::Cubin, arch));
    }
    let image = archive.image("rpo", (7, 5)).unwrap();
    assert_eq!((image.kind, image.arch), (ImageKind::Ptx, 75));
    assert!(archive.image("rpo", (7, 0)).is_err());
    assert_eq!(fieldspar_rpo::cuda::kernels_id().unwrap().len(), 64);
}
