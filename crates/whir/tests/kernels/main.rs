//! The arithmetic of the CUDA kernels, compiled for the host, against Plonky3's types: edge values and
//! ten thousand random ones. What only a GPU can show (inline PTX, barriers) is not covered here.
#![cfg(unix)]
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used, missing_docs)]

mod library;

use std::{cell::RefCell, collections::BTreeSet, sync::LazyLock};

use fieldspar_device::cuda::{Archive, ImageKind};
use library::DeviceCode;
use p3_baby_bear::{BabyBear, default_babybear_poseidon2_16};
use p3_field::{PrimeCharacteristicRing, PrimeField32, TwoAdicField};
use p3_symmetric::Permutation;
use rand::{RngExt, SeedableRng, rngs::SmallRng};

const P: u32 = BabyBear::ORDER_U32;
const RANDOM: usize = 10_000;

static CODE: LazyLock<DeviceCode> = LazyLock::new(DeviceCode::new);

thread_local! {
    /// The operations that a test has compared.
    static SEEN: RefCell<BTreeSet<String>> = const { RefCell::new(BTreeSet::new()) };
}

fn run(name: &str, input: &[u32]) -> Vec<u32> {
    SEEN.with_borrow_mut(|seen| seen.insert(name.to_owned()));
    CODE.run(name, input)
}

/// What a Montgomery word below 2^32, reduced or not, stands for.
fn element(word: u32) -> BabyBear {
    BabyBear::from_u32(word).div_2exp_u64(32)
}

/// The canonical Montgomery word of an element.
fn word(x: BabyBear) -> u32 {
    x.mul_2exp_u64(32).as_canonical_u32()
}

/// Words where carries, corrections and shifts change.
fn edges() -> Vec<u32> {
    let mut edges = vec![0, 1, 2, P - 1, P - 2, P / 2, P / 2 + 1, word(BabyBear::ONE)];
    edges.push(word(BabyBear::NEG_ONE));
    for k in [1, 2, 3, 4, 8, 15, 16, 26, 27, 28, 30] {
        edges.extend([(1 << k) - 1, 1 << k, (1 << k) + 1, P - (1 << k)]);
    }
    edges.retain(|x| *x < P);
    edges
}

fn rng() -> SmallRng {
    SmallRng::seed_from_u64(7)
}

/// Edge pairs and random ones.
fn pairs() -> Vec<(u32, u32)> {
    let edges = edges();
    let mut pairs: Vec<_> = edges
        .iter()
        .flat_map(|a| edges.iter().map(|b| (*a, *b)))
        .collect();
    let mut rng = rng();
    pairs.extend((0..RANDOM).map(|_| (rng.random_range(0..P), rng.random_range(0..P))));
    pairs
}

/// Vectors of `N` words: one edge throughout, edges mixed, and random ones.
fn vectors<const N: usize>() -> Vec<[u32; N]> {
    let edges = edges();
    let mut vectors: Vec<[u32; N]> = edges.iter().map(|x| [*x; N]).collect();
    let mut rng = rng();
    for _ in 0..1000 {
        vectors.push(std::array::from_fn(|_| {
            edges[rng.random_range(0..edges.len())]
        }));
    }
    for _ in 0..RANDOM {
        vectors.push(std::array::from_fn(|_| rng.random_range(0..P)));
    }
    vectors
}

fn field() {
    for (a, b) in pairs() {
        let (x, y) = (element(a), element(b));
        let given = [a, b];
        assert_eq!(run("add", &given), [word(x + y)], "{a} + {b}");
        assert_eq!(run("sub", &given), [word(x - y)], "{a} - {b}");
        assert_eq!(run("mul", &given), [word(x * y)], "{a} * {b}");
        assert_eq!(run("halve", &[a]), [word(x.halve())], "{a} / 2");
        for k in [2, 3, 4, 8, 27] {
            let out = run(&format!("div_2exp_{k}"), &[a]);
            assert_eq!(out, [word(x.div_2exp_u64(k))], "{a} / 2^{k}");
        }
        let known = y.as_canonical_u32();
        let ratio = ((u64::from(known) << 32) / u64::from(P)) as u32;
        for a in [a, a.wrapping_add(P), !a] {
            let [out] = run("mul_known", &[a, known, ratio])[..] else {
                panic!("one word");
            };
            assert_eq!(element(out), element(a) * y, "{a} * {known}");
            let bound = u64::from(P) + ((u64::from(a) * u64::from(P)) >> 32);
            assert!(u64::from(out) <= bound, "{a} * {known}");
        }
    }
}

