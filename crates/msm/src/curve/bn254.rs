//! BN254 G1, also alt_bn128 (Barreto, Naehrig; EIP-196).
#![forbid(unsafe_code)]

use super::{Curve, Format, Subgroup};
use crate::field::Modulus;

/// BN254 G1: `y^2 = x^3 + 3` over a field of 254 bits, order of 254 bits, cofactor 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(non_camel_case_types)]
pub struct Bn254;

#[rustfmt::skip]
impl Modulus<4> for Bn254 {
    const P: [u64; 4] = [
        0x3c208c16d87cfd47, 0x97816a916871ca8d, 0xb85045b68181585d, 0x30644e72e131a029,
    ];
}

#[rustfmt::skip]
impl Curve<4> for Bn254 {
    const NAME: &'static str = "bn254";
    const B: u64 = 3;
    const GENERATOR: ([u64; 4], [u64; 4]) = ([1, 0, 0, 0], [2, 0, 0, 0]);
    const ORDER: [u64; 4] = [
        0x43e1f593f0000001, 0x2833e84879b97091, 0xb85045b68181585d, 0x30644e72e131a029,
    ];
    const SUBGROUP: Subgroup<4> = Subgroup::Whole;
    const FORMAT: Format = Format::Little;
}
