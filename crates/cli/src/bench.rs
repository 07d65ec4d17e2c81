//! `whir bench`.
#![forbid(unsafe_code)]

use clap::Args;

use crate::context::{Context, Outcome};
use crate::failure::Failure;

/// Flags of `whir bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {}

pub(crate) fn run(_args: &BenchArgs, _context: &Context) -> Result<Outcome, Failure> {
    Err(Failure::usage("this build has no `whir bench`"))
}
