//! `fpga explore`: what designs would take, by the model.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fieldspar_fpga::Policy;
use fieldspar_fpga::predict::{Aggregation, CYCLONE_MS, PRESETS, Prediction, Skew, System};
use serde_json::{Map, Value, json};

use super::{page, parameters, stalls};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::fields;

/// What every output of this verb says.
pub(super) const LABEL: &str = "predictions of a cycle model; clock, rates and fixed times are assumptions, no hardware was run";

/// Flags of `fpga explore`. A flag that may be repeated, or has commas, spans a sweep.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Where to start from: cyclone-f1, hardcaml-f1, f2-hbm
    #[arg(long, value_name = "NAME", default_value = "cyclone-f1")]
    preset: String,
    /// Logarithms of numbers of points
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [26], value_parser = clap::value_parser!(u32).range(..=30))]
    log_n: Vec<u32>,
    /// Clocks in MHz
    #[arg(long, value_name = "MHZ", value_delimiter = ',')]
    clock: Vec<f64>,
    /// Cycles of the adder
    #[arg(long, value_name = "CYCLES", value_delimiter = ',')]
    latency: Vec<u32>,
    /// Logarithms of the number of buckets of a column
    #[arg(long, value_name = "LOG", value_delimiter = ',')]
    buckets: Vec<u32>,
    /// Columns that take turns at the adder
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    windows: Vec<u32>,
    /// Entries of the FIFO for conflicts; 0 writes them behind the points
    #[arg(long, value_name = "DEPTH", value_delimiter = ',')]
    fifo: Vec<u32>,
    /// 10^9 bytes a second of the link
    #[arg(long, value_name = "GBS", value_delimiter = ',')]
    link: Vec<f64>,
    /// Bytes of a digit on the link
    #[arg(long, value_name = "BYTES", value_delimiter = ',')]
    digit_bytes: Vec<f64>,
    /// Hot buckets that have replicas
    #[arg(long, value_name = "COUNT", value_delimiter = ',')]
    hot: Vec<u32>,
    /// Seconds in which the machine does nothing
    #[arg(long, value_name = "S")]
    fixed: Option<f64>,
    /// How buckets become a point
    #[arg(long, value_enum)]
    aggregation: Option<AggregationName>,
    /// How digits are distributed
    #[arg(long, value_enum, default_value = "uniform")]
    skew: SkewName,
    /// Points of a column that are simulated; more are in proportion
    #[arg(long, value_name = "COUNT", default_value_t = 1 << 18)]
    simulate: u64,
    /// A sweep for those who name none: latency by buckets
    #[arg(long)]
    sweep: bool,
    /// Write the table and heat maps as one HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AggregationName {
    /// Sums by the bits of the weight, as the RTL does
    Bits,
    /// Two running sums, one addition after the other
    Serial,
    /// Running sums in 64 segments
    Segments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SkewName {
    /// Every digit equally often
    Uniform,
    /// Half of all in four buckets
    Four,
    /// Half of all zero
    Zeros,
    /// All the same
    Equal,
}

/// A point of the sweep.
pub(super) struct Row {
    pub(super) system: System,
    pub(super) prediction: Prediction,
}

pub(crate) fn run(args: &ExploreArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_engine()?;
    if let Some(path) = &args.html {
        crate::whir::output::check(path, args.force)?;
    }
    let Some(start) = System::preset(&args.preset) else {
        let known = PRESETS.join(", ");
        let message = format!("no preset `{}`; there are: {known}", args.preset);
        return Err(Failure::usage(message).of_option("preset"));
    };
    let mut rows = Vec::new();
    for system in systems(args, start)? {
        for log_n in &args.log_n {
            let prediction = system.predict(1 << log_n, args.simulate.max(1), 1)?;
            rows.push(Row {
                system: system.clone(),
                prediction,
            });
        }
    }
    let text = table(args, &rows);
    let values: Vec<Value> = rows.iter().map(|row| in_json(args, row)).collect();
    if let Some(path) = &args.html {
        crate::whir::output::write(path, page::page(&args.preset, &rows).as_bytes(), args.force)?;
    }
    let object = json!({"label": LABEL, "preset": args.preset, "rows": values, "html": args.html});
    Ok(Outcome::new(text, fields(object)))
}

