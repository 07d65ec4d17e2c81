//! `whir plan`: the cost of a proof, before any work.
#![forbid(unsafe_code)]

use clap::Args;
use fieldspar_device::format_bytes;
use fieldspar_whir::plan::{Plan, plan};
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::fields;
use crate::whir::params_args::{self, ParamsArgs};
use crate::whir::run;

/// Flags of `whir plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    /// Variables of the polynomial: it has 2^N values
    #[arg(long, visible_alias = "log-n", value_name = "N", default_value_t = 20)]
    n: usize,
    #[command(flatten)]
    params: ParamsArgs,
}

fn text(plan: &Plan, peak: u64) -> String {
    let mut text = String::from("round    queries  PoW bits  sumcheck PoW  rate\n");
    let last = plan.rounds.len();
    for (i, round) in plan.rounds.iter().chain([&plan.final_round]).enumerate() {
        let name = if i == last {
            "final".to_owned()
        } else {
            i.to_string()
        };
        text.push_str(&format!(
            "{name:<9}{:>7}{:>10}{:>14}  1/2^{}\n",
            round.num_queries, round.pow_bits, round.folding_pow_bits, round.log_inv_rate
        ));
    }
    text.push_str(&format!(
        "\nproof        about {} bytes\ngrinding     about {} permutations\n\
         verifier     about {} permutations\nmemory       {} at the peak\n",
        plan.proof_bytes_estimate,
        plan.expected_grinding_hashes,
        plan.verifier_hashes_estimate,
        format_bytes(peak),
    ));
    text
}

pub(crate) fn run(args: &PlanArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_device()?;
    let params = args.params.params(context);
    let padded = params.padded_num_variables(args.n);
    let mut all = fields(params_args::fields(&params, padded));
    match plan(&params, args.n) {
        Ok(plan) => {
            let peak = run::peak_bytes(&params, args.n)?;
            let text = format!(
                "accepted\n{}{}",
                params_args::text(&params, plan.n),
                text(&plan, peak)
            );
            let plan = serde_json::to_value(&plan).map_err(|e| Failure::internal(e.to_string()))?;
            all.extend(fields(plan));
            all.insert("peak_memory_bytes".into(), json!(peak));
            Ok(Outcome::new(text, all))
        }
        Err(error) => {
            let reason = error.to_string();
            all.extend(fields(json!({
                "accepted": false,
                "reason": reason,
                "max_security_level": params.max_security_level(args.n),
                "queries": null,
                "pow_bits_per_round": null,
                "proof_bytes_estimate": null,
                "peak_memory_bytes": null,
            })));
            let text = format!("REFUSED: {reason}\n{}", params_args::text(&params, padded));
            Ok(Outcome::new(text, all).answer(false))
        }
    }
}
