//! `whir bench`: our prover, beside p3-whir's own where asked for.
//!
//! Every row proves in processes of its own, ours and the rival's, which answer the same line
//! protocol ([`protocol`]), read the same input file and run in turn with the same number of
//! threads and the same environment. Every timed proof is verified, outside the timed part, and
//! compared with the rival's byte for byte.
#![forbid(unsafe_code)]

mod child;
mod found;
mod grid;
mod html;
mod input;
mod measure;
pub(crate) mod memory;
mod peer;
mod protocol;
pub(crate) mod rival;
mod roof;
mod row;
pub(crate) mod stats;
pub(crate) mod svg;
mod table;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use fieldspar_device::{
    DeviceInfo, DeviceKind, DeviceSpec, Host, OutOfMemory, ParseSpecError, Unavailable,
};
use fieldspar_whir::error::ParamsError;
use fieldspar_whir::params::{Assumption, ExtensionDegree, RateSchedule};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::args::VERSION;
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};
use crate::json;
use crate::whir::output;

use self::found::{check_memory, devices};
use self::grid::{Grid, Point, Setting, level, points};
use self::measure::Contest;
use self::peer::{KEEP_MEMORY, Launch, Peer};
use self::protocol::Request;
use self::roof::{Roof, copy_bandwidth};
use self::row::Row;

/// Whom to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Versus {
    /// p3-whir 0.8.0, built by `cargo xtask rivals`.
    P3,
}

/// The allocator that the rival gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum RivalMalloc {
    /// Keeps its memory from proof to proof, as ours does.
    Keep,
    /// glibc's default, which gives it back.
    Default,
}

/// Options of `whir bench`. Parameters are those of the published comparison: degree 4, capacity
/// bound (conjectural), level 90, 16 bits of proof of work, `article` rates.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BenchArgs {
    /// Which rows.
    #[arg(long, value_enum, default_value = "quick")]
    pub(crate) grid: Grid,
    /// Devices, each a row of its own [default: the best].
    #[arg(long, value_name = "D,..", value_delimiter = ',')]
    pub(crate) devices: Vec<String>,
    /// Measure against this too, in turn.
    #[arg(long, value_enum)]
    pub(crate) vs: Option<Versus>,
    /// Timed proofs a row; figures are medians [default: 5, with a GPU 20].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) runs: Option<u32>,
    /// Write the result as JSON to this file, `-` for standard output; here `--json FILE` is the
    /// same.
    #[arg(long, value_name = "FILE")]
    pub(crate) json_file: Option<PathBuf>,
    /// Write a report that opens offline to this file, `-` for standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Replace these files if they exist.
    #[arg(long)]
    pub(crate) force: bool,
    /// The proven bounds instead: degree 5, Johnson bound, level 100.
    #[arg(long)]
    pub(crate) proven: bool,
    /// Degree of the extension: 4 or 5.
    #[arg(long, value_name = "DEGREE")]
    pub(crate) extension: Option<usize>,
    /// unique-decoding, johnson or capacity.
    #[arg(long)]
    pub(crate) assumption: Option<Assumption>,
    /// Bits of security; a row that p3-whir refuses runs at the highest level below.
    #[arg(long, value_name = "BITS")]
    pub(crate) security_level: Option<usize>,
    /// Bits of proof of work that one step may take.
    #[arg(long, value_name = "BITS")]
    pub(crate) pow_bits: Option<usize>,
    /// Rates of the later rounds: article or standard.
    #[arg(long, value_name = "NAME", value_parser = rate_schedule)]
    pub(crate) rate_schedule: Option<RateSchedule>,
    /// Only rows of this size; with --fold and --rate also one that the grid lacks.
    #[arg(long)]
    pub(crate) n: Option<usize>,
    /// Only rows that fold this many variables a round.
    #[arg(long)]
    pub(crate) fold: Option<usize>,
    /// Only rows of this rate (log2 of the inverse).
    #[arg(long)]
    pub(crate) rate: Option<usize>,
    /// `keep`: both sides keep memory from proof to proof (MALLOC_* variables of glibc), under
    /// which p3-whir is faster; `default`: the rival runs without them.
    #[arg(long, value_enum, default_value = "keep")]
    pub(crate) rival_malloc: RivalMalloc,
    /// What the random polynomials and points depend on.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Answer the line protocol on standard input instead.
    #[arg(long, hide = true)]
    pub(crate) child: bool,
}

