#![allow(clippy::unwrap_used)]

use std::time::Instant;

use p3_field::{PrimeCharacteristicRing, PrimeField32};
use proptest::prelude::*;

use super::*;
use crate::params::{Assumption, Folds, RateSchedule};
use crate::testing::{input, prove, verify};

/// Cheap parameters: few queries, no proof of work to speak of.
fn small(degree: ExtensionDegree) -> Params {
    Params {
        security_level: 20,
        pow_bits: 4,
        folds: Folds::Constant(2),
        degree,
        ..Params::default()
    }
}

fn small_file() -> ProofFile<EF4> {
    prove(&small(ExtensionDegree::Four), input(6), 1)
}

fn round_trip<EF: Extension>(file: &ProofFile<EF>) -> Vec<u8> {
    assert!(verify(file));
    let bytes = file.encode().unwrap();
    let again = ProofFile::<EF>::decode(&bytes).unwrap();
    assert_eq!(again.statement, file.statement);
    assert!(verify(&again));
    let any = AnyProofFile::decode(&bytes).unwrap();
    assert_eq!(any.encode().unwrap(), bytes);
    assert_eq!(any.params(), &file.statement.params);
    bytes
}

#[test]
fn real_proofs_round_trip_and_have_the_prescribed_shape() {
    let rates = [RateSchedule::Standard, RateSchedule::Article];
    let folds = [1, 2, 3, 4, 6].map(Folds::Constant);
    for (i, (folds, rates)) in folds
        .into_iter()
        .flat_map(|f| rates.clone().map(|r| (f.clone(), r)))
        .chain([(Folds::PerRound(vec![3, 2]), RateSchedule::PerRound(vec![2]))])
        .enumerate()
    {
        for n in [
            if rates == RateSchedule::PerRound(vec![2]) {
                10
            } else {
                6
            },
            9,
            10,
        ] {
            for assumption in [
                Assumption::UniqueDecoding,
                Assumption::Johnson,
                Assumption::Capacity,
            ] {
                let params = Params {
                    security_level: 40,
                    assumption,
                    folds: folds.clone(),
                    rates: rates.clone(),
                    log_inv_rate: 1 + i % 3,
                    pow_bits: 6,
                    cap_height: i % 3,
                    degree: ExtensionDegree::Four,
                    ..Params::default()
                };
                if let Err(error) = params.check(n) {
                    assert!(matches!(params.rates, RateSchedule::PerRound(_)), "{error}");
                    continue;
                }
                round_trip::<EF4>(&prove(&params, input(n), 3));
                let params = Params {
                    degree: ExtensionDegree::Five,
                    ..params
                };
                let bytes = round_trip::<EF5>(&prove(&params, input(n), 3));
                assert!(ProofFile::<EF4>::decode(&bytes).is_err());
            }
        }
    }
}

#[test]
fn inputs_smaller_than_the_fold_are_padded() {
    let params = small(ExtensionDegree::Five);
    let params = Params {
        folds: Folds::Constant(4),
        ..params
    };
    for n in 0..4 {
        let file = prove::<EF5>(&params, input(n), 9);
        assert_eq!(file.statement.n, 4);
        round_trip(&file);
    }
}