/// Every combination of what the flags name.
fn systems(args: &ExploreArgs, mut start: System) -> Result<Vec<System>, Failure> {
    start.skew = match args.skew {
        SkewName::Uniform => Skew::Uniform,
        SkewName::Four => Skew::Four,
        SkewName::Zeros => Skew::Zeros,
        SkewName::Equal => Skew::Equal,
    };
    start.aggregation = match args.aggregation {
        None => start.aggregation,
        Some(AggregationName::Bits) => Aggregation::Bits,
        Some(AggregationName::Serial) => Aggregation::Serial(100),
        Some(AggregationName::Segments) => Aggregation::Segments(64),
    };
    if let Some(fixed) = args.fixed {
        if !(0.0..1e6).contains(&fixed) {
            return Err(Failure::usage("seconds are 0 to 10^6").of_option("fixed"));
        }
        start.fixed_s = fixed;
    }
    if let Some(log) = args.buckets.iter().find(|log| !(2..=19).contains(*log)) {
        let message = format!("2^{log} buckets: the logarithm is 2 to 19");
        return Err(Failure::usage(message).of_option("buckets"));
    }
    let (mut latency, mut buckets) = (args.latency.clone(), args.buckets.clone());
    if args.sweep && latency.is_empty() {
        latency = vec![32, 48, 64, 96, 128, 192, 256];
    }
    if args.sweep && buckets.is_empty() {
        buckets = (8..=16).collect();
    }
    let mut all = vec![start];
    spread(&mut all, &args.clock, |s, v| s.clock_mhz = v);
    spread(&mut all, &latency, |s, v| s.machine.latency = v);
    spread(&mut all, &buckets, |s, log| {
        s.machine.digit_bits = log + 1;
        s.columns = fieldspar_fpga::digits::columns(log + 1);
    });
    spread(&mut all, &args.windows, |s, v| s.machine.columns = v);
    spread(&mut all, &args.fifo, |s, depth| {
        s.machine.policy = match depth {
            0 => Policy::Append,
            depth => Policy::Fifo(depth),
        };
    });
    spread(&mut all, &args.link, |s, v| s.link_gbs = v);
    spread(&mut all, &args.digit_bytes, |s, v| s.digit_bytes = v);
    spread(&mut all, &args.hot, |s, v| {
        s.machine.hot = v;
        s.machine.replicas = s.machine.replicas.max(32);
    });
    if all.len() * args.log_n.len() > 1 << 12 {
        return Err(Failure::usage(format!(
            "{} designs are too many; at most {}",
            all.len() * args.log_n.len(),
            1 << 12
        )));
    }
    Ok(all)
}

/// Each system with each value; as they are if there is none.
fn spread<T: Copy>(all: &mut Vec<System>, values: &[T], set: impl Fn(&mut System, T)) {
    if values.is_empty() {
        return;
    }
    let before = core::mem::take(all);
    for system in before {
        for &value in values {
            let mut system = system.clone();
            set(&mut system, value);
            all.push(system);
        }
    }
}

/// The published milliseconds, where there are some for the very preset.
fn published(args: &ExploreArgs, row: &Row) -> Option<f64> {
    let preset = System::preset(&args.preset)?;
    let same = args.preset == "cyclone-f1" && row.system == preset;
    let found = CYCLONE_MS
        .iter()
        .find(|p| 1 << p.0 == row.prediction.points);
    found.filter(|_| same).map(|p| p.1)
}

fn table(args: &ExploreArgs, rows: &[Row]) -> String {
    let mut text = format!("{}: {LABEL}\n", args.preset);
    text.push_str(
        "log n   MHz  latency  buckets  windows  policy    hot  link GB/s  adder %  cycles        predicted s  bottleneck   published\n",
    );
    for row in rows {
        let (s, p) = (&row.system, &row.prediction);
        let against = published(args, row).map_or_else(String::new, |ms| {
            format!("{:.3} s, {:+.1} %", ms / 1e3, 1e5 * p.seconds / ms - 100.0)
        });
        text.push_str(&format!(
            "{:>5} {:>5} {:>8}  2^{:<5} {:>8}  {:<9} {:>3} {:>10} {:>8.2}  {:<12} {:>12.4}  {:<12} {against}\n",
            p.points.ilog2(),
            s.clock_mhz,
            s.machine.latency,
            s.machine.digit_bits - 1,
            s.machine.columns,
            s.machine.policy.name(),
            s.machine.hot,
            s.link_gbs,
            100.0 * p.efficiency,
            p.cycles,
            p.seconds,
            p.bottleneck,
        ));
    }
    if let [row] = rows {
        text.push_str("where the predicted seconds go:\n");
        for (name, seconds) in parts(row) {
            if seconds > 0.0 {
                text.push_str(&format!("{name:>10} {seconds:>9.4} s\n"));
            }
        }
    }
    text
}

/// The predicted seconds by cause.
pub(super) fn parts(row: &Row) -> Vec<(&'static str, f64)> {
    let second = |cycles: u64| cycles as f64 / (row.system.clock_mhz * 1e6);
    let counters = &row.prediction.counters;
    let mut all = vec![("additions", second(counters.issued))];
    let causes = counters.causes();
    all.extend(
        causes
            .into_iter()
            .map(|(name, cycles)| (name, second(cycles))),
    );
    all.push(("fixed", row.system.fixed_s));
    all
}

fn in_json(args: &ExploreArgs, row: &Row) -> Value {
    let (s, p) = (&row.system, &row.prediction);
    let mut all: Map<String, Value> = parameters(&s.machine);
    let more = json!({
        "columns": s.columns,
        "clock_mhz": s.clock_mhz,
        "digit_bytes": s.digit_bytes,
        "link_gbs": s.link_gbs,
        "point_bytes": s.point_bytes,
        "channel_gbs": s.channel_gbs,
        "channels": s.channels,
        "aggregation": format!("{:?}", s.aggregation).to_lowercase(),
        "fixed_s": s.fixed_s,
        "skew": format!("{:?}", s.skew).to_lowercase(),
    });
    all.extend(fields(more));
    let seconds: Map<String, Value> = parts(row)
        .into_iter()
        .map(|(name, s)| (name.to_owned(), json!(s)))
        .collect();
    json!({
        "parameters": all,
        "n": p.points,
        "simulated_points": p.simulated,
        "cycles": p.cycles,
        "ideal_cycles": p.ideal_cycles,
        "efficiency": p.efficiency,
        "bottleneck": p.bottleneck,
        "predicted_s": p.seconds,
        "predicted_parts_s": seconds,
        "published_s": published(args, row).map(|ms| ms / 1e3),
        "stalls": stalls(&p.counters),
    })
}
