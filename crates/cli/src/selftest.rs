//! `selftest`: each device against Plonky3.
#![forbid(unsafe_code)]

use fieldspar_device::{Device, DeviceInfo, DeviceSpec};
use fieldspar_whir::selftest;
use fieldspar_whir::{cuda, wgpu};
use serde_json::json;

use crate::context::{Context, ENGINES, Outcome, open};
use crate::engine::AnyEngine;
use crate::failure::{Failure, Kind};
use crate::json::fields;

/// The named device, or all that are here.
pub(crate) fn run(context: &Context) -> Result<Outcome, Failure> {
    let (spec, _) = context.device_spec()?;
    let chosen = open(&spec)?;
    let named = spec != DeviceSpec::Auto;
    let devices: Vec<Device> = if named {
        vec![chosen.clone()]
    } else {
        Device::probe_all()
            .into_iter()
            .filter(|probe| probe.available && ENGINES.contains(&probe.kind))
            .map(|probe| Ok(open(&probe.spec.parse()?)?))
            .collect::<Result<_, Failure>>()?
    };
    let mut rows = Vec::new();
    let mut text = String::new();
    let mut failed = false;
    for device in &devices {
        let DeviceInfo { spec, .. } = device.info();
        let found = fault().map_or_else(|| test(device), Err);
        let (passed, operation, reason) = match found {
            Ok(()) => (true, None, None),
            Err((operation, reason)) => (false, Some(operation), Some(reason)),
        };
        failed |= !passed;
        let says = match (&operation, &reason) {
            (Some(operation), Some(reason)) => format!("FAILED in {operation}: {reason}"),
            _ => format!("agrees with Plonky3: {}", selftest::OPERATIONS.join(", ")),
        };
        text.push_str(&format!("{spec:14} {says}\n"));
        rows.push(json!({
            "spec": spec, "passed": passed, "operation": operation, "reason": reason,
        }));
    }
    let mut outcome = Outcome::new(text, fields(json!({"devices": rows}))).on(&chosen);
    if failed {
        outcome.exit_code = Kind::Mismatch.exit_code();
    }
    Ok(outcome)
}

/// All operations of one device; gives the first that differs, and how.
fn test(device: &Device) -> Result<(), (String, String)> {
    let engine = AnyEngine::new(device).map_err(|e| ("device".to_owned(), e.message))?;
    match &engine {
        AnyEngine::Cpu(cpu) => selftest::selftest(cpu.variant()),
        AnyEngine::Cuda(gpu) => cuda::selftest::selftest(gpu),
        AnyEngine::Wgpu(gpu) => wgpu::selftest::selftest(gpu),
    }
    .map_err(|e| (e.operation.to_owned(), e.reason))
}

/// A failure that a test asks for; builds without debug assertions do not know it.
fn fault() -> Option<(String, String)> {
    let asked = cfg!(debug_assertions) && std::env::var_os("FIELDSPAR_TEST_FAULT").is_some();
    asked.then(|| ("test".to_owned(), "a fault was asked for".to_owned()))
}
