//! `ceremony verify-transcript`: checks an exported record again, with what is inside its messages.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::Suite;
use fieldspar_ceremony::verify::transcript::{
    Culprit, Depth, Status, Transcript, TranscriptError, Verdict, verify_transcript,
};
use serde_json::{Value, json};

use super::common::hex32;
use super::operate::kind_name;
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;

/// Flags of `ceremony verify-transcript`.
#[derive(Debug, Args)]
pub(crate) struct VerifyTranscriptArgs {
    /// A folder with the record's log, `log.fsl`; it is only read
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Only this ceremony [default: all]
    #[arg(long, value_name = "ID", value_parser = hex32)]
    ceremony: Option<[u8; 32]>,
    /// The state root that should come out
    #[arg(long, value_name = "HEX", value_parser = hex32)]
    root: Option<[u8; 32]>,
}

impl From<TranscriptError> for Failure {
    fn from(error: TranscriptError) -> Self {
        Self::input(error.to_string())
    }
}

const fn status_name(status: Status) -> &'static str {
    match status {
        Status::Valid => "valid",
        Status::Invalid => "invalid",
        Status::Incomplete => "incomplete",
    }
}

const fn suite_name(suite: Suite) -> &'static str {
    match suite {
        Suite::Ed25519 => "ed25519",
        Suite::Ristretto255 => "ristretto255",
        Suite::Secp256k1 => "secp256k1",
        Suite::Secp256k1Tr => "secp256k1-tr",
    }
}

fn culprit(culprit: &Culprit) -> Value {
    match culprit {
        Culprit::Coordinator => json!({"role": "coordinator"}),
        Culprit::Party { index, member, key } => json!({
            "role": "party", "index": index, "member": member, "key": hex::encode(key),
        }),
    }
}

fn fields_of(verdict: &Verdict) -> Value {
    let culprits: Vec<Value> = verdict.culprits.iter().map(culprit).collect();
    json!({
        "id": hex::encode(&verdict.id),
        "kind": kind_name(verdict.kind),
        "suite": verdict.kind.suite().map(suite_name),
        "status": status_name(verdict.status),
        "valid": verdict.status == Status::Valid,
        "reason": verdict.finding.as_ref().map(ToString::to_string),
        "culprit": culprits.first(),
        "culprits": culprits,
        "checked": match verdict.depth {
            Depth::Full => "everything public",
            Depth::EnvelopeAndSignature => "envelope and final signature",
            Depth::Envelope => "envelope only",
        },
        "group_key": verdict.group_key.as_deref().map(hex::encode),
        "signature": verdict.signature.as_deref().map(hex::encode),
    })
}

/// The ceremony that the answer is about: the first that does not hold, else the last with a result,
/// else the last.
fn leading<'a>(shown: &[&'a Verdict]) -> Option<&'a Verdict> {
    let of = |status| shown.iter().filter(move |v| v.status == status);
    let invalid = of(Status::Invalid).next();
    let valid = of(Status::Valid).next_back();
    invalid.or(valid).or(shown.last()).copied()
}

fn answer(transcript: &Transcript, shown: &[&Verdict], root_differs: bool) -> Value {
    let mut fields = leading(shown).map_or_else(|| json!({}), fields_of);
    let coordinator = culprit(&Culprit::Coordinator);
    let bad = match (&transcript.fault, shown.is_empty()) {
        (Some(fault), _) => Some((format!("the record: {fault}"), Some(coordinator))),
        (None, _) if root_differs => {
            Some(("the state root is another".to_owned(), Some(coordinator)))
        }
        (None, true) => Some(("no such ceremony".to_owned(), None)),
        (None, false) => None,
    };
    if let Some((reason, culprit)) = bad {
        fields["valid"] = json!(false);
        fields["reason"] = json!(reason);
        fields["culprits"] = json!(culprit.iter().collect::<Vec<_>>());
        fields["culprit"] = json!(culprit);
    }
    fields["ceremonies"] = shown.iter().map(|v| fields_of(v)).collect();
    fields
}

pub(crate) fn run(args: &VerifyTranscriptArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let start = Instant::now();
    let transcript = verify_transcript(&args.folder)
        .map_err(|e| Failure::from(e).at(args.folder.display().to_string()))?;
    let ms = json::ms(start.elapsed());
    if transcript.torn_bytes > 0 && transcript.fault.is_none() {
        let torn = transcript.torn_bytes;
        context.warn(&format!(
            "{torn} bytes behind the last whole frame are left out"
        ));
    }
    let wanted = |v: &&Verdict| args.ceremony.is_none_or(|id| id == v.id);
    let shown: Vec<&Verdict> = transcript.ceremonies.iter().filter(wanted).collect();
    let root_differs = args.root.is_some_and(|root| root != transcript.state_root);
    let mut fields = answer(&transcript, &shown, root_differs);
    let valid = fields["valid"] == true;

    let mut text = String::new();
    for v in &shown {
        text.push_str(&format!(
            "{}  {:<26} {}{}\n",
            hex::encode(&v.id),
            kind_name(v.kind),
            status_name(v.status),
            v.finding
                .as_ref()
                .map_or(String::new(), |f| format!(": {f}")),
        ));
        for c in &v.culprits {
            text.push_str(&match c {
                Culprit::Coordinator => "  at fault  the coordinator\n".to_owned(),
                Culprit::Party { index, member, key } => format!(
                    "  at fault  participant {index}, member {member}, key {}\n",
                    hex::encode(key)
                ),
            });
        }
        for (name, value) in [("group key", &v.group_key), ("signature", &v.signature)] {
            if let Some(value) = value {
                text.push_str(&format!("  {name}  {}\n", hex::encode(value)));
            }
        }
        if v.depth != Depth::Full {
            text.push_str(match v.depth {
                Depth::EnvelopeAndSignature => "  checked: envelope and final signature\n",
                _ => "  checked: the envelope only; what is inside is not read\n",
            });
        }
    }
    for e in &transcript.equivocations {
        text.push_str(&format!(
            "EQUIVOCATION  ceremony {} round {} participant {}\n",
            hex::encode(&e.ceremony),
            e.round,
            e.index
        ));
    }
    text.push_str(&match fields["reason"].as_str() {
        Some(reason) if !valid => format!("REFUSED: {reason}\n"),
        _ => format!(
            "valid: {} operations in {} frames, state root {}\n",
            transcript.operations,
            transcript.frames,
            hex::encode(&transcript.state_root)
        ),
    });
    fields["equivocations"] = transcript
        .equivocations
        .iter()
        .map(|e| {
            json!({
                "ceremony": hex::encode(&e.ceremony), "round": e.round, "index": e.index,
                "key": hex::encode(&e.key),
            })
        })
        .collect();
    fields["ms"] = json!(ms);
    fields["frames"] = json!(transcript.frames);
    fields["operations"] = json!(transcript.operations);
    fields["torn_bytes"] = json!(transcript.torn_bytes);
    fields["state_root"] = json!(hex::encode(&transcript.state_root));
    Ok(Outcome::new(text, json::fields(fields)).answer(valid))
}
