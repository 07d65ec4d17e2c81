//! Version 1 against the vectors, and against the plain port.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use fieldspar_ceremony::reference;
use fieldspar_ceremony::rules::v1::jsonl::{self, Outcome, Round};
use fieldspar_ceremony::rules::v1::{
    Capacities, CeremonyOp, ContributionOp, Engine, Kind, Mode, Operation, Report, RoundDescriptor,
    RoundResult, scenario,
};
use fieldspar_device::CpuVariant;
use flate2::read::GzDecoder;
use proptest::prelude::*;

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().contains(".jsonl"))
        .collect();
    files.sort();
    files
}

fn rounds(path: &Path) -> Vec<Round> {
    let file = File::open(path).unwrap();
    let source: Box<dyn Read> = if path.extension().is_some_and(|e| e == "gz") {
        Box::new(GzDecoder::new(file))
    } else {
        Box::new(file)
    };
    BufReader::new(source)
        .lines()
        .map(|line| jsonl::parse(&line.unwrap()).unwrap())
        .collect()
}

fn engines(capacities: Capacities) -> Vec<Engine> {
    CpuVariant::ALL
        .into_iter()
        .filter_map(|variant| Engine::on(capacities, variant))
        .collect()
}

#[test]
fn every_round_of_every_vector_on_every_variant() {
    let files = files();
    assert_eq!(files.len(), 24);
    let mut lines = 0;
    for path in files {
        let rounds = rounds(&path);
        let mut engines = engines(Capacities::default());
        let mut plain = reference::Engine::new(Capacities::default());
        for (i, round) in rounds.iter().enumerate() {
            let expect = round.expect.as_ref().unwrap();
            let at = format!("{}:{}", path.display(), i + 1);
            for engine in &mut engines {
                let report =
                    engine.round(&round.descriptor, &round.ceremony_ops, &round.contributions);
                assert_eq!(
                    &Outcome::from(&report.result),
                    expect,
                    "{at} {}",
                    engine.variant()
                );
            }
            let result = plain.round(&round.descriptor, &round.ceremony_ops, &round.contributions);
            assert_eq!(&Outcome::from(&result), expect, "{at} reference");
            lines += 1;
        }
    }
    assert_eq!(lines, 144);
}

/// All variants and the plain port, fed the same; returns what all of them said.
struct Together {
    engines: Vec<Engine>,
    plain: reference::Engine,
    lines: Vec<RoundResult>,
}

impl Together {
    fn new(capacities: Capacities) -> Self {
        Self {
            engines: engines(capacities),
            plain: reference::Engine::new(capacities),
            lines: Vec::new(),
        }
    }

    fn round(
        &mut self,
        descriptor: &RoundDescriptor,
        ceremony_ops: &[CeremonyOp],
        contributions: &[ContributionOp],
    ) -> Report {
        let result = self.plain.round(descriptor, ceremony_ops, contributions);
        let mut reports = Vec::new();
        for engine in &mut self.engines {
            let report = engine.round(descriptor, ceremony_ops, contributions);
            assert_eq!(report.result, result, "{}", engine.variant());
            assert_eq!(report.result.to_bytes(), result.to_bytes());
            reports.push(report);
        }
        assert!(reports.windows(2).all(|pair| pair[0] == pair[1]));
        let applied = result.ceremonies_applied + result.contributions_applied;
        let operations = (ceremony_ops.len() + contributions.len()) as u64;
        let drops = reports[0].drops;
        if descriptor.mode.applies() {
            assert_eq!(
                u64::from(applied) + drops.total() - u64::from(drops.share_table_full),
                operations,
                "an operation is applied or counted as dropped, never both"
            );
        }
        self.lines.push(result);
        reports[0]
    }
}

