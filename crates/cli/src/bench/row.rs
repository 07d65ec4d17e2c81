//! What is reported of one row.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use fieldspar_whir::params::{Params, RateSchedule};
use serde::Serialize;

use super::grid::Point;
use super::protocol::Run;
use super::roof::Work;
use super::stats::{median, range};

/// One row. Times are medians over the runs, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) n: usize,
    pub(crate) fold: usize,
    pub(crate) rate: usize,
    pub(crate) extension: usize,
    pub(crate) assumption: &'static str,
    /// The level it ran at, on both sides.
    pub(crate) security_level: usize,
    /// The level asked for.
    pub(crate) requested_security_level: usize,
    pub(crate) pow_bits: usize,
    pub(crate) device: String,
    pub(crate) threads: usize,
    pub(crate) runs: usize,
    pub(crate) prove_ms: f64,
    pub(crate) prove_min_ms: f64,
    pub(crate) prove_max_ms: f64,
    pub(crate) prove_without_grinding_ms: f64,
    pub(crate) commit_ms: f64,
    pub(crate) open_ms: f64,
    pub(crate) grind_ms: f64,
    pub(crate) verify_ms: f64,
    /// p3-whir's `PcsProof` by postcard.
    pub(crate) proof_bytes: u64,
    /// The proof file, statement included.
    pub(crate) file_bytes: u64,
    /// The largest of all runs.
    pub(crate) peak_memory_bytes: u64,
    /// The same of the device's own memory, where it has its own.
    pub(crate) peak_device_memory_bytes: Option<u64>,
    /// What was planned of it before any work.
    pub(crate) planned_device_memory_bytes: Option<u64>,
    /// What opening the device and loading its kernels took; no other time counts it.
    pub(crate) device_open_ms: Option<f64>,
    /// Waits for the device in a proof, the fewest of all runs, where they are counted.
    pub(crate) device_waits: Option<u64>,
    pub(crate) rate_schedule: String,
    /// How p3-whir names the schedule of folds; the transcript binds it.
    pub(crate) folding_variant: &'static str,
    pub(crate) phases: BTreeMap<String, f64>,
    /// Whether every timed proof was verified.
    pub(crate) verified: bool,
    /// Whether all sides ran in turn; else one after the other, for want of memory.
    pub(crate) alternated: bool,
    /// What the prover has to do, and how fast it did it.
    pub(crate) work: Work,
    pub(crate) p3: Vec<Rival>,
    /// SHA-256 of each timed proof, in hex.
    pub(crate) proof_sha256: Vec<String>,
    /// Whether these are those of the bench's first device; none for the first itself.
    pub(crate) bytes_equal_first_device: Option<bool>,
    pub(crate) warnings: Vec<String>,
}

/// The rival's figures, of the same runs.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rival {
    /// `native` or `default`.
    pub(crate) built: &'static str,
    pub(crate) prove_ms: f64,
    pub(crate) prove_min_ms: f64,
    pub(crate) prove_max_ms: f64,
    pub(crate) prove_without_grinding_ms: f64,
    pub(crate) commit_ms: f64,
    pub(crate) open_ms: f64,
    pub(crate) verify_ms: f64,
    pub(crate) peak_memory_bytes: u64,
    /// Its time over ours.
    pub(crate) ratio: f64,
    /// The same without grinding.
    pub(crate) ratio_without_grinding: f64,
    /// Whether each of its proofs is ours, byte for byte.
    pub(crate) bytes_equal: bool,
    pub(crate) verified: bool,
}

fn of(runs: &[Run], figure: impl Fn(&Run) -> f64) -> f64 {
    median(runs.iter().map(figure))
}

fn without_grinding(runs: &[Run]) -> f64 {
    of(runs, |r| r.prove_ms - r.grind_ms)
}

/// Whether each proof of one side is the other's, byte for byte.
fn same_bytes(a: &[Run], b: &[Run]) -> bool {
    let digests =
        |runs: &[Run]| -> Vec<String> { runs.iter().map(|r| r.proof_sha256.clone()).collect() };
    digests(a) == digests(b)
}

fn peak(runs: &[Run]) -> u64 {
    runs.iter().map(|r| r.peak_memory_bytes).max().unwrap_or(0)
}

/// Medians of each phase, and what no phase covers as `other`.
fn phases(runs: &[Run]) -> BTreeMap<String, f64> {
    let names: std::collections::BTreeSet<&String> =
        runs.iter().flat_map(|r| r.phases.keys()).collect();
    let mut phases: BTreeMap<String, f64> = names
        .into_iter()
        .map(|name| {
            let time = of(runs, |r| r.phases.get(name).copied().unwrap_or(0.0));
            (name.clone(), time)
        })
        .collect();
    let other = of(runs, |r| r.prove_ms - r.phases.values().sum::<f64>());
    phases.insert("other".into(), other.max(0.0));
    phases
}

