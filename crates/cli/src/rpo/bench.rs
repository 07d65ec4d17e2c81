//! `rpo bench`: our variants, and what is published, in turn on the same inputs.
#![forbid(unsafe_code)]

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use fieldspar_device::{CpuSelection, CpuVariant, Device, DeviceSpec, Host};
use fieldspar_rpo::cpu::CpuEngine;
use fieldspar_rpo::engine::Engine;
use fieldspar_rpo::{Digest, MODULUS, Sponge, State};
use serde_json::{Map, Value, json};

use super::open_engine;
use super::rival::{BUILDS, Rival};
use crate::bench::stats::median;
use crate::bench::svg::escape;
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};
use crate::json;
use crate::whir::output;

/// Whom to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Versus {
    /// miden-crypto 0.28.1
    Miden,
    /// p3-rescue 0.8.0
    P3,
}

impl Versus {
    const fn name(self) -> &'static str {
        match self {
            Self::Miden => "miden",
            Self::P3 => "p3",
        }
    }

    const fn version(self) -> &'static str {
        match self {
            Self::Miden => "miden-crypto 0.28.1",
            Self::P3 => "p3-rescue 0.8.0",
        }
    }
}

/// Flags of `rpo bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Measure against these too, in turn, each built three ways by `cargo xtask rivals rpo`
    #[arg(long, value_enum, value_delimiter = ',')]
    vs: Vec<Versus>,
    /// Timed runs a row; figures are medians
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Permutations of a run, other than of a tree
    #[arg(long, default_value_t = 7200, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    count: u32,
    /// Leaves of the tree, as a power of two
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u8).range(1..=24))]
    log_leaves: u8,
    /// Write a report that needs nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace it if it exists
    #[arg(long)]
    force: bool,
}

const OPERATIONS: [&str; 4] = ["permute_many", "permute_one", "merge", "merkle"];
/// Those of them that a GPU does: one state alone is the processor's work.
const BULK: [&str; 2] = ["permute_many", "merkle"];

/// An engine of ours, as rows name it.
struct Ours {
    device: String,
    variant: String,
    engine: Box<dyn Engine>,
    /// The same engine, if it is the processor's.
    cpu: Option<CpuEngine>,
}

impl Ours {
    fn cpu(engine: CpuEngine) -> Self {
        Self {
            device: engine.device(),
            variant: engine.variant().name().to_owned(),
            engine: Box::new(engine),
            cpu: Some(engine),
        }
    }

    fn gpu(device: &Device, engine: Box<dyn Engine>) -> Self {
        Self {
            device: device.info().spec.clone(),
            variant: device.info().variant.clone(),
            engine,
            cpu: None,
        }
    }

    const fn operations(&self) -> &'static [&'static str] {
        match self.cpu {
            Some(_) => &OPERATIONS,
            None => &BULK,
        }
    }
}
const SEED: u64 = 5;

/// SplitMix64, reduced; the rivals make the same.
fn elements(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed;
    (0..count)
        .map(|_| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (z ^ (z >> 31)) % MODULUS
        })
        .collect()
}

/// What a result is compared by.
fn fold<'a>(words: impl IntoIterator<Item = &'a u64>) -> String {
    let sum = words.into_iter().fold(0_u64, |h, x| {
        (h.rotate_left(5) ^ x).wrapping_mul(0x0000_0100_0000_01B3)
    });
    format!("{sum:016x}")
}

/// One run of ours: nanoseconds per permutation, and the fold of the result.
fn run_ours(ours: &Ours, op: &str, count: usize) -> Result<(f64, String), Failure> {
    let words = elements(SEED, 12 * count);
    let ns = |start: Instant, count: usize| start.elapsed().as_secs_f64() * 1e9 / count as f64;
    let mut states: Vec<State> = words.as_chunks::<12>().0.to_vec();
    let engine = &*ours.engine;
    Ok(match (op, &ours.cpu) {
        ("permute_many", _) => {
            let start = Instant::now();
            engine.permute_many(&mut states)?;
            (ns(start, count), fold(states.as_flattened()))
        }
        ("permute_one", Some(engine)) => {
            let mut state = black_box(states[0]);
            let start = Instant::now();
            for _ in 0..count {
                engine.permute_one(&mut state);
            }
            (ns(start, count), fold(&state))
        }
        ("merge", Some(engine)) => {
            let [a, b] = [states[0][0], states[0][1]];
            let mut pair = black_box([Digest::new([a; 4])?, Digest::new([b; 4])?]);
            let start = Instant::now();
            for _ in 0..count {
                pair[0] = engine.merge(Sponge::Miden022, &pair);
            }
            (ns(start, count), fold(pair[0].elements()))
        }
        _ => {
            let leaves = elements(SEED, 4 * count);
            let leaves: Result<Vec<Digest>, _> = leaves
                .as_chunks::<4>()
                .0
                .iter()
                .map(|d| Digest::new(*d))
                .collect();
            let leaves = leaves?;
            let start = Instant::now();
            let levels = engine.levels(Sponge::Miden022, leaves)?;
            let time = ns(start, count - 1);
            let root = levels.last().and_then(|level| level.first()).copied();
            (time, fold(root.unwrap_or_default().elements()))
        }
    })
}

