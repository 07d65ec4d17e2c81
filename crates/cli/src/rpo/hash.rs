//! `rpo hash`: digests of files.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;
use fieldspar_rpo::Sponge;
use fieldspar_rpo::engine::Engine;
use serde_json::{Value, json};

use super::{elements, open_processor, read};
use crate::context::{Context, Outcome, printable};
use crate::failure::Failure;
use crate::json;

/// Flags of `rpo hash`.
#[derive(Debug, Args)]
pub(crate) struct HashArgs {
    /// Files; `-` or none is standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Which RPO-256: miden-0.22, miden-0.13 or paper-2023; their digests differ
    #[arg(long, value_parser = super::sponge)]
    sponge: Sponge,
    /// The input is field elements, eight bytes each, little-endian
    #[arg(long, conflicts_with = "bytes")]
    elements: bool,
    /// The input is bytes, as it is without --elements too
    #[arg(long)]
    bytes: bool,
}

pub(crate) fn run(args: &HashArgs, context: &Context) -> Result<Outcome, Failure> {
    let (device, engine) = open_processor(context)?;
    let files = match args.files.is_empty() {
        true => vec![PathBuf::from("-")],
        false => args.files.clone(),
    };
    let inputs: Vec<Vec<u8>> = files.iter().map(|f| read(f)).collect::<Result<_, _>>()?;
    let digests = if args.elements {
        let words: Vec<Vec<u64>> = inputs
            .iter()
            .zip(&files)
            .map(|(input, file)| elements(input).map_err(|e| e.in_file(file)))
            .collect::<Result<_, _>>()?;
        let words: Vec<&[u64]> = words.iter().map(Vec::as_slice).collect();
        engine.hash_many(args.sponge, &words)?
    } else {
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        engine.hash_bytes_many(args.sponge, &inputs)
    };
    let mut text = String::new();
    let mut rows: Vec<Value> = Vec::new();
    for (file, digest) in files.iter().zip(digests) {
        let name = file.display().to_string();
        text.push_str(&format!("{digest}  {}\n", printable(&name)));
        rows.push(json!({"input": name, "digest": digest.to_string()}));
    }
    let kind = if args.elements { "elements" } else { "bytes" };
    let fields = json::fields(json!({
        "sponge": args.sponge.name(), "of": kind, "digests": rows,
    }));
    Ok(Outcome::new(text, fields).on(&device))
}
