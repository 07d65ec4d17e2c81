//! Faults that were reported of other implementations, each as a test of this one.

use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::{Digest, MODULUS, RATE, Sponge, State, WIDTH, reference};

use super::{Random, engines};

fn agrees(input: &[State], what: &str) {
    let mut want = input.to_vec();
    want.iter_mut().for_each(reference::permute);
    for engine in engines() {
        let mut many = input.to_vec();
        engine.permute_many(&mut many).unwrap();
        assert_eq!(many, want, "{what} {}", engine.variant());
        let mut one = input[0];
        engine.permute_one(&mut one);
        assert_eq!(one, want[0], "{what} {}", engine.variant());
    }
}

/// Sums of two large words wrap twice (Plonky3 1580, goldilocks 27, plonky2 203, lambdaworks 600).
#[test]
fn sums_that_wrap_twice() {
    let large = [
        u64::MAX,
        u64::MAX - 1,
        MODULUS,
        MODULUS - 1,
        u64::MAX - (1 << 32) + 2,
    ];
    let states: Vec<State> = (0..25)
        .map(|k| core::array::from_fn(|i| large[(k + i * (k / 5)) % 5]))
        .collect();
    agrees(&states, "large words");
}

/// Words that are no canonical ones go in, canonical ones come out (Plonky3 2262, winterfell 146,
/// powdr 3470, miden-vm 1870).
#[test]
fn representatives_do_not_matter_and_results_are_canonical() {
    let mut random = Random(15);
    let states: Vec<State> = (0..40)
        .map(|_| core::array::from_fn(|_| random.word() % ((1 << 32) - 1)))
        .collect();
    let shifted: Vec<State> = states.iter().map(|s| s.map(|x| x + MODULUS)).collect();
    for engine in engines() {
        let (mut a, mut b) = (states.clone(), shifted.clone());
        engine.permute_many(&mut a).unwrap();
        engine.permute_many(&mut b).unwrap();
        assert_eq!(a, b);
        assert!(a.as_flattened().iter().all(|&x| x < MODULUS));
    }
}

/// Zero comes out as 0, not as p: a state whose image has zeros, by the permutation undone.
#[test]
fn zero_is_zero() {
    // Element i of the last S-box layer is 0 if and only if its input was.
    let inverse_rounds = |mut state: State| {
        let matrix = |s: &State| -> State {
            core::array::from_fn(|i| {
                (0..WIDTH).fold(0, |sum, j| {
                    let entry = reference::MDS_ROW[(WIDTH + j - i) % WIDTH];
                    reference::field::add(sum, reference::field::mul(entry, s[j]))
                })
            })
        };
        // The inverse of a circulant matrix is a power of it in a finite group; solve instead by
        // the first column: x = M^-1 y is found from 12 unit images.
        let units: Vec<State> = (0..WIDTH)
            .map(|k| matrix(&core::array::from_fn(|i| u64::from(i == k))))
            .collect();
        for constants in reference::constants::ROUND_CONSTANTS.iter().rev() {
            for (constants, exponent) in [
                (&constants[1], reference::ALPHA),
                (&constants[0], reference::INVERSE_ALPHA),
            ] {
                let target: State = core::array::from_fn(|i| {
                    let x = reference::field::pow(state[i], exponent);
                    let minus = reference::field::mul(MODULUS - 1, constants[i]);
                    reference::field::add(x, minus)
                });
                state = solve(&units, &target);
            }
        }
        state
    };
    let image: State = core::array::from_fn(|i| (i as u64) % 3);
    let origin = inverse_rounds(image);
    for engine in engines() {
        let mut many = vec![origin; 21];
        engine.permute_many(&mut many).unwrap();
        assert!(many.iter().all(|s| *s == image), "{}", engine.variant());
    }
}

