//! `whir demo`: the whole way on a polynomial that is built in.
#![forbid(unsafe_code)]

use clap::Args;
use fieldspar_whir::field::F;
use fieldspar_whir::input::{Encoding, Input};
use p3_field::PrimeCharacteristicRing;
use rayon::prelude::*;

use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::whir::params_args::{self, ParamsArgs};
use crate::whir::point::At;
use crate::whir::run;

/// Flags of `whir demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Variables of the polynomial: it has 2^N values
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u8).range(0..=30))]
    n: u8,
    /// Seed of the polynomial and of the point
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    params: ParamsArgs,
}

/// `(i + seed)^7`: the exponent is prime to p - 1, so no two of up to p values in a row are equal.
fn polynomial(n: usize, seed: u64) -> Vec<F> {
    let offset = F::from_u64(seed);
    (0..1_u64 << n)
        .into_par_iter()
        .map(|i| (F::from_u64(i) + offset).exp_u64(7))
        .collect()
}

pub(crate) fn run(args: &DemoArgs, context: &Context) -> Result<Outcome, Failure> {
    let prover = context.open_prover()?;
    let params = args.params.params(context);
    let n = usize::from(args.n);
    let planned = run::check(context, &prover, &params, n, 0)?;
    let input = Input {
        elements: polynomial(n, args.seed),
        true_len: 1 << n,
        encoding: Encoding::U32,
    };
    let at = At::Random(args.seed);
    let mut made = run::make(context, &prover, &params, input, &at)?;
    made.planned_device_memory = planned;
    let text = format!(
        "committed to a built-in polynomial of 2^{n} values, opened it at {at}, verified the proof\n\
         {}{}\n{}\nproof        {} bytes\nverified in {:.2} ms by p3-whir 0.8.0: valid\n",
        run::device_text(&prover, context),
        params_args::text(&params, made.view.n),
        made.times_text(),
        made.bytes.len(),
        crate::json::ms(made.verify),
    );
    let mut fields = made.fields();
    fields.insert("at".into(), at.to_string().into());
    Ok(Outcome::new(text, fields).on(&prover.device))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_values_are_distinct_and_depend_on_the_seed() {
        let values = polynomial(12, 3);
        assert_eq!(values.iter().collect::<HashSet<_>>().len(), 1 << 12);
        assert_ne!(values, polynomial(12, 4));
    }
}
