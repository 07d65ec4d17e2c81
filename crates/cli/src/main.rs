//! The one binary.
#![forbid(unsafe_code)]

mod bench;

use clap::{Parser, Subcommand};

#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// WHIR polynomial commitments.
    #[command(subcommand)]
    Whir(Whir),
}

#[derive(Subcommand)]
enum Whir {
    /// Measure.
    Bench(Box<bench::BenchArgs>),
}

fn main() -> std::process::ExitCode {
    let Verb::Whir(Whir::Bench(args)) =
        Cli::parse_from(bench::arguments(std::env::args_os().collect())).verb;
    let setup = bench::Setup {
        threads: rayon::current_num_threads(),
        json: false,
        device: fieldspar_device::DeviceSpec::Auto,
        quiet: false,
    };
    match bench::run(&args, &setup) {
        Ok(report) if report.as_ref().is_none_or(|r| r.failures().is_empty()) => 0.into(),
        Ok(_) => 1.into(),
        Err(error) => {
            eprintln!("error: {error}");
            2.into()
        }
    }
}
