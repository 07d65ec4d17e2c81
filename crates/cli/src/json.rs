//! The head that every JSON object has, and small conversions.
#![forbid(unsafe_code)]

use std::time::Duration;

use fieldspar_device::{Host, cpu_name};
use serde_json::{Map, Value, json};

use crate::args::{P3, VERSION};
use crate::context::{Context, Outcome};
use crate::failure::Failure;

/// Grows with every breaking change of a name or meaning.
const SCHEMA: u32 = 1;

/// The whole object of a verb.
pub(crate) fn object(context: &Context, command: &str, outcome: &Outcome) -> Value {
    let device = match &outcome.device {
        Some(info) => json!(info),
        None => json!({
            "spec": "cpu",
            "kind": "cpu",
            "name": cpu_name(),
            "variant": "none",
            "why": "this verb runs no kernel of ours",
        }),
    };
    let mut whole = Map::new();
    whole.insert("schema".into(), json!(SCHEMA));
    whole.insert("version".into(), json!(VERSION));
    whole.insert("p3_version".into(), json!(P3));
    whole.insert("command".into(), json!(command));
    whole.insert("device".into(), device);
    whole.insert("threads".into(), json!(context.threads()));
    whole.insert("host".into(), json!(Host::read()));
    whole.insert("warnings".into(), json!(context.warnings()));
    whole.extend(outcome.fields.clone());
    Value::Object(whole)
}

/// The whole object of a verb that failed; `command` is null where no verb can be made out.
pub(crate) fn error(failure: &Failure, command: &str, warnings: &[String]) -> Value {
    json!({
        "schema": SCHEMA,
        "version": VERSION,
        "command": (!command.is_empty()).then_some(command),
        "error": failure.to_json(),
        "warnings": warnings,
    })
}

/// Milliseconds to a thousandth.
pub(crate) fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Builds a map of fields; anything but an object gives none.
pub(crate) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
