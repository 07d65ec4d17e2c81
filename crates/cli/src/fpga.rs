//! `fpga`: the simulated accelerator.
#![forbid(unsafe_code)]

pub(crate) mod area;
pub(crate) mod explore;
mod page;
pub(crate) mod run;

use fieldspar_fpga::{Error, Machine};
use serde_json::{Map, Value, json};

use crate::failure::{Failure, Kind};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Msm(error) => error.into(),
            Error::Rtl(_) => Self::new(Kind::Unavailable, message),
            Error::Machine { .. } | Error::TooMany { .. } => Self::usage(message),
            Error::Output { .. } | Error::Hung { .. } => Self::internal(message),
            _ => Self::input(message),
        }
    }
}

/// A machine's parameters.
fn parameters(machine: &Machine) -> Map<String, Value> {
    crate::json::fields(json!({
        "latency": machine.latency,
        "reentry": machine.reentry,
        "digit_bits": machine.digit_bits,
        "buckets": machine.buckets(),
        "columns_at_once": machine.columns,
        "policy": machine.policy.name(),
        "zero_bypass": machine.zero_bypass,
        "hot": machine.hot,
        "replicas": machine.replicas,
        "queue": machine.queue,
    }))
}

/// Where the cycles without an addition went.
fn stalls(counters: &fieldspar_fpga::model::column::Counters) -> Map<String, Value> {
    let causes = counters.causes();
    causes
        .into_iter()
        .map(|(name, cycles)| (name.to_owned(), json!(cycles)))
        .collect()
}