/// The 21 determinism cases of the original: 7 of Metal and 6 of WGPU, and 4 sizes each.
#[test]
fn the_determinism_cases() {
    let begin =
        |id, kind, shape, seed: u8| scenario::begin(id, kind, shape, [seed ^ 1; 32], [seed; 32]);
    let give = |id, holders: std::ops::Range<u32>, fill: u8| {
        holders
            .map(move |h| scenario::contribution(id, 0, h, 0xa_0000_0000 + u64::from(h), fill, 64))
    };
    let mut cases: Vec<(RoundDescriptor, Vec<CeremonyOp>, Vec<ContributionOp>)> = Vec::new();
    let normal = scenario::descriptor();
    for [frost, cggmp, replay, timeout, first] in [[42, 7, 11, 13, 1], [142, 207, 311, 413, 501]] {
        let keygen = |id| begin(id, Kind::FROST_KEYGEN, (7, 10), 0xab);
        cases.push((
            normal,
            vec![keygen(frost)],
            give(frost, 0..7, 0xc0).collect(),
        ));
        cases.push((
            normal,
            vec![begin(cggmp, Kind::CGGMP21_KEYGEN, (5, 9), 0xab)],
            give(cggmp, 0..5, 0xa0).collect(),
        ));
        cases.push((
            normal,
            vec![begin(replay, Kind::FROST_SIGN, (3, 5), 0xab)],
            give(replay, 0..1, 0xcc)
                .chain(give(replay, 0..1, 0xff))
                .collect(),
        ));
        let late = RoundDescriptor {
            timestamp: 2000,
            ..normal
        };
        let begins = vec![CeremonyOp {
            deadline: 1000,
            ..keygen(timeout)
        }];
        cases.push((late, begins, give(timeout, 0..5, 0xcc).collect()));
        cases.push((
            normal,
            vec![
                begin(first, Kind::FROST_KEYGEN, (7, 10), 0xa0),
                begin(first + 1, Kind::CGGMP21_KEYGEN, (5, 9), 0xb0),
                begin(first + 2, Kind::FROST_SIGN, (3, 5), 0xc0),
            ],
            give(first, 0..7, 0xa0)
                .chain(give(first + 1, 0..5, 0xb0))
                .chain(give(first + 2, 0..3, 0xc0))
                .collect(),
        ));
        cases.push((normal, Vec::new(), Vec::new()));
    }
    cases.push((
        normal,
        vec![begin(99, Kind::FROST_KEYGEN, (5, 8), 0xab)],
        give(99, 0..5, 0xc0).collect(),
    ));
    for first in [1000, 2000] {
        for size in [10, 50, 100, 200] {
            let ids = first..first + size;
            cases.push((
                normal,
                ids.clone()
                    .map(|id| begin(id, Kind::FROST_KEYGEN, (7, 10), 0xab))
                    .collect(),
                ids.flat_map(|id| give(id, 0..7, 0xc0)).collect(),
            ));
        }
    }
    assert_eq!(cases.len(), 21);
    for (descriptor, ceremony_ops, contributions) in &cases {
        let mut first = Together::new(Capacities::default());
        let mut second = Together::new(Capacities::default());
        let report = first.round(descriptor, ceremony_ops, contributions);
        assert_eq!(
            second.round(descriptor, ceremony_ops, contributions),
            report
        );
        assert_eq!(report.result.ceremonies_applied, ceremony_ops.len() as u32);
    }
}

/// What the original's tests never reach: every ceremony goes on to its shares.
#[test]
fn full_key_generations_emit_shares() {
    for (kind, len) in [
        (Kind::FROST_KEYGEN, 65),
        (Kind::CGGMP21_KEYGEN, 65),
        (Kind::CORONA_KEYGEN, 256),
    ] {
        let mut together = Together::new(Capacities::default());
        let mut report = Report::default();
        for round in scenario::full_keygen(7, kind, 3, 5) {
            report = together.round(
                &scenario::descriptor(),
                &round.ceremony_ops,
                &round.contributions,
            );
        }
        assert_eq!(report.result.finalized, 1);
        assert_eq!(report.result.state.shares, 5);
        assert_ne!(report.result.state.key_share_root, [0; 32]);
        let engine = &together.engines[0];
        let shares: Vec<_> = (0..4096).filter_map(|slot| engine.share(slot)).collect();
        assert_eq!(shares.len(), 5);
        for share in shares {
            assert_eq!((share.ceremony_id, share.len), (7, len));
            // Anyone can compute a share: it is a digest of what everyone sees.
            let mut preimage = [[0xab; 32].as_slice(), &7_u64.to_le_bytes()].concat();
            preimage.extend(share.holder.to_le_bytes());
            preimage.extend(b"MPCVM-SHARE-V1");
            for round in 0..kind.rounds() {
                preimage.extend((0..64).map(|k| (0xc0 + round as u8) ^ k));
            }
            assert_eq!(share.data[..32], fieldspar_ceremony::keccak256(&preimage));
        }
    }
}