#[test]
fn every_truncation_is_refused() {
    let bytes = small_file().encode().unwrap();
    for len in 0..bytes.len() {
        assert!(
            AnyProofFile::decode(&bytes[..len]).is_err(),
            "{len} bytes of {}",
            bytes.len()
        );
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(matches!(
        AnyProofFile::decode(&longer),
        Err(ProofError::Trailing { .. })
    ));
}

#[test]
fn every_bit_flip_is_refused_or_changes_what_is_decoded() {
    let file = small_file();
    let bytes = file.encode().unwrap();
    let mut accepted_flips = 0_usize;
    for bit in 0..8 * bytes.len() {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(decoded) = AnyProofFile::decode(&flipped) {
            // One encoding per value: other bytes are another value.
            assert_eq!(decoded.encode().unwrap(), flipped, "bit {bit}");
            // And no other value proves anything. Verifying is slow, so a sample.
            if accepted_flips.is_multiple_of(61) {
                let AnyProofFile::Four(decoded) = decoded else {
                    panic!("degree changed")
                };
                assert!(!verify(&decoded), "bit {bit}");
            }
            accepted_flips += 1;
        }
    }
    assert!(accepted_flips > 0);
}

#[test]
fn every_byte_of_the_header_is_bound() {
    let file = small_file();
    let bytes = file.encode().unwrap();
    let header = 16 + 10 + 3 + 2 + 1 + 8 + 1 + 4 + 32 + 4 + 16 * 6 + 16;
    for i in 0..header {
        for delta in [1, 255] {
            let mut changed = bytes.clone();
            changed[i] = changed[i].wrapping_add(delta);
            match AnyProofFile::decode(&changed) {
                Ok(AnyProofFile::Four(decoded)) => assert!(!verify(&decoded), "byte {i}"),
                Ok(AnyProofFile::Five(decoded)) => assert!(!verify(&decoded), "byte {i}"),
                Err(_) => {}
            }
        }
    }
}

/// bincode#286, #764: a length prefix must not decide an allocation.
#[test]
fn bincode_286_twelve_byte_length_bombs() {
    let start = Instant::now();
    let mut bomb = MAGIC[..4].to_vec();
    for len in [1_u64 << 60, u64::MAX, 1 << 32, 1 << 63] {
        bomb.truncate(4);
        bomb.extend(len.to_le_bytes());
        assert_eq!(bomb.len(), 12);
        assert!(AnyProofFile::decode(&bomb).is_err());
    }
    assert!(start.elapsed().as_millis() < 50);
}

#[test]
fn every_length_field_refuses_huge_values() {
    let bytes = small_file().encode().unwrap();
    let start = Instant::now();
    // Wherever they fall, huge varints and huge fixed lengths are refused or change the value.
    let huge: [&[u8]; 4] = [
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01],
        &[0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10],
        &[0xff; 8],
        &[0xff, 0xff, 0xff, 0xff, 0x0f],
    ];
    for at in 0..bytes.len() {
        for bomb in huge {
            let mut changed = bytes[..at].to_vec();
            changed.extend(bomb);
            changed.extend(&bytes[(at + 1).min(bytes.len())..]);
            assert!(AnyProofFile::decode(&changed).is_err());
        }
    }
    assert!(start.elapsed().as_secs() < 60);
}

/// postcard takes `81 00` for 1; one proof must have one encoding.
#[test]
fn overlong_varints_are_refused() {
    let file = small_file();
    let bytes = file.encode().unwrap();
    let inner = postcard::to_allocvec(&file.proof).unwrap();
    let start = bytes.len() - inner.len();
    assert_eq!(
        usize::from(bytes[start]),
        file.proof.whir.initial_ood_answers.len()
    );
    let mut overlong = bytes[..start - 8].to_vec();
    overlong.extend((inner.len() as u64 + 1).to_le_bytes());
    overlong.extend([bytes[start] | 0x80, 0]);
    overlong.extend(&bytes[start + 1..]);
    // postcard itself takes it.
    assert!(postcard::from_bytes::<WhirPcsProof<EF4>>(&overlong[start..]).is_ok());
    assert!(matches!(
        AnyProofFile::decode(&overlong),
        Err(ProofError::Varint { offset, .. }) if offset == start
    ));
}

/// Plonky3#1765, #1773: `x` and `x + p` must not be two encodings of one proof.
#[test]
fn plonky3_1765_limbs_plus_p_are_refused() {
    let bytes = small_file().encode().unwrap();
    let mut limbs = 0;
    for at in 0..bytes.len() - 3 {
        let word = u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        if let Some(sum) = word.checked_add(F::ORDER_U32) {
            let mut changed = bytes.clone();
            changed[at..at + 4].copy_from_slice(&sum.to_le_bytes());
            match AnyProofFile::decode(&changed) {
                Err(ProofError::NotCanonical { offset, .. }) if offset == at => limbs += 1,
                Err(_) => {}
                // Not an aligned limb: the words that it straddles changed to other values.
                Ok(decoded) => assert_eq!(decoded.encode().unwrap(), changed),
            }
        }
    }
    assert!(limbs > 100, "{limbs}");
}

/// Plonky3#1616, #1679, #1690, #1734: malformed proofs are refused before the verifier sees them.
#[test]
fn plonky3_1616_1734_malformed_shapes_are_refused() {
    let file = small_file_with_rounds();
    type Mutation = fn(&mut WhirPcsProof<EF4>);
    let mutations: [(&str, Mutation); 14] = [
        ("round missing", |p| drop(p.whir.rounds.pop())),
        ("round repeated", |p| {
            p.whir.rounds.push(p.whir.rounds[0].clone())
        }),
        ("no rounds", |p| p.whir.rounds.clear()),
        ("commitment absent", |p| p.whir.rounds[0].commitment = None),
        ("final polynomial absent", |p| p.whir.final_poly = None),
        ("initial answer missing", |p| {
            p.whir.initial_ood_answers.truncate(0)
        }),
        ("round answer missing", |p| {
            p.whir.rounds[0].ood_answers.truncate(0)
        }),
        ("sumcheck pair missing", |p| {
            p.whir.rounds[0].sumcheck.polynomial_evaluations.truncate(1);
        }),
        ("sumcheck pair extra", |p| {
            p.whir
                .initial_sumcheck
                .polynomial_evaluations
                .push([EF4::ONE; 2]);
        }),
        ("witness extra (#1658)", |p| {
            p.whir.initial_sumcheck.pow_witnesses.push(F::ONE)
        }),
        ("final sumcheck absent", |p| p.whir.final_sumcheck = None),
        ("evaluation batch missing", |p| p.evals.clear()),
        ("evaluation batch repeated", |p| {
            p.evals.push(p.evals[0].clone())
        }),
        ("openings of the other kind", |p| {
            p.whir.final_openings = p.whir.rounds[0].openings.clone();
        }),
    ];
    for (name, mutate) in mutations {
        let mut file = file.clone();
        mutate(&mut file.proof);
        let error = file.encode().unwrap_err();
        assert!(
            matches!(
                error,
                ProofError::Unexpected { .. } | ProofError::Truncated { .. }
            ),
            "{name}: {error}"
        );
    }
}

