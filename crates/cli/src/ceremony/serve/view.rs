//! What the state looks like in JSON.
#![forbid(unsafe_code)]

use ed25519_dalek::{Signer, SigningKey};
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v2::{Archived, Live, State};
use fieldspar_ceremony::store::{FileDisk, Store};
use serde_json::{Map, Value, json};

use super::super::common::roots;
use super::super::inspect::{bits, end, evidence_of};
use super::super::operate::kind_name;

/// Which entries of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) from: usize,
    pub(super) limit: usize,
}

/// The most bytes of payloads in one answer, but for a message that is longer itself.
const PAYLOADS: usize = 1 << 20;

/// Some entries of a list, and where the next ones begin.
fn page(name: &str, page: Page, entries: impl Iterator<Item = Value>) -> Value {
    let mut rest = entries.skip(page.from);
    let list: Vec<Value> = rest.by_ref().take(page.limit).collect();
    let next = rest.next().map(|_| page.from + list.len());
    json!({name: list, "next": next})
}

fn put(value: &mut Value, more: Value) {
    if let (Value::Object(all), Value::Object(more)) = (value, more) {
        all.extend(more);
    }
}

/// What a ceremony began with, and who takes part.
fn terms(state: &State, live: &Live) -> Value {
    let begin = &live.begin;
    let members: Vec<Option<String>> = live
        .members
        .iter()
        .map(|&place| state.members().get(place as usize).map(|k| hex::encode(k)))
        .collect();
    json!({
        "id": hex::encode(&live.id),
        "kind": kind_name(begin.kind),
        "kind_number": begin.kind.number(),
        "salt": hex::encode(&begin.salt),
        "threshold": begin.threshold,
        "participants": begin.participants,
        "members": members,
        "deadlines": begin.deadlines,
        "key": hex::encode(&begin.key),
        "message": hex::encode(&begin.message),
    })
}

fn in_progress(state: &State, live: &Live) -> Value {
    let mut value = terms(state, live);
    put(
        &mut value,
        json!({
            "status": "in progress",
            "round": live.round,
            "deadline": live.deadline(),
            "awaited": bits(live.awaited()),
            "transcript": hex::encode(&live.transcript),
        }),
    );
    value
}

fn ended(state: &State, archived: &Archived) -> Value {
    let mut value = match state.recent(&archived.id) {
        Some(live) => terms(state, live),
        None => json!({
            "id": hex::encode(&archived.id),
            "kind": kind_name(archived.kind),
            "kind_number": archived.kind.number(),
        }),
    };
    put(
        &mut value,
        json!({
            "round": archived.round,
            "transcript": hex::encode(&archived.transcript),
            "result_key": (archived.key != [0; 32]).then(|| hex::encode(&archived.key)),
        }),
    );
    put(&mut value, end(&archived.outcome));
    value
}

pub(super) fn ceremony(state: &State, id: &[u8; 32]) -> Option<Value> {
    match state.ceremony(id) {
        Some(live) => Some(in_progress(state, live)),
        None => Some(ended(state, state.archived(id)?)),
    }
}

pub(super) fn ceremonies(state: &State, ended_ones: bool, which: Page) -> Value {
    if ended_ones {
        let all = state.archive().iter().map(|a| ended(state, a));
        page("ceremonies", which, all)
    } else {
        let all = state.live().map(|live| in_progress(state, live));
        page("ceremonies", which, all)
    }
}

/// The messages of a round from an index on; `None` if they are not kept any more, or never were.
pub(super) fn messages(state: &State, id: &[u8; 32], round: u8, from: u16) -> Option<Value> {
    let live = state.ceremony(id).or_else(|| state.recent(id))?;
    let mut list = Vec::new();
    let mut bytes = 0;
    let mut next = None;
    for (&(_, index), message) in live.messages.range((round, from)..=(round, u16::MAX)) {
        bytes += message.payload.len();
        if bytes > PAYLOADS && !list.is_empty() {
            next = Some(index);
            break;
        }
        list.push(json!({
            "index": index,
            "payload": hex::encode(&message.payload),
            "signature": hex::encode(&message.signature.0),
        }));
    }
    Some(json!({"round": round, "messages": list, "next": next}))
}

pub(super) fn roster(state: &State, which: Page) -> Value {
    page(
        "members",
        which,
        state.members().iter().map(|k| json!(hex::encode(k))),
    )
}

fn key(network: &[u8; 32], key: &fieldspar_ceremony::rules::v2::GroupKey) -> Value {
    json!({
        "id": hex::encode(&key.id(network)),
        "kind": kind_name(key.kind),
        "kind_number": key.kind.number(),
        "threshold": key.threshold,
        "members": key.members,
        "group_key": hex::encode(&key.group_key),
        "source": (key.source != [0; 32]).then(|| hex::encode(&key.source)),
    })
}

pub(super) fn keys(state: &State, which: Page) -> Value {
    let network = state.genesis().network;
    page("keys", which, state.keys().iter().map(|k| key(&network, k)))
}

pub(super) fn evidence(state: &State, which: Page) -> Value {
    page("evidence", which, state.evidence().iter().map(evidence_of))
}

pub(super) fn network(state: &State) -> Value {
    let genesis = state.genesis();
    json!({
        "rules": "v2",
        "network": hex::encode(&genesis.network),
        "operator": hex::encode(&genesis.operator),
    })
}

/// What a coordinator signs for a root.
pub(crate) fn root_bytes(root: &[u8; 32]) -> Vec<u8> {
    [&b"fieldspar.ceremony.v2.root\0"[..], root].concat()
}

pub(super) fn root(store: &mut Store<FileDisk>, sign: Option<&SigningKey>) -> Value {
    let whole = store.state_mut().root();
    let (roots, counters) = roots(store.state_mut());
    let mut signed = Map::new();
    if let Some(key) = sign {
        let signature = key.sign(&root_bytes(&whole.root)).to_bytes();
        let public = key.verifying_key().to_bytes();
        signed.insert("signature".into(), json!(hex::encode(&signature)));
        signed.insert("signer".into(), json!(hex::encode(&public)));
    }
    let mut value = json!({
        "rules": "v2",
        "roots": roots,
        "counters": counters,
        "header": hex::encode(&whole.header),
        "log_head": hex::encode(&store.head()),
        "frames": store.frames(),
        "trusted_base": store.base().map(super::super::common::base),
    });
    put(&mut value, Value::Object(signed));
    value
}
