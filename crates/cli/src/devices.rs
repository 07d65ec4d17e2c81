//! `devices`: what is here, and why the rest is not.
#![forbid(unsafe_code)]

use fieldspar_device::{Device, format_bytes};
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::fields;

pub(crate) fn run(context: &Context) -> Result<Outcome, Failure> {
    // Shows the choice too, so that a setting that cannot be had is seen here first.
    let device = context.open_device()?;
    let probes = Device::probe_all();
    let width = probes.iter().map(|p| p.spec.len()).max().unwrap_or(0);
    let mut text = String::new();
    for probe in &probes {
        let chosen = if probe.spec == device.info().spec {
            "*"
        } else {
            " "
        };
        let says = match (&probe.reason, probe.memory_bytes) {
            (Some(reason), _) => format!("unavailable: {reason}"),
            (None, Some(bytes)) => format!("{}, {}", probe.name, format_bytes(bytes)),
            (None, None) => probe.name.clone(),
        };
        text.push_str(&format!("{chosen} {:width$}  {says}\n", probe.spec));
    }
    text.push_str(&format!(
        "\n* {} runs: {}\n",
        device.info().spec,
        device.info().why
    ));
    Ok(Outcome::new(text, fields(json!({"devices": probes}))).on(&device))
}
