//! `whir verify`: a verdict that never trusts the file's own claims in silence.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::Args;
use fieldspar_whir::proof::AnyProofFile;
use fieldspar_whir::statement::{self, VerifyError};
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::ms;
use crate::progress;
use crate::whir::params_args;
use crate::whir::point::At;
use crate::whir::run;
use crate::whir::statement::{View, element, words_of_hex};

/// What is accepted without a flag.
const MIN_SECURITY: usize = 100;

/// Flags of `whir verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The proof file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The commitment that the proof must be about
    #[arg(long, value_name = "HEX")]
    commitment: Option<String>,
    /// The point that it must be about: random:SEED or a file, as for `prove`
    #[arg(long, value_name = "POINT")]
    at: Option<At>,
    /// The value that it must be about: hex, or canonical numbers with commas
    #[arg(long, value_name = "VALUE")]
    value: Option<String>,
    /// Fewest bits of security to accept
    #[arg(long, value_name = "BITS", default_value_t = MIN_SECURITY)]
    min_security: usize,
    /// Accept a security level that rests on a conjecture
    #[arg(long)]
    allow_conjectured: bool,
}

/// Why policy or the expected statement forbid a yes. What the user gave must be well-formed.
fn refusal(args: &VerifyArgs, view: &View) -> Result<Option<String>, Failure> {
    let params = &view.params;
    if let Some(hex) = &args.commitment {
        let words = words_of_hex(hex).map_err(|f| f.of_option("--commitment"))?;
        if !view.commitment.iter().flatten().eq(&words) {
            return Ok(Some(
                "the proof is about another commitment than --commitment".into(),
            ));
        }
    }
    if let Some(at) = &args.at {
        let own = view.own_variables();
        let given = at.coordinates(own, view.n, params.degree)?;
        let (padding, rest) = view.point.split_at(view.n.saturating_sub(own));
        if rest != given || padding.iter().flatten().any(|&word| word != 0) {
            return Ok(Some("the proof is about another point than --at".into()));
        }
    }
    if let Some(text) = &args.value {
        let value = element(text, params.degree.get()).map_err(|f| f.of_option("--value"))?;
        if value != view.value {
            return Ok(Some("the proof is about another value than --value".into()));
        }
    }
    if params.security_level < args.min_security {
        return Ok(Some(format!(
            "the security level is {} bits, below {}; --min-security {} accepts it",
            params.security_level, args.min_security, params.security_level
        )));
    }
    if params.assumption.is_conjectured() && !args.allow_conjectured {
        return Ok(Some(format!(
            "the security level rests on a conjecture ({}); --allow-conjectured accepts it",
            params.assumption
        )));
    }
    Ok(None)
}

fn source(given: bool) -> &'static str {
    if given { "as given" } else { "the file's own" }
}

pub(crate) fn run(args: &VerifyArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let (bytes, file) = run::read_proof(&args.file, context)?;
    let view = View::of(&file);
    params_args::notice(&view.params, context);
    let refused = refusal(args, &view)?;
    let (verdict, verify) = match refused {
        Some(reason) => (Err(reason), None),
        None => {
            let (verdict, time) = progress::timed(|| match &file {
                AnyProofFile::Four(file) => statement::verify(file),
                AnyProofFile::Five(file) => statement::verify(file),
            });
            if let Err(VerifyError::Params(error)) = verdict {
                return Err(Failure::input(error.to_string()).in_file(&args.file));
            }
            (verdict.map_err(|e| e.to_string()), Some(time))
        }
    };
    let valid = verdict.is_ok();
    let reason = verdict.err();

    let mut text = match (&reason, verify) {
        (None, Some(time)) => format!("VALID, verified in {:.2} ms by p3-whir 0.8.0\n", ms(time)),
        (reason, _) => format!("REFUSED: {}\n", reason.as_deref().unwrap_or("no reason")),
    };
    text.push_str(&format!(
        "\nproof        {}, {} bytes\n{}{}commitment   {}  ({})\npoint        {} coordinates  ({})\nvalue        {}  ({})\n",
        args.file.display(),
        bytes.len(),
        view.input_text(),
        params_args::text(&view.params, view.n),
        view.commitment_hex(),
        source(args.commitment.is_some()),
        view.point.len(),
        source(args.at.is_some()),
        view.value_text(),
        source(args.value.is_some()),
    ));
    let mut fields = view.fields();
    for (name, value) in [
        ("file", json!(args.file.display().to_string())),
        ("valid", json!(valid)),
        ("reason", json!(reason)),
        ("verify_ms", json!(verify.map(ms))),
        ("proof_bytes", json!(bytes.len())),
        ("min_security", json!(args.min_security)),
        (
            "given",
            json!({
                "commitment": args.commitment.is_some(),
                "point": args.at.is_some(),
                "value": args.value.is_some(),
            }),
        ),
    ] {
        fields.insert(name.into(), value);
    }
    Ok(Outcome::new(text, fields).answer(valid))
}
