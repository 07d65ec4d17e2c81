//! The long tests at their full counts. A part that is done is not run again, so a soak that was
//! stopped goes on where it was; each part leaves its result in `bench/record/<machine>/`.
#![forbid(unsafe_code)]

use std::{path::PathBuf, time::Instant};

use serde_json::{Value, json};

use crate::{
    Result,
    context::{Context, PROFILE, output, shown, tee},
    facts::Facts,
    fuzz, record,
};

/// One part.
struct Part {
    name: &'static str,
    /// What it shows.
    what: &'static str,
    /// How often: parameter sets, repeats, or seconds for fuzzing.
    count: u64,
    how: How,
}

enum How {
    /// Every test whose name holds `soak_<part>`, in any member, with `FIELDSPAR_SOAK_<PART>` set to
    /// the count; a hyphen of the name is an underscore there. The same tests run in `cargo xtask test` with the small counts that they fall back to.
    Tests,
    /// A fuzz target.
    Fuzz(&'static str),
}

/// The parts, in the order in which they run.
const PARTS: [Part; 15] = [
    Part {
        name: "params",
        what: "random parameter sets: same bytes as p3-whir, each verifier takes the other's proof",
        count: 300,
        how: How::Tests,
    },
    Part {
        name: "repeats",
        what: "one proof again and again over thread counts: one hash",
        count: 1000,
        how: How::Tests,
    },
    Part {
        name: "tamper",
        what: "flipped bits and changed fields of proofs: all refused, no panic",
        count: 100_000,
        how: How::Tests,
    },
    Part {
        name: "kill",
        what: "kill -9 while a proof is written: no file at the final path",
        count: 200,
        how: How::Tests,
    },
    Part {
        name: "rpo",
        what: "random and edge states on every CPU variant: what p3-rescue permutes them to",
        count: 1_000_000,
        how: How::Tests,
    },
    Part {
        name: "ceremony-signatures",
        what: "signatures of frost-core's parties, all suites together: each accepted by the independent verifiers",
        count: 10_000,
        how: How::Tests,
    },
    Part {
        name: "ceremony-kill",
        what: "kill -9 of the daemon under load, and of compactions: nothing acknowledged is lost",
        count: 1000,
        how: How::Tests,
    },
    Part {
        name: "ceremony-log",
        what: "logs cut and flipped at every byte, crashes and full disks at every step; bits a byte",
        count: 8,
        how: How::Tests,
    },
    Part {
        name: "ceremony-parties",
        what: "signatures by FROST parties over the daemon: accepted by another library",
        count: 10_000,
        how: How::Tests,
    },
    Part {
        name: "ceremony-load",
        what: "clients at once on loopback, most of them bad, for 30 s",
        count: 200,
        how: How::Tests,
    },
    Part {
        name: "msm",
        what: "random MSMs at the edges, on every curve and variant: the points of arkworks",
        count: 100_000,
        how: How::Tests,
    },
    Part {
        name: "rtl",
        what: "operands of each multiplier and additions of the adder in simulated hardware: what arkworks gives",
        count: 100_000,
        how: How::Tests,
    },
    Part {
        name: "fpga",
        what: "MSMs of up to 2^14 points through the RTL of the accelerator, three window sizes: what arkworks gives",
        count: 14,
        how: How::Tests,
    },
    Part {
        name: "fuzz-decode",
        what: "seconds of fuzzing the decoder of proof files",
        count: 3600,
        how: How::Fuzz("fsp_decode"),
    },
    Part {
        name: "fuzz-input",
        what: "seconds of fuzzing the readers of input files",
        count: 3600,
        how: How::Fuzz("input_npy"),
    },
];

/// Options of `cargo xtask soak`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these parts.
    parts: Vec<String>,
    /// Run a part again that is already done.
    #[arg(long)]
    again: bool,
    /// Another count than the part's own, for trying it out; nothing is recorded.
    #[arg(long)]
    count: Option<u64>,
    /// The machine's name in bench/record, instead of one made from its processor.
    #[arg(long)]
    machine: Option<String>,
    /// List the parts and what is done, run nothing.
    #[arg(long)]
    list: bool,
}

