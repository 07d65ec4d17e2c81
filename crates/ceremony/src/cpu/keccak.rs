//! Keccak-f\[1600\] (FIPS 202, section 3) over any number of states side by side, and Keccak-256:
//! rate 136 and padding byte 0x01 as submitted in 2011 and as Ethereum uses it, not SHA3-256.
#![forbid(unsafe_code)]

use super::isa::Isa;
use super::portable::Portable;

/// A Keccak-256 digest.
pub(crate) type Digest = [u8; 32];

/// Bytes that one permutation absorbs.
pub(crate) const RATE: usize = 136;

/// One block of a padded message.
pub(crate) type Block = [u8; RATE];

const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001,
    0x0000_0000_0000_8082,
    0x8000_0000_0000_808a,
    0x8000_0000_8000_8000,
    0x0000_0000_0000_808b,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8009,
    0x0000_0000_0000_008a,
    0x0000_0000_0000_0088,
    0x0000_0000_8000_8009,
    0x0000_0000_8000_000a,
    0x0000_0000_8000_808b,
    0x8000_0000_0000_008b,
    0x8000_0000_0000_8089,
    0x8000_0000_0000_8003,
    0x8000_0000_0000_8002,
    0x8000_0000_0000_0080,
    0x0000_0000_0000_800a,
    0x8000_0000_8000_000a,
    0x8000_0000_8000_8081,
    0x8000_0000_0000_8080,
    0x0000_0000_8000_0001,
    0x8000_0000_8000_8008,
];

/// One row of the new state: rho, pi and chi of five lanes, from the columns' parities `d`.
macro_rules! row {
    ($isa:ident, $a:ident, $d:ident, $b0:expr, [$(($i:literal, $x:literal, $l:literal, $r:literal)),*]) => {{
        let b1234 = [$($isa.rotl::<$l, $r>($isa.xor($a[$i], $d[$x]))),*];
        let (b0, [b1, b2, b3, b4]) = ($b0, b1234);
        [
            $isa.chi(b0, b1, b2),
            $isa.chi(b1, b2, b3),
            $isa.chi(b2, b3, b4),
            $isa.chi(b3, b4, b0),
            $isa.chi(b4, b0, b1),
        ]
    }};
}

/// One round from `a` to `e`.
#[inline(always)]
fn round<I: Isa>(isa: I, a: &[I::V; 25], e: &mut [I::V; 25], constant: u64) {
    // theta
    let mut c = [a[0]; 5];
    for x in 0..5 {
        c[x] = isa.xor3(isa.xor3(a[x], a[x + 5], a[x + 10]), a[x + 15], a[x + 20]);
    }
    let mut d = c;
    for x in 0..5 {
        d[x] = isa.xor(c[(x + 4) % 5], isa.rotl::<1, 63>(c[(x + 1) % 5]));
    }
    // rho, pi, chi: a row of the result at a time, so that few values are alive
    let b0 = isa.xor(a[0], d[0]);
    let [e0, e1, e2, e3, e4] = row!(
        isa,
        a,
        d,
        b0,
        [
            (6, 1, 44, 20),
            (12, 2, 43, 21),
            (18, 3, 21, 43),
            (24, 4, 14, 50)
        ]
    );
    // iota
    e[0] = isa.xor(e0, isa.splat(constant));
    [e[1], e[2], e[3], e[4]] = [e1, e2, e3, e4];
    let b0 = isa.rotl::<28, 36>(isa.xor(a[3], d[3]));
    [e[5], e[6], e[7], e[8], e[9]] = row!(
        isa,
        a,
        d,
        b0,
        [
            (9, 4, 20, 44),
            (10, 0, 3, 61),
            (16, 1, 45, 19),
            (22, 2, 61, 3)
        ]
    );
    let b0 = isa.rotl::<1, 63>(isa.xor(a[1], d[1]));
    [e[10], e[11], e[12], e[13], e[14]] = row!(
        isa,
        a,
        d,
        b0,
        [
            (7, 2, 6, 58),
            (13, 3, 25, 39),
            (19, 4, 8, 56),
            (20, 0, 18, 46)
        ]
    );
    let b0 = isa.rotl::<27, 37>(isa.xor(a[4], d[4]));
    [e[15], e[16], e[17], e[18], e[19]] = row!(
        isa,
        a,
        d,
        b0,
        [
            (5, 0, 36, 28),
            (11, 1, 10, 54),
            (17, 2, 15, 49),
            (23, 3, 56, 8)
        ]
    );
    let b0 = isa.rotl::<62, 2>(isa.xor(a[2], d[2]));
    [e[20], e[21], e[22], e[23], e[24]] = row!(
        isa,
        a,
        d,
        b0,
        [
            (8, 3, 55, 9),
            (14, 4, 39, 25),
            (15, 0, 41, 23),
            (21, 1, 2, 62)
        ]
    );
}

/// The permutation on every state.
#[inline(always)]
pub(crate) fn permute<I: Isa>(isa: I, a: &mut [I::V; 25]) {
    let mut e = *a;
    for pair in ROUND_CONSTANTS.as_chunks::<2>().0 {
        round(isa, a, &mut e, pair[0]);
        round(isa, &e, a, pair[1]);
    }
}

/// Blocks that a message of `len` bytes takes, padding included.
pub(crate) const fn blocks(len: usize) -> usize {
    len / RATE + 1
}

/// Sets the padding of a message of `len` bytes that lies at the start of `bytes`, which is as long
/// as its blocks and zero behind the message.
pub(crate) fn pad(bytes: &mut [u8], len: usize) {
    bytes[len] ^= 0x01;
    if let Some(last) = bytes.last_mut() {
        *last ^= 0x80;
    }
}

/// The Keccak-256 digest of `message`, on one portable state.
///
/// Keccak as submitted in 2011 and as Ethereum uses it (padding byte 0x01), not SHA3-256.
#[must_use]
pub fn keccak256(message: &[u8]) -> Digest {
    let mut state = [0; 25];
    let mut absorb = |block: &Block| {
        for (word, bytes) in state.iter_mut().zip(block.as_chunks().0) {
            *word ^= u64::from_le_bytes(*bytes);
        }
        permute(Portable, &mut state);
    };
    let (whole, rest) = message.as_chunks::<RATE>();
    whole.iter().for_each(&mut absorb);
    let mut last = [0; RATE];
    last[..rest.len()].copy_from_slice(rest);
    pad(&mut last, rest.len());
    absorb(&last);
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}
