//! `whir plan`: the cost of a proof, before any work.
#![forbid(unsafe_code)]

use clap::Args;
use fieldspar_device::{MemoryPlan, format_bytes};
use fieldspar_whir::plan::{Plan, plan};
use serde_json::json;

use crate::context::{Context, Outcome};
use crate::engine::{free_bytes, plan_of};
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

/// The device's own memory: what each phase holds, and what is free.
fn memory_text(plan: &MemoryPlan, free: Option<u64>) -> String {
    let mut text = String::from("device memory, phase by phase\n");
    for phase in plan.phases() {
        text.push_str(&format!(
            "  {:<18}{:>10.1} MiB\n",
            phase.name,
            mib(phase.bytes)
        ));
    }
    let need = format_bytes(plan.peak_bytes());
    let have = match free {
        None => "what is free is not known".to_owned(),
        Some(free) if plan.peak_bytes() <= free => format!("{} free: fits", format_bytes(free)),
        Some(free) => format!("{} free: DOES NOT FIT", format_bytes(free)),
    };
    text.push_str(&format!("  {need} at the peak, {have}\n"));
    text
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
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
    let device = context.open_device()?;
    let params = args.params.params(context);
    let padded = params.padded_num_variables(args.n);
    let mut all = fields(params_args::fields(&params, padded));
    match plan(&params, args.n) {
        Ok(plan) => {
            let peak = run::peak_bytes(&params, args.n, device.kind())?;
            let mut text = format!(
                "accepted\n{}{}",
                params_args::text(&params, plan.n),
                text(&plan, peak)
            );
            let plan = serde_json::to_value(&plan).map_err(|e| Failure::internal(e.to_string()))?;
            all.extend(fields(plan));
            all.insert("peak_memory_bytes".into(), json!(peak));
            if let Some(plan) = plan_of(&device, &params, args.n)? {
                let free = free_bytes(&device)?;
                text.push_str(&memory_text(&plan, free));
                all.extend(fields(json!({
                    "planned_device_memory_bytes": plan.peak_bytes(),
                    "free_device_memory_bytes": free,
                    "device_memory_phases": plan.phases(),
                })));
            }
            Ok(Outcome::new(text, all).on(&device))
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
            Ok(Outcome::new(text, all).on(&device).answer(false))
        }
    }
}
