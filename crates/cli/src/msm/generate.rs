//! `msm gen`: points with known logarithms and scalars, from a seed.
#![forbid(unsafe_code)]

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use fieldspar_msm::curve::Curve;
use fieldspar_msm::files::{self, Encoding};
use fieldspar_msm::inputs;
use serde_json::json;

use super::{CurveName, EncodingName, Skew, on_curve};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::fields;
use crate::whir::output;

/// Flags of `msm gen`.
#[derive(Debug, Args)]
pub(crate) struct GenArgs {
    /// The curve
    #[arg(long, value_enum)]
    curve: CurveName,
    /// Logarithm of the number of points and scalars
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=30))]
    log_n: u32,
    /// Same seed, same files
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Where the points go
    #[arg(long, value_name = "FILE")]
    points: PathBuf,
    /// Where the scalars go
    #[arg(long, value_name = "FILE")]
    scalars: PathBuf,
    /// How points are written
    #[arg(long, value_enum, default_value = "compressed")]
    encoding: EncodingName,
    /// How scalars are distributed
    #[arg(long, value_enum, default_value = "uniform")]
    skew: Skew,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &GenArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_engine()?;
    let (points, scalars) = (&*args.points, &*args.scalars);
    output::check(points, args.force)?;
    output::check(scalars, args.force)?;
    output::distinct(&[("--points", points), ("--scalars", scalars)], &[])?;
    on_curve!(args.curve, write(args, context))?;
    let text = format!("{}\n{}\n", points.display(), scalars.display());
    let object = json!({
        "files": [points, scalars],
        "curve": args.curve.name(),
        "log_n": args.log_n,
        "seed": args.seed,
        "encoding": Encoding::from(args.encoding).name(),
        "skew": inputs::Distribution::from(args.skew).name(),
    });
    Ok(Outcome::new(text, fields(object)))
}

fn write<C: Curve<N>, const N: usize>(args: &GenArgs, context: &Context) -> Result<(), Failure> {
    let count = 1usize << args.log_n;
    let need = (count as u64).saturating_mul(16 * N as u64 + 32) + (16 << 20);
    let have = context.memory_limit()?.bytes();
    if need > have {
        return Err(fieldspar_device::OutOfMemory::new("msm gen", need, have).into());
    }
    let points = inputs::points::<C, N>(args.seed, count);
    let encoding = args.encoding.into();
    whole(&args.points, args.force, |to| {
        points
            .iter()
            .try_for_each(|p| to.write_all(&files::encode(p, encoding)))
    })?;
    let scalars = inputs::Distribution::from(args.skew).scalars(args.seed, count, &C::ORDER);
    whole(&args.scalars, args.force, |to| {
        let mut limbs = scalars.iter().flatten();
        limbs.try_for_each(|l| to.write_all(&l.to_le_bytes()))
    })
}

/// Writes a file whole or not at all.
fn whole(
    path: &Path,
    force: bool,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), Failure> {
    let failed =
        |error: io::Error| Failure::input(error.to_string()).at(path.display().to_string());
    let folder = path.parent().filter(|dir| !dir.as_os_str().is_empty());
    let file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).map_err(failed)?;
    let mut to = BufWriter::new(file);
    write(&mut to).map_err(failed)?;
    let file = to.into_inner().map_err(|e| failed(e.into_error()))?;
    let persisted = if force {
        file.persist(path)
    } else {
        file.persist_noclobber(path)
    };
    persisted.map(|_| ()).map_err(|e| failed(e.error))
}
