//! The verbs that look at a record, prove and check.
#![forbid(unsafe_code)]

use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Evidence, Inclusion, Outcome as End, Signature};
use fieldspar_ceremony::store::{FileDisk, replay as replay_log};
use serde_json::{Value, json};

use super::common::{StoreArgs, base, hex32, roots};
use super::operate::kind_name;
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;

/// Flags of `ceremony status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Only ceremonies in progress, with whom they wait for
    #[arg(long)]
    awaited: bool,
}

/// Flags of `ceremony prove`.
#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// The ceremony
    #[arg(value_name = "ID", value_parser = hex32)]
    ceremony: [u8; 32],
}

/// Flags of `ceremony verify-proof`.
#[derive(Debug, Args)]
pub(crate) struct VerifyProofArgs {
    /// What `ceremony prove` printed
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The state root that is trusted; without it the proof's own is taken, and shows nothing about
    /// the record
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    root: Option<[u8; 32]>,
}

/// Flags of `ceremony replay`.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The log
    #[arg(value_name = "LOG")]
    log: PathBuf,
    /// Verify every signature again instead of trusting the hash chain
    #[arg(long)]
    verify_signatures: bool,
    /// The state root that should come out
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    root: Option<[u8; 32]>,
}

/// The places of the bits.
pub(super) fn bits(set: u128) -> Vec<u32> {
    (0..128).filter(|i| set >> i & 1 == 1).collect()
}

pub(super) fn end(outcome: &End) -> Value {
    match outcome {
        End::Finished => json!({"status": "finished"}),
        End::Cancelled => json!({"status": "cancelled"}),
        End::Expired { round, awaited } => {
            json!({"status": "expired", "round": round, "awaited": bits(*awaited)})
        }
        End::Aborted {
            culprit,
            complainer,
            sender,
        } => json!({
            "status": "aborted", "culprit": culprit, "complainer": complainer, "sender": sender,
        }),
        End::Disagreement => json!({"status": "disagreement"}),
        _ => json!({"status": "unknown"}),
    }
}

/// Two signed messages of one party for one place.
pub(super) fn evidence_of(e: &Evidence) -> Value {
    let side = |(hash, signature): &([u8; 32], Signature)| json!({"payload_hash": hex::encode(hash), "signature": hex::encode(&signature.0)});
    json!({
        "ceremony": hex::encode(&e.ceremony),
        "round": e.round,
        "index": e.index,
        "key": hex::encode(&e.key),
        "first": side(&e.first),
        "second": side(&e.second),
    })
}

pub(crate) fn status(args: &StatusArgs, context: &Context) -> Result<Outcome, Failure> {
    let store = args.store.open(context)?;
    let state = store.state();
    let mut ceremonies: Vec<Value> = state
        .live()
        .map(|live| {
            json!({
                "id": hex::encode(&live.id),
                "kind": kind_name(live.begin.kind),
                "status": "in progress",
                "round": live.round,
                "deadline": live.deadline(),
                "transcript": hex::encode(&live.transcript),
                "awaited": bits(live.awaited()),
            })
        })
        .collect();
    if !args.awaited {
        ceremonies.extend(state.archive().iter().map(|archived| {
            let mut value = json!({
                "id": hex::encode(&archived.id),
                "kind": kind_name(archived.kind),
                "transcript": hex::encode(&archived.transcript),
                "key": (archived.key != [0; 32]).then(|| hex::encode(&archived.key)),
            });
            if let (Value::Object(all), Value::Object(end)) = (&mut value, end(&archived.outcome)) {
                all.extend(end);
            }
            value
        }));
    }
    let mut text = String::new();
    for c in &ceremonies {
        text.push_str(&format!(
            "{}  {:<26} {}",
            c["id"].as_str().unwrap_or_default(),
            c["kind"].as_str().unwrap_or_default(),
            c["status"].as_str().unwrap_or_default()
        ));
        if c["awaited"].is_array() {
            text.push_str(&format!(", round {}, awaited {}", c["round"], c["awaited"]));
        }
        if c["culprit"].is_u64() {
            text.push_str(&format!(", at fault {}", c["culprit"]));
        }
        text.push('\n');
    }
    let evidence: Vec<Value> = state.evidence().iter().map(evidence_of).collect();
    for e in &evidence {
        text.push_str(&format!(
            "EQUIVOCATION  ceremony {} round {} index {}\n",
            e["ceremony"].as_str().unwrap_or_default(),
            e["round"],
            e["index"]
        ));
    }
    let fields = json!({"now": state.now(), "ceremonies": ceremonies, "evidence": evidence});
    Ok(Outcome::new(text, json::fields(fields)))
}

pub(crate) fn root(args: &StoreArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut store = args.open(context)?;
    let (roots, counters) = roots(store.state_mut());
    let mut text = String::new();
    for (name, root) in roots.as_object().into_iter().flatten() {
        let size = counters
            .get(name)
            .map_or(String::new(), ToString::to_string);
        text.push_str(&format!(
            "{name:<10}{}  {size}\n",
            root.as_str().unwrap_or_default()
        ));
    }
    let fields = json!({
        "rules": "v2",
        "epoch": null,
        "roots": roots,
        "counters": counters,
        "log_head": hex::encode(&store.head()),
        "frames": store.frames(),
        "trusted_base": store.base().map(base),
    });
    Ok(Outcome::new(text, json::fields(fields)))
}

