//! `msm run`: the sum of scalars times points, from files.
#![forbid(unsafe_code)]

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use fieldspar_msm::curve::{Affine, Curve};
use fieldspar_msm::files::{self, Encoding, Input, Timing};
use fieldspar_msm::{InSubgroup, OnCurve, Trusted};
use serde_json::json;

use super::{CurveName, EncodingName, engine, on_curve};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::{fields, ms};
use crate::progress;

/// Flags of `msm run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The curve
    #[arg(long, value_enum)]
    curve: CurveName,
    /// The points
    #[arg(long, value_name = "FILE")]
    points: PathBuf,
    /// The scalars: 32 bytes each, little-endian, below the group's order
    #[arg(long, value_name = "FILE")]
    scalars: PathBuf,
    /// How the points are written
    #[arg(long, value_enum, default_value = "compressed")]
    encoding: EncodingName,
    /// What is checked of each point; none takes every point for one of the subgroup
    #[arg(long, value_enum, default_value = "subgroup")]
    check: Check,
}

/// What is checked of each point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// That its coordinates are below the modulus
    None,
    /// And that it is on the curve
    Curve,
    /// And that it is in the subgroup of prime order
    Subgroup,
}

/// What a run found out.
struct Done {
    result: String,
    count: u64,
    timing: Timing,
}

pub(crate) fn run(args: &RunArgs, context: &Context) -> Result<Outcome, Failure> {
    let engine = engine(context)?;
    let done = on_curve!(args.curve, sum(args, context, &engine))?;
    let object = json!({
        "curve": args.curve.name(),
        "n": done.count,
        "encoding": Encoding::from(args.encoding).name(),
        "check": args.check.to_possible_value().map(|v| v.get_name().to_owned()),
        "result": done.result,
        "ms": ms(done.timing.msm),
        "phases": {
            "read": ms(done.timing.read),
            "check": ms(done.timing.check),
            "msm": ms(done.timing.msm),
        },
    });
    let mut outcome = Outcome::new(format!("{}\n", done.result), fields(object));
    outcome.device = Some(engine.info());
    Ok(outcome)
}

fn sum<C: Curve<N>, const N: usize>(
    args: &RunArgs,
    context: &Context,
    engine: &fieldspar_msm::Engine,
) -> Result<Done, Failure> {
    let (points, points_bytes) = open(&args.points)?;
    let (scalars, scalars_bytes) = open(&args.scalars)?;
    let input = Input {
        points,
        points_bytes,
        scalars,
        scalars_bytes,
        encoding: args.encoding.into(),
    };
    let memory = context.memory_limit()?.bytes();
    let bar = progress::count(context, "msm");
    let report = |done: u64, all: u64| {
        if let Some(bar) = &bar {
            bar.set_length(all);
            bar.set_position(done);
        }
    };
    let found: Result<(Affine<C, N>, u64, Timing), _> = match args.check {
        Check::None => files::msm_files::<C, N, Trusted>(engine, input, memory, report),
        Check::Curve => files::msm_files::<C, N, OnCurve>(engine, input, memory, report),
        Check::Subgroup => files::msm_files::<C, N, InSubgroup>(engine, input, memory, report),
    };
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    let (sum, count, timing) = found.map_err(|error| {
        use files::FileError as E;
        let of_scalars = match &error {
            E::Scalar { .. } => true,
            E::Io { what, .. } | E::Length { what, .. } => *what == "scalars",
            _ => false,
        };
        let of_points = match &error {
            E::Point { .. } => true,
            E::Io { what, .. } | E::Length { what, .. } => *what == "points",
            _ => false,
        };
        match (of_points, of_scalars) {
            (true, _) => Failure::from(error).in_file(&args.points),
            (_, true) => Failure::from(error).in_file(&args.scalars),
            _ => Failure::from(error),
        }
    })?;
    let bytes = files::encode(&sum, Encoding::Compressed);
    Ok(Done {
        result: hex(&bytes),
        count,
        timing,
    })
}

/// A file and its length.
fn open(path: &Path) -> Result<(File, u64), Failure> {
    let failed = |error: std::io::Error| Failure::input(error.to_string()).in_file(path);
    let file = File::open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(Failure::input("not a regular file, so its length is not known").in_file(path));
    }
    Ok((file, found.len()))
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
