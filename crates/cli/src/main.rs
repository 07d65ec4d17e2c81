//! The one binary: parsing, printing, exit codes.
#![forbid(unsafe_code)]

mod args;
mod bench;
mod ceremony;
mod context;
mod devices;
mod engine;
mod failure;
mod fpga;
mod json;
mod manual;
mod msm;
mod progress;
mod rpo;
mod selftest;
mod threads;
mod trace;
mod whir;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::{ColorChoice, CommandFactory, FromArgMatches};

use crate::args::{
    CeremonyCommand, Cli, Color, Command, FpgaCommand, GlobalArgs, MsmCommand, WhirCommand,
};
use crate::context::{Context, Outcome, printable};
use crate::failure::Failure;
use crate::rpo::RpoCommand;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = bench::arguments(std::env::args_os().collect());
    // Errors of the command line itself must know how to show themselves before it is parsed.
    let json = arguments
        .iter()
        .any(|a| a == "--json" || a.as_encoded_bytes().starts_with(b"--json-file"));
    let verb = verb(&arguments);
    ExitCode::from(match parse(arguments) {
        Ok(cli) => run(cli),
        Err(error) if error.use_stderr() && json => {
            let text = error.render().to_string();
            let text = text.trim().trim_start_matches("error: ");
            report(&Failure::usage(text), &verb, true, None, &[])
        }
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // A closed pipe: nobody is left to tell.
            let _ = error.print();
            code
        }
    })
}

/// The verb that a command line names, as far as it can be told without parsing it.
fn verb(arguments: &[OsString]) -> String {
    let mut command = command_line();
    let mut names = Vec::new();
    for word in arguments.iter().skip(1).filter_map(|a| a.to_str()) {
        if let Some(found) = command.find_subcommand(word).cloned() {
            names.push(found.get_name().to_owned());
            command = found;
        }
    }
    names.join(" ")
}

/// Parses, with `--color` in force for what clap itself prints.
fn parse(arguments: Vec<OsString>) -> Result<Cli, clap::Error> {
    let has = |value: &str| {
        let joined = format!("--color={value}");
        let pair = |two: &[OsString]| two[0] == "--color" && two[1] == value;
        arguments.iter().any(|a| *a == *joined) || arguments.windows(2).any(pair)
    };
    let color = match (has("always"), has("never")) {
        (true, false) => ColorChoice::Always,
        (false, true) => ColorChoice::Never,
        _ => ColorChoice::Auto,
    };
    let matches = command_line()
        .color(color)
        .try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

fn run(cli: Cli) -> u8 {
    let Cli { global, command } = cli;
    start_log(&global);
    let panic = catch_panic_message();
    let json = global.json || command.writes_json();
    let (pool, count) = match threads::start(global.threads, command.is_small()) {
        Ok(started) => started,
        Err(failure) => return report(&failure, command.name(), json, Some(&global), &[]),
    };
    let context = Context::new(global.clone(), count);
    let begin = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        pool.install(|| dispatch(&command, &context))
    }))
    .unwrap_or_else(|_| {
        let message = panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        Err(Failure::internal(message.unwrap_or_else(|| "panic".into())))
    });
    context.keep_span(command.name(), begin);
    let result = result.and_then(|outcome| {
        trace::write(&context, command.name())?;
        print(&context, &command, &outcome)?;
        Ok(outcome)
    });
    match result {
        Ok(outcome) => {
            context.print_held_warnings();
            outcome.exit_code
        }
        Err(failure) => {
            let warnings = context.warnings();
            report(&failure, command.name(), json, Some(&global), &warnings)
        }
    }
}

