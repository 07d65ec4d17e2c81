//! The command line.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use fieldspar_device::parse_bytes;

use crate::bench::BenchArgs;
use crate::ceremony::{
    bench as ceremony_bench, demo, inspect, operate, party, replay_ops, serve,
    verify as ceremony_verify,
};
use crate::fpga::{area::AreaArgs, explore::ExploreArgs, run::FpgaRunArgs};
use crate::msm::{bench::MsmBenchArgs, generate::GenArgs, run::RunArgs};
use crate::rpo::RpoCommand;
use crate::whir::{
    demo::DemoArgs, export::ExportArgs, inspect::InspectArgs, plan::PlanArgs, prove::ProveArgs,
    verify::VerifyArgs,
};

/// The Plonky3 release whose proofs these are; a test compares it with the library's.
pub(crate) const P3: &str = "0.8.0";
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (p3 0.8.0)");

/// The heavy parts of zero-knowledge proving on whatever silicon is there
#[derive(Debug, Parser)]
#[command(name = "fieldspar", version = VERSION, propagate_version = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0   done, or the answer is yes
  1   the answer is no: an invalid proof, a refused statement or plan
  2   the command line or its parameters are refused
  3   a file is missing, malformed or cannot be written
  4   the device named, or the worker threads, cannot be had
  5   not enough memory, by plan
  6   a device differs from the reference
  70  a mistake in this program

