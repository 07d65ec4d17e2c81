//! `ceremony bench`: the published scenarios, beside the plain port of the engine that published
//! them.
//!
//! A scenario's states run one after another on one thread; their arenas are made and cleared
//! outside the timer, on both sides. The rival is a process of its own, and the sides take turns.
#![forbid(unsafe_code)]

use std::time::Instant;

use clap::{Args, ValueEnum};
use fieldspar_ceremony::hex;
use fieldspar_ceremony::rules::v1::scenario::{self, Round, Scenario};
use fieldspar_ceremony::rules::v1::{Capacities, Engine};
use fieldspar_device::CpuVariant;
use serde_json::{Map, Value, json};

use super::rival::Rival;
use super::{Rules, bench_live, bench_v2, bench_verify};
use crate::bench::stats::median;
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};
use crate::json;

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Workload {
    /// 10 FROST key generations
    Small,
    /// 200 key generations
    Medium,
    /// 600 key generations
    Large,
    /// 1000 ceremonies of all kinds
    Xlarge,
    /// 100 ceremonies of each kind
    Micro,
    /// v2: the root after 10,000 changes among 1,000,000 ceremonies
    Root,
    /// v2: 30,000 signed messages into a store on disk, in process and over HTTP
    Live,
    /// v2: a log of 1,000,000 operations played from nothing
    Recovery,
    /// The public part of a FROST key generation of 7 of 10, and a party's own shares
    Dkg,
    /// 1,024 FROST signatures at once
    Signatures,
}

/// Whom to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Versus {
    /// A plain port of the public engine, built by `cargo xtask rivals`
    Port,
    /// The frost crates, for `dkg` and `signatures`, built likewise
    Frost,
}

/// Flags of `ceremony bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Which workload [default: all]
    #[arg(long, value_enum)]
    scenario: Option<Workload>,
    /// The rules to play by; `dkg` and `signatures` play by none
    #[arg(long, value_enum)]
    rules: Option<Rules>,
    /// Measure against this too, in turn
    #[arg(long, value_enum)]
    vs: Option<Versus>,
    /// Timed runs a row; figures are medians
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

impl Workload {
    fn has(self, scenario: Scenario) -> bool {
        let name = scenario.name();
        match self {
            Self::Small => name == "small",
            Self::Medium => name == "medium",
            Self::Large => name == "large",
            Self::Xlarge => name == "xlarge",
            Self::Micro => name.starts_with("micro"),
            _ => false,
        }
    }
}

const PORT: &str = "ceremony-v1-port";

/// The port's milliseconds and last root.
fn port(rival: &mut Rival, scenario: Scenario) -> Result<(f64, String), Failure> {
    let answer = rival.ask(scenario.name())?;
    match (answer["ms"].as_f64(), answer["root"].as_str()) {
        (Some(ms), Some(root)) => Ok((ms, root.to_owned())),
        _ => Err(Failure::internal(format!("the rival answered `{answer}`"))),
    }
}

/// One run of all states; milliseconds and the last root.
fn once(engines: &mut [Engine], chunks: &[Round]) -> (f64, String) {
    engines.iter_mut().for_each(Engine::clear);
    let descriptor = scenario::descriptor();
    let mut root = [0; 32];
    let start = Instant::now();
    for (engine, chunk) in engines.iter_mut().zip(chunks) {
        let report = engine.round(&descriptor, &chunk.ceremony_ops, &chunk.contributions);
        root = report.result.state.state_root;
    }
    (start.elapsed().as_secs_f64() * 1e3, hex::encode(&root))
}

fn row(
    scenario: Scenario,
    variant: CpuVariant,
    runs: u32,
    rivals: &mut [Rival],
) -> Result<Value, Failure> {
    let chunks = scenario.chunks();
    let engine = Engine::on(Capacities::default(), variant)
        .ok_or_else(|| Failure::new(Kind::Unavailable, format!("no {variant} here")))?;
    let mut engines = vec![engine; chunks.len()];
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); rivals.len()];
    let mut root = String::new();
    // The first run of each side warms up.
    for run in 0..=runs {
        let (ms, ours_root) = once(&mut engines, &chunks);
        if run > 0 {
            ours.push(ms);
        }
        for (rival, times) in rivals.iter_mut().zip(&mut theirs) {
            let (ms, theirs_root) = port(rival, scenario)?;
            if theirs_root != ours_root {
                return Err(Failure::new(
                    Kind::Mismatch,
                    format!(
                        "{}: root {ours_root}, the plain port's is {theirs_root}",
                        scenario.name()
                    ),
                ));
            }
            if run > 0 {
                times.push(ms);
            }
        }
        root = ours_root;
    }
    let ms = median(ours);
    let operations: usize = chunks
        .iter()
        .map(|c| c.ceremony_ops.len() + c.contributions.len())
        .sum();
    let rivals: Map<String, Value> = rivals
        .iter()
        .zip(theirs)
        .map(|(rival, times)| {
            let theirs = median(times);
            let fields =
                json!({"ms": theirs, "ratio": theirs / ms, "version": "luxfi/chains b3ed1df"});
            (format!("v1-port ({})", rival.build), fields)
        })
        .collect();
    Ok(json!({
        "scenario": scenario.name(),
        "rules": Rules::V1.name(),
        "device": format!("cpu:{variant}"),
        "threads": 1,
        "states": chunks.len(),
        "operations": operations,
        "ms": ms,
        "durable": false,
        "ops_per_s": operations as f64 / ms * 1e3,
        "root": root,
        "rivals": rivals,
    }))
}