fn dispatch(command: &Command, context: &Context) -> Result<Outcome, Failure> {
    trace::check(context)?;
    match command {
        Command::Devices => devices::run(context),
        Command::Selftest => selftest::run(context),
        Command::Completions { shell } => manual::completions(*shell),
        Command::Man => manual::page(),
        Command::Fpga(verb) => match verb {
            FpgaCommand::Run(args) => fpga::run::run(args, context),
            FpgaCommand::Explore(args) => fpga::explore::run(args, context),
            FpgaCommand::Area(args) => fpga::area::run(args, context),
        },
        Command::Ceremony(verb) => match verb {
            CeremonyCommand::ReplayOps(args) => ceremony::replay_ops::run(args, context),
            CeremonyCommand::Bench(args) => ceremony::bench::run(args, context),
            CeremonyCommand::Key(args) => ceremony::operate::key(args),
            CeremonyCommand::Init(args) => ceremony::operate::init(args, context),
            CeremonyCommand::Roster(verb) => ceremony::operate::roster(verb, context),
            CeremonyCommand::ImportKey(args) => ceremony::operate::import_key(args, context),
            CeremonyCommand::Begin(args) => ceremony::operate::begin(args, context),
            CeremonyCommand::Sign(args) => ceremony::operate::sign(args),
            CeremonyCommand::Contribute(args) => ceremony::operate::contribute(args, context),
            CeremonyCommand::Cancel(args) => ceremony::operate::cancel(args, context),
            CeremonyCommand::Tick(args) => ceremony::operate::tick(args, context),
            CeremonyCommand::Status(args) => ceremony::inspect::status(args, context),
            CeremonyCommand::Root(args) => ceremony::inspect::root(args, context),
            CeremonyCommand::Prove(args) => ceremony::inspect::prove(args, context),
            CeremonyCommand::VerifyProof(args) => ceremony::inspect::verify_proof(args, context),
            CeremonyCommand::VerifyTranscript(args) => ceremony::verify::run(args, context),
            CeremonyCommand::Replay(args) => ceremony::inspect::replay(args, context),
            CeremonyCommand::Compact(args) => ceremony::inspect::compact(args, context),
            CeremonyCommand::Serve(args) => ceremony::serve::run(args, context),
            CeremonyCommand::Party(verb) => ceremony::party::run(verb, context),
            CeremonyCommand::Demo(args) => ceremony::demo::run(args, context),
        },
        Command::Rpo(verb) => match verb {
            RpoCommand::Hash(args) => rpo::hash::run(args, context),
            RpoCommand::Merkle(verb) => rpo::merkle::run(verb, context),
            RpoCommand::Bench(args) => rpo::bench::run(args, context),
        },
        Command::Msm(verb) => match verb {
            MsmCommand::Gen(args) => msm::generate::run(args, context),
            MsmCommand::Run(args) => msm::run::run(args, context),
            MsmCommand::Bench(args) => msm::bench::run(args, context),
        },
        Command::Whir(verb) => match verb {
            WhirCommand::Demo(args) => whir::demo::run(args, context),
            WhirCommand::Prove(args) => whir::prove::run(args, context),
            WhirCommand::Verify(args) => whir::verify::run(args, context),
            WhirCommand::Inspect(args) => whir::inspect::run(args, context),
            WhirCommand::Export(args) => whir::export::run(args, context),
            WhirCommand::Plan(args) => whir::plan::run(args, context),
            WhirCommand::Bench(args) => bench::run(args, context),
        },
    }
}

/// Data on stdout. A reader that has gone away (`| head`) is no failure; a full disk is.
fn print(context: &Context, command: &Command, outcome: &Outcome) -> Result<(), Failure> {
    let text = if context.json() && !outcome.lines {
        format!("{}\n", json::object(context, command.name(), outcome))
    } else if matches!(command, Command::Whir(_)) {
        // These name files.
        let lines = outcome.text.lines();
        lines.map(|line| printable(line) + "\n").collect()
    } else {
        outcome.text.clone()
    };
    let mut stdout = std::io::stdout().lock();
    match stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
    {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot write the result: {error}")).at("stdout"))
        }
        _ => Ok(()),
    }
}

/// With `--json` one object, in which the warnings stand beside the error.
fn report(
    failure: &Failure,
    verb: &str,
    json: bool,
    global: Option<&GlobalArgs>,
    warnings: &[String],
) -> u8 {
    let line = if json {
        json::error(failure, verb, warnings).to_string()
    } else {
        let word = global.map_or_else(|| "error:".into(), |g| g.paint("error:", "31"));
        format!("{word} {}", printable(&placed(failure)))
    };
    let _ = writeln!(std::io::stderr(), "{line}");
    failure.kind.exit_code()
}

/// The message with the place before it, without saying any of the place twice.
fn placed(failure: &Failure) -> String {
    let message = failure.message.as_str();
    let Some(at) = failure.at.as_deref().filter(|at| !message.contains(at)) else {
        return message.to_owned();
    };
    match at.rsplit_once(": ") {
        Some((file, place)) if message.contains(place) => format!("{file}: {message}"),
        _ => format!("{at}: {message}"),
    }
}

fn start_log(global: &GlobalArgs) {
    let level = match (global.json, global.verbose) {
        (_, 0) => return,
        // With --json stderr holds nothing but the error.
        (true, _) => return,
        (false, 1) => tracing::Level::INFO,
        (false, _) => tracing::Level::DEBUG,
    };
    // A second subscriber cannot be there yet; if it were, its choice stands.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_ansi(global.color == Color::Always)
        .with_target(false)
        .try_init();
}

/// A panic becomes one line like any other failure.
fn catch_panic_message() -> Arc<Mutex<Option<String>>> {
    let slot = Arc::new(Mutex::new(None));
    let inner = Arc::clone(&slot);
    std::panic::set_hook(Box::new(move |info| {
        let mut slot = inner.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert_with(|| info.to_string());
    }));
    slot
}

/// The command line as clap sees it, for the manual and the completions.
fn command_line() -> clap::Command {
    Cli::command()
}