pub(crate) fn prove(args: &ProveArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut store = args.store.open(context)?;
    let Some(proof) = store.state_mut().prove(&args.ceremony) else {
        let text = "no such ceremony\n".to_owned();
        return Ok(Outcome::new(text, json::fields(json!({"proof": null}))).answer(false));
    };
    let proof = serde_json::to_value(&proof).map_err(|e| Failure::internal(e.to_string()))?;
    let fields = json::fields(json!({"proof": proof}));
    Ok(Outcome::new(format!("{proof}\n"), fields))
}

pub(crate) fn verify_proof(args: &VerifyProofArgs, context: &Context) -> Result<Outcome, Failure> {
    let at = |e: String| Failure::input(e).at(args.file.display().to_string());
    let text = std::fs::read_to_string(&args.file).map_err(|e| at(e.to_string()))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|e| at(e.to_string()))?;
    // With --json `prove` wraps it.
    if let Some(inner) = value.get_mut("proof") {
        value = inner.take();
    }
    let proof: Inclusion =
        serde_json::from_value(value).map_err(|e| at(format!("no proof: {e}")))?;
    let reason = match args.root {
        Some(root) if hex::encode(&root) != proof.state_root => {
            Some("the proof is for another state root")
        }
        _ if !proof.holds() => Some("the path does not lead to the state root"),
        _ => None,
    };
    if args.root.is_none() {
        context.warn("without --root the proof shows only that it fits the root it names itself");
    }
    let text = match reason {
        Some(reason) => format!("REFUSED: {reason}\n"),
        None => format!("valid for state root {}\n", proof.state_root),
    };
    let fields = json!({
        "valid": reason.is_none(),
        "reason": reason,
        "state_root": proof.state_root,
        "tree": proof.tree,
        "index": proof.index,
        "leaf": hex::encode(&proof.leaf),
    });
    Ok(Outcome::new(text, json::fields(fields)).answer(reason.is_none()))
}

pub(crate) fn replay(args: &ReplayArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let place = args.log.display().to_string();
    let file = File::open(&args.log).map_err(|e| Failure::input(e.to_string()).at(&place))?;
    let start = Instant::now();
    let (mut state, recovery) = replay_log(FileDisk::new(file), args.verify_signatures)
        .map_err(|e| Failure::from(e).at(&place))?;
    let (roots, counters) = roots(&mut state);
    let ms = json::ms(start.elapsed());
    let matches = args
        .root
        .map(|root| roots["state"] == hex::encode(&root).as_str());
    if recovery.torn_bytes > 0 {
        let torn = recovery.torn_bytes;
        context.warn(&format!(
            "{torn} bytes behind the last whole frame are left out"
        ));
    }
    let trusted = recovery.base.map_or(String::new(), |base| {
        format!(
            "trusted: the state behind frame {}, {} operations, root {}\n",
            base.frame,
            base.operations,
            hex::encode(&base.root)
        )
    });
    let text = format!(
        "{trusted}{} operations in {} frames, {ms} ms, signatures {}\nstate root  {}{}\n",
        recovery.operations,
        recovery.frames,
        if args.verify_signatures {
            "verified"
        } else {
            "taken from the hash chain"
        },
        roots["state"].as_str().unwrap_or_default(),
        if matches == Some(false) {
            "  NOT as expected"
        } else {
            ""
        },
    );
    let fields = json!({
        "frames": recovery.frames,
        "operations": recovery.operations,
        "torn_bytes": recovery.torn_bytes,
        "signatures_verified": args.verify_signatures,
        "trusted_base": recovery.base.as_ref().map(base),
        "ms": ms,
        "matches": matches,
        "roots": roots,
        "counters": counters,
    });
    Ok(Outcome::new(text, json::fields(fields)).answer(matches != Some(false)))
}

/// Flags of `ceremony compact`.
#[derive(Debug, Args)]
pub(crate) struct CompactArgs {
    #[command(flatten)]
    store: StoreArgs,
    /// Keep the old log under this name, in the same file system
    #[arg(long, value_name = "FILE", conflicts_with = "snapshot_only")]
    archive: Option<PathBuf>,
    /// Leave the log as it is, and only write a snapshot, so that the next start is short
    #[arg(long)]
    snapshot_only: bool,
}

pub(crate) fn compact(args: &CompactArgs, context: &Context) -> Result<Outcome, Failure> {
    let mut store = args.store.open(context)?;
    let before = store.log_bytes();
    if args.snapshot_only {
        store.snapshot()?;
    } else {
        store.compact(args.archive.as_deref())?;
    }
    let (roots, _) = roots(store.state_mut());
    let text = format!(
        "{} behind frame {}\nlog bytes   {before} -> {}\nstate root  {}\n",
        if args.snapshot_only {
            "snapshot"
        } else {
            "the log begins with the state"
        },
        store.frames(),
        store.log_bytes(),
        roots["state"].as_str().unwrap_or_default()
    );
    let fields = json!({
        "accepted": true,
        "id": hex::encode(&store.head()),
        "frames": store.frames(),
        "log_bytes_before": before,
        "log_bytes": store.log_bytes(),
        "trusted_base": store.base().map(base),
        "archive": args.archive,
        "roots": roots,
    });
    Ok(Outcome::new(text, json::fields(fields)))
}