fn small_file_with_rounds() -> ProofFile<EF4> {
    let file = prove(&small(ExtensionDegree::Four), input(9), 1);
    assert!(!ProofFile::<EF4>::encode(&file).unwrap().is_empty());
    file
}

/// Plonky3#1757: an element moved across a row boundary.
#[test]
fn plonky3_1757_row_widths_are_fixed() {
    use p3_whir::QueryOpenings;
    let mut file = small_file();
    let QueryOpenings::Base(openings) = &mut file.proof.whir.final_openings else {
        panic!("a proof without rounds opens base rows")
    };
    let moved = openings.rows[0].pop().unwrap();
    openings.rows[1].insert(0, moved);
    assert!(matches!(
        file.encode(),
        Err(ProofError::Unexpected {
            what: "opened row",
            ..
        })
    ));
}

/// p3-whir's verifier never looks at a final sumcheck of no rounds: any content would verify.
#[test]
fn final_sumcheck_without_rounds_has_one_encoding() {
    let params = Params {
        folds: Folds::Constant(4),
        ..small(ExtensionDegree::Four)
    };
    let mut file = prove::<EF4>(&params, input(4), 5);
    round_trip(&file);
    let extra = file.proof.whir.initial_sumcheck.clone();
    assert!(file.proof.whir.final_sumcheck.is_none());
    for other in [Some(p3_sumcheck::SumcheckData::default()), Some(extra)] {
        file.proof.whir.final_sumcheck = other;
        assert!(verify(&file), "p3-whir takes it");
        assert!(matches!(file.encode(), Err(ProofError::Unexpected { .. })));
    }
}

/// Least Authority 2024, issue B; Plonky3#1769: the preamble separates parameters and lengths.
#[test]
fn preamble_is_injective_and_small() {
    let base = Params::default();
    let sets = [
        base.clone(),
        Params {
            security_level: 101,
            ..base.clone()
        },
        Params {
            pow_bits: 17,
            ..base.clone()
        },
        Params {
            log_inv_rate: 2,
            ..base.clone()
        },
        Params {
            cap_height: 1,
            ..base.clone()
        },
        Params {
            degree: ExtensionDegree::Four,
            ..base.clone()
        },
        Params {
            assumption: Assumption::Capacity,
            ..base.clone()
        },
        Params {
            folds: Folds::PerRound(vec![4]),
            ..base.clone()
        },
        Params {
            folds: Folds::PerRound(vec![4, 4]),
            ..base.clone()
        },
        Params {
            folds: Folds::Constant(5),
            ..base.clone()
        },
        Params {
            rates: RateSchedule::Article,
            ..base.clone()
        },
        Params {
            rates: RateSchedule::PerRound(vec![]),
            ..base.clone()
        },
        Params {
            rates: RateSchedule::PerRound(vec![0]),
            ..base.clone()
        },
        Params {
            rates: RateSchedule::PerRound(vec![0, 0]),
            ..base
        },
    ];
    let mut seen = Vec::new();
    for params in &sets {
        for n in [8, 9] {
            for true_len in [1, 5, 5 << 40] {
                for encoding in [Encoding::U32, Encoding::Npy, Encoding::Bytes] {
                    let p = preamble(params, n, true_len, encoding).unwrap();
                    assert!(p[1..].iter().all(|x| x.as_canonical_u32() < 1 << 24));
                    assert_eq!(p.len(), 1 + (p[0].as_canonical_u32() as usize).div_ceil(3));
                    // Prefix-free too, so that what follows cannot be taken for it.
                    assert!(
                        !seen
                            .iter()
                            .any(|q: &Vec<F>| q.starts_with(&p) || p.starts_with(q))
                    );
                    seen.push(p);
                }
            }
        }
    }
    let too_large = Params {
        pow_bits: 256,
        ..Params::default()
    };
    assert!(preamble(&too_large, 8, 1, Encoding::U32).is_err());
}