#[test]
fn records_have_the_sizes_and_offsets_of_the_original() {
    let mut engine = Engine::default();
    let mut result = RoundResult::default();
    for round in scenario::full_keygen(0x1122_3344_5566_7788, Kind::FROST_KEYGEN, 3, 5) {
        result = engine
            .round(
                &scenario::descriptor(),
                &round.ceremony_ops,
                &round.contributions,
            )
            .result;
        let op = round.contributions[0].to_bytes();
        assert_eq!(op.len(), 416);
        assert_eq!(op[32..40], round.contributions[0].payload[..8]);
        assert_eq!(op[24], 64);
    }
    let u32_at =
        |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let u64_at =
        |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let ceremony = (0..256)
        .find_map(|slot| engine.ceremony(slot))
        .unwrap()
        .to_bytes();
    assert_eq!(u64_at(&ceremony, 0), 0x1122_3344_5566_7788);
    assert_eq!(u64_at(&ceremony, 16), scenario::DEADLINE);
    assert_eq!(u64_at(&ceremony, 24), 0b11111);
    assert_eq!(
        [36, 40, 44, 48, 52].map(|at| u32_at(&ceremony, at)),
        [3, 3, 5, 2, 5]
    );
    assert_eq!((ceremony[56], ceremony[88], ceremony[120]), (0xaa, 0xab, 0));
    let contribution = (0..4096)
        .filter_map(|slot| engine.contribution(slot))
        .find(|c| c.id == 7)
        .unwrap()
        .to_bytes();
    assert_eq!(contribution.len(), 432);
    assert_eq!(
        [24, 28, 32, 36].map(|at| u32_at(&contribution, at)),
        [1, 1, 64, 1]
    );
    assert_eq!(contribution[40..44], [0xc1, 0xc0, 0xc3, 0xc2]);
    let share = (0..4096)
        .filter_map(|slot| engine.share(slot))
        .find(|s| s.id == 5)
        .unwrap();
    let bytes = share.to_bytes();
    assert_eq!(bytes.len(), 368);
    assert_eq!([24, 28, 32, 36].map(|at| u32_at(&bytes, at)), [0, 4, 65, 1]);
    assert_eq!(bytes[40..105], share.data[..65]);
    let state = engine.state().to_bytes();
    assert_eq!(state.len(), 160);
    assert_eq!((u64_at(&state, 0), u64_at(&state, 8)), (1, scenario::NOW));
    assert_eq!([16, 20, 24, 28].map(|at| u32_at(&state, at)), [0, 1, 0, 5]);
    assert_eq!(state[128..], engine.state().state_root);
    let bytes = result.to_bytes();
    assert_eq!(bytes.len(), 176);
    assert_eq!(
        [0, 4, 8, 12, 16, 20, 24, 28].map(|at| u32_at(&bytes, at)),
        [1, 0, 5, 1, 0, 0, 5, 1]
    );
    assert_eq!(bytes[144..], engine.state().state_root);
    let descriptor = RoundDescriptor {
        chain_id: 9,
        epoch: 3,
        ..scenario::descriptor()
    };
    let bytes = descriptor.to_bytes(1, 2);
    assert_eq!((u64_at(&bytes, 0), u64_at(&bytes, 24)), (9, 3));
    assert_eq!([32, 36, 40, 44].map(|at| u32_at(&bytes, at)), [0, 1, 2, 1]);
    let op = scenario::begin(5, Kind::CGGMP21_SIGN, (4, 7), [1; 32], [2; 32]).to_bytes();
    assert_eq!([16, 20, 24, 28].map(|at| u32_at(&op, at)), [0, 3, 4, 7]);
    assert_eq!((op[32], op[64]), (1, 2));
}

#[test]
fn unknown_modes_only_make_roots() {
    let mut together = Together::new(Capacities::default());
    let begin = [scenario::begin(
        1,
        Kind::FROST_SIGN,
        (1, 1),
        [0; 32],
        [0; 32],
    )];
    for (mode, applied) in [(8, 0), (7, 1), (u32::MAX, 0), (3, 1)] {
        let descriptor = RoundDescriptor {
            mode: Mode(mode),
            ..scenario::descriptor()
        };
        let report = together.round(&descriptor, &begin, &[]);
        assert_eq!(report.result.ceremonies_applied, applied, "mode {mode}");
    }
}

#[test]
fn capacities_are_powers_of_two() {
    for bad in [0, 3, 255, u32::MAX, 1 << 30] {
        assert!(Capacities::new(bad, 1, 1).is_err());
        assert!(Capacities::new(1, bad, 1).is_err());
        assert!(Capacities::new(1, 1, bad).is_err());
    }
    assert_eq!(Capacities::new(256, 4096, 4096), Ok(Capacities::default()));
}

