//! BLS12-381 G1 (Bowe, 2017).
#![forbid(unsafe_code)]

use super::{Curve, Format, Subgroup};
use crate::field::Modulus;

/// BLS12-381 G1: `y^2 = x^3 + 4` over a field of 381 bits, order of 255 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub struct Bls12_381;

#[rustfmt::skip]
impl Modulus<6> for Bls12_381 {
    const P: [u64; 6] = [
        0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
        0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a,
    ];
}

#[rustfmt::skip]
impl Curve<6> for Bls12_381 {
    const NAME: &'static str = "bls12-381";
    const B: u64 = 4;
    const GENERATOR: ([u64; 6], [u64; 6]) = (
        [
            0xfb3af00adb22c6bb, 0x6c55e83ff97a1aef, 0xa14e3a3f171bac58,
            0xc3688c4f9774b905, 0x2695638c4fa9ac0f, 0x17f1d3a73197d794,
        ],
        [
            0x0caa232946c5e7e1, 0xd03cc744a2888ae4, 0x00db18cb2c04b3ed,
            0xfcf5e095d5d00af6, 0xa09e30ed741d8ae4, 0x08b3f481e3aaa0f1,
        ],
    );
    const ORDER: [u64; 4] = [
        0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48,
    ];
    const SUBGROUP: Subgroup<6> = Subgroup::Endomorphism {
        beta: [
            0x2e01fffffffefffe, 0xde17d813620a0002, 0xddb3a93be6f89688,
            0xba69c6076a0f77ea, 0x5f19672fdf76ce51, 0x0000000000000000,
        ],
        z: 0xd201000000010000,
    };
    const FORMAT: Format = Format::Big;
}
