//! One row: the same inputs to every side, in turn.
#![forbid(unsafe_code)]

use std::path::Path;

use fieldspar_device::{DeviceKind, DeviceSpec};
use fieldspar_whir::params::Params;
use fieldspar_whir::plan::plan;

use super::grid::{Point, level};
use super::peer::{Launch, Peer};
use super::protocol::{MaxLevel, Request, Run, Task};
use super::roof::Work;
use super::row::{Rival, Row, Subject};
use super::{BenchError, input};
use crate::engine::plan_for;

/// Who proves, and how often.
pub(super) struct Contest {
    /// Device and process; one row each.
    pub(super) ours: Vec<(String, Launch)>,
    /// Build and process.
    pub(super) rivals: Vec<(&'static str, Launch)>,
    pub(super) runs: usize,
    pub(super) threads: usize,
    pub(super) seed: u64,
    /// Bytes that the sides may hold together.
    pub(super) memory: u64,
}

/// What sort of device a specification means.
fn kind(device: &str) -> DeviceKind {
    match device.parse() {
        Ok(DeviceSpec::Cuda(_)) => DeviceKind::Cuda,
        Ok(DeviceSpec::Wgpu(_)) => DeviceKind::Wgpu,
        _ => DeviceKind::Cpu,
    }
}

impl Contest {
    fn launches(&self) -> impl Iterator<Item = (&str, &Launch)> {
        let ours = self
            .ours
            .iter()
            .map(|(device, launch)| (device.as_str(), launch));
        // A rival has one device of its own.
        ours.chain(self.rivals.iter().map(|(_, launch)| ("", launch)))
    }

    /// The parameters with the level that both sides accept, and what to say of it.
    fn agree(
        &self,
        mut params: Params,
        point: Point,
    ) -> Result<Option<(Params, Vec<String>)>, BenchError> {
        let name = point.to_string();
        let requested = params.security_level;
        let mut warnings = Vec::new();
        let Some((accepted, refusal)) = level(&params, point.n) else {
            return Ok(None);
        };
        params.security_level = accepted;
        if let Some(refusal) = refusal {
            warnings.push(format!(
                "{name} ran at level {accepted}, the highest that p3-whir accepts, not at \
                 {requested}, on both sides: {refusal}"
            ));
            if let Some((_, launch)) = self.rivals.first() {
                let task = Task::new(&params, point.n, "", 0)?.at_level(requested);
                let theirs: MaxLevel =
                    Peer::start(launch)?.ask(&Request::MaxLevel(Box::new(task)))?;
                if theirs.max_level != Some(accepted) {
                    let said = theirs.max_level.map_or("none".into(), |l| l.to_string());
                    warnings.push(format!(
                        "{name}: p3-whir itself says that its highest level is {said}"
                    ));
                }
            }
        }
        Ok(Some((params, warnings)))
    }

    /// Runs one point: a row per device, or a warning if no level is accepted.
    ///
    /// `say` is told what is about to run.
    pub(super) fn measure(
        &self,
        params: Params,
        point: Point,
        folder: &Path,
        say: &mut dyn FnMut(String),
    ) -> Result<Result<Vec<Row>, String>, BenchError> {
        let requested_level = params.security_level;
        let Some((params, mut warnings)) = self.agree(params, point)? else {
            return Ok(Err(format!("{point}: left out, p3-whir accepts no level")));
        };
        let sides = self.ours.len() + self.rivals.len();
        let gpus = self
            .ours
            .iter()
            .filter(|(d, _)| kind(d) != DeviceKind::Cpu)
            .count();
        // p3-whir holds about twice what the plan says of us; beside a GPU there is next to nothing.
        let need = plan(&params, point.n)?
            .peak_memory_bytes
            .saturating_mul(2)
            .saturating_mul((sides - gpus) as u64);
        let alternated = sides == 1 || need < self.memory;
        if !alternated {
            warnings.push(format!(
                "{point}: the sides ran one after the other, not in turn: together they may need \
                 {need} bytes of memory"
            ));
        }
        let path = folder.join("input.u32");
        let text = path.to_str().ok_or_else(|| {
            BenchError::Io(std::io::Error::other(
                "the temporary folder's name is not Unicode",
            ))
        })?;
        let mut peers: Vec<Option<Peer>> = (0..sides).map(|_| None).collect();
        let mut results: Vec<Vec<Run>> = vec![Vec::new(); sides];
        let mut once = |side: usize, run: usize, peers: &mut [Option<Peer>]| {
            let Some((device, launch)) = self.launches().nth(side) else {
                return Ok(());
            };
            let what = if run == 0 {
                "warm-up".into()
            } else {
                format!("run {run}")
            };
            say(format!("{}: {what}", launch.name));
            let seed = self.seed.wrapping_mul(1 << 16).wrapping_add(run as u64);
            let task = Task::new(&params, point.n, text, seed)?.on(device);
            let peer = match &mut peers[side] {
                Some(peer) => peer,
                none => none.insert(Peer::start(launch)?),
            };
            peer.tell(&Request::Prepare(Box::new(task)))?;
            let measured: Run = peer.ask(&Request::Run)?;
            // The first of each is a warm-up: verified, not counted.
            if run > 0 || !measured.verified {
                results[side].push(measured);
            }
            Ok::<(), BenchError>(())
        };
        let write = |run: usize| {
            let seed = self.seed.wrapping_mul(1 << 16).wrapping_add(run as u64);
            input::write(&path, point.n, seed)
        };
        if alternated {
            for run in 0..=self.runs {
                write(run)?;
                for side in 0..sides {
                    once(side, run, &mut peers)?;
                }
            }
        } else {
            for side in 0..sides {
                for run in 0..=self.runs {
                    write(run)?;
                    once(side, run, &mut peers)?;
                }
                peers[side] = None;
            }
        }
        drop(peers);
        let (ours, theirs) = results.split_at(self.ours.len());
        let work = Work::of(&params, point.n)?;
        let rows = self
            .ours
            .iter()
            .zip(ours)
            .enumerate()
            .map(|(place, ((device, _), mine))| {
                let device_memory = plan_for(kind(device), &params, point.n)?;
                let rivals = self
                    .rivals
                    .iter()
                    .zip(theirs)
                    .map(|((built, _), theirs)| Rival::new(built, theirs, mine))
                    .collect();
                let subject = Subject {
                    point,
                    params: &params,
                    requested_level,
                    device,
                    planned_device_memory: device_memory.map(|plan| plan.peak_bytes()),
                    threads: self.threads,
                    alternated,
                    first_device: (place > 0).then(|| ours[0].as_slice()),
                    warnings: &warnings,
                };
                Ok(Row::new(&subject, mine, work.clone(), rivals))
            })
            .collect::<Result<_, BenchError>>()?;
        Ok(Ok(rows))
    }
}