/// Solves `sum x_k columns_k = target` by elimination.
fn solve(columns: &[State], target: &State) -> State {
    use reference::field::{add, mul, pow};
    let mut rows: Vec<Vec<u64>> = (0..WIDTH)
        .map(|i| columns.iter().map(|c| c[i]).chain([target[i]]).collect())
        .collect();
    for i in 0..WIDTH {
        let pivot = (i..WIDTH).find(|&r| rows[r][i] != 0).unwrap();
        rows.swap(i, pivot);
        let inverse = pow(rows[i][i], MODULUS - 2);
        rows[i].iter_mut().for_each(|x| *x = mul(*x, inverse));
        let row = rows[i].clone();
        for (r, other) in rows.iter_mut().enumerate() {
            let factor = mul(MODULUS - 1, other[i]);
            if r != i && factor != 0 {
                for (x, y) in other.iter_mut().zip(&row) {
                    *x = add(*x, mul(factor, *y));
                }
            }
        }
    }
    core::array::from_fn(|i| rows[i][WIDTH])
}

/// Inputs are padded to the rate, not to the width (plonky2 1299): the block after a full one is not
/// hashed, and the capacity is not overwritten.
#[test]
fn blocks_have_the_length_of_the_rate() {
    let elements = Random(16).elements(2 * RATE);
    for sponge in Sponge::ALL {
        let permutations = core::cell::Cell::new(0);
        let counted = |state: &mut State| {
            permutations.set(permutations.get() + 1);
            reference::permute(state);
        };
        for (n, want) in [(0, 0), (1, 1), (7, 1), (8, 1), (9, 2), (12, 2), (16, 2)] {
            permutations.set(0);
            sponge.hash_elements_with(counted, &elements[..n]).unwrap();
            assert_eq!(permutations.get(), want, "{sponge} {n}");
        }
    }
}

/// Bytes of any length are hashed, and the flag in the capacity stays there (miden-crypto 46).
#[test]
fn bytes_of_every_length() {
    let bytes: Vec<u8> = (0..200).map(|i| (i % 251) as u8).collect();
    for sponge in Sponge::ALL {
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..bytes.len() {
            seen.insert(engines()[0].hash_bytes(sponge, &bytes[..n]));
        }
        assert_eq!(seen.len(), bytes.len(), "{sponge}");
    }
}

/// What the padding rules let collide and what they do not (miden-crypto 203, 236, 318): the empty
/// input has the digest of four zeros, which is that of no block; zeros of different lengths differ.
#[test]
fn zeros_and_the_empty_input() {
    for sponge in Sponge::ALL {
        let engine = engines()[0];
        let zeros = [0; 40];
        let hash = |n: usize| engine.hash_elements(sponge, &zeros[..n]).unwrap();
        assert_eq!(hash(0), Digest::ZERO);
        assert_eq!(engine.hash_bytes(sponge, &[]), Digest::ZERO);
        for n in 1..zeros.len() {
            for m in 0..n {
                assert_ne!(hash(n), hash(m), "{sponge} {n} {m}");
            }
        }
        // A merge of zeros is the hash of eight zeros.
        assert_eq!(engine.merge(sponge, &[Digest::ZERO; 2]), hash(8));
    }
    // A domain is not a length: the domain stands beside the flag.
    let engine = engines()[0];
    let pair = [Digest::ZERO; 2];
    for sponge in Sponge::ALL {
        let one = engine.merge_in_domain(sponge, &pair, 1).unwrap();
        assert_ne!(one, engine.merge(sponge, &pair));
    }
}

/// The flag of `paper-2023` speaks of bytes and its blocks of chunks, so two byte strings have one
/// digest: 48 bytes, whose last chunk is short and whose block is open, and the 56 bytes that spell out
/// both marks. Documented; miden-crypto 0.8 has it, and the later rule has not.
#[test]
fn paper_2023_does_not_separate_all_byte_strings() {
    let engine = engines()[0];
    let short: Vec<u8> = (1..=48).collect();
    let mut long = short.clone();
    long.extend([1, 1, 0, 0, 0, 0, 0, 0]);
    for sponge in Sponge::ALL {
        let equal = engine.hash_bytes(sponge, &short) == engine.hash_bytes(sponge, &long);
        assert_eq!(equal, sponge == Sponge::Paper2023, "{sponge}");
    }
}