#[test]
fn header_offsets_are_as_documented() {
    let file = small_file();
    let bytes = file.encode().unwrap();
    assert_eq!(bytes[..8], MAGIC);
    assert_eq!(bytes[8..16], [1, 0, 0, 0, 8, 0, 0, 0]);
    assert_eq!(bytes[16..26], [1, 1, 2, 4, 20, 0, 1, 4, 0, 1]);
    assert_eq!(bytes[26..29], [0, 1, 2], "constant fold 2");
    assert_eq!(bytes[29..31], [0, 0], "standard rates");
    assert_eq!(bytes[31], 0, "encoding u32");
    assert_eq!(bytes[32..40], 64_u64.to_le_bytes());
    assert_eq!(bytes[40], 6);
    assert_eq!(bytes[41..45], 1_u32.to_le_bytes());
    let root = file.statement.commitment.roots()[0];
    assert_eq!(bytes[45..49], root[0].as_canonical_u32().to_le_bytes());
    assert_eq!(bytes[77..81], 6_u32.to_le_bytes());
    let at = 81 + 6 * 16 + 16;
    assert_eq!(
        bytes[at..at + 8],
        ((bytes.len() - at - 8) as u64).to_le_bytes()
    );
}

#[test]
fn true_length_must_fit() {
    let bytes = small_file().encode().unwrap();
    for len in [0_u64, 65, u64::MAX] {
        let mut changed = bytes.clone();
        changed[32..40].copy_from_slice(&len.to_le_bytes());
        assert!(matches!(
            AnyProofFile::decode(&changed),
            Err(ProofError::Unexpected { offset: 32, .. })
        ));
    }
}

fn any_params() -> impl Strategy<Value = Params> {
    (
        1..=120_usize,
        prop::sample::select(vec![
            Assumption::UniqueDecoding,
            Assumption::Johnson,
            Assumption::Capacity,
        ]),
        prop_oneof![
            (1..=255_usize).prop_map(Folds::Constant),
            prop::collection::vec(0..=255_usize, 0..=32).prop_map(Folds::PerRound)
        ],
        0..=255_usize,
        prop_oneof![
            Just(RateSchedule::Standard),
            Just(RateSchedule::Article),
            prop::collection::vec(0..=255_usize, 0..=32).prop_map(RateSchedule::PerRound)
        ],
        0..=255_usize,
        any::<bool>(),
        0..=255_usize,
    )
        .prop_map(
            |(security_level, assumption, folds, log_inv_rate, rates, pow_bits, five, cap)| {
                Params {
                    security_level,
                    assumption,
                    folds,
                    log_inv_rate,
                    rates,
                    pow_bits,
                    degree: if five {
                        ExtensionDegree::Five
                    } else {
                        ExtensionDegree::Four
                    },
                    cap_height: cap,
                    ..Params::default()
                }
            },
        )
}

proptest! {
    #[test]
    fn parameters_round_trip(params in any_params()) {
        let mut bytes = Vec::new();
        crate::params::encode_params(&params, &mut bytes).unwrap();
        let mut reader = reader::Reader::new(&bytes);
        prop_assert_eq!(crate::params::decode_params(&mut reader).unwrap(), params.clone());
        prop_assert_eq!(reader.left(), 0);
        let json = serde_json::to_string(&params).unwrap();
        prop_assert_eq!(serde_json::from_str::<Params>(&json).unwrap(), params);
    }

    #[test]
    fn decoding_any_bytes_never_panics(mut data in prop::collection::vec(any::<u8>(), 0..600), prefix in 0..41_usize) {
        let known = preamble_bytes();
        let take = prefix.min(data.len());
        data[..take].copy_from_slice(&known[..take]);
        prop_assert!(AnyProofFile::decode(&data).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn files_round_trip(n in 0..9_usize, fold in 1..5_usize, rate in 1..4_usize, cap in 0..2_usize, seed: u32, five: bool) {
        let params = Params {
            folds: Folds::Constant(fold),
            log_inv_rate: rate,
            cap_height: cap,
            ..small(if five { ExtensionDegree::Five } else { ExtensionDegree::Four })
        };
        if five {
            round_trip(&prove::<EF5>(&params, input(n), seed));
        } else {
            round_trip(&prove::<EF4>(&params, input(n), seed));
        }
    }
}

fn preamble_bytes() -> Vec<u8> {
    let bytes = small_file_prefix();
    assert_eq!(bytes.len(), 41);
    bytes
}

fn small_file_prefix() -> Vec<u8> {
    let elements = preamble(&small(ExtensionDegree::Four), 6, 64, Encoding::U32).unwrap();
    let len = elements[0].as_canonical_u32() as usize;
    let mut bytes: Vec<u8> = elements[1..]
        .iter()
        .flat_map(|x| x.as_canonical_u32().to_le_bytes()[..3].to_vec())
        .collect();
    bytes.truncate(len);
    bytes
}
