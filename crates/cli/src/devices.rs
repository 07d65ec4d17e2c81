//! `devices`: what is here, and why the rest is not.
#![forbid(unsafe_code)]

use fieldspar_device::{Device, DeviceSpec, ENV_DEVICE, Probe, Source, format_bytes};
use serde_json::json;

use crate::context::{Context, Outcome, open};
use crate::failure::Failure;
use crate::json::fields;

/// The chip, its memory, and of an adapter what sort of chip it is, its driver and the kernels' variant.
fn describe(probe: &Probe) -> String {
    let memory = probe.memory_bytes.map(format_bytes);
    let binding = probe.limits.max_binding_bytes.map(format_bytes);
    [
        Some(probe.name.clone()),
        probe.adapter.clone(),
        probe.driver.clone(),
        probe
            .backend
            .as_ref()
            .map(|_| format!("{} arithmetic", probe.variant)),
        memory,
        binding.map(|bytes| format!("bindings of {bytes}")),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(", ")
}

pub(crate) fn run(context: &Context) -> Result<Outcome, Failure> {
    let (spec, source) = context.device_spec()?;
    // What `auto` would run on is what the verbs have engines for; a named one is just looked up.
    let opened = match spec {
        DeviceSpec::Auto => open(&spec),
        _ => Device::open(&spec),
    };
    let device = match opened {
        Ok(device) => Some(device),
        // Who looks for the reason of a setting that cannot be had must be shown the list.
        Err(error) if source == Source::Environment => {
            context.warn(&format!("{ENV_DEVICE}: {error}"));
            None
        }
        Err(error) => return Err(error.into()),
    };
    let chosen_spec = device.as_ref().map_or("", |d| d.info().spec.as_str());
    let probes = Device::probe_all();
    let width = probes.iter().map(|p| p.spec.len()).max().unwrap_or(0);
    let mut text = String::new();
    for probe in &probes {
        let chosen = if probe.spec == chosen_spec { "*" } else { " " };
        let says = match &probe.reason {
            Some(reason) => format!("unavailable: {reason}"),
            None => describe(probe),
        };
        text.push_str(&format!("{chosen} {:width$}  {says}\n", probe.spec));
    }
    let outcome = |text| Outcome::new(text, fields(json!({"devices": probes})));
    Ok(match &device {
        Some(device) => {
            let info = device.info();
            text.push_str(&format!("\n* {} runs: {}\n", info.spec, info.why));
            outcome(text).on(device)
        }
        None => outcome(text),
    })
}
