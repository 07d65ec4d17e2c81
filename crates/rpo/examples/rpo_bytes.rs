//! Permutes edge states and hashes inputs of all small lengths on every CPU variant that is here, and
//! prints `variant what digest`, one line each; fails if two variants differ. Any two machines print the
//! same digests: `cargo xtask test aarch64` compares an emulated one with its host.
//!
//! `rpo_bytes [SEED [COUNT]]`, the count that of the states.
#![forbid(unsafe_code)]

use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::merkle::MerkleTree;
use fieldspar_rpo::{Digest, Error, MODULUS, Sponge, State, reference};

/// Where sums, differences and products wrap once and twice, and words that are not canonical.
const EDGES: [u64; 16] = [
    0,
    1,
    (1 << 32) - 1,
    1 << 32,
    (1 << 32) + 1,
    1 << 48,
    (1 << 63) - 1,
    1 << 63,
    MODULUS - (1 << 32),
    MODULUS - (1 << 31),
    MODULUS - 1,
    MODULUS,
    MODULUS + 1,
    u64::MAX - (1 << 31),
    u64::MAX - 1,
    u64::MAX,
];
/// Past the lanes and the states beside them of every variant.
const LENGTHS: usize = 41;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// States of edges, random ones, and both mixed.
    fn states(&mut self, count: usize) -> Vec<State> {
        let mut word = |i: usize| {
            let word = self.word();
            match (i % 3, word & 1) {
                (0, _) | (1, 0) => EDGES[(word >> 8) as usize % EDGES.len()],
                _ => word,
            }
        };
        (0..count)
            .map(|i| core::array::from_fn(|_| word(i)))
            .collect()
    }
}

/// What is run, each giving canonical elements.
type Part = fn(&CpuEngine, &[State]) -> Result<Vec<u64>, Error>;
const PARTS: [(&str, Part); 6] = [
    ("batch", batch),
    ("lengths", lengths),
    ("one", one),
    ("elements", elements),
    ("bytes", bytes),
    ("merkle", merkle),
];

fn batch(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let mut states = states.to_vec();
    engine.permute_many(&mut states)?;
    Ok(states.into_flattened())
}

/// Batches of every small length.
fn lengths(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let mut out = Vec::new();
    for n in 0..LENGTHS.min(states.len()) {
        out.extend(
            batch(engine, &states[..n])?
                .first_chunk::<12>()
                .into_iter()
                .flatten(),
        );
        out.extend(
            batch(engine, &states[..n])?
                .last_chunk::<12>()
                .into_iter()
                .flatten(),
        );
    }
    Ok(out)
}

fn one(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let mut states: Vec<State> = states.iter().take(LENGTHS).copied().collect();
    states.iter_mut().for_each(|s| engine.permute_one(s));
    Ok(states.into_flattened())
}

fn canonical(states: &[State]) -> Vec<u64> {
    states.as_flattened().iter().map(|x| x % MODULUS).collect()
}

fn flat(digests: &[Digest]) -> Vec<u64> {
    digests.iter().flat_map(|d| *d.elements()).collect()
}

/// Hashes of every small length in every sponge, many at a time and alone.
fn elements(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let words = canonical(states);
    let inputs: Vec<&[u64]> = (0..LENGTHS).map(|n| &words[..n.min(words.len())]).collect();
    let mut out = Vec::new();
    for sponge in Sponge::ALL {
        let many = engine.hash_many(sponge, &inputs)?;
        for (input, digest) in inputs.iter().zip(&many) {
            if engine.hash_elements(sponge, input)? != *digest {
                return Ok(Vec::new());
            }
        }
        out.extend(flat(&many));
    }
    Ok(out)
}

fn bytes(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let text: Vec<u8> = canonical(states)
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let inputs: Vec<&[u8]> = (0..3 * LENGTHS)
        .map(|n| &text[..n.min(text.len())])
        .collect();
    let digests = Sponge::ALL.map(|sponge| flat(&engine.hash_bytes_many(sponge, &inputs)));
    Ok(digests.concat())
}

/// Roots over 1 to 17 leaves.
fn merkle(engine: &CpuEngine, states: &[State]) -> Result<Vec<u64>, Error> {
    let words = canonical(states);
    let leaves = words.as_chunks::<4>().0.iter().map(|d| Digest::new(*d));
    let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
    let mut out = Vec::new();
    for n in 1..=17.min(leaves.len()) {
        let tree = MerkleTree::build_padded(engine, Sponge::Miden022, leaves[..n].to_vec())?;
        out.extend(tree.root().elements());
    }
    Ok(out)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let seed: u64 = args.next().map_or(Ok(1), |a| a.parse())?;
    let count: usize = args.next().map_or(Ok(300), |a| a.parse())?;
    let states = Random(seed).states(count);
    for (what, part) in PARTS {
        let mut first = None;
        for engine in CpuEngine::all() {
            let variant = engine.variant();
            let found = part(&engine, &states)?;
            if found.is_empty() && count > 0 {
                return Err(format!("{what}: {variant} has two digests for one input").into());
            }
            // Of what was found, by the definition of the permutation.
            let digest = Sponge::Miden022.hash_elements_with(reference::permute, &found)?;
            println!("{variant} {what} {digest}");
            if *first.get_or_insert(digest) != digest {
                return Err(format!("{what}: the variants differ").into());
            }
        }
    }
    Ok(())
}
