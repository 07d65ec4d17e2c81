//! `ceremony bench --scenario dkg|signatures`: public verification of FROST, beside the frost crates.
//!
//! Both sides get the same bytes. Reading them is outside both timers, save for the rows whose names
//! say `decode`. One thread.
#![forbid(unsafe_code)]

use std::hint::black_box;
use std::time::Instant;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::Suite;
use fieldspar_ceremony::verify::keygen::Keygen;
use fieldspar_ceremony::verify::scenario::{Dkg, Signed, dkg, signatures};
use fieldspar_ceremony::verify::signature::{Item, verify_batch};
use fieldspar_ceremony::verify::{Ciphersuite, Ed25519, Ristretto255, Secp256k1, Secp256k1Tr};
use serde_json::{Map, Value, json};

use super::bench::{Versus, Workload};
use super::rival::Rival;
use crate::bench::stats::median;
use crate::failure::{Failure, Kind};

/// Participants and threshold of the key generation.
const SHAPE: (u16, u16) = (10, 7);

/// Signatures of a batch.
const SIGNATURES: u64 = 1024;

/// What one row does: once, and whether all was valid.
type Work = Box<dyn FnMut() -> bool>;

struct Row {
    name: &'static str,
    suite: Suite,
    /// Checks of a run: proofs and keys, shares, signatures.
    operations: usize,
    ours: Work,
    /// The same for the rival.
    workload: Value,
}

const fn suite_name(suite: Suite) -> &'static str {
    match suite {
        Suite::Ed25519 => "ed25519",
        Suite::Ristretto255 => "ristretto255",
        Suite::Secp256k1 => "secp256k1",
        Suite::Secp256k1Tr => "secp256k1-tr",
    }
}

fn lost() -> Failure {
    Failure::internal("a workload that is not good")
}

fn dkg_rows<S: Ciphersuite>() -> Result<Vec<Row>, Failure> {
    let (n, t) = SHAPE;
    let Dkg {
        messages, shares, ..
    } = dkg(S::SUITE, n, t).ok_or_else(lost)?;
    let slices: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
    let keygen = Keygen::<S>::parse(t, &slices).map_err(|_| lost())?;
    let workload = |scenario| {
        json!({
            "scenario": scenario,
            "suite": suite_name(S::SUITE),
            "threshold": t,
            "element": S::ELEMENT,
            "messages": messages.iter().map(|m| hex::encode(m)).collect::<Vec<_>>(),
            "shares": shares.iter().map(|(i, s)| (i, hex::encode(s))).collect::<Vec<_>>(),
        })
    };
    let (whole, own) = (workload("dkg"), workload("own-shares"));
    let public = keygen.clone();
    let single = (keygen.clone(), shares.clone());
    let count = shares.len();
    Ok(vec![
        Row {
            name: "dkg 7-of-10",
            suite: S::SUITE,
            operations: 2 * usize::from(n) + 1,
            ours: Box::new(move || {
                public.check_proofs().is_ok() && black_box(public.public_keys()).is_ok()
            }),
            workload: whole,
        },
        Row {
            name: "own shares, one by one",
            suite: S::SUITE,
            operations: count,
            ours: Box::new(move || {
                let packages = single.0.packages();
                (single.1.iter()).all(|(i, s)| packages[usize::from(*i)].share_fits(0, s))
            }),
            workload: own.clone(),
        },
        Row {
            name: "own shares",
            suite: S::SUITE,
            operations: count,
            ours: Box::new(move || keygen.check_own_shares(0, &shares).is_ok()),
            workload: own,
        },
    ])
}

fn parse<S: Ciphersuite>(signed: &[Signed]) -> Option<Vec<Item<'_, S>>> {
    let triples: Vec<(&[u8], &[u8], &[u8])> = signed
        .iter()
        .map(|s| (&s.key[..], &s.message[..], &s.signature[..]))
        .collect();
    Item::parse_many(&triples).ok()
}