#[test]
fn lines_that_are_no_rounds_are_refused() {
    let good = r#"{"timestamp":1,"epoch":18446744073709551615,"closing":true,"parent":"0000000000000000000000000000000000000000000000000000000000000000","ceremony_ops":[],"contributions":[{"ceremony_id":18446744073709551615,"holder_addr":0,"round":0,"holder_index":0,"payload_len":2,"payload":"00ff"}]}"#;
    let round = jsonl::parse(good).unwrap();
    assert_eq!(round.contributions[0].ceremony_id, u64::MAX);
    for (from, to) in [
        ("00ff", "00f"),
        ("00ff", "00FF"),
        ("00ff", "00ffff"),
        ("\"payload_len\":2", "\"payload_len\":4294967296"),
        ("\"epoch\"", "\"epok\""),
        ("18446744073709551615", "18446744073709551616"),
        ("18446744073709551615", "-1"),
        ("\"parent\":\"00", "\"parent\":\""),
        ("}]}", "}]"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good);
        assert!(jsonl::parse(&bad).is_err(), "{bad}");
    }
}

fn ceremony_op() -> impl Strategy<Value = CeremonyOp> {
    let shape = prop_oneof![4 => (1..6_u32, 1..8_u32), 1 => (0..70_u32, 0..70_u32)];
    (
        prop_oneof![6 => Just(0), 2 => Just(1), 1 => any::<u32>()],
        0..14_u64,
        0..8_u32,
        shape,
        0..60_u64,
    )
        .prop_map(|(op, id, kind, (threshold, total), deadline)| CeremonyOp {
            // Ids that share a slot are the interesting ones.
            id: if id > 9 { id << 32 } else { id },
            deadline,
            op: Operation(op),
            kind,
            threshold,
            total,
            subject: [id as u8; 32],
            seed: [kind as u8; 32],
        })
}

fn contribution_op() -> impl Strategy<Value = ContributionOp> {
    let len = prop_oneof![8 => 0..200_u32, 2 => 350..386_u32, 1 => any::<u32>()];
    (
        0..14_u64,
        prop_oneof![5 => Just(0), 2 => Just(1), 1 => 0..6_u32],
        0..9_u32,
        len,
        any::<u8>(),
    )
        .prop_map(|(id, round, holder, len, fill)| {
            let id = if id > 9 { id << 32 } else { id };
            let op = scenario::contribution(id, round, holder, 3, fill, len.min(384) as usize);
            ContributionOp {
                payload_len: len,
                ..op
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn random_streams_equal_the_plain_port(
        small in any::<bool>(),
        rounds in prop::collection::vec(
            (
                prop::collection::vec(ceremony_op(), 0..8),
                prop::collection::vec(contribution_op(), 0..40),
                0..60_u64,
                any::<bool>(),
            ),
            1..24,
        ),
    ) {
        // Small tables run full, of ceremonies, contributions and shares alike.
        let capacities = if small { Capacities::new(8, 4, 64).unwrap() } else { Capacities::default() };
        let mut together = Together::new(capacities);
        let mut parent = [0; 32];
        for (epoch, (ceremony_ops, contributions, timestamp, closing)) in (0..).zip(&rounds) {
            let descriptor = RoundDescriptor {
                timestamp: *timestamp, epoch, closing: *closing, parent, ..RoundDescriptor::default()
            };
            let report = together.round(&descriptor, ceremony_ops, contributions);
            parent = report.result.state.state_root;
        }
    }
}

/// Full tables drop in silence; here the drops are counted.
#[test]
fn full_tables_are_counted() {
    let mut together = Together::new(Capacities::new(2, 2, 4).unwrap());
    let begins: Vec<_> = (0..3)
        .map(|id| scenario::begin(id, Kind::CORONA_KEYGEN, (2, 3), [0; 32], [0; 32]))
        .collect();
    let give = |id, round| (0..3).map(move |h| scenario::contribution(id, round, h, 0, 1, 8));
    let report = together.round(
        &scenario::descriptor(),
        &begins,
        &give(0, 0).chain(give(2, 0)).collect::<Vec<_>>(),
    );
    assert_eq!(report.drops.begin_table_full, 1);
    assert_eq!(report.drops.contribution_unknown, 3);
    let report = together.round(
        &scenario::descriptor(),
        &[],
        &give(0, 1).collect::<Vec<_>>(),
    );
    assert_eq!(report.drops.contribution_table_full, 2);

    let mut together = Together::new(Capacities::new(2, 2, 64).unwrap());
    let mut report = Report::default();
    for round in scenario::full_keygen(5, Kind::CORONA_KEYGEN, 3, 5) {
        report = together.round(
            &scenario::descriptor(),
            &round.ceremony_ops,
            &round.contributions,
        );
    }
    assert_eq!(report.drops.share_table_full, 3);
    assert_eq!(report.result.state.shares, 2);
}
