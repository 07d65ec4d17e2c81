//! `ceremony replay-ops`: plays a stream of operations and says what each round gives.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use clap::Args;
use fieldspar_ceremony::rules::v1::jsonl::{self, Line, Outcome as Expected};
use fieldspar_ceremony::rules::v1::{Capacities, Engine};
use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value, json};

use super::Rules;
use crate::context::{Context, Outcome};
use crate::failure::{Failure, Kind};

/// The longest line that is read: some 60,000 contributions.
const MAX_LINE: u64 = 64 << 20;

/// Flags of `ceremony replay-ops`.
#[derive(Debug, Args)]
pub(crate) struct ReplayOpsArgs {
    /// Operations, one JSON object a line and round; `.gz` is decompressed
    #[arg(value_name = "OPS")]
    file: PathBuf,
    /// The rules to play by
    #[arg(long, value_enum)]
    rules: Rules,
    /// Room for this many ceremonies, a power of two
    #[arg(long, default_value_t = 256, value_name = "N")]
    ceremonies: u32,
    /// Room for this many key shares, a power of two
    #[arg(long, default_value_t = 4096, value_name = "N")]
    shares: u32,
    /// Room for this many contributions, a power of two
    #[arg(long, default_value_t = 4096, value_name = "N")]
    contributions: u32,
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    let file = File::open(path)?;
    Ok(if path.extension().is_some_and(|e| e == "gz") {
        Box::new(BufReader::new(MultiGzDecoder::new(file)))
    } else {
        Box::new(BufReader::new(file))
    })
}

/// The next line; `None` at the end.
fn next_line(source: &mut dyn BufRead) -> Result<Option<String>, Failure> {
    let mut bytes = Vec::new();
    let read = source
        .take(MAX_LINE)
        .read_until(b'\n', &mut bytes)
        .map_err(|e| Failure::input(e.to_string()))?;
    if read == 0 {
        return Ok(None);
    }
    if bytes.len() as u64 == MAX_LINE && !bytes.ends_with(b"\n") {
        return Err(Failure::input(format!(
            "a line of more than {MAX_LINE} bytes"
        )));
    }
    String::from_utf8(bytes)
        .map(Some)
        .map_err(|_| Failure::input("a line that is not UTF-8"))
}

pub(crate) fn run(args: &ReplayOpsArgs, context: &Context) -> Result<Outcome, Failure> {
    if args.rules != Rules::V1 {
        return Err(Failure::usage(
            "streams of operations are played by rules v1; `ceremony replay` plays a log of v2",
        ));
    }
    let device = context.open_processor()?;
    let capacities = Capacities::new(args.ceremonies, args.shares, args.contributions)
        .map_err(|e| Failure::usage(e.to_string()))?;
    let mut engine = device
        .cpu_variant()
        .and_then(|variant| Engine::on(capacities, variant))
        .ok_or_else(|| {
            let spec = &device.info().spec;
            Failure::new(
                Kind::Unavailable,
                format!("this build has no ceremony engine for {spec}"),
            )
        })?;
    let mut source = open(&args.file)
        .map_err(|e| Failure::input(e.to_string()).at(args.file.display().to_string()))?;
    let mut text = String::new();
    let mut wrong = 0;
    for number in 1.. {
        let at = |e: Failure| e.at(format!("line {number}")).in_file(&args.file);
        let Some(line) = next_line(&mut *source).map_err(at)? else {
            break;
        };
        let round = jsonl::parse(&line).map_err(|e| at(Failure::input(e.to_string())))?;
        let report = engine.round(&round.descriptor, &round.ceremony_ops, &round.contributions);
        let said = Line::from(&report);
        let matches = round.expect.as_ref().map(|expect| *expect == said.outcome);
        if matches == Some(false) {
            wrong += 1;
            context.warn(&format!(
                "line {number}: another result than the file expects"
            ));
        }
        if context.json() {
            let mut value =
                serde_json::to_value(&said).map_err(|e| Failure::internal(e.to_string()))?;
            value["matches_expect"] = json!(matches);
            text.push_str(&format!("{value}\n"));
        } else {
            text.push_str(&in_words(
                number,
                &said.outcome,
                report.drops.total(),
                matches,
            ));
        }
    }
    let mut outcome = Outcome::new(text, Map::<String, Value>::new()).on(&device);
    outcome.lines = true;
    Ok(outcome.answer(wrong == 0))
}

fn in_words(number: u64, o: &Expected, drops: u64, matches: Option<bool>) -> String {
    format!(
        "round {number}: applied {} ceremonies and {} contributions, dropped {drops}; advanced {}, \
         finalized {}, failed {}; active {}, shares {}, epoch {}\n  \
         state {}{}\n  ceremonies {}\n  key shares {}\n  contributions {}\n",
        o.ceremonies_applied,
        o.contributions_applied,
        o.advanced,
        o.finalized,
        o.failed,
        o.active,
        o.shares,
        o.epoch,
        o.state_root,
        match matches {
            None => "",
            Some(true) => " as expected",
            Some(false) => " NOT as expected",
        },
        o.ceremony_root,
        o.key_share_root,
        o.contribution_root,
    )
}
