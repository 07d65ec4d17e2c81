//! `msm bench`: the time of an MSM, in turn with other implementations on the same files.
//!
//! Points and scalars follow from a seed. Points have known logarithms, so that every sum is checked,
//! whether a rival runs or not.
#![forbid(unsafe_code)]

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use fieldspar_msm::cuda::Budget;
use fieldspar_msm::curve::{Affine, Curve};
use fieldspar_msm::files::{Encoding, encode};
use fieldspar_msm::{Bases, Engine, Plan, Trusted, inputs, msm, plan};
use serde_json::{Map, Value, json};

use super::html::page;
use super::rival::{self, Rival};
use super::run::hex;
use super::{CurveName, Skew, engine, on_curve};
use crate::bench::memory::{peak, reset_peak};
use crate::bench::stats::median;
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};
use crate::json::fields;
use crate::whir::output;

/// Whom to measure against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Versus {
    /// ark-ec's `VariableBaseMSM`
    Arkworks,
    /// blst's Pippenger, for BLS12-381
    Blst,
    /// gnark-crypto's MultiExp; bench/rivals/gnark says how to build it
    Gnark,
}

/// Flags of `msm bench`.
#[derive(Debug, Args)]
pub(crate) struct MsmBenchArgs {
    /// The curves
    #[arg(long, value_enum, value_delimiter = ',', default_value = "bls12-377")]
    curve: Vec<CurveName>,
    /// Logarithms of the sizes: one, several by commas, or a range such as 10..22
    #[arg(long, value_name = "N", value_parser = sizes, default_value = "16")]
    log_n: Sizes,
    /// Distributions of the scalars
    #[arg(long, value_enum, value_delimiter = ',', default_value = "uniform")]
    skew: Vec<Skew>,
    /// Measure against these too, in turn; builds by `cargo xtask rivals`, of which the fastest counts
    #[arg(long, value_enum, value_delimiter = ',')]
    vs: Vec<Versus>,
    /// Timed runs a row; figures are medians
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write a report that opens offline to this file, `-` for standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long)]
    force: bool,
    /// Same seed, same inputs
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// On a GPU: the points are there before, with multiples that take up to so many MiB (0: none)
    #[arg(long, value_name = "MIB")]
    prepare: Option<u64>,
}

/// Several logarithms.
#[derive(Clone, Debug)]
struct Sizes(Vec<u32>);

fn sizes(text: &str) -> Result<Sizes, String> {
    let number = |t: &str| match t.parse::<u32>() {
        Ok(n) if n <= 28 => Ok(n),
        _ => Err(format!("`{t}` is no number from 0 to 28")),
    };
    let mut sizes = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            Some((from, to)) => sizes.extend(number(from)?..=number(to)?),
            None => sizes.push(number(part)?),
        }
    }
    if sizes.is_empty() {
        return Err("it is empty".into());
    }
    Ok(Sizes(sizes))
}

/// A row's place in the grid.
#[derive(Clone, Copy)]
struct Place {
    curve: CurveName,
    log_n: u32,
    skew: Skew,
}

pub(crate) fn run(args: &MsmBenchArgs, context: &Context) -> Result<Outcome, Failure> {
    if let Some(path) = &args.html {
        output::check(path, args.force)?;
    }
    let engine = engine(context)?;
    let (mut rows, mut text) = (Vec::new(), String::new());
    for &curve in &args.curve {
        for &log_n in &args.log_n.0 {
            for &skew in &args.skew {
                let place = Place { curve, log_n, skew };
                let row = on_curve!(curve, row(args, context, &engine, place))?;
                text.push_str(&line(&row));
                rows.push(row);
            }
        }
    }
    if let Some(path) = &args.html {
        let page = page(&rows, args.runs, context.threads());
        output::write(path, page.as_bytes(), args.force)?;
    }
    let mut outcome = Outcome::new(text, fields(json!({ "rows": rows })));
    outcome.device = Some(engine.info());
    Ok(outcome)
}

fn line(row: &Value) -> String {
    let mut line = format!(
        "{} 2^{} {}: {:.3} ms ",
        row["curve"].as_str().unwrap_or_default(),
        row["log_n"],
        row["skew"].as_str().unwrap_or_default(),
        row["ms"].as_f64().unwrap_or_default(),
    );
    match row["plan"].as_str() {
        Some(plan) => line.push_str(&format!("({plan})")),
        None => line.push_str(&format!(
            "(window {} bits x {}, {:.0} additions, expected {:.1} ms)",
            row["window"]["bits"],
            row["window"]["count"],
            row["window"]["additions"].as_f64().unwrap_or_default(),
            row["window"]["expected_ms"].as_f64().unwrap_or_default(),
        )),
    }
    for (name, rival) in row["rivals"].as_object().into_iter().flatten() {
        line.push_str(&format!(
            ", {name} {:.3} ms = {:.2} x",
            rival["ms"].as_f64().unwrap_or_default(),
            rival["ratio"].as_f64().unwrap_or_default()
        ));
    }
    line + "\n"
}

