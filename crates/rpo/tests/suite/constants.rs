//! The constants are what the paper says, by code that is not ours.

use fieldspar_rpo::reference::constants::{BYTES, ROUND_CONSTANTS, SEED};
use fieldspar_rpo::reference::field::{mul, pow};
use fieldspar_rpo::reference::{ALPHA, INVERSE_ALPHA, MDS_ROW};
use fieldspar_rpo::{MODULUS, ROUNDS, WIDTH};
use shake::Shake256;
use shake::digest::{ExtendableOutput, Update, XofReader};

#[test]
fn they_come_from_shake256() {
    let mut hasher = Shake256::default();
    hasher.update(SEED);
    let mut reader = hasher.finalize_xof();
    let text = format!("RPO({MODULUS},{WIDTH},4,128)");
    assert_eq!(SEED, text.as_bytes());
    for constant in ROUND_CONSTANTS.as_flattened().as_flattened() {
        let mut bytes = [0; 16];
        reader.read(&mut bytes[..BYTES]);
        let value = u128::from_le_bytes(bytes) % u128::from(MODULUS);
        assert_eq!(u128::from(*constant), value);
    }
    assert_eq!(ROUND_CONSTANTS.as_flattened().len(), 2 * ROUNDS);
    // As published with the reference implementation.
    assert_eq!(ROUND_CONSTANTS[0][0][0], 5_789_762_306_288_267_392);
    assert_eq!(ROUND_CONSTANTS[0][1][0], 6_077_062_762_357_204_287);
}

#[test]
fn the_exponents_are_inverse() {
    let order = u128::from(MODULUS - 1);
    assert_eq!(u128::from(ALPHA) * u128::from(INVERSE_ALPHA) % order, 1);
    // The factors of lazy products vanish: 2^32 has order 6, which divides both exponents less one.
    assert_eq!(pow(1 << 32, 6), 1);
    assert_eq!((ALPHA - 1) % 6, 0);
    assert_eq!((INVERSE_ALPHA - 1) % 6, 0);
}

/// Every square submatrix of an MDS matrix is regular; those of 1 and 2 rows are tried.
#[test]
fn small_minors_are_not_zero() {
    let entry = |i: usize, j: usize| MDS_ROW[(WIDTH + j - i) % WIDTH];
    for i in 0..WIDTH {
        for j in 0..WIDTH {
            assert_ne!(entry(i, j), 0);
            for k in i + 1..WIDTH {
                for l in j + 1..WIDTH {
                    let (a, b) = (mul(entry(i, j), entry(k, l)), mul(entry(i, l), entry(k, j)));
                    assert_ne!(a, b, "{i} {j} {k} {l}");
                }
            }
        }
    }
}