impl Rival {
    pub(super) fn new(built: &'static str, theirs: &[Run], ours: &[Run]) -> Self {
        let (prove_min_ms, prove_max_ms) = range(theirs.iter().map(|r| r.prove_ms));
        let prove_ms = of(theirs, |r| r.prove_ms);
        let bare = without_grinding(theirs);
        Self {
            built,
            prove_ms,
            prove_min_ms,
            prove_max_ms,
            prove_without_grinding_ms: bare,
            commit_ms: of(theirs, |r| r.commit_ms),
            open_ms: of(theirs, |r| r.open_ms),
            verify_ms: of(theirs, |r| r.verify_ms),
            peak_memory_bytes: peak(theirs),
            ratio: prove_ms / of(ours, |r| r.prove_ms),
            ratio_without_grinding: bare / without_grinding(ours),
            bytes_equal: same_bytes(theirs, ours),
            verified: theirs.iter().all(|r| r.verified),
        }
    }
}

/// What a row is about.
pub(super) struct Subject<'a> {
    pub(super) point: Point,
    pub(super) params: &'a Params,
    pub(super) requested_level: usize,
    pub(super) device: &'a str,
    pub(super) planned_device_memory: Option<u64>,
    pub(super) threads: usize,
    pub(super) alternated: bool,
    /// The runs of the bench's first device, if this is another.
    pub(super) first_device: Option<&'a [Run]>,
    pub(super) warnings: &'a [String],
}

impl Row {
    pub(super) fn new(subject: &Subject<'_>, ours: &[Run], mut work: Work, p3: Vec<Rival>) -> Self {
        let params = subject.params;
        let (prove_min_ms, prove_max_ms) = range(ours.iter().map(|r| r.prove_ms));
        let bare = without_grinding(ours);
        work.measure(bare);
        Self {
            n: subject.point.n,
            fold: subject.point.fold,
            rate: subject.point.rate,
            extension: params.degree.get(),
            assumption: params.assumption.name(),
            security_level: params.security_level,
            requested_security_level: subject.requested_level,
            pow_bits: params.pow_bits,
            device: subject.device.to_owned(),
            threads: subject.threads,
            runs: ours.len(),
            prove_ms: of(ours, |r| r.prove_ms),
            prove_min_ms,
            prove_max_ms,
            prove_without_grinding_ms: bare,
            commit_ms: of(ours, |r| r.commit_ms),
            open_ms: of(ours, |r| r.open_ms),
            grind_ms: of(ours, |r| r.grind_ms),
            verify_ms: of(ours, |r| r.verify_ms),
            proof_bytes: of(ours, |r| r.proof_bytes as f64) as u64,
            file_bytes: of(ours, |r| r.file_bytes as f64) as u64,
            peak_memory_bytes: peak(ours),
            peak_device_memory_bytes: ours.iter().filter_map(|r| r.peak_device_memory_bytes).max(),
            planned_device_memory_bytes: subject.planned_device_memory,
            device_open_ms: ours.first().and_then(|r| r.device_open_ms),
            device_waits: ours.iter().filter_map(|r| r.device_waits).min(),
            rate_schedule: match &params.rates {
                RateSchedule::PerRound(rates) => format!("per-round {rates:?}"),
                named => named.to_string(),
            },
            folding_variant: match params.folds {
                fieldspar_whir::params::Folds::Constant(_) => "constant",
                fieldspar_whir::params::Folds::PerRound(_) => "per-round",
            },
            phases: phases(ours),
            verified: ours.iter().all(|r| r.verified),
            alternated: subject.alternated,
            work,
            p3,
            proof_sha256: ours.iter().map(|r| r.proof_sha256.clone()).collect(),
            bytes_equal_first_device: subject.first_device.map(|first| same_bytes(first, ours)),
            warnings: subject.warnings.to_vec(),
        }
    }

    /// The ratio of record: against the native build.
    pub(crate) fn ratio(&self, built: &str) -> Option<f64> {
        self.p3.iter().find(|r| r.built == built).map(|r| r.ratio)
    }