fn row<C: Curve<N>, const N: usize>(
    args: &MsmBenchArgs,
    context: &Context,
    engine: &Engine,
    place: Place,
) -> Result<Value, Failure> {
    let count = 1usize << place.log_n;
    let need = (count as u64) * (2 * 16 * N as u64 + 32 * 4);
    let have = context.memory_limit()?.bytes();
    if need > have {
        return Err(fieldspar_device::OutOfMemory::new("msm bench", need, have).into());
    }
    let points = inputs::points::<C, N>(args.seed, count);
    let skew = inputs::Distribution::from(place.skew);
    let scalars = skew.scalars(args.seed, count, &C::ORDER);
    let want = inputs::expected::<C, N>(args.seed, &scalars);
    let mut rivals = rivals(args, context, place, &points, &scalars)?;
    let bases = match args.prepare {
        None => Bases::<C, N, Trusted>::new(points)?,
        Some(0) => Bases::prepare(engine, points, Budget::Points)?,
        Some(mib) => Bases::prepare(engine, points, Budget::Bytes(mib.saturating_mul(1 << 20)))?,
    };
    let plan = plan::<C, N>(engine, &scalars)?;
    // Small ones are too short for the clock alone.
    let times = (1u32 << 10 >> place.log_n.min(10)).max(1);
    let own = || -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..times {
            let sum = msm(engine, &bases, &scalars)?;
            if sum != want {
                let at = format!("{} 2^{} {skew}", C::NAME, place.log_n);
                return Err(Failure::new(Kind::Mismatch, "the sum is not what it must be").at(at));
            }
        }
        Ok(start.elapsed().as_secs_f64() * 1e3 / f64::from(times))
    };
    let compressed = hex(&encode(&want, Encoding::Compressed));
    let mut theirs = vec![Vec::new(); rivals.len()];
    let mut equal = true;
    let mut ours = Vec::new();
    reset_peak();
    // The first round of all warms up.
    for round in 0..=args.runs {
        let ms = own()?;
        if round > 0 {
            ours.push(ms);
        }
        for (rival, times_of) in rivals.iter_mut().zip(&mut theirs) {
            let answer = rival.run(times)?;
            equal &= answer.result == compressed;
            if round > 0 {
                times_of.push(answer.ms);
            }
        }
    }
    Ok(finish(
        place,
        context,
        engine,
        &plan,
        &ours,
        &rivals,
        &theirs,
        equal,
        bases.on_device(),
    ))
}

#[allow(clippy::too_many_arguments, reason = "one row's columns")]
fn finish(
    place: Place,
    context: &Context,
    engine: &Engine,
    plan: &Plan,
    ours: &[f64],
    rivals: &[Rival],
    theirs: &[Vec<f64>],
    equal: bool,
    on_device: Option<(u64, u32)>,
) -> Value {
    let ms = median(ours.iter().copied());
    let mut best: Map<String, Value> = Map::new();
    for (rival, times) in rivals.iter().zip(theirs) {
        let theirs = median(times.iter().copied());
        let faster = best
            .get(rival.name)
            .and_then(|b| b["ms"].as_f64())
            .is_none_or(|b| theirs < b);
        if faster {
            best.insert(
                rival.name.to_owned(),
                json!({
                    "ms": theirs,
                    "ratio": theirs / ms,
                    "version": rival.version,
                    "built": rival.build,
                }),
            );
        }
    }
    // The counts of `plan` are the processor's.
    let cuda = engine.cuda();
    let rate = cuda.is_none().then(|| plan.multiplications() / (ms / 1e3));
    let window = json!({
        "bits": plan.width,
        "count": plan.windows,
        "additions": plan.accumulate + plan.reduce,
        "cost": plan.cost,
        "expected_ms": plan.expected_ms,
    });
    json!({
        "curve": place.curve.name(),
        "log_n": place.log_n,
        "skew": inputs::Distribution::from(place.skew).name(),
        "device": engine.spec(),
        "threads": context.threads(),
        "prepared": on_device.is_some(),
        "multiples": on_device.map_or(0, |(_, multiples)| multiples),
        "ms": ms,
        "runs_ms": ours,
        "muls_per_s": rate,
        // Points and scalars of the bench are in it.
        "peak_memory_bytes": peak(),
        "equal": equal,
        "plan": cuda.map(fieldspar_msm::cuda::CudaEngine::last_plan),
        "window": if cuda.is_none() { window } else { Value::Null },
        "rivals": best,
    })
}

/// Writes the files and starts the rivals on them.
fn rivals<C: Curve<N>, const N: usize>(
    args: &MsmBenchArgs,
    context: &Context,
    place: Place,
    points: &[Affine<C, N>],
    scalars: &[[u64; 4]],
) -> Result<Vec<Rival>, Failure> {
    let mut rivals = Vec::new();
    if args.vs.is_empty() {
        return Ok(rivals);
    }
    let failed = |e: std::io::Error| Failure::input(format!("the inputs cannot be written: {e}"));
    // The rivals have read them when they say so, so the folder may go.
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = |name: &str| -> PathBuf { folder.path().join(name) };
    let (points_path, scalars_path) = (path("points"), path("scalars"));
    let write = |path: &Path, write: &dyn Fn(&mut dyn Write) -> std::io::Result<()>| {
        let mut to = BufWriter::new(std::fs::File::create(path)?);
        write(&mut to)?;
        to.flush()
    };
    let each = |to: &mut dyn Write| {
        let mut points = points.iter();
        points.try_for_each(|p| to.write_all(&encode(p, Encoding::Limbs)))
    };
    write(&points_path, &each).map_err(failed)?;
    let each = |to: &mut dyn Write| {
        let mut limbs = scalars.iter().flatten();
        limbs.try_for_each(|l| to.write_all(&l.to_le_bytes()))
    };
    write(&scalars_path, &each).map_err(failed)?;
    for versus in &args.vs {
        let name = match versus {
            Versus::Arkworks => "arkworks",
            Versus::Gnark => "gnark",
            Versus::Blst if place.curve == CurveName::Bls12_381 => "blst",
            // blst has no other curve
            Versus::Blst => continue,
        };
        let (p, s) = (&points_path, &scalars_path);
        rivals.extend(rival::start_all(
            name,
            place.curve,
            p,
            s,
            context.threads(),
        )?);
    }
    Ok(rivals)
}
