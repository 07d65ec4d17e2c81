//! `whir export`: a proof in Plonky3's own types, so that anyone can check it with p3-whir alone.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;
use fieldspar_whir::field::{Extension, F};
use fieldspar_whir::params::{Assumption, Folds, Params};
use fieldspar_whir::proof::{AnyProofFile, ProofFile, preamble};
use p3_field::PrimeField32;
use serde::Serialize;
use serde_json::{Value, json};

use crate::args::P3;
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::fields;
use crate::whir::statement::View;
use crate::whir::{output, params_args, run};

/// Flags of `whir export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The proof file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder to write to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

fn encode<T: Serialize>(part: &T) -> Result<Vec<u8>, Failure> {
    postcard::to_allocvec(part).map_err(|e| Failure::internal(e.to_string()))
}

/// Every field of p3-whir's `ProtocolParameters` under its own name, values by its own names.
fn protocol_parameters(params: &Params, n: usize) -> Result<Value, Failure> {
    let p3 = params.protocol_parameters(n)?;
    Ok(json!({
        "starting_log_inv_rate": p3.starting_log_inv_rate,
        "round_log_inv_rates": p3.round_log_inv_rates,
        "folding_factor": match &params.folds {
            Folds::Constant(fold) => json!({"Constant": fold}),
            Folds::PerRound(folds) => json!({"PerRound": folds}),
        },
        "soundness_type": match params.assumption {
            Assumption::UniqueDecoding => "UniqueDecoding",
            Assumption::Johnson => "JohnsonBound",
            Assumption::Capacity => "CapacityBound",
        },
        "security_level": p3.security_level,
        "pow_bits": p3.pow_bits,
    }))
}

/// What a reader with p3-whir alone has to know.
fn statement<EF: Extension>(view: &View) -> Result<Value, Failure> {
    let View { params, n, .. } = view;
    let preamble = preamble(params, *n, view.true_len, view.encoding)?;
    let preamble: Vec<u32> = preamble.iter().map(F::as_canonical_u32).collect();
    Ok(json!({
        "format": "fieldspar whir export",
        "schema": 1,
        "p3_version": P3,
        "numbers": "canonical; an extension element is the list of its coordinates, constant term first",
        "field": {"name": "BabyBear", "modulus": F::ORDER_U32},
        "extension": {
            "degree": EF::D,
            "type": format!("BinomialExtensionField<BabyBear, {}>", EF::D),
            "binomial": format!("x^{} - {}", EF::D, EF::W.as_canonical_u32()),
        },
        "permutation": "default_babybear_poseidon2_16",
        "leaf_hash": "PaddingFreeSponge<Poseidon2BabyBear<16>, 16, 8, 8>",
        "node_hash": "TruncatedPermutation<Poseidon2BabyBear<16>, 2, 8, 16>",
        "challenger": "DuplexChallenger<BabyBear, Poseidon2BabyBear<16>, 16, 8>",
        "cap_height": params.cap_height,
        "layout": "SuffixProver",
        "num_variables": n,
        "protocol_parameters": protocol_parameters(params, *n)?,
        "opening_protocol": "one table of one column of num_variables variables, column 0 opened at one point, no successor",
        "true_length": view.true_len,
        "encoding": view.encoding.name(),
        "transcript_preamble": preamble,
        "commitment": view.commitment,
        "point": view.point,
        "value": view.value,
        "order_of_absorption": [
            "a new challenger",
            "each element of transcript_preamble, in order",
            "the commitment, by the verifier's observe_commitment",
            "each coordinate of the point, in order, by observe_algebra_element; coordinate 0 is the most significant index bit",
            "then verify_at; the value that it returns must be the value stated here",
        ],
        "files": {
            "proof.postcard": "p3_whir::PcsProof by postcard 1, elements in p3's own (Montgomery) serialisation",
            "commitment.postcard": "p3_symmetric::MerkleCap by postcard 1",
        },
    }))
}

fn contents<EF: Extension>(
    file: &ProofFile<EF>,
    view: &View,
) -> Result<[(&'static str, Vec<u8>); 3], Failure> {
    let statement = statement::<EF>(view)?;
    let mut text =
        serde_json::to_string_pretty(&statement).map_err(|e| Failure::internal(e.to_string()))?;
    text.push('\n');
    Ok([
        ("proof.postcard", encode(&file.proof)?),
        ("commitment.postcard", encode(&file.statement.commitment)?),
        // Last, so that a folder with a statement is whole.
        ("statement.json", text.into_bytes()),
    ])
}

pub(crate) fn run(args: &ExportArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let (_, file) = run::read_proof(&args.file, context)?;
    let view = View::of(&file);
    params_args::notice(&view.params, context);
    let contents = match &file {
        AnyProofFile::Four(file) => contents(file, &view)?,
        AnyProofFile::Five(file) => contents(file, &view)?,
    };
    std::fs::create_dir_all(&args.to).map_err(|e| {
        let shown = args.to.display().to_string();
        Failure::input(format!("cannot make the folder {shown}: {e}")).at(shown)
    })?;
    let paths: Vec<PathBuf> = contents
        .iter()
        .map(|(name, _)| args.to.join(name))
        .collect();
    for path in &paths {
        output::check(path, args.force)?;
    }
    let mut outputs: Vec<_> = paths.iter().map(|path| ("the export", &**path)).collect();
    outputs.extend(context.trace_path().map(|path| ("--trace", path)));
    output::distinct(&outputs, &[("FILE", &args.file)])?;
    let mut text = String::new();
    for (path, (_, data)) in paths.iter().zip(&contents) {
        output::write(path, data, args.force)?;
        text.push_str(&format!("{:>10} bytes  {}\n", data.len(), path.display()));
    }
    let files: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
    Ok(Outcome::new(text, fields(json!({"files": files}))))
}