Results go to stdout, everything else to stderr.";

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Flags of every verb.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct GlobalArgs {
    /// Device to run on: auto, cpu, cpu:portable, cpu:avx2, cpu:avx512, cpu:neon, cuda, cuda:N.
    /// Without the flag FIELDSPAR_DEVICE counts, then auto, which takes the first NVIDIA GPU, else
    /// the processor. A named device never falls back to another
    #[arg(long, global = true, value_name = "SPEC")]
    pub(crate) device: Option<String>,

    /// Worker threads, 1 to 1024 [default: RAYON_NUM_THREADS, else one per core]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(crate::threads::ALLOWED))]
    pub(crate) threads: Option<u16>,

    /// Most memory of the host to use, such as 6G or 800M; FIELDSPAR_MAX_MEMORY and the machine may
    /// set less. Of a GPU's own memory what is free counts
    #[arg(long, global = true, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) max_memory: Option<u64>,

    /// Print the result as one JSON object; errors too, on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Write where the time went as a trace for Perfetto or chrome://tracing
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,

    /// Say more on stderr; twice for debugging
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,

    /// Say only errors on stderr
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Colour on stderr
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value a process")]
pub(crate) enum Command {
    /// List the devices, with what they can do or why they cannot be had
    Devices,
    /// Compare each available device, or the one named by --device, with Plonky3
    Selftest,
    /// Commit to a multilinear polynomial, open it at a point, verify it
    #[command(subcommand)]
    Whir(WhirCommand),
    /// Add up points times scalars on BLS12-377, BLS12-381 and BN254 G1. Variable-time: for public scalars
    #[command(subcommand)]
    Msm(MsmCommand),
    /// Simulate the pipelined MSM accelerator: RTL, and a cycle model that equals it
    #[command(subcommand)]
    Fpga(FpgaCommand),
    /// Keep the record of threshold-signing ceremonies
    #[command(subcommand)]
    Ceremony(CeremonyCommand),
    /// Hash and build Merkle trees with Rescue-Prime Optimized
    #[command(subcommand)]
    Rpo(RpoCommand),
    /// Print a completion script
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value per run")]
pub(crate) enum WhirCommand {
    /// Prove and verify a built-in polynomial
    Demo(DemoArgs),
    /// Commit to the polynomial in a file, open it at a point, write the proof
    Prove(ProveArgs),
    /// Verify a proof file with Plonky3's own verifier
    Verify(VerifyArgs),
    /// Show what a proof file says, without verifying it
    Inspect(InspectArgs),
    /// Write a proof in Plonky3's own types, for checking it without this program
    Export(ExportArgs),
    /// Say what a proof would cost, before any work
    Plan(PlanArgs),
    /// Measure proving against Plonky3
    Bench(Box<BenchArgs>),
}

#[derive(Debug, Subcommand)]
pub(crate) enum MsmCommand {
    /// Write points and scalars that follow from a seed
    Gen(GenArgs),
    /// Add up the points of a file times the scalars of another
    Run(RunArgs),
    /// Measure, beside arkworks and blst
    Bench(MsmBenchArgs),
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "one value per run")]
pub(crate) enum FpgaCommand {
    /// Add up points times scalars on the simulated device
    Run(FpgaRunArgs),
    /// Say what designs would take, by the cycle model
    Explore(ExploreArgs),
    /// Say what the arithmetic would take of an FPGA, by yosys
    Area(AreaArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum CeremonyCommand {
    /// Make a secret key and print its public key
    Key(operate::KeyArgs),
    /// Make the folder of a new record
    Init(operate::InitArgs),
    /// The keys of the members
    #[command(subcommand)]
    Roster(operate::RosterCommand),
    /// Make a group key known that was made elsewhere
    ImportKey(operate::ImportKeyArgs),
    /// Start a ceremony
    Begin(operate::BeginArgs),
    /// Sign a party's message; it goes nowhere
    Sign(operate::SignArgs),
    /// Take in signed messages
    Contribute(operate::ContributeArgs),
    /// Give a ceremony up
    Cancel(operate::CancelArgs),
    /// Say what time it is, so that deadlines pass
    Tick(operate::TickArgs),
    /// Show the ceremonies and the evidence
    Status(inspect::StatusArgs),
    /// Show the roots
    Root(crate::ceremony::StoreArgs),
    /// Prove that a ceremony is in the record, or how it ended
    Prove(inspect::ProveArgs),
    /// Check such a proof
    VerifyProof(inspect::VerifyProofArgs),
    /// Rebuild the state from a log alone
    Replay(inspect::ReplayArgs),
    /// Check a log again, with what is inside the messages, and name who is at fault
    VerifyTranscript(ceremony_verify::VerifyTranscriptArgs),
    /// Make the log shorter: it begins with the state then
    Compact(inspect::CompactArgs),
    /// Serve the record over HTTP
    Serve(Box<serve::ServeArgs>),
    /// Take part in a ceremony
    #[command(subcommand)]
    Party(party::PartyCommand),
    /// Run a FROST key generation and a signature, with the daemon and all parties in this process
    Demo(demo::DemoArgs),
    /// Play a stream of operations of rules v1; with --json a line of counters and roots per round
    ReplayOps(replay_ops::ReplayOpsArgs),
    /// Measure the rules
    Bench(ceremony_bench::BenchArgs),
}

impl CeremonyCommand {
    const fn name(&self) -> &'static str {
        match self {
            Self::Key(_) => "ceremony key",
            Self::Init(_) => "ceremony init",
            Self::Roster(operate::RosterCommand::Add(_)) => "ceremony roster add",
            Self::Roster(operate::RosterCommand::List(_)) => "ceremony roster list",
            Self::ImportKey(_) => "ceremony import-key",
            Self::Begin(_) => "ceremony begin",
            Self::Sign(_) => "ceremony sign",
            Self::Contribute(_) => "ceremony contribute",
            Self::Cancel(_) => "ceremony cancel",
            Self::Tick(_) => "ceremony tick",
            Self::Status(_) => "ceremony status",
            Self::Root(_) => "ceremony root",
            Self::Prove(_) => "ceremony prove",
            Self::VerifyProof(_) => "ceremony verify-proof",
            Self::Replay(_) => "ceremony replay",
            Self::VerifyTranscript(_) => "ceremony verify-transcript",
            Self::Compact(_) => "ceremony compact",
            Self::Serve(_) => "ceremony serve",
            Self::Party(party::PartyCommand::Run(_)) => "ceremony party run",
            Self::Demo(_) => "ceremony demo",
            Self::ReplayOps(_) => "ceremony replay-ops",
            Self::Bench(_) => "ceremony bench",
        }
    }
}

impl Command {
    /// Whether errors are JSON without `--json` too.
    pub(crate) fn writes_json(&self) -> bool {
        matches!(self, Self::Whir(WhirCommand::Bench(args)) if args.json_file.is_some())
    }

    /// Whether the verb gains nothing from worker threads, and so starts none.
    pub(crate) const fn is_small(&self) -> bool {
        matches!(
            self,
            Self::Devices
                | Self::Completions { .. }
                | Self::Man
                | Self::Ceremony(
                    CeremonyCommand::Key(_)
                        | CeremonyCommand::Serve(_)
                        | CeremonyCommand::Party(_)
                        | CeremonyCommand::Demo(_)
                )
                | Self::Whir(
                    WhirCommand::Verify(_)
                        | WhirCommand::Inspect(_)
                        | WhirCommand::Export(_)
                        | WhirCommand::Plan(_)
                )
        )
    }

    /// The verb, as `command` in JSON.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Devices => "devices",
            Self::Selftest => "selftest",
            Self::Completions { .. } => "completions",
            Self::Man => "man",
            Self::Ceremony(verb) => verb.name(),
            Self::Rpo(verb) => verb.name(),
            Self::Fpga(verb) => match verb {
                FpgaCommand::Run(_) => "fpga run",
                FpgaCommand::Explore(_) => "fpga explore",
                FpgaCommand::Area(_) => "fpga area",
            },
            Self::Msm(verb) => match verb {
                MsmCommand::Gen(_) => "msm gen",
                MsmCommand::Run(_) => "msm run",
                MsmCommand::Bench(_) => "msm bench",
            },
            Self::Whir(verb) => match verb {
                WhirCommand::Demo(_) => "whir demo",
                WhirCommand::Prove(_) => "whir prove",
                WhirCommand::Verify(_) => "whir verify",
                WhirCommand::Inspect(_) => "whir inspect",
                WhirCommand::Export(_) => "whir export",
                WhirCommand::Plan(_) => "whir plan",
                WhirCommand::Bench(_) => "whir bench",
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_version_names_the_plonky3_release_in_use() {
        let [major, minor, patch] = fieldspar_whir::proof::P3_VERSION;
        assert_eq!(P3, format!("{major}.{minor}.{patch}"));
        assert!(VERSION.contains(&format!("p3 {P3}")));
    }
}