    /// What went wrong in it, in words.
    pub(crate) fn failures(&self) -> Vec<String> {
        let name = format!(
            "n={} fold {} rate {} on {}",
            self.n, self.fold, self.rate, self.device
        );
        let mut failures = Vec::new();
        if !self.verified {
            failures.push(format!("{name}: a proof does not verify"));
        }
        if self.bytes_equal_first_device == Some(false) {
            failures.push(format!("{name}: bytes differ from the first device's"));
        }
        for rival in &self.p3 {
            if !rival.verified {
                failures.push(format!(
                    "{name}: a proof of p3-whir ({}) does not verify",
                    rival.built
                ));
            }
            if !rival.bytes_equal {
                failures.push(format!(
                    "{name}: bytes differ from p3-whir ({})",
                    rival.built
                ));
            }
        }
        failures
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub(super) mod tests {
    use super::super::grid::Setting;
    use super::*;

    fn run(prove_ms: f64, sha: &str) -> Run {
        Run {
            commit_ms: prove_ms / 2.0,
            open_ms: prove_ms / 2.0,
            prove_ms,
            grind_ms: 2.0,
            verify_ms: 1.0,
            verified: true,
            verify_error: None,
            proof_bytes: 1000,
            proof_sha256: sha.into(),
            peak_memory_bytes: (prove_ms as u64) << 20,
            phases: [("encode".into(), 3.0), ("grind".into(), 2.0)].into(),
            file_bytes: 1200,
            peak_device_memory_bytes: None,
            device_waits: None,
            device_open_ms: None,
        }
    }

    pub(in super::super) fn example(n: usize, fold: usize, scale: f64) -> Row {
        let point = Point { n, fold, rate: 1 };
        let params = Setting::published().params(point);
        let subject = Subject {
            point,
            params: &params,
            requested_level: 90,
            device: "cpu:avx2",
            planned_device_memory: None,
            threads: 2,
            alternated: true,
            first_device: None,
            warnings: &[],
        };
        let ours = [
            run(12.0 * scale, "a"),
            run(10.0 * scale, "b"),
            run(14.0 * scale, "c"),
        ];
        let theirs = [
            run(24.0 * scale, "a"),
            run(30.0 * scale, "b"),
            run(18.0 * scale, "c"),
        ];
        let work = Work::of(&params, n).unwrap();
        let rivals = vec![
            Rival::new("native", &theirs, &ours),
            Rival::new("default", &theirs, &ours),
        ];
        Row::new(&subject, &ours, work, rivals)
    }

    #[test]
    fn figures_are_medians() {
        let row = example(10, 4, 1.0);
        assert_eq!(
            (row.prove_ms, row.prove_min_ms, row.prove_max_ms),
            (12.0, 10.0, 14.0)
        );
        assert_eq!(row.prove_without_grinding_ms, 10.0);
        assert_eq!(row.phases["other"], 7.0);
        assert_eq!(row.peak_memory_bytes, 14 << 20);
        assert_eq!(row.ratio("native"), Some(2.0));
        assert!(row.p3[0].bytes_equal && row.failures().is_empty());
    }

    #[test]
    fn other_bytes_are_a_failure() {
        let ours = [run(1.0, "a"), run(1.0, "b")];
        let mut theirs = ours.clone();
        theirs[1].proof_sha256 = "c".into();
        theirs[0].verified = false;
        let mut row = example(10, 4, 1.0);
        row.p3 = vec![Rival::new("native", &theirs, &ours)];
        assert_eq!(row.failures().len(), 2);
    }

    #[test]
    fn names_in_json_are_fixed() {
        let json = serde_json::to_value(example(10, 4, 1.0)).unwrap();
        for name in [
            "n",
            "fold",
            "rate",
            "extension",
            "assumption",
            "security_level",
            "device",
            "threads",
            "prove_ms",
            "prove_without_grinding_ms",
            "commit_ms",
            "open_ms",
            "verify_ms",
            "proof_bytes",
            "peak_memory_bytes",
            "peak_device_memory_bytes",
            "planned_device_memory_bytes",
            "device_open_ms",
            "device_waits",
            "rate_schedule",
            "folding_variant",
            "phases",
            "verified",
            "p3",
            "prove_min_ms",
            "prove_max_ms",
        ] {
            assert!(json.get(name).is_some(), "{name}");
        }
        for name in [
            "built",
            "prove_ms",
            "ratio",
            "bytes_equal",
            "prove_without_grinding_ms",
            "peak_memory_bytes",
        ] {
            assert!(json["p3"][0].get(name).is_some(), "p3.{name}");
        }
        assert_eq!(json["extension"], 4);
        assert_eq!(json["assumption"], "capacity");
        assert_eq!(json["device"], "cpu:avx2");
    }
}
