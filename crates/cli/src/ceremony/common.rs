//! What the verbs over a store share.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};

use clap::Args;
use ed25519_dalek::SigningKey;
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Answer, Body, State, TreeName, verifier};
use fieldspar_ceremony::store::{Base, FileDisk, Reply, Store, StoreError};
use serde_json::{Value, json};

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json;

use super::place::PlaceArgs;

/// Where the record is.
#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    /// The folder of the record
    #[arg(long, value_name = "DIR")]
    pub(super) store: PathBuf,
}

/// Where the record is, and who may change it.
#[derive(Debug, Args)]
pub(crate) struct OperatorArgs {
    #[command(flatten)]
    pub(super) place: PlaceArgs,
    /// The operator's secret key, made by `ceremony key`
    #[arg(long, value_name = "FILE")]
    pub(super) operator_key: PathBuf,
}

/// 32 bytes in hex on the command line.
pub(super) fn hex32(text: &str) -> Result<[u8; 32], String> {
    hex::array(text).map_err(|e| e.to_string())
}

/// Any bytes in hex.
pub(super) fn hex_bytes(text: &str) -> Result<Vec<u8>, hex::HexError> {
    let mut bytes = vec![0; text.len() / 2];
    hex::decode(text, &mut bytes)?;
    Ok(bytes)
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::input(error.to_string())
    }
}

impl StoreArgs {
    pub(super) fn open(&self, context: &Context) -> Result<Store<FileDisk>, Failure> {
        context.unused_device()?;
        let (store, recovery) = Store::open(&self.store)
            .map_err(|e| Failure::from(e).at(self.store.display().to_string()))?;
        if recovery.torn_bytes > 0 {
            context.warn(&format!(
                "{} bytes of a frame that was never acknowledged were cut off the log",
                recovery.torn_bytes
            ));
        }
        if recovery.bad_snapshots > 0 {
            context.warn(&format!(
                "{} snapshots are not right and were passed over",
                recovery.bad_snapshots
            ));
        }
        Ok(store)
    }
}

pub(super) fn read_key(path: &Path) -> Result<SigningKey, Failure> {
    let at = |e: String| Failure::input(e).at(path.display().to_string());
    let text = std::fs::read_to_string(path).map_err(|e| at(e.to_string()))?;
    let secret = hex::array(text.trim()).map_err(|e| at(format!("no secret key: {e}")))?;
    Ok(SigningKey::from_bytes(&secret))
}

impl OperatorArgs {
    /// Signs, submits and says what came of it.
    pub(super) fn operate(&self, body: Body, context: &Context) -> Result<Outcome, Failure> {
        let key = read_key(&self.operator_key)?;
        let mut place = self.place.open(context)?;
        let network = place.network()?;
        place.submit(vec![body.sign(&network, &key)])
    }
}

/// What a shortened log goes on from.
pub(super) fn base(base: &Base) -> Value {
    json!({
        "frame": base.frame,
        "operations": base.operations,
        "head": hex::encode(&base.head),
        "root": hex::encode(&base.root),
    })
}

/// Sizes and roots by tree, and the state's root.
pub(super) fn roots(state: &mut State) -> (Value, Value) {
    let whole = state.root();
    let mut roots = json!({"state": hex::encode(&whole.root)});
    let mut counters = json!({"operations": state.operations(), "now": state.now()});
    for name in TreeName::ALL {
        let tree = verifier::tree_of_state(
            fieldspar_ceremony::keccak256,
            &whole.root,
            &whole.header,
            name as usize,
        );
        if let (Some((size, root)), Ok(Value::String(name))) = (tree, serde_json::to_value(name)) {
            roots[&name] = json!(hex::encode(&root));
            counters[&name] = json!(size);
        }
    }
    // The tree has a leaf for a free slot too.
    counters["live"] = json!(state.live().count());
    (roots, counters)
}

pub(super) fn fields_of(reply: &Reply) -> Value {
    match reply {
        Reply::Answered(Answer::Accepted { id, again }) => {
            json!({"accepted": true, "id": hex::encode(id), "again": again})
        }
        Reply::Answered(Answer::Rejected { reason }) => {
            json!({"accepted": false, "reason": reason.to_string()})
        }
        Reply::BadSignature => {
            json!({"accepted": false, "reason": "the signature does not verify"})
        }
    }
}

/// What a verb that changes a record in a folder says.
pub(super) fn answered(store: &mut Store<FileDisk>, replies: &[Reply]) -> Outcome {
    let (roots, _) = roots(store.state_mut());
    said(replies.iter().map(fields_of).collect(), roots)
}

/// What a verb that changes the state says; of several operations each has its own answer, and the
/// verb's is yes if all are accepted.
pub(super) fn said(answers: Vec<Value>, roots: Value) -> Outcome {
    let accepted = answers.iter().all(|answer| answer["accepted"] == true);
    let mut text = String::new();
    for answer in &answers {
        text.push_str(&match (answer["id"].as_str(), answer["reason"].as_str()) {
            (Some(id), _) if answer["again"] == true => format!("accepted before  {id}\n"),
            (Some(id), _) => format!("accepted  {id}\n"),
            (_, reason) => format!("REJECTED: {}\n", reason.unwrap_or_default()),
        });
    }
    text.push_str(&format!(
        "state root  {}\n",
        roots["state"].as_str().unwrap_or_default()
    ));
    let mut fields = match answers.as_slice() {
        [one] => json::fields(one.clone()),
        _ => json::fields(json!({"accepted": accepted, "answers": answers})),
    };
    fields.insert("roots".into(), roots);
    Outcome::new(text, fields).answer(accepted)
}
