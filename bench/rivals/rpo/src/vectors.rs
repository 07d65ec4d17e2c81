//! Prints crates/rpo/tests/vectors/sponges.json: what three releases of miden-crypto hash.
//!
//! `cargo run --release --locked --features vectors --bin vectors > ../../../crates/rpo/tests/vectors/sponges.json`
#![forbid(unsafe_code)]

use miden_crypto_0_8 as v08;
use miden_crypto_0_15 as v15;
use serde_json::json;

/// Of elements 0, 1, 2, ..; of bytes 1, 2, .. modulo 251.
const LENGTHS: usize = 41;
const BYTES: usize = 130;
const DOMAINS: [u64; 3] = [0, 1, 0xFFFF_FFFF_0000_0000];

fn hex(words: [u64; 4]) -> String {
    let bytes = words.map(u64::to_le_bytes).concat();
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

macro_rules! vectors {
    ($felt:expr, $hash:ty, $digest:expr, $word:expr) => {{
        let elements: Vec<_> = (0..LENGTHS as u64).map($felt).collect();
        let bytes: Vec<u8> = (0..BYTES).map(|i| (i % 251 + 1) as u8).collect();
        let pair = [
            $digest([1, 2, 3, 4].map($felt)),
            $digest([5, 6, 7, 0xFFFF_FFFF_0000_0000].map($felt)),
        ];
        let of_elements: Vec<String> = (0..LENGTHS)
            .map(|n| hex($word(<$hash>::hash_elements(&elements[..n]))))
            .collect();
        let of_bytes: Vec<String> = (0..BYTES)
            .map(|n| hex($word(<$hash>::hash(&bytes[..n]))))
            .collect();
        let domains: Vec<String> = DOMAINS
            .iter()
            .map(|&d| hex($word(<$hash>::merge_in_domain(&pair, $felt(d)))))
            .collect();
        json!({
            "elements": of_elements,
            "bytes": of_bytes,
            "merge": hex($word(<$hash>::merge(&pair))),
            "merge_in_domain": domains,
        })
    }};
}

fn main() {
    let new = vectors!(
        miden_crypto::Felt::new_unchecked,
        miden_crypto::hash::rpo::Rpo256,
        miden_crypto::Word::new,
        |w: miden_crypto::Word| w.into_elements().map(|x| x.as_canonical_u64())
    );
    let middle = vectors!(
        v15::Felt::new,
        v15::hash::rpo::Rpo256,
        v15::Word::new,
        |w: v15::Word| <[v15::Felt; 4]>::from(w).map(|x| x.as_int())
    );
    let old = vectors!(
        v08::Felt::new,
        v08::hash::rpo::Rpo256,
        v08::hash::rpo::RpoDigest::new,
        |w: v08::hash::rpo::RpoDigest| w
            .as_elements()
            .try_into()
            .map(|a: [v08::Felt; 4]| a.map(|x| x.as_int()))
            .unwrap_or_default()
    );
    let state: [u64; 12] = std::array::from_fn(|i| {
        (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) % 0xFFFF_FFFF_0000_0001
    });
    let mut permuted = state.map(miden_crypto::Felt::new_unchecked);
    miden_crypto::hash::rpo::Rpo256::apply_permutation(&mut permuted);
    let whole = json!({
        "from": "miden-crypto 0.28.1, 0.15.9, 0.8.4; by bench/rivals/rpo, bin vectors",
        "permutation": {"in": state, "out": permuted.map(|x| x.as_canonical_u64())},
        "miden-0.22": new, "miden-0.13": middle, "paper-2023": old,
    });
    println!(
        "{}",
        serde_json::to_string_pretty(&whole).unwrap_or_default()
    );
}