pub(crate) fn run(args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    match (args.scenario, args.rules) {
        (Some(workload @ (Workload::Dkg | Workload::Signatures)), _) => {
            run_verify(workload, args, context)
        }
        (_, Some(Rules::V1)) => run_v1(args, context),
        (_, Some(Rules::V2)) => run_v2(args, context),
        (_, None) => Err(Failure::usage("--rules is needed: v1 or v2")),
    }
}

fn run_verify(workload: Workload, args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    let device = context.open_processor()?;
    let rows = bench_verify::rows(workload, args.vs, args.runs)?;
    let mut text = String::new();
    for row in &rows {
        text.push_str(&format!(
            "{:<42}{:>10.3} ms{:>10.2} us each",
            row["scenario"].as_str().unwrap_or_default(),
            row["ms"].as_f64().unwrap_or_default(),
            row["us_per_op"].as_f64().unwrap_or_default()
        ));
        for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
            let ratio = rival["ratio"].as_f64().unwrap_or_default();
            text.push_str(&format!("   {name} {ratio:.1}x"));
        }
        text.push('\n');
    }
    let fields = json::fields(json!({"runs": args.runs, "rows": rows}));
    Ok(Outcome::new(text, fields).on(&device))
}

fn run_v2(args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    let device = context.open_processor()?;
    if args.vs.is_some() {
        return Err(Failure::usage("rules v2 have no rival"));
    }
    let folder = tempfile::tempdir().map_err(|e| Failure::input(e.to_string()))?;
    let wanted = |workload| args.scenario.is_none_or(|scenario| scenario == workload);
    let mut rows = Vec::new();
    if wanted(Workload::Root) {
        rows.push(bench_v2::root(args.runs));
    }
    if wanted(Workload::Live) {
        rows.extend(bench_live::rows(folder.path(), context)?);
    }
    if wanted(Workload::Recovery) {
        rows.push(bench_v2::recovery(folder.path())?);
    }
    if rows.is_empty() {
        return Err(Failure::usage(
            "rules v2 have the scenarios root, live and recovery",
        ));
    }
    let text = rows
        .iter()
        .map(|row| {
            let scenario = row["scenario"].as_str().unwrap_or_default();
            let name = match (row["transport"].as_str(), row["per_request"].as_u64()) {
                (Some(way), Some(each)) => format!("{scenario}, {way}, {each} each"),
                (Some(way), None) => format!("{scenario}, {way}"),
                _ => scenario.to_owned(),
            };
            format!(
                "{name:<22}{:>10.3} ms{:>12.0} operations/s{}\n",
                row["ms"].as_f64().unwrap_or_default(),
                row["ops_per_s"].as_f64().unwrap_or_default(),
                row["bound_by"]
                    .as_str()
                    .map_or(String::new(), |what| format!(", bound by {what}"))
            )
        })
        .collect();
    let fields = json::fields(json!({"runs": args.runs, "rows": rows}));
    Ok(Outcome::new(text, fields).on(&device))
}

fn run_v1(args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    let device = context.open_processor()?;
    let variant = device.cpu_variant().ok_or_else(|| {
        let spec = &device.info().spec;
        Failure::new(
            Kind::Unavailable,
            format!("this build has no ceremony engine for {spec}"),
        )
    })?;
    let mut rivals = match args.vs {
        Some(Versus::Port) => vec![
            Rival::start(PORT, "native")?,
            Rival::start(PORT, "default")?,
        ],
        Some(Versus::Frost) => return Err(Failure::usage("the rival of rules v1 is `port`")),
        None => Vec::new(),
    };
    let mut rows = Vec::new();
    let mut text = String::new();
    for scenario in Scenario::ALL {
        if args.scenario.is_some_and(|wanted| !wanted.has(scenario)) {
            continue;
        }
        let row = row(scenario, variant, args.runs, &mut rivals)?;
        let ms = row["ms"].as_f64().unwrap_or_default();
        text.push_str(&format!("{:<22}{ms:>10.3} ms", scenario.name()));
        for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
            let ratio = rival["ratio"].as_f64().unwrap_or_default();
            text.push_str(&format!("   {name} {ratio:.1}x"));
        }
        text.push('\n');
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Failure::usage(
            "rules v1 have the scenarios small, medium, large, xlarge and micro",
        ));
    }
    let fields = json::fields(json!({"runs": args.runs, "rows": rows}));
    Ok(Outcome::new(text, fields).on(&device))
}