/// Ours and the rivals' runs of one operation, in turn.
fn row(
    args: &BenchArgs,
    engine: &Ours,
    op: &str,
    rivals: &mut [Rival],
    threads: usize,
) -> Result<Value, Failure> {
    let count = match op {
        "merkle" => 1 << args.log_leaves,
        _ => args.count as usize,
    };
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); rivals.len() * args.vs.len()];
    // The first run of each side warms up.
    for run in 0..=args.runs {
        let (ns, check) = run_ours(engine, op, count)?;
        if run > 0 {
            ours.push(ns);
        }
        for (r, rival) in rivals.iter_mut().enumerate() {
            for (w, who) in args.vs.iter().enumerate() {
                let (ns, found) = rival.run(who.name(), op, count, SEED)?;
                if found != check {
                    let (who, build) = (who.version(), rival.build);
                    return Err(Failure::new(
                        Kind::Mismatch,
                        format!("{op}: {who} ({build}) has another result"),
                    ));
                }
                if run > 0 {
                    theirs[r * args.vs.len() + w].push(ns);
                }
            }
        }
    }
    let ns = median(ours);
    let mut named = Map::new();
    let mut times = theirs.into_iter();
    for rival in rivals.iter() {
        for who in &args.vs {
            let theirs = median(times.next().unwrap_or_default());
            named.insert(
                format!("{} ({})", who.name(), rival.build),
                json!({
                    "ns_per_permutation": theirs,
                    "ratio": theirs / ns,
                    "version": who.version(),
                }),
            );
        }
    }
    let equal = (!named.is_empty()).then_some(true);
    Ok(json!({
        "op": op,
        "device": engine.device,
        "variant": engine.variant,
        "threads": if matches!(op, "permute_one" | "merge") { 1 } else { threads },
        "count": count,
        "ns_per_permutation": ns,
        "equal": equal,
        "of_record": record(&named),
        "best": best(&named),
        "rivals": named,
    }))
}

/// The ratio of record: the build that its authors recommend.
fn record(rivals: &Map<String, Value>) -> Option<f64> {
    rivals.get("miden (native)")?["ratio"].as_f64()
}

/// The fastest of what is published, in any build.
fn best(rivals: &Map<String, Value>) -> Option<Value> {
    let ratio = |rival: &Value| rival["ratio"].as_f64().unwrap_or(f64::INFINITY);
    let (name, rival) = rivals
        .iter()
        .min_by(|a, b| ratio(a.1).total_cmp(&ratio(b.1)))?;
    Some(json!({"rival": name, "ratio": rival["ratio"]}))
}

/// What each variant gains over the plain one, into its row; as lines, with the variants that this
/// processor does not have.
fn gains(rows: &mut [Value]) -> (String, Vec<&'static str>) {
    let time = |row: &Value| row["ns_per_permutation"].as_f64().unwrap_or_default();
    let mut text = String::from("gain over cpu:portable\n");
    for op in OPERATIONS {
        let plain = rows
            .iter()
            .find(|row| row["op"] == op && row["device"] == "cpu:portable")
            .map(time);
        let Some(plain) = plain else { continue };
        let _ = write!(text, "{op:<14}");
        for row in rows.iter_mut().filter(|row| row["op"] == op) {
            let gain = plain / time(row);
            let variant = row["variant"].as_str().unwrap_or_default();
            let _ = write!(text, "   {variant} {gain:.2}x");
            row["gain"] = json!(gain);
        }
        text.push('\n');
    }
    let elsewhere: Vec<&str> = CpuVariant::NAMED
        .into_iter()
        .filter(|v| !v.is_available())
        .map(CpuVariant::name)
        .collect();
    if !elsewhere.is_empty() {
        let _ = writeln!(text, "not on this processor: {}", elsewhere.join(", "));
    }
    (text, elsewhere)
}

/// A named GPU; or a named variant of the processor; or all of them, since what each gains over the plain
/// one is the table.
fn engines(spec: &DeviceSpec, context: &Context) -> Result<(Device, Vec<Ours>), Failure> {
    if matches!(spec, DeviceSpec::Cuda(_) | DeviceSpec::Wgpu(_)) {
        let (device, engine) = open_engine(context)?;
        let ours = vec![Ours::gpu(&device, engine)];
        return Ok((device, ours));
    }
    let device = context.open_processor()?;
    let engines = match (spec, device.cpu_variant()) {
        (DeviceSpec::Cpu(CpuSelection::Variant(_)), Some(variant)) => {
            vec![CpuEngine::new(variant)?]
        }
        _ => CpuEngine::all(),
    };
    let ours = engines.into_iter().map(Ours::cpu).collect();
    Ok((device, ours))
}

