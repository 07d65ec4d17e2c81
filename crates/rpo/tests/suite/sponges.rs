//! The three sponges against three releases of miden-crypto, whose digests stand in
//! `tests/vectors/sponges.json` (made by `bench/rivals/rpo`, bin `vectors`).

use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::reference;
use fieldspar_rpo::{Digest, Error, MODULUS, Sponge, State};
use serde_json::Value;

use super::{Random, engines};

fn vectors() -> Value {
    serde_json::from_str(include_str!("../vectors/sponges.json")).unwrap()
}

fn digests(value: &Value) -> Vec<Digest> {
    let list = value.as_array().unwrap();
    list.iter()
        .map(|d| d.as_str().unwrap().parse().unwrap())
        .collect()
}

fn state(value: &Value) -> State {
    let list = value.as_array().unwrap();
    core::array::from_fn(|i| list[i].as_u64().unwrap())
}

fn pair() -> [Digest; 2] {
    [[1, 2, 3, 4], [5, 6, 7, MODULUS - 1]].map(|d| Digest::new(d).unwrap())
}

#[test]
fn the_permutation_of_miden() {
    let vectors = vectors();
    let mut own = state(&vectors["permutation"]["in"]);
    reference::permute(&mut own);
    assert_eq!(own, state(&vectors["permutation"]["out"]));
}

#[test]
fn elements_bytes_and_merges_of_miden() {
    let vectors = vectors();
    for sponge in Sponge::ALL {
        let vectors = &vectors[sponge.name()];
        let (elements, bytes) = (digests(&vectors["elements"]), digests(&vectors["bytes"]));
        assert!(elements.len() > 40 && bytes.len() > 128);
        let words: Vec<u64> = (0..elements.len() as u64).collect();
        let text: Vec<u8> = (0..bytes.len()).map(|i| (i % 251 + 1) as u8).collect();
        let inputs: Vec<&[u64]> = (0..elements.len()).map(|n| &words[..n]).collect();
        let texts: Vec<&[u8]> = (0..bytes.len()).map(|n| &text[..n]).collect();
        let merged: Digest = vectors["merge"].as_str().unwrap().parse().unwrap();
        let domains = digests(&vectors["merge_in_domain"]);
        for engine in engines() {
            let name = engine.variant();
            for (n, want) in elements.iter().enumerate() {
                let own = engine.hash_elements(sponge, &words[..n]).unwrap();
                assert_eq!(own, *want, "{sponge} {name} {n} elements");
            }
            for (n, want) in bytes.iter().enumerate() {
                let own = engine.hash_bytes(sponge, &text[..n]);
                assert_eq!(own, *want, "{sponge} {name} {n} bytes");
            }
            assert_eq!(engine.hash_many(sponge, &inputs).unwrap(), elements);
            assert_eq!(engine.hash_bytes_many(sponge, &texts), bytes);
            assert_eq!(engine.merge(sponge, &pair()), merged);
            for (domain, want) in [0, 1, MODULUS - 1].into_iter().zip(&domains) {
                let own = engine.merge_in_domain(sponge, &pair(), domain).unwrap();
                assert_eq!(own, *want, "{sponge} {name} domain {domain}");
            }
        }
    }
}

#[test]
fn many_are_each_alone() {
    let mut random = Random(4);
    for engine in engines() {
        for sponge in Sponge::ALL {
            let inputs: Vec<Vec<u64>> = (0..500)
                .map(|i| random.elements([0, 1, 7, 8, 9, 16, 40, 100][i % 8]))
                .collect();
            let inputs: Vec<&[u64]> = inputs.iter().map(Vec::as_slice).collect();
            let many = engine.hash_many(sponge, &inputs).unwrap();
            for (input, digest) in inputs.iter().zip(&many).take(60) {
                assert_eq!(engine.hash_elements(sponge, input).unwrap(), *digest);
            }
            for width in [1, 8, 12] {
                let rows = random.elements(width * 37);
                let digests = engine.hash_rows(sponge, &rows, width).unwrap();
                for (row, digest) in rows.chunks(width).zip(&digests) {
                    assert_eq!(engine.hash_elements(sponge, row).unwrap(), *digest);
                }
            }
            let pairs: Vec<[Digest; 2]> = random.digests(74).as_chunks::<2>().0.to_vec();
            let merged = engine.merge_many(sponge, &pairs);
            for (pair, digest) in pairs.iter().zip(&merged) {
                assert_eq!(engine.merge(sponge, pair), *digest);
                assert_eq!(engine.merge_in_domain(sponge, pair, 0).unwrap(), *digest);
                let elements = [*pair[0].elements(), *pair[1].elements()].concat();
                assert_eq!(engine.hash_elements(sponge, &elements).unwrap(), *digest);
            }
        }
    }
}

#[test]
fn an_element_that_is_not_canonical_is_refused_with_its_index() {
    let engine = engines()[0];
    let refused = |result: Result<Vec<Digest>, Error>| match result.unwrap_err() {
        Error::NotCanonical { index, value } => (index, value),
        other => panic!("{other}"),
    };
    let sponge = Sponge::Miden022;
    let (good, bad) = ([1, 2, 3], [4, MODULUS, 5]);
    let many = engine.hash_many(sponge, &[&good, &bad, &[u64::MAX]]);
    assert_eq!(refused(many), (4, MODULUS));
    let rows = engine.hash_rows(sponge, &[0, 1, 2, u64::MAX], 2);
    assert_eq!(refused(rows), (3, u64::MAX));
    let one = engine.hash_elements(sponge, &bad).map(|d| vec![d]);
    assert_eq!(refused(one), (1, MODULUS));
    assert!(engine.merge_in_domain(sponge, &pair(), MODULUS).is_err());
    assert!(Digest::new([0, 0, 0, MODULUS]).is_err());
    assert!(matches!(
        engine.hash_rows(sponge, &good, 2),
        Err(Error::Length { have: 3, .. })
    ));
    assert!(engine.hash_rows(sponge, &good, 0).is_err());
}

#[test]
fn names() {
    for sponge in Sponge::ALL {
        assert_eq!(sponge.name().parse::<Sponge>().unwrap(), sponge);
    }
    for wrong in ["", "rpo", "miden", "miden-0.28", "Miden-0.22"] {
        assert!(wrong.parse::<Sponge>().is_err());
    }
    let digest = pair()[1];
    assert_eq!(digest.to_string().parse::<Digest>().unwrap(), digest);
    assert_eq!(Digest::from_bytes(&digest.to_bytes()).unwrap(), digest);
    for wrong in ["", "00", &"g".repeat(64), &"f".repeat(64), &"é".repeat(32)] {
        assert!(wrong.parse::<Digest>().is_err(), "{wrong}");
    }
}
