//! `whir inspect`: what a proof file says and where its bytes go.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;
use fieldspar_whir::field::Extension;
use fieldspar_whir::proof::{AnyProofFile, ProofFile};
use serde::Serialize;
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::whir::params_args;
use crate::whir::run;
use crate::whir::statement::View;

/// Flags of `whir inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The proof file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

fn size<T: Serialize>(part: &T) -> Result<usize, Failure> {
    postcard::to_allocvec(part)
        .map(|bytes| bytes.len())
        .map_err(|e| Failure::internal(e.to_string()))
}

/// Bytes by part, in the order of the file; they add up to it.
fn sizes<EF: Extension>(
    file: &ProofFile<EF>,
    total: usize,
) -> Result<Vec<(String, usize)>, Failure> {
    let proof = &file.proof.whir;
    let statement = &file.statement;
    let all = size(&file.proof)?;
    let digests = 4 + 32 * statement.commitment.roots().len();
    let point = 4 + 4 * EF::D * statement.point.len();
    let value = 4 * EF::D;
    let header = total.saturating_sub(all + digests + point + value);
    let mut parts = vec![
        ("header".to_owned(), header),
        ("commitment".to_owned(), digests),
        ("point".to_owned(), point),
        ("value".to_owned(), value),
        ("first sumcheck".to_owned(), size(&proof.initial_sumcheck)?),
    ];
    for (i, round) in proof.rounds.iter().enumerate() {
        parts.push((format!("round {i} commitment"), size(&round.commitment)?));
        parts.push((format!("round {i} openings"), size(&round.openings)?));
        parts.push((format!("round {i} sumcheck"), size(&round.sumcheck)?));
    }
    parts.push(("final polynomial".to_owned(), size(&proof.final_poly)?));
    parts.push(("final openings".to_owned(), size(&proof.final_openings)?));
    parts.push(("final sumcheck".to_owned(), size(&proof.final_sumcheck)?));
    let counted: usize = parts.iter().map(|(_, bytes)| bytes).sum();
    parts.push((
        "answers, witnesses, lengths".to_owned(),
        total.saturating_sub(counted),
    ));
    Ok(parts)
}

pub(crate) fn run(args: &InspectArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let (bytes, file) = run::read_proof(&args.file, context)?;
    let view = View::of(&file);
    params_args::notice(&view.params, context);
    let parts = match &file {
        AnyProofFile::Four(file) => sizes(file, bytes.len())?,
        AnyProofFile::Five(file) => sizes(file, bytes.len())?,
    };
    let mut text = format!(
        "proof        {}, {} bytes, NOT verified\n{}{}commitment   {}\npoint\n",
        args.file.display(),
        bytes.len(),
        view.input_text(),
        params_args::text(&view.params, view.n),
        view.commitment_hex(),
    );
    for (i, coordinate) in view.point.iter().enumerate() {
        let words = super::statement::list(coordinate);
        text.push_str(&format!("  {i:<11}{words}\n"));
    }
    text.push_str(&format!("value        {}\nsizes\n", view.value_text()));
    for (name, bytes) in &parts {
        text.push_str(&format!("  {name:<30}{bytes:>10} bytes\n"));
    }
    let mut fields = view.fields();
    fields.insert("file".into(), json!(args.file.display().to_string()));
    fields.insert("proof_bytes".into(), json!(bytes.len()));
    let sizes: Vec<_> = parts
        .iter()
        .map(|(part, bytes)| json!({"part": part, "bytes": bytes}))
        .collect();
    fields.insert("sizes".into(), json!(sizes));
    Ok(Outcome::new(text, fields))
}
