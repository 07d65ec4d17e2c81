//! BLS12-377 G1 (Bowe, Chiesa, Green, Miers, Mishra, Wu, "Zexe", ePrint 2018/962).
#![forbid(unsafe_code)]

use super::{Curve, Format, Subgroup};
use crate::field::Modulus;

/// BLS12-377 G1: `y^2 = x^3 + 1` over a field of 377 bits, order of 253 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub struct Bls12_377;

#[rustfmt::skip]
impl Modulus<6> for Bls12_377 {
    const P: [u64; 6] = [
        0x8508c00000000001, 0x170b5d4430000000, 0x1ef3622fba094800,
        0x1a22d9f300f5138f, 0xc63b05c06ca1493b, 0x01ae3a4617c510ea,
    ];
    const ROOT: [u64; 6] = [
        0xba6b5ef26b00bbe8, 0x1ea03d28cc795186, 0xc6eaa2bc56228ac4,
        0xd14fcaca7022110e, 0x8fe9dee6aa914b0a, 0x00382d3d99cdbc5d,
    ];
}

#[rustfmt::skip]
impl Curve<6> for Bls12_377 {
    const NAME: &'static str = "bls12-377";
    const B: u64 = 1;
    const GENERATOR: ([u64; 6], [u64; 6]) = (
        [
            0xeab9b16eb21be9ef, 0xd5481512ffcd394e, 0x188282c8bd37cb5c,
            0x85951e2caa9d41bb, 0xc8fc6225bf87ff54, 0x008848defe740a67,
        ],
        [
            0xfd82de55559c8ea6, 0xc2fe3d3634a9591a, 0x6d182ad44fb82305,
            0xbd7fb348ca3e52d9, 0x1f674f5d30afeec4, 0x01914a69c5102eff,
        ],
    );
    const ORDER: [u64; 4] = [
        0x0a11800000000001, 0x59aa76fed0000001, 0x60b44d1e5c37b001, 0x12ab655e9a2ca556,
    ];
    const SUBGROUP: Subgroup<6> = Subgroup::Endomorphism {
        beta: [
            0xffffffffffffffff, 0xd1e945779fffffff, 0x59064ee822fb5bff,
            0xb8882a75cc9bc8e3, 0xbc8756ba8f8c524e, 0x01ae3a4617c510ea,
        ],
        z: 0x8508c00000000001,
    };
    const FORMAT: Format = Format::Little;
}
