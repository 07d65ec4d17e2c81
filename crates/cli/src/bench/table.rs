//! The table on standard output, the progress on standard error.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use super::Report;
use super::grid::Setting;
use super::row::Row;
use super::stats::geometric_mean;

/// What is running now.
pub(super) struct Progress(ProgressBar);

impl Progress {
    pub(super) fn new(rows: u64, quiet: bool) -> Self {
        let bar = match quiet {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(rows),
        };
        let style = ProgressStyle::with_template("{elapsed} row {pos}/{len} {wide_bar} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(bar)
    }

    pub(super) fn say(&self, what: String) {
        self.0.set_message(what);
    }

    pub(super) fn step(&self) {
        self.0.inc(1);
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
    }

    /// A closed standard output loses lines, not the measurement.
    pub(super) fn print(&self, text: &str) {
        self.0.suspend(|| {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush());
        });
    }
}

/// Milliseconds with three significant digits, about.
pub(super) fn ms(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x => format!("{x:.2}"),
    }
}

/// Bytes in MiB.
pub(super) fn mib(bytes: u64) -> String {
    format!("{:.0}", bytes as f64 / f64::from(1 << 20))
}

/// What holds for all rows, and the columns.
pub(super) fn head(report: &Report, setting: &Setting) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{}, {} threads; degree {}, {} bound, level {}, {} PoW bits, {} rates; medians of {}",
        report.host.cpu,
        report.threads,
        setting.extension.get(),
        setting.assumption,
        setting.security_level,
        setting.pow_bits,
        setting.rates,
        report.runs,
    );
    for device in &report.devices {
        let _ = writeln!(out, "{}: {}", device.spec, device.why);
    }
    let variables: Vec<String> = report.environment["variables"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default()))
        .collect();
    let set_for = report.environment["set_for"].as_str().unwrap_or_default();
    let _ = writeln!(out, "allocator, {set_for}: {}", variables.join(" "));
    for warning in &report.warnings {
        let _ = writeln!(out, "note: {warning}");
    }
    let _ = write!(
        out,
        "\n{:>2} {:>4} {:>4} {:<12} {:>8} {:>15} {:>8} {:>8} {:>8} {:>7} {:>8} {:>6}",
        "n",
        "fold",
        "rate",
        "device",
        "prove ms",
        "min..max",
        "no PoW",
        "commit",
        "open",
        "verify",
        "proof B",
        "MiB",
    );
    if !report.rivals.is_empty() {
        let _ = write!(
            out,
            " | {:>9} {:>6} {:>6} | {:>10} {:>6} | bytes",
            "p3 native", "ratio", "MiB", "p3 default", "ratio"
        );
    }
    out
}

/// One row.
pub(super) fn line(row: &Row) -> String {
    let mut out = format!(
        "{:>2} {:>4} {:>4} {:<12} {:>8} {:>15} {:>8} {:>8} {:>8} {:>7} {:>8} {:>6}",
        row.n,
        row.fold,
        row.rate,
        row.device,
        ms(row.prove_ms),
        format!("{}..{}", ms(row.prove_min_ms), ms(row.prove_max_ms)),
        ms(row.prove_without_grinding_ms),
        ms(row.commit_ms),
        ms(row.open_ms),
        ms(row.verify_ms),
        row.proof_bytes,
        mib(row.peak_memory_bytes),
    );
    for rival in &row.p3 {
        let width = if rival.built == "native" { 9 } else { 10 };
        let _ = write!(
            out,
            " | {:>width$} {:>5.2}x",
            ms(rival.prove_ms),
            rival.ratio
        );
        if rival.built == "native" {
            let _ = write!(out, " {:>6}", mib(rival.peak_memory_bytes));
        }
    }
    if !row.p3.is_empty() {
        let equal = row.p3.iter().all(|r| r.bytes_equal);
        out.push_str(if equal { " | equal" } else { " | DIFFER" });
    }
    match row.bytes_equal_first_device {
        Some(true) => out.push_str(" | same bytes"),
        Some(false) => out.push_str(" | BYTES DIFFER"),
        None => {}
    }
    if let (Some(peak), Some(planned)) = (
        row.peak_device_memory_bytes,
        row.planned_device_memory_bytes,
    ) {
        let _ = write!(out, " | device {} of {} MiB", mib(peak), mib(planned));
    }
    if !row.verified {
        out.push_str(" NOT VERIFIED");
    }
    if row.security_level != row.requested_security_level {
        let _ = write!(out, " (level {})", row.security_level);
    }
    out
}

/// What there is to say at the end.
pub(super) fn foot(report: &Report) -> String {
    let mut out = String::new();
    for built in ["native", "default"] {
        let ratios = report.rows.iter().filter_map(|r| r.ratio(built));
        if let Some(mean) = geometric_mean(ratios) {
            let _ = writeln!(
                out,
                "against p3-whir ({built}): {mean:.2}x, geometric mean of the rows"
            );
        }
    }
    for roof in &report.roofs {
        let _ = writeln!(
            out,
            "{}: at most {:.1} M permutations/s; memory copies at {:.1} GB/s",
            roof.device,
            roof.permutations_per_s / 1e6,
            roof.bytes_per_s / 1e9
        );
    }
    // Those known before the first row stand above the table.
    for warning in report.rows.iter().flat_map(|r| &r.warnings) {
        if !out.contains(warning.as_str()) {
            let _ = writeln!(out, "note: {warning}");
        }
    }
    for failure in report.failures() {
        let _ = writeln!(out, "FAILED: {failure}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::row::tests::example;
    use super::*;

    #[test]
    fn a_line_has_the_ratio_and_the_verdict() {
        let mut row = example(20, 4, 1.0);
        insta::assert_snapshot!(line(&row), @"20    4    1 cpu:avx2         12.0      10.0..14.0     10.0     6.00     6.00    1.00     1000     14 |      24.0  2.00x     30 |       24.0  2.00x | equal");
        row.peak_device_memory_bytes = Some(3 << 20);
        row.planned_device_memory_bytes = Some(4 << 20);
        assert!(line(&row).ends_with("| equal | device 3 of 4 MiB"));
        row.verified = false;
        row.p3[1].bytes_equal = false;
        row.security_level = 88;
        assert!(line(&row).ends_with("| DIFFER | device 3 of 4 MiB NOT VERIFIED (level 88)"));
    }
}