pub(crate) fn run(args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    if let Some(path) = &args.html {
        output::check(path, args.force)?;
    }
    let (spec, _) = context.device_spec()?;
    let (device, engines) = engines(&spec, context)?;
    let mut rivals = Vec::new();
    if !args.vs.is_empty() {
        for build in BUILDS {
            rivals.push(Rival::start(build, context.threads())?);
        }
    }
    let builds: Vec<Value> = rivals
        .iter_mut()
        .map(|rival| {
            let info = rival.info()?;
            Ok(json!({"build": rival.build, "info": info}))
        })
        .collect::<Result<_, Failure>>()?;
    let mut rows = Vec::new();
    let mut text = String::new();
    for op in OPERATIONS {
        for engine in engines.iter().filter(|e| e.operations().contains(&op)) {
            let row = row(args, engine, op, &mut rivals, context.threads())?;
            let ns = row["ns_per_permutation"].as_f64().unwrap_or_default();
            let _ = write!(text, "{op:<14}{:<14}{ns:>9.1} ns", engine.device);
            for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
                let ratio = rival["ratio"].as_f64().unwrap_or_default();
                let _ = write!(text, "   {name} {ratio:.2}x");
            }
            if let (Some(record), Some(best)) =
                (row["of_record"].as_f64(), row["best"]["ratio"].as_f64())
            {
                let _ = write!(text, "   of record {record:.2}x, best {best:.2}x");
            }
            text.push('\n');
            rows.push(row);
        }
    }
    let mut fields = json!({"runs": args.runs, "builds": builds});
    if engines.len() > 1 {
        let (lines, elsewhere) = gains(&mut rows);
        text.push_str(&lines);
        fields["not_on_this_processor"] = json!(elsewhere);
    }
    if let Some(path) = &args.html {
        output::write(path, page(&rows, args.runs, context).as_bytes(), args.force)?;
    }
    fields["rows"] = json!(rows);
    Ok(Outcome::new(text, json::fields(fields)).on(&device))
}

/// The report: a table and bars, in one file.
fn page(rows: &[Value], runs: u32, context: &Context) -> String {
    let host = Host::read();
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <title>RPO bench</title><style>body{{font:15px system-ui;max-width:70rem;margin:2rem auto;\
         padding:0 1rem}}table{{border-collapse:collapse}}td,th{{padding:.3rem .8rem;text-align:right;\
         border-bottom:1px solid #8884}}td:first-child,th:first-child{{text-align:left}}\
         i{{display:inline-block;height:.7em;background:#47a}}i.r{{background:#b85}}</style></head>\
         <body><h1>RPO bench</h1><p>{}, {} threads; medians of {runs}; nanoseconds per permutation, \
         the rivals in turn with ours on the same inputs</p>\n",
        escape(&host.cpu),
        context.threads(),
    );
    for op in OPERATIONS {
        let of_op = || rows.iter().filter(|row| row["op"] == op);
        let _ = write!(
            out,
            "<h2>{op}</h2><table><tr><th>who</th><th>ns</th><th>ratio</th><th></th></tr>"
        );
        let mut line = |who: &str, ns: f64, ratio: Option<f64>, class: &str| {
            let ratio = ratio.map_or(String::new(), |r| format!("{r:.2}"));
            let _ = write!(
                out,
                "<tr><td>{}</td><td>{ns:.0}</td><td>{ratio}</td><td style=\"text-align:left\">\
                 <i class=\"{class}\" style=\"width:{:.0}px\"></i></td></tr>",
                escape(who),
                ns / 20.0
            );
        };
        let number = |value: &Value| value.as_f64().unwrap_or_default();
        let plain = of_op().next().map(|row| number(&row["ns_per_permutation"]));
        for row in of_op() {
            let ns = number(&row["ns_per_permutation"]);
            let device = row["device"].as_str().unwrap_or_default();
            line(device, ns, plain.map(|plain| plain / ns), "o");
        }
        let best = of_op().next_back();
        for (name, rival) in best
            .and_then(|row| row["rivals"].as_object())
            .into_iter()
            .flatten()
        {
            let (ns, ratio) = (
                number(&rival["ns_per_permutation"]),
                number(&rival["ratio"]),
            );
            line(name, ns, Some(ratio), "r");
        }
        out.push_str("</table>\n");
    }
    out.push_str(
        "<p>Of ours the ratio is the time of the first variant over this one's; of a rival, its time over \
         that of our last variant.</p></body></html>\n",
    );
    out
}