pub(crate) fn run(args: &Args) -> Result {
    let context = Context::new()?;
    let facts = Facts::read();
    let machine = args.machine.clone().unwrap_or_else(|| facts.slug());
    for name in &args.parts {
        if !PARTS.iter().any(|p| p.name == name) {
            let known = PARTS.map(|p| p.name).join(", ");
            return Err(format!("no part `{name}`; there are: {known}").into());
        }
    }
    let (mut passed, mut failed, mut skipped) = (0, Vec::new(), 0);
    for part in &PARTS {
        if !args.parts.is_empty() && !args.parts.iter().any(|n| n == part.name) {
            continue;
        }
        let path = path(&context, &machine, part);
        let done = record::read(&path)?.filter(|r| r["ok"] == true);
        if args.list {
            let state = done.map_or("open".to_owned(), |r| {
                format!("done {}", text(&r, "stopped"))
            });
            println!(
                "{:12} x {:6}  {state}: {}",
                part.name, part.count, part.what
            );
            continue;
        }
        if let Some(done) = done.filter(|_| !args.again && args.count.is_none()) {
            println!(
                "{}: done {} at {}, --again runs it again",
                part.name,
                text(&done, "stopped"),
                text(&done, "commit")
            );
            skipped += 1;
            continue;
        }
        let result = run_part(&context, &facts, part, args.count)?;
        if result["ok"] == true {
            passed += 1;
        } else {
            println!("{} failed: {}", part.name, text(&result, "reason"));
            failed.push(part.name);
        }
        if args.count.is_none() {
            record::write(&path, &result)?;
            println!("recorded in {}", path.display());
        }
    }
    if args.list {
        return Ok(());
    }
    println!(
        "{passed} passed, {} failed, {skipped} skipped",
        failed.len()
    );
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")).into())
    }
}

fn path(context: &Context, machine: &str, part: &Part) -> PathBuf {
    let folder = context.root.join("bench/record").join(machine);
    folder.join(format!("soak-{}.json", part.name))
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or("?").to_owned()
}

/// A part's name as it stands in the names of tests and variables.
fn word(name: &str) -> String {
    name.replace('-', "_")
}

/// Runs one part and gives its record.
fn run_part(context: &Context, facts: &Facts, part: &Part, count: Option<u64>) -> Result<Value> {
    let count = count.unwrap_or(part.count);
    println!("== {} x {count}: {}", part.name, part.what);
    let (started, clock) = (record::now(), Instant::now());
    let mut command = match part.how {
        How::Tests => {
            let variable = format!("FIELDSPAR_SOAK_{}", word(part.name).to_uppercase());
            let mut command = context.cargo();
            command
                .env("FIELDSPAR_EXPECT", facts.expect())
                .env(variable, count.to_string())
                .args(["test", "--workspace", "--locked", "--profile", PROFILE])
                // Not the documentation's examples.
                .args(["--lib", "--bins", "--tests"])
                .arg(format!("soak_{}", word(part.name)))
                .args(["--", "--include-ignored"]);
            command
        }
        How::Fuzz(target) => fuzz::fuzz(context, target, count)?,
    };
    let (good, printed) = tee(&mut command)?;
    let (ran, lost) = test_counts(&printed);
    let reason = match part.how {
        _ if !good => Some("the command failed"),
        // A renamed test must not pass for a soak.
        How::Tests if ran == 0 => Some("no test of that name exists"),
        _ => None,
    };
    Ok(json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "command": "soak",
        "part": part.name,
        "what": part.what,
        "count": count,
        "ok": reason.is_none(),
        "reason": reason,
        "tests_passed": ran,
        "tests_failed": lost,
        "started": started,
        "stopped": record::now(),
        "seconds": clock.elapsed().as_secs(),
        "ran": shown(&command).replace(&*context.root.to_string_lossy(), "."),
        "commit": commit(context),
        "rustc": output(context.command("rustc").arg("--version")).unwrap_or_default().trim(),
        "host": {
            "cpu": facts.cpu,
            "cores": facts.cores,
            "os": format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH),
            "variants": facts.variants,
        },
    }))
}

/// The commit that was tested, with `+` if files differ from it.
fn commit(context: &Context) -> String {
    let git = |args: &[&str]| output(context.command("git").args(args));
    let Ok(id) = git(&["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".into();
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no"]);
    let plus = if changed.is_ok_and(|c| c.trim().is_empty()) {
        ""
    } else {
        "+"
    };
    format!("{}{plus}", id.trim())
}

/// Passed and failed over all `test result:` lines.
fn test_counts(printed: &str) -> (u64, u64) {
    let (mut passed, mut failed) = (0, 0);
    for line in printed.lines().filter(|l| l.starts_with("test result:")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let Ok(n) = pair[0].parse::<u64>() else {
                continue;
            };
            match pair[1] {
                "passed;" => passed += n,
                "failed;" => failed += n,
                _ => {}
            }
        }
    }
    (passed, failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_several_binaries_add_up() {
        let printed = "\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 9 filtered out\n\
                       other\ntest result: FAILED. 2 passed; 1 failed; 0 ignored\n";
        assert_eq!(test_counts(printed), (5, 1));
    }

    #[test]
    fn parts_have_names_of_their_own() {
        let names: std::collections::BTreeSet<_> = PARTS.iter().map(|p| p.name).collect();
        assert_eq!(names.len(), PARTS.len());
        // A part whose name begins another's would run both parts' tests.
        for a in &names {
            assert_eq!(names.iter().filter(|b| b.starts_with(a)).count(), 1);
        }
    }
}
