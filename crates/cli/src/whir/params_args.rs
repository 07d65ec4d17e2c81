//! The flags that choose parameters.
#![forbid(unsafe_code)]

use clap::Args;
use fieldspar_whir::params::{Assumption, ExtensionDegree, Folds, Params, RateSchedule};
use serde_json::{Value, json};

use crate::context::Context;

/// Parameters; without a flag the library's default, which is proven at 100 bits.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Parameters")]
pub(crate) struct ParamsArgs {
    /// Bits of security that every error term must reach [default: 100]
    #[arg(long, value_name = "BITS")]
    security_level: Option<usize>,

    /// Bound that the number of queries rests on: unique-decoding, johnson (both proven) or
    /// capacity (conjectural) [default: johnson]
    #[arg(long, value_name = "BOUND")]
    assumption: Option<Assumption>,

    /// Variables that each round folds [default: 4]
    #[arg(long, value_name = "K", conflicts_with = "folds")]
    fold: Option<usize>,

    /// Variables that the rounds fold, one by one, such as 4,4,3
    #[arg(long, value_name = "K,K,..", value_delimiter = ',')]
    folds: Option<Vec<usize>>,

    /// log2 of the inverse rate of the first code: 1 is rate 1/2 [default: 1]
    #[arg(long, value_name = "R")]
    rate: Option<usize>,

    /// Rates of the later rounds: standard, article, or a list such as 4,7 [default: standard]
    #[arg(long, value_name = "SCHEDULE", value_parser = rate_schedule)]
    rate_schedule: Option<RateSchedule>,

    /// Most bits of proof of work that one step may need [default: 16]
    #[arg(long, value_name = "BITS")]
    pow_bits: Option<usize>,

    /// Degree of the extension field, 4 or 5 [default: 5]
    #[arg(long, value_name = "D", value_parser = extension)]
    extension: Option<ExtensionDegree>,

    /// The commitment is a layer of 2^H digests [default: 0]
    #[arg(long, value_name = "H")]
    cap_height: Option<usize>,
}

fn rate_schedule(text: &str) -> Result<RateSchedule, String> {
    match text {
        "standard" => Ok(RateSchedule::Standard),
        "article" => Ok(RateSchedule::Article),
        list => list
            .split(',')
            .map(|entry| entry.trim().parse())
            .collect::<Result<_, _>>()
            .map(RateSchedule::PerRound)
            .map_err(|_| "allowed: standard, article, or a list of numbers such as 4,7".to_owned()),
    }
}

fn extension(text: &str) -> Result<ExtensionDegree, String> {
    text.parse::<usize>()
        .map_err(|e| e.to_string())
        .and_then(ExtensionDegree::try_from)
}

impl ParamsArgs {
    /// The parameters; says so where their security is a conjecture.
    pub(crate) fn params(&self, context: &Context) -> Params {
        let mut params = Params::default();
        let Self {
            security_level,
            assumption,
            fold,
            folds,
            rate,
            rate_schedule,
            pow_bits,
            extension,
            cap_height,
        } = self.clone();
        params.security_level = security_level.unwrap_or(params.security_level);
        params.assumption = assumption.unwrap_or(params.assumption);
        params.folds = match (folds, fold) {
            (Some(folds), _) => Folds::PerRound(folds),
            (None, Some(fold)) => Folds::Constant(fold),
            (None, None) => params.folds,
        };
        params.log_inv_rate = rate.unwrap_or(params.log_inv_rate);
        params.rates = rate_schedule.unwrap_or(params.rates);
        params.pow_bits = pow_bits.unwrap_or(params.pow_bits);
        params.degree = extension.unwrap_or(params.degree);
        params.cap_height = cap_height.unwrap_or(params.cap_height);
        notice(&params, context);
        params
    }
}

/// The one line where security is a conjecture.
pub(crate) fn notice(params: &Params, context: &Context) {
    if let Some(line) = params.assumption.notice() {
        context.warn(line);
    }
}

/// The parameters as every verb shows them. `folds` is what `n` variables give, or null where they
/// give none.
pub(crate) fn fields(params: &Params, n: usize) -> Value {
    json!({
        "n": n,
        "folds": params.folding_schedule(n).ok(),
        "folding": params.folds,
        "rate": params.log_inv_rate,
        "rate_schedule": params.rates,
        "round_rates": params.round_log_inv_rates(n).ok(),
        "assumption": params.assumption,
        "conjectural": params.assumption.is_conjectured(),
        "extension": params.degree,
        "security_level": params.security_level,
        "pow_bits": params.pow_bits,
        "cap_height": params.cap_height,
        "field": params.field,
        "hash": params.hash,
        "arity": params.arity,
    })
}

/// The parameters in two lines.
pub(crate) fn text(params: &Params, n: usize) -> String {
    let proven = if params.assumption.is_conjectured() {
        "conjectural"
    } else {
        "proven"
    };
    format!(
        "security     {} bits, {} ({proven}), {} bits of proof of work at most\n\
         parameters   n = {n}, fold {}, rate 1/2^{} ({} schedule), extension degree {}, cap height {}\n",
        params.security_level,
        params.assumption,
        params.pow_bits,
        params.folds,
        params.log_inv_rate,
        params.rates,
        params.degree.get(),
        params.cap_height,
    )
}
