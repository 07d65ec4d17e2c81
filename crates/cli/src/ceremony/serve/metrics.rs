//! What the daemon counts, in the text format of Prometheus.
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use fieldspar_ceremony::rules::v2::Answer;
use fieldspar_ceremony::store::Reply;

/// A number that goes up, or up and down.
#[derive(Debug, Default)]
pub(super) struct Number(AtomicU64);

impl Number {
    pub(super) fn add(&self, n: u64) {
        self.0.fetch_add(n, Relaxed);
    }

    pub(super) fn sub(&self, n: u64) {
        self.0.fetch_sub(n, Relaxed);
    }

    pub(super) fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }

    pub(super) fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// Upper bounds of the buckets, in microseconds.
const BOUNDS: [u64; 10] = [
    500, 1_000, 2_000, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000,
];

/// Durations by size.
#[derive(Debug, Default)]
pub(super) struct Histogram {
    buckets: [Number; BOUNDS.len()],
    count: Number,
    micros: Number,
}

impl Histogram {
    pub(super) fn observe(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            if micros <= *bound {
                bucket.add(1);
            }
        }
        self.count.add(1);
        self.micros.add(micros);
    }

    fn write(&self, text: &mut String, name: &str, help: &str) {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} histogram");
        for (bound, bucket) in BOUNDS.iter().zip(&self.buckets) {
            let (seconds, count) = (*bound as f64 / 1e6, bucket.get());
            let _ = writeln!(text, "{name}_bucket{{le=\"{seconds}\"}} {count}");
        }
        let (count, sum) = (self.count.get(), self.micros.get() as f64 / 1e6);
        let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{name}_sum {sum}\n{name}_count {count}");
    }
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    pub(super) connections: Number,
    pub(super) connections_refused: Number,
    /// Answers by the first digit of their status, from 1.
    pub(super) answers: [Number; 5],
    /// Answers 429 and 503: come again later.
    pub(super) pushed_back: Number,
    pub(super) queue: Number,
    pub(super) budget_used: Number,
    pub(super) accepted: Number,
    pub(super) accepted_again: Number,
    pub(super) rejected: Number,
    pub(super) bad_signatures: Number,
    pub(super) commits: Histogram,
    pub(super) sync_micros: Number,
    pub(super) snapshots: Number,
    pub(super) operations: Number,
    pub(super) archived: Number,
    pub(super) evidence: Number,
    pub(super) frames: Number,
    pub(super) log_bytes: Number,
}

impl Metrics {
    pub(super) fn replies(&self, replies: &[Reply]) {
        for reply in replies {
            match reply {
                Reply::Answered(Answer::Accepted { again: false, .. }) => self.accepted.add(1),
                Reply::Answered(Answer::Accepted { again: true, .. }) => self.accepted_again.add(1),
                Reply::Answered(Answer::Rejected { .. }) => self.rejected.add(1),
                Reply::BadSignature => self.bad_signatures.add(1),
            }
        }
    }

    pub(super) fn answered(&self, status: u16) {
        let class = usize::from(status / 100).clamp(1, 5) - 1;
        self.answers[class].add(1);
        if matches!(status, 429 | 503) {
            self.pushed_back.add(1);
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut family = |kind: &str, name: &str, help: &str, rows: &[(String, f64)]| {
            let name = format!("fieldspar_ceremony_{name}");
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in rows {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        };
        let one = |number: &Number| vec![(String::new(), number.get() as f64)];
        let by = |label: &str, of: &[(&str, &Number)]| -> Vec<(String, f64)> {
            of.iter()
                .map(|(value, n)| (format!("{{{label}=\"{value}\"}}"), n.get() as f64))
                .collect()
        };
        let gauges = [
            ("connections", "Open connections.", &self.connections),
            ("queue_jobs", "Jobs that wait for the writer.", &self.queue),
            (
                "inflight_bytes",
                "Bytes of bodies in memory.",
                &self.budget_used,
            ),
            (
                "state_operations",
                "Operations that changed the state.",
                &self.operations,
            ),
            (
                "archived_ceremonies",
                "Ceremonies that have ended.",
                &self.archived,
            ),
            ("evidence", "Equivocations on record.", &self.evidence),
            ("log_frames", "Frames of the log.", &self.frames),
            ("log_bytes", "Bytes of the log.", &self.log_bytes),
        ];
        for (name, help, number) in gauges {
            family("gauge", name, help, &one(number));
        }
        let refused = one(&self.connections_refused);
        let help = "Connections refused because too many were open.";
        family("counter", "connections_refused_total", help, &refused);
        let classes: Vec<(&str, &Number)> = ["1xx", "2xx", "3xx", "4xx", "5xx"]
            .into_iter()
            .zip(&self.answers)
            .collect();
        let help = "Answers by class of status.";
        family(
            "counter",
            "http_answers_total",
            help,
            &by("class", &classes),
        );
        let help = "Answers that say: come again later.";
        family(
            "counter",
            "pushed_back_total",
            help,
            &one(&self.pushed_back),
        );
        let replies = [
            ("accepted", &self.accepted),
            ("again", &self.accepted_again),
            ("rejected", &self.rejected),
            ("bad_signature", &self.bad_signatures),
        ];
        let help = "Operations by answer.";
        family("counter", "operations_total", help, &by("answer", &replies));
        family(
            "counter",
            "snapshots_total",
            "Snapshots written.",
            &one(&self.snapshots),
        );
        let sync = vec![(String::new(), self.sync_micros.get() as f64 / 1e6)];
        let help = "Seconds spent waiting for the disk.";
        family("counter", "sync_seconds_total", help, &sync);
        let help = "Seconds from playing operations to their being on disk.";
        self.commits
            .write(&mut text, "fieldspar_ceremony_commit_seconds", help);
        text
    }
}
