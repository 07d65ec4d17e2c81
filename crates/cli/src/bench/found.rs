//! The devices of a bench: which are here, and whether the rows fit into their memory.
#![forbid(unsafe_code)]

use fieldspar_device::{DeviceInfo, DeviceKind, DeviceSpec, OutOfMemory};
use fieldspar_whir::params::Params;

use super::grid::{Point, Setting, level};
use super::{BenchArgs, BenchError, Setup};
use crate::context::open;
use crate::engine::{free_bytes, plan_for};
use crate::whir::run::peak_bytes;

/// A device that is here, and what its own memory has free, where it has its own.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) info: DeviceInfo,
    pub(super) free: Option<u64>,
}

/// Opens each device that is named, or the best, and lets go of it: the processes that prove open
/// theirs.
pub(super) fn devices(args: &BenchArgs, setup: &Setup) -> Result<Vec<Found>, BenchError> {
    let specs: Vec<DeviceSpec> = match args.devices.is_empty() {
        true => vec![setup.device.clone()],
        false => args
            .devices
            .iter()
            .map(|d| d.parse())
            .collect::<Result<_, _>>()?,
    };
    let mut found: Vec<Found> = Vec::new();
    for spec in specs {
        let device = open(&spec)?;
        let info = device.info().clone();
        let free = free_bytes(&device).map_err(|e| BenchError::peer(&info.spec, e.to_string()))?;
        if found.iter().all(|f| f.info.spec != info.spec) {
            found.push(Found { info, free });
        }
    }
    Ok(found)
}

/// Bytes of the host's memory that a process that proves holds. On the processor it keeps the input
/// beside the copy that it proves.
fn host_bytes(params: &Params, n: usize, kind: DeviceKind) -> Result<u64, BenchError> {
    let kept = match kind {
        DeviceKind::Cpu => 4 << n,
        _ => 0,
    };
    Ok(peak_bytes(params, n, kind)?.saturating_add(kept))
}

/// Refuses rows that the host's memory or a device's own does not hold, before any is measured.
pub(super) fn check_memory(
    setting: &Setting,
    rows: &[Point],
    devices: &[Found],
    memory: u64,
) -> Result<(), BenchError> {
    for &point in rows {
        let mut params = setting.params(point);
        // A row without a level is left out.
        let Some((accepted, _)) = level(&params, point.n) else {
            continue;
        };
        params.security_level = accepted;
        for Found { info, free } in devices {
            let what = format!("{}, {point}", info.spec);
            let need = host_bytes(&params, point.n, info.kind)?;
            if need > memory {
                return Err(OutOfMemory::new(what, need, memory).into());
            }
            if let (Some(free), Some(plan)) = (*free, plan_for(info.kind, &params, point.n)?) {
                plan.check(free)
                    .map_err(|e| OutOfMemory::new(format!("{what}: {}", e.what), e.need, e.have))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::grid::{Grid, points};
    use super::super::tests::parse;
    use super::*;
    use crate::failure::{Failure, Kind};

    #[test]
    fn a_device_is_never_replaced() {
        let setup = Setup {
            threads: 1,
            table: false,
            device: DeviceSpec::Auto,
            memory: 0,
            quiet: true,
        };
        let twice = devices(&parse(&["--devices", "cpu:portable,cpu:portable"]), &setup).unwrap();
        assert_eq!(twice.len(), 1);
        assert!(devices(&parse(&["--devices", "cpu:neon,cpu:adx"]), &setup).is_err());
        assert!(devices(&parse(&["--devices", "gpu"]), &setup).is_err());
    }

    #[test]
    fn a_row_that_a_gpu_does_not_hold_is_refused_with_need_and_have() {
        let setup = Setup {
            threads: 1,
            table: false,
            device: "cpu:portable".parse().unwrap(),
            memory: 0,
            quiet: true,
        };
        let mut found = devices(&parse(&[]), &setup).unwrap();
        assert_eq!(found[0].free, None);
        found[0].info.kind = DeviceKind::Cuda;
        let rows = points(Grid::Gpu);
        check_memory(&Setting::published(), &rows, &found, u64::MAX).unwrap();
        found[0].free = Some(140 << 30);
        check_memory(&Setting::published(), &rows, &found, u64::MAX).unwrap();
        found[0].free = Some(1 << 30);
        let error = check_memory(&Setting::published(), &rows, &found, u64::MAX).unwrap_err();
        let failure = Failure::from(error);
        assert_eq!(failure.kind, Kind::OutOfMemory);
        assert_eq!(failure.have, Some(1 << 30));
        assert!(failure.need > failure.have);
        assert!(failure.message.contains("fold"), "{}", failure.message);
    }

    #[test]
    fn a_row_that_the_host_does_not_hold_is_refused_with_need_and_have() {
        let setup = Setup {
            threads: 1,
            table: false,
            device: "cpu:portable".parse().unwrap(),
            memory: 0,
            quiet: true,
        };
        let found = devices(&parse(&[]), &setup).unwrap();
        let rows = points(Grid::Quick);
        check_memory(&Setting::published(), &rows, &found, 1 << 30).unwrap();
        let error = check_memory(&Setting::published(), &rows, &found, 20 << 20).unwrap_err();
        let failure = Failure::from(error);
        assert_eq!(failure.kind, Kind::OutOfMemory);
        assert_eq!(failure.have, Some(20 << 20));
        assert!(failure.need > failure.have);
        assert!(failure.message.contains("fold"), "{}", failure.message);
    }
}
