//! The round constants, generated when this crate is compiled.
//!
//! Section 2.3 of the paper: SHAKE256 of the text that names the instance, nine bytes to a constant,
//! little-endian, modulo p; those added before the S-box and before its inverse alternate.
#![forbid(unsafe_code)]

use super::keccak::shake256;
use crate::{MODULUS, ROUNDS, State, WIDTH};

/// What is hashed: prime, width, capacity, security level.
pub const SEED: &[u8] = b"RPO(18446744069414584321,12,4,128)";

/// Bytes to a constant, one more than an element has.
pub const BYTES: usize = 9;

/// By round; those before the S-box, then those before its inverse. All canonical.
pub const ROUND_CONSTANTS: [[State; 2]; ROUNDS] = generate();

const fn generate() -> [[State; 2]; ROUNDS] {
    let stream: [u8; 2 * ROUNDS * WIDTH * BYTES] = shake256(SEED);
    let mut constants = [[[0; WIDTH]; 2]; ROUNDS];
    let mut index = 0;
    while index < 2 * ROUNDS * WIDTH {
        let mut value = 0u128;
        let mut byte = 0;
        while byte < BYTES {
            value |= (stream[index * BYTES + byte] as u128) << (8 * byte);
            byte += 1;
        }
        let half = index / WIDTH;
        constants[half / 2][half % 2][index % WIDTH] = (value % MODULUS as u128) as u64;
        index += 1;
    }
    constants
}
