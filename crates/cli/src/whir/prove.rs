//! `whir prove`: from a file to a proof file.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use fieldspar_whir::input::{self, Encoding};
use fieldspar_whir::params::{MAX_NUM_VARIABLES, Params};
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::engine::Prover;
use crate::failure::Failure;
use crate::json::ms;
use crate::whir::output;
use crate::whir::params_args::{self, ParamsArgs};
use crate::whir::point::At;
use crate::whir::run;

/// Flags of `whir prove`.
#[derive(Debug, Args)]
pub(crate) struct ProveArgs {
    /// The polynomial's values on the hypercube, zero-padded to a power of two
    #[arg(value_name = "INPUT")]
    input: PathBuf,
    /// Where the proof goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// How the input is read: u32 (little-endian, canonical), npy (uint32 or uint64) or bytes (any
    /// file, three bytes an element)
    #[arg(long, value_name = "ENCODING", default_value = "u32")]
    encoding: Encoding,
    /// The point: random:SEED, or a file with a JSON list of coordinates (each a list of canonical
    /// numbers) or their hex [default: random:0]
    #[arg(long, value_name = "POINT")]
    at: Option<At>,
    /// Replace the output if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    params: ParamsArgs,
}

/// Bytes of one element, from the head of the file where that must say it.
fn element_bytes(path: &Path, encoding: Encoding) -> u64 {
    match encoding {
        Encoding::U32 => 4,
        Encoding::Bytes => 3,
        Encoding::Npy => {
            let mut head = Vec::new();
            // A file that cannot be read is refused, with its reason, when it is read.
            let _ = File::open(path).and_then(|f| f.take(128).read_to_end(&mut head));
            let wide = head.windows(3).any(|w| w == b"<u8");
            if wide { 8 } else { 4 }
        }
    }
}

/// Checks parameters and memory by the length of the file alone; gives the bytes that are planned of
/// the device's own memory.
fn check(
    args: &ProveArgs,
    context: &Context,
    prover: &Prover,
    params: &Params,
) -> Result<Option<u64>, Failure> {
    let path = &args.input;
    let found = std::fs::metadata(path).map_err(|e| {
        Failure::input(format!("cannot read {}: {e}", path.display()))
            .at(path.display().to_string())
    })?;
    if !found.is_file() {
        return Err(
            Failure::input(format!("{} is not a regular file", path.display()))
                .at(path.display().to_string()),
        );
    }
    let length = found.len();
    let count = length.div_ceil(element_bytes(path, args.encoding)).max(1);
    let n = count.checked_next_power_of_two().map_or(64, u64::ilog2) as usize;
    if n > MAX_NUM_VARIABLES {
        return Err(Failure::input(format!(
            "{} has more than 2^{MAX_NUM_VARIABLES} elements",
            path.display()
        )));
    }
    // The file, its elements, and the elements moved to a longer place.
    let reading = length
        .saturating_add(4 * count)
        .max((4 * count).saturating_add(4 << n));
    run::check(context, prover, params, n, reading)
}

pub(crate) fn run(args: &ProveArgs, context: &Context) -> Result<Outcome, Failure> {
    output::check(&args.output, args.force)?;
    let mut outputs = vec![("--output", args.output.as_path())];
    outputs.extend(context.trace_path().map(|path| ("--trace", path)));
    let mut inputs = vec![("INPUT", args.input.as_path())];
    if let Some(At::File(path)) = &args.at {
        inputs.push(("--at", path));
    }
    output::distinct(&outputs, &inputs)?;
    let prover = context.open_prover()?;
    let params = args.params.params(context);
    let planned = check(args, context, &prover, &params)?;
    let input = input::read_file(&args.input, args.encoding).map_err(|e| {
        let failure = Failure::from(e);
        let path = args.input.display().to_string();
        if failure.at.as_ref() == Some(&path) {
            failure
        } else {
            failure.in_file(&args.input)
        }
    })?;
    let at = args.at.clone().unwrap_or(At::Random(0));
    let mut made = run::make(context, &prover, &params, input, &at)?;
    made.planned_device_memory = planned;
    output::write(&args.output, &made.bytes, args.force)?;
    let chosen = if args.at.is_some() {
        ""
    } else {
        " (the default; --at chooses another)"
    };
    let output = args.output.display();
    let text = format!(
        "committed to {}, opened it at {at}{chosen}, verified the proof\n\
         {}{}{}commitment   {}\nvalue        {}\n\n{}\n\
         proof        {output}, {} bytes\nverified in {:.2} ms by p3-whir 0.8.0: valid\n",
        args.input.display(),
        run::device_text(&prover, context),
        made.view.input_text(),
        params_args::text(&params, made.view.n),
        made.view.commitment_hex(),
        made.view.value_text(),
        made.times_text(),
        made.bytes.len(),
        ms(made.verify),
    );
    let mut fields = made.fields();
    fields.insert("input".into(), json!(args.input.display().to_string()));
    fields.insert("output".into(), json!(output.to_string()));
    fields.insert("at".into(), json!(at.to_string()));
    Ok(Outcome::new(text, fields).on(&prover.device))
}
