//! `ceremony bench --rules v2`: roots among many ceremonies, recovery.
#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::path::Path;
use std::time::Instant;

use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Body, Operation, State, scenario};
use fieldspar_ceremony::store::{FileDisk, Log, replay};
use serde_json::{Value, json};

use crate::bench::stats::median;
use crate::failure::Failure;

/// Ceremonies of the workload `root`, and how many of them change.
const CROWD: (u64, u64) = (1_000_000, 10_000);

/// Operations of a batch, and of a frame.
const BATCH: usize = 1024;

/// Operations of the workload `recovery`.
const RECOVERY: u64 = 1_000_000;

/// Bytes of a message.
const PAYLOAD: usize = 64;

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// The root after 10,000 changes among 1,000,000 ceremonies in progress, in memory.
pub(super) fn root(runs: u32) -> Value {
    let (count, changes) = CROWD;
    let (mut state, ids) = scenario::crowd(count);
    state.root();
    let parties = [0, 1, 2]
        .map(scenario::party)
        .map(|key| key.verifying_key().to_bytes());
    let mut times = Vec::new();
    let mut applied = Vec::new();
    let mut root = [0; 32];
    for run in 0..u64::from(runs) {
        // Three parties have one message each in the first round; later runs take other ceremonies.
        let index = (run % 3) as u16;
        let step = run / 3 * 31;
        let operations: Vec<Operation> = (0..changes)
            .map(|k| {
                let at = (k.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20).wrapping_add(step) % count;
                Operation {
                    body: scenario::message(ids[at as usize], index, PAYLOAD),
                    key: parties[usize::from(index)],
                    ..Operation::tick(0)
                }
            })
            .collect();
        let start = Instant::now();
        for operation in operations {
            state.apply(operation.trust());
        }
        applied.push(milliseconds(start));
        let start = Instant::now();
        root = state.root().root;
        times.push(milliseconds(start));
    }
    let ms = median(times);
    json!({
        "scenario": "root",
        "rules": "v2",
        "threads": 1,
        "ceremonies": count,
        "operations": changes,
        "ms": ms,
        "apply_ms": median(applied),
        "durable": false,
        "ops_per_s": changes as f64 / ms * 1e3,
        "root": hex::encode(&root),
        "rivals": {},
    })
}

/// A log of a million operations, played from nothing with the hash chain trusted, and its root.
pub(super) fn recovery(folder: &Path) -> Result<Value, Failure> {
    let path = folder.join("recovery.fsl");
    let open = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Failure::input(e.to_string()).at(path.display().to_string()))
    };
    let mut log = Log::create(FileDisk::new(open()?), scenario::genesis())?;
    let members: Vec<Operation> = scenario::members()
        .into_iter()
        .map(scenario::unsigned)
        .collect();
    let parties = [0, 1, 2]
        .map(scenario::party)
        .map(|key| key.verifying_key().to_bytes());
    let operator = scenario::genesis().operator;
    let mut batch: Vec<Vec<u8>> = members.iter().map(Operation::to_bytes).collect();
    let mut written = batch.len() as u64;
    for number in 0.. {
        if written >= RECOVERY {
            break;
        }
        let begin = scenario::begin(number);
        let id = begin.id(&scenario::NETWORK);
        let begin = Operation {
            body: Body::Begin(begin),
            key: operator,
            ..Operation::tick(0)
        };
        batch.push(begin.to_bytes());
        for index in 0..scenario::PARTIES {
            let message = Operation {
                body: scenario::message(id, index, PAYLOAD),
                key: parties[usize::from(index)],
                ..Operation::tick(0)
            };
            batch.push(message.to_bytes());
        }
        written += 1 + u64::from(scenario::PARTIES);
        if batch.len() >= BATCH || written >= RECOVERY {
            log.append(&batch)?;
            batch.clear();
        }
    }
    drop(log);
    let start = Instant::now();
    let (mut state, recovery): (State, _) = replay(FileDisk::new(open()?), false)?;
    let played = milliseconds(start);
    let root = state.root().root;
    let ms = milliseconds(start);
    Ok(json!({
        "scenario": "recovery",
        "rules": "v2",
        "threads": 1,
        "operations": recovery.operations,
        "ms": ms,
        "root_ms": ms - played,
        "durable": true,
        "ops_per_s": recovery.operations as f64 / ms * 1e3,
        "root": hex::encode(&root),
        "rivals": {},
    }))
}