fn rate_schedule(name: &str) -> Result<RateSchedule, String> {
    match name {
        "article" => Ok(RateSchedule::Article),
        "standard" => Ok(RateSchedule::Standard),
        _ => Err("it is neither article nor standard".into()),
    }
}

/// The command line with `whir bench --json FILE` as `--json-file FILE`: everywhere else `--json`
/// takes no value, and clap cannot have it both ways.
pub(crate) fn arguments(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut words = arguments
        .iter()
        .filter(|a| !a.as_encoded_bytes().starts_with(b"-"));
    let is_bench = words.any(|a| a == "whir") && words.next().is_some_and(|a| a == "bench");
    if !is_bench {
        return arguments;
    }
    let is_value = |next: Option<&OsString>| {
        next.is_some_and(|a| a == "-" || !a.as_encoded_bytes().starts_with(b"-"))
    };
    // A flag before the verb may be followed by the verb itself.
    let bench = arguments.iter().position(|a| a == "bench").unwrap_or(0);
    arguments
        .iter()
        .enumerate()
        .map(|(i, argument)| {
            let inside = i > bench && argument == "--json" && is_value(arguments.get(i + 1));
            if inside {
                "--json-file".into()
            } else {
                argument.clone()
            }
        })
        .collect()
}

/// What the surroundings have settled.
#[derive(Clone, Debug)]
struct Setup {
    /// Threads of every process; the current pool has as many.
    threads: usize,
    /// Whether the table goes to standard output.
    table: bool,
    /// The device where `--devices` names none.
    device: DeviceSpec,
    /// Bytes that all processes may hold together.
    memory: u64,
    /// No progress on standard error.
    quiet: bool,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BenchError {
    #[error(transparent)]
    Spec(#[from] ParseSpecError),
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    #[error(transparent)]
    Params(#[from] ParamsError),
    #[error("extension degree {0} is not 4 or 5")]
    Extension(usize),
    #[error("--proven is level 100, which --extension 4 does not reach: leave one of them out")]
    Proven,
    #[error("no row of grid `{grid}` has {filter}; give --n, --fold and --rate for another row")]
    NoRow { grid: String, filter: String },
    #[error("no row can run; {row}: {reason}")]
    Refused { row: String, reason: String },
    #[error("p3-whir is not built ({built}): run `cargo xtask rivals` first")]
    NoRival { built: &'static str },
    #[error("{name}: {reason}")]
    Peer { name: String, reason: String },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

impl BenchError {
    fn peer(name: &str, reason: impl Into<String>) -> Self {
        Self::Peer {
            name: name.to_owned(),
            reason: reason.into(),
        }
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        let message = error.to_string();
        match error {
            BenchError::Spec(error) => error.into(),
            BenchError::Unavailable(error) => error.into(),
            BenchError::OutOfMemory(error) => error.into(),
            BenchError::Params(error) => error.into(),
            BenchError::Extension(_)
            | BenchError::Proven
            | BenchError::NoRow { .. }
            | BenchError::Refused { .. }
            | BenchError::NoRival { .. } => Self::usage(message),
            BenchError::Io(_) => Self::input(message),
            BenchError::Peer { name, .. } => Self::internal(message).at(name),
            BenchError::Json(_) => Self::internal(message),
        }
    }
}

/// The whole result, as `--json` writes it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) schema: u32,
    pub(crate) version: &'static str,
    pub(crate) command: &'static str,
    pub(crate) device: DeviceInfo,
    pub(crate) devices: Vec<DeviceInfo>,
    pub(crate) threads: usize,
    pub(crate) host: Host,
    pub(crate) grid: String,
    pub(crate) runs: u32,
    pub(crate) seed: u64,
    /// Variables set for both sides, or for ours alone.
    pub(crate) environment: Value,
    /// What each build of the rival says of itself.
    pub(crate) rivals: Vec<Value>,
    pub(crate) roofs: Vec<Roof>,
    pub(crate) rows: Vec<Row>,
    pub(crate) warnings: Vec<String>,
}

impl Report {
    /// What must not be: proofs that do not verify, bytes that differ.
    pub(crate) fn failures(&self) -> Vec<String> {
        self.rows.iter().flat_map(Row::failures).collect()
    }
}

fn setting(args: &BenchArgs) -> Result<Setting, BenchError> {
    let mut setting = match args.proven {
        true => Setting::proven(),
        false => Setting::published(),
    };
    if let Some(degree) = args.extension {
        setting.extension =
            ExtensionDegree::try_from(degree).map_err(|_| BenchError::Extension(degree))?;
        if args.proven && setting.extension == ExtensionDegree::Four {
            return Err(BenchError::Proven);
        }
    }
    setting.assumption = args.assumption.unwrap_or(setting.assumption);
    setting.security_level = args.security_level.unwrap_or(setting.security_level);
    setting.pow_bits = args.pow_bits.unwrap_or(setting.pow_bits);
    if let Some(rates) = &args.rate_schedule {
        setting.rates = rates.clone();
    }
    Ok(setting)
}

fn chosen(args: &BenchArgs) -> Result<Vec<Point>, BenchError> {
    if let (Some(n), Some(fold), Some(rate)) = (args.n, args.fold, args.rate) {
        return Ok(vec![Point { n, fold, rate }]);
    }
    let fits = |filter: Option<usize>, value| filter.is_none_or(|f| f == value);
    let mut rows = points(args.grid);
    rows.retain(|p| fits(args.n, p.n) && fits(args.fold, p.fold) && fits(args.rate, p.rate));
    if rows.is_empty() {
        let filter: Vec<String> = [("n", args.n), ("fold", args.fold), ("rate", args.rate)]
            .into_iter()
            .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
            .collect();
        return Err(BenchError::NoRow {
            grid: args.grid.name(),
            filter: filter.join(", "),
        });
    }
    Ok(rows)
}

/// Refuses a bench of which no row is accepted at any level; one that some are left out of says so.
fn check_rows(setting: &Setting, rows: &[Point]) -> Result<(), BenchError> {
    let runs = |&point: &Point| level(&setting.params(point), point.n).is_some();
    let Some(&first) = rows.first().filter(|_| !rows.iter().any(runs)) else {
        return Ok(());
    };
    let reason = match setting.params(first).check(first.n) {
        Err(error) => error.to_string(),
        Ok(()) => "it is accepted at no level".into(),
    };
    Err(BenchError::Refused {
        row: first.to_string(),
        reason,
    })
}

/// Refuses, before anything is measured, files that cannot be written, or only one over another.
fn check_outputs(args: &BenchArgs, context: &Context) -> Result<(), Failure> {
    let mut files = Vec::new();
    let mut printed = Vec::new();
    if context.json() {
        printed.push("--json");
    }
    for (name, path) in [("--json-file", &args.json_file), ("--html", &args.html)] {
        match path.as_deref() {
            Some(path) if path == Path::new("-") => printed.push(name),
            Some(path) => {
                output::check(path, args.force)?;
                files.push((name, path));
            }
            None => {}
        }
    }
    if let [first, second, ..] = printed[..] {
        return Err(Failure::usage(format!(
            "{first} and {second} would both write to standard output"
        )));
    }
    files.extend(context.trace_path().map(|path| ("--trace", path)));
    output::distinct(&files, &[])
}

fn ours(devices: &[DeviceInfo], threads: usize) -> Result<Vec<(String, Launch)>, BenchError> {
    let program = std::env::current_exe()?;
    let launch = |info: &DeviceInfo| Launch {
        name: format!("fieldspar ({})", info.spec),
        program: program.clone(),
        args: ["whir", "bench", "--child"].map(String::from).into(),
        threads,
        keep_memory: true,
    };
    Ok(devices
        .iter()
        .map(|i| (i.spec.clone(), launch(i)))
        .collect())
}

fn environment(args: &BenchArgs) -> Value {
    let variables: Map<String, Value> = KEEP_MEMORY
        .iter()
        .map(|&(name, value)| (name.into(), value.into()))
        .collect();
    let both = args.rival_malloc == RivalMalloc::Keep;
    serde_json::json!({ "variables": variables, "set_for": if both { "both" } else { "fieldspar" } })
}

/// Runs the bench, printing the table as it grows.
pub(crate) fn run(args: &BenchArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.child {
        child::serve_standard().map_err(BenchError::from)?;
        return Ok(Outcome::new(String::new(), Map::new()));
    }
    check_outputs(args, context)?;
    let dash = |path: &Option<PathBuf>| path.as_deref() == Some(Path::new("-"));
    let setup = Setup {
        threads: context.threads(),
        // Standard output holds one thing only.
        table: !context.json() && !dash(&args.json_file) && !dash(&args.html),
        device: DeviceSpec::resolve(context.device_flag().map(String::as_str))?.0,
        memory: context.memory_limit()?.bytes(),
        quiet: context.quiet() || context.json(),
    };
    let report = measure(args, &setup)?;
    let fields = json::fields(serde_json::to_value(&report).map_err(BenchError::from)?);
    let mut outcome = Outcome::new(String::new(), fields);
    outcome.device = Some(report.device.clone());
    let failures = report.failures();
    if !failures.is_empty() {
        failures.iter().for_each(|failure| context.warn(failure));
        outcome.exit_code = Kind::Mismatch.exit_code();
    }
    if let Some(path) = &args.json_file {
        let whole = json::object(context, report.command, &outcome);
        let text = serde_json::to_string_pretty(&whole).map_err(BenchError::from)?;
        write(path, &(text + "\n"), args.force)?;
    }
    if let Some(path) = &args.html {
        write(path, &html::page(&report), args.force)?;
    }
    Ok(outcome)
}

fn write(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if path == Path::new("-") {
        let written = io::stdout().lock().write_all(text.as_bytes());
        return Ok(written.map_err(BenchError::from)?);
    }
    output::write(path, text.as_bytes(), force)
}

fn measure(args: &BenchArgs, setup: &Setup) -> Result<Report, BenchError> {
    let setting = setting(args)?;
    let rows = chosen(args)?;
    check_rows(&setting, &rows)?;
    let found = devices(args, setup)?;
    check_memory(&setting, &rows, &found, setup.memory)?;
    let devices: Vec<DeviceInfo> = found.into_iter().map(|f| f.info).collect();
    let is_gpu = |d: &DeviceInfo| d.kind != DeviceKind::Cpu;
    let runs = match args.runs {
        Some(runs) => runs,
        None if devices.iter().any(is_gpu) => 20,
        None => 5,
    };
    let Some(device) = devices.first().cloned() else {
        return Err(BenchError::peer("devices", "none"));
    };
    let rivals = match args.vs {
        None => Vec::new(),
        Some(Versus::P3) => peer::p3(setup.threads, args.rival_malloc == RivalMalloc::Keep)?,
    };
    let progress = table::Progress::new(rows.len() as u64, setup.quiet);
    let mut said = Vec::new();
    for (built, launch) in &rivals {
        let mut info: Value = Peer::start(launch)?.ask(&Request::Info)?;
        info["built"] = (*built).into();
        said.push(info);
    }
    progress.say("measuring the roofs".into());
    let bandwidth = copy_bandwidth();
    let roofs = devices
        .iter()
        .filter(|d| d.kind == DeviceKind::Cpu)
        .map(|d| {
            Roof::measure(&d.spec, setup.threads, bandwidth)
                .map_err(|reason| BenchError::peer(&d.spec, reason))
        })
        .collect::<Result<_, _>>()?;
    let mut report = Report {
        schema: 1,
        version: VERSION,
        command: "whir bench",
        device,
        threads: setup.threads,
        host: Host::read(),
        grid: args.grid.name(),
        runs,
        seed: args.seed,
        environment: environment(args),
        rivals: said,
        roofs,
        rows: Vec::new(),
        warnings: setting
            .assumption
            .notice()
            .map(Into::into)
            .into_iter()
            .collect(),
        devices,
    };
    let contest = Contest {
        ours: ours(&report.devices, setup.threads)?,
        rivals,
        runs: runs as usize,
        threads: setup.threads,
        seed: args.seed,
        memory: setup.memory,
    };
    let folder = tempfile::tempdir()?;
    if setup.table {
        progress.print(&table::head(&report, &setting));
    }
    for point in rows {
        let mut say = |what| progress.say(format!("{point}, {what}"));
        match contest.measure(setting.params(point), point, folder.path(), &mut say)? {
            Ok(rows) => {
                for row in rows {
                    if setup.table {
                        progress.print(&table::line(&row));
                    }
                    for warning in &row.warnings {
                        if !report.warnings.contains(warning) {
                            report.warnings.push(warning.clone());
                        }
                    }
                    report.rows.push(row);
                }
            }
            Err(warning) => report.warnings.push(warning),
        }
        progress.step();
    }
    progress.finish();
    if setup.table {
        progress.print(&table::foot(&report));
    }
    Ok(report)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