/// Sums below 2p, and products of words that are not reduced.
fn lazy_forms() {
    for (a, b) in pairs() {
        let sum = a + b;
        assert_eq!(run("reduce_once", &[sum]), [sum % P], "{sum}");
        for (a, b) in [(a, b), (a + P, b), (a, b + P)] {
            let [out] = run("mul_lazy", &[a, b])[..] else {
                panic!("one word");
            };
            assert_eq!(element(out), element(a) * element(b), "{a} * {b}");
            let bound = ((u64::from(a) * u64::from(b)) >> 32) + u64::from(P);
            assert!(u64::from(out) <= bound, "{a} * {b}");
        }
    }
}

fn transform<const N: usize>() {
    let bits = N.trailing_zeros();
    let root = BabyBear::two_adic_generator(bits as usize);
    for input in vectors::<N>() {
        let out = run(&format!("dft{N}"), &input);
        for (k, out) in out.into_iter().enumerate() {
            let k = k.reverse_bits() >> (usize::BITS - bits);
            let w = root.exp_u64(k as u64);
            let sum = input
                .iter()
                .rev()
                .fold(BabyBear::ZERO, |sum, x| sum * w + element(*x));
            assert_eq!(out, word(sum), "{input:?}, output {k}");
        }
    }
}

fn permutation() {
    let poseidon2 = default_babybear_poseidon2_16();
    for input in vectors::<16>() {
        let expected = poseidon2.permute(input.map(element)).map(word);
        assert_eq!(run("permute", &input), expected, "{input:?}");
    }
    // by 32 threads of the host, two states at a time: a few edges, a few mixed, a few random
    for pair in vectors::<16>().chunks_exact(2).step_by(97) {
        let states = [pair[0], pair[1]];
        let expected = states.map(|s| poseidon2.permute(s.map(element)).map(word));
        let out = run("row_permute", states.as_flattened());
        assert_eq!(out, expected.as_flattened(), "{pair:?}");
    }
}

/// circ(2 M4, M4, M4, M4) with M4 = circ(2, 3, 1, 1), entry by entry.
fn external_linear() {
    let m4 = [[2, 3, 1, 1], [1, 2, 3, 1], [1, 1, 2, 3], [3, 1, 1, 2]];
    for input in vectors::<16>() {
        let out = run("external_linear", &input);
        for (i, out) in out.into_iter().enumerate() {
            let entry = |j: usize| {
                let times = if i / 4 == j / 4 { 2 } else { 1 };
                BabyBear::from_u32(times * m4[i % 4][j % 4]) * element(input[j])
            };
            assert_eq!(out, word((0..16).map(entry).sum()), "{input:?}, {i}");
        }
    }
}

#[test]
fn device_code_is_plonky3s_arithmetic() {
    field();
    lazy_forms();
    transform::<2>();
    transform::<4>();
    transform::<8>();
    transform::<16>();
    external_linear();
    permutation();
    // Whoever exports a function has it compared.
    let seen = SEEN.with_borrow(|seen| seen.iter().cloned().collect::<Vec<_>>());
    assert_eq!(seen, CODE.names());
}

/// The committed archive has what the loader looks for, on every card from compute capability 7.5 on.
#[test]
fn the_archive_serves_every_card() {
    let archive = Archive::parse(include_bytes!("../../src/cuda/kernels.bin")).unwrap();
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda/kernels");
    let mut expected: Vec<String> = std::fs::read_dir(sources)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".cu").map(str::to_owned))
        .collect();
    expected.sort();
    assert_eq!(archive.modules(), expected);
    for module in archive.modules() {
        for (capability, arch) in [
            ((8, 0), 80),
            ((8, 6), 86),
            ((8, 7), 86),
            ((8, 9), 89),
            ((9, 0), 90),
            ((10, 0), 100),
            ((10, 3), 100),
            ((12, 0), 120),
            ((12, 1), 120),
        ] {
            let image = archive.image(module, capability).unwrap();
            assert_eq!((image.kind, image.arch), (ImageKind::Cubin, arch));
            assert!(image.bytes.starts_with(b"\x7fELF"));
        }
        for capability in [(7, 5), (11, 0), (13, 0)] {
            let image = archive.image(module, capability).unwrap();
            assert_eq!((image.kind, image.arch), (ImageKind::Ptx, 75));
            let text = String::from_utf8(image.bytes).unwrap();
            assert!(text.contains(".target sm_75") && text.ends_with('\0'));
        }
        assert!(archive.image(module, (7, 0)).is_err());
    }
}
