//! Every variant against the `sha3` crate.
#![forbid(unsafe_code)]

use fieldspar_device::CpuVariant;
use proptest::prelude::*;
use sha3::{Digest as _, Keccak256};

use super::super::isa::Variant;
use super::super::keccak::{blocks, keccak256, pad};
use super::*;

fn oracle(message: &[u8]) -> Digest {
    Keccak256::digest(message).into()
}

/// The messages as leaves of one chain.
fn leaves(messages: &[Vec<u8>]) -> (Vec<Block>, Vec<Leaf>) {
    let mut log = Vec::new();
    let mut leaves = Vec::new();
    for message in messages {
        let start = log.len();
        let count = blocks(message.len());
        log.resize(start + count, [0; RATE]);
        let bytes = log[start..].as_flattened_mut();
        bytes[..message.len()].copy_from_slice(message);
        pad(bytes, message.len());
        leaves.push(Leaf {
            start: start as u32,
            blocks: count as u32,
            digest: [0; 32],
        });
    }
    (log, leaves)
}

fn variants() -> impl Iterator<Item = Variant> {
    CpuVariant::ALL.into_iter().filter_map(Variant::new)
}

#[test]
fn the_empty_message_is_ethereums() {
    let hex: String = keccak256(&[]).iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(
        hex,
        "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"
    );
}

#[test]
fn every_length_up_to_four_blocks_on_every_variant() {
    let messages: Vec<Vec<u8>> = (0..=4 * RATE)
        .map(|len| (0..len).map(|i| (i * 7 + len) as u8).collect())
        .collect();
    for message in &messages {
        assert_eq!(keccak256(message), oracle(message));
    }
    for variant in variants() {
        for wide in [false, true] {
            let (log, mut leaves) = leaves(&messages);
            let mut chains = [Chain {
                blocks: &log,
                leaves: &mut leaves,
                acc: None,
            }];
            let kernel = Sponges(&mut chains);
            if wide {
                variant.run_wide(kernel);
            } else {
                variant.run(kernel);
            }
            for (leaf, message) in leaves.iter().zip(&messages) {
                assert_eq!(leaf.digest, oracle(message), "{}", variant.kind());
            }
        }
    }
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(prop::collection::vec(any::<u8>(), 0..500), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn folds_equal_the_definition(lists in prop::collection::vec(messages(), 3), known in any::<u64>()) {
        for variant in variants() {
            for wide in [false, true] {
                let mut all: Vec<_> = lists.iter().map(|m| leaves(m)).collect();
                // Some digests are known before.
                for ((_, leaves), messages) in all.iter_mut().zip(&lists) {
                    for (i, (leaf, message)) in leaves.iter_mut().zip(messages).enumerate() {
                        if known >> (i % 64) & 1 == 1 {
                            leaf.blocks = 0;
                            leaf.digest = oracle(message);
                        }
                    }
                }
                let mut chains: Vec<_> = all
                    .iter_mut()
                    .map(|(blocks, leaves)| Chain { blocks, leaves, acc: Some([0; 32]) })
                    .collect();
                let kernel = Sponges(&mut chains);
                if wide { variant.run_wide(kernel) } else { variant.run(kernel) }
                for (chain, messages) in chains.iter().zip(&lists) {
                    let fold = messages.iter().fold([0; 32], |acc, message| {
                        oracle(&[acc, oracle(message)].concat())
                    });
                    prop_assert_eq!(chain.acc, Some(fold), "{}", variant.kind());
                }
            }
        }
    }
}