fn signature_rows<S: Ciphersuite>() -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (name, keys, decode) in [
        ("signatures, a key each", SIGNATURES, false),
        ("signatures, one key", 1, false),
        ("signatures, one key, decode", 1, true),
    ] {
        let signed = signatures(S::SUITE, SIGNATURES, keys).ok_or_else(lost)?;
        let triples: Vec<_> = signed
            .iter()
            .map(|s| [&s.key, &s.message, &s.signature].map(|bytes| hex::encode(bytes)))
            .collect();
        let workload = json!({
            "scenario": "signatures",
            "suite": suite_name(S::SUITE),
            "element": S::ELEMENT,
            "signatures": triples,
            "decode": decode,
        });
        let ours: Work = if decode {
            Box::new(move || parse::<S>(&signed).is_some_and(|items| verify_batch(&items).is_ok()))
        } else {
            // Items borrow their messages, which live as long as the program measures.
            let signed: &'static [Signed] = signed.leak();
            let items = parse::<S>(signed).ok_or_else(lost)?;
            Box::new(move || verify_batch(&items).is_ok())
        };
        rows.push(Row {
            name,
            suite: S::SUITE,
            operations: SIGNATURES as usize,
            ours,
            workload,
        });
    }
    Ok(rows)
}

/// The rows of a workload, measured; `None` for the workloads of the rules.
pub(super) fn rows(
    workload: Workload,
    versus: Option<Versus>,
    runs: u32,
) -> Result<Vec<Value>, Failure> {
    let rows: Vec<Row> = match workload {
        Workload::Dkg => [
            dkg_rows::<Ed25519>()?,
            dkg_rows::<Ristretto255>()?,
            dkg_rows::<Secp256k1>()?,
            dkg_rows::<Secp256k1Tr>()?,
        ]
        .into_iter()
        .flatten()
        .collect(),
        _ => [
            signature_rows::<Ed25519>()?,
            signature_rows::<Ristretto255>()?,
            signature_rows::<Secp256k1>()?,
            signature_rows::<Secp256k1Tr>()?,
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let mut rivals = match versus {
        None => Vec::new(),
        Some(Versus::Frost) => vec![
            Rival::start("frost-core", "native")?,
            Rival::start("frost-core", "default")?,
        ],
        Some(Versus::Port) => {
            return Err(Failure::usage(
                "the rival of `dkg` and `signatures` is `frost`",
            ));
        }
    };
    rows.into_iter()
        .map(|row| measure(row, runs, &mut rivals))
        .collect()
}

fn measure(mut row: Row, runs: u32, rivals: &mut [Rival]) -> Result<Value, Failure> {
    let load = row.workload.to_string();
    for rival in rivals.iter_mut() {
        rival.ask(&load)?;
    }
    let mismatch = |who: &str| {
        let suite = suite_name(row.suite);
        Failure::new(
            Kind::Mismatch,
            format!("{who} refuses {} of {suite}", row.name),
        )
    };
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); rivals.len()];
    // The first run of each side warms up.
    for run in 0..=runs {
        let start = Instant::now();
        let valid = black_box((row.ours)());
        let ms = start.elapsed().as_secs_f64() * 1e3;
        if !valid {
            return Err(mismatch("our verifier"));
        }
        if run > 0 {
            ours.push(ms);
        }
        for (rival, times) in rivals.iter_mut().zip(&mut theirs) {
            let answer = rival.ask("run")?;
            let (Some(ms), Some(true)) = (answer["ms"].as_f64(), answer["valid"].as_bool()) else {
                return Err(mismatch("the rival"));
            };
            if run > 0 {
                times.push(ms);
            }
        }
    }
    let ms = median(ours);
    let rivals: Map<String, Value> = rivals
        .iter()
        .zip(theirs)
        .map(|(rival, times)| {
            let theirs = median(times);
            let fields = json!({"ms": theirs, "ratio": theirs / ms, "version": "frost-core 3.0.0"});
            (format!("frost ({})", rival.build), fields)
        })
        .collect();
    Ok(json!({
        "scenario": format!("{}, {}", row.name, suite_name(row.suite)),
        "rules": null,
        "suite": suite_name(row.suite),
        "threads": 1,
        "operations": row.operations,
        "ms": ms,
        "durable": false,
        "ops_per_s": row.operations as f64 / ms * 1e3,
        "us_per_op": ms * 1e3 / row.operations as f64,
        "root": null,
        "rivals": rivals,
    }))
}
