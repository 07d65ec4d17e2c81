//! Everything that CI runs, leg by leg.
#![forbid(unsafe_code)]

use std::time::Instant;

use crate::{
    Result, aarch64, adapters,
    context::{Context, PROFILE, output, run as start},
    deny,
    facts::Facts,
    fuzz, house, kernels, rivals, rtl,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Only these legs.
    legs: Vec<String>,
    /// Also look for known vulnerabilities; fetches the RustSec database from its git host.
    #[arg(long)]
    advisories: bool,
    /// List the legs, run nothing.
    #[arg(long)]
    list: bool,
}

/// How a leg ended well.
pub(crate) enum Outcome {
    Passed,
    Skipped(&'static str),
}

type Leg = (
    &'static str,
    &'static str,
    fn(&Context, &Facts) -> Result<Outcome>,
);

/// The legs in order: what fails fast comes first.
const LEGS: [Leg; 16] = [
    ("fmt", "the code is formatted", |c, _| {
        passed(start(c.cargo().args(["fmt", "--all", "--check"])))
    }),
    ("layers", "crates depend on each other one way", |c, _| {
        passed(house::layers(c))
    }),
    ("unsafe", "unsafe code stands only where it may", |c, _| {
        passed(house::unsafe_code(c))
    }),
    ("clippy", "no lint fires", |c, _| {
        passed(start(
            c.cargo()
                .args(["clippy", "--workspace", "--all-targets", "--locked"])
                .args(["--profile", PROFILE, "--", "-D", "warnings"]),
        ))
    }),
    ("rustdoc", "the documentation builds", |c, _| {
        passed(start(
            c.cargo()
                .env("RUSTDOCFLAGS", "-D warnings")
                .args(["doc", "--workspace", "--no-deps", "--locked"])
                .args(["--profile", PROFILE]),
        ))
    }),
    (
        "kernels",
        "the compiled CUDA kernels are those of their sources",
        kernel_archives,
    ),
    (
        "adapters",
        "a software adapter is here for the tests of wgpu",
        |c, _| adapters::install(c),
    ),
    ("tests", "the tests of the workspace", tests),
    (
        "rtl",
        "the simulated accelerator is clean, and computes what arkworks does",
        |c, _| rtl::leg(c),
    ),
    (
        "native",
        "the libraries build for this processor alone",
        |c, _| {
            // p3's packed types exist only under compile-time features, and bring other trait bounds.
            passed(start(
                c.cargo()
                    .env("RUSTFLAGS", "-Ctarget-cpu=native")
                    .env("CARGO_TARGET_DIR", c.target.join("native"))
                    .args(["check", "--lib", "--locked", "--profile", PROFILE])
                    .args(["-p", "fieldspar-whir", "-p", "fieldspar-msm"])
                    .args(["-p", "fieldspar-rpo", "-p", "fieldspar-ceremony"]),
            ))
        },
    ),
    (
        "aarch64",
        "emulated, the program gives the same bytes on AArch64",
        on_aarch64,
    ),
    (
        "documents",
        "commands and links in the documents exist",
        documents,
    ),
    (
        "fuzz",
        "the fuzz targets build and stand a short run",
        fuzz_targets,
    ),
    ("rivals", "the rivals of the benchmarks build", |c, _| {
        let all = rivals::all(c)?;
        if all.is_empty() {
            return Ok(Outcome::Skipped("there are none yet"));
        }
        for rival in all {
            rival.build(c, "default", "")?;
        }
        Ok(Outcome::Passed)
    }),
    (
        "deny",
        "licences, bans and sources of the dependencies",
        |c, _| passed(deny::check(c)),
    ),
    ADVISORIES,
];

const ADVISORIES: Leg = ("advisories", "no known vulnerability", |c, _| {
    passed(deny::advisories(c))
});

fn passed(result: Result) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}

fn tests(context: &Context, facts: &Facts) -> Result<Outcome> {
    // Whoever runs this may know better what the machine has to have.
    let mut here = facts.expect();
    if adapters::is_installed() {
        here.push_str(",wgpu:vulkan");
    }
    let expect = std::env::var_os("FIELDSPAR_EXPECT").unwrap_or_else(|| here.into());
    passed(start(context.cargo().env("FIELDSPAR_EXPECT", expect).args(
        ["test", "--workspace", "--locked", "--profile", PROFILE],
    )))
}

fn kernel_archives(context: &Context, _: &Facts) -> Result<Outcome> {
    if !kernels::POSSIBLE {
        return Ok(Outcome::Skipped("kernels are compiled on x86_64 Linux"));
    }
    passed(kernels::check(context))
}

fn on_aarch64(context: &Context, _: &Facts) -> Result<Outcome> {
    if !aarch64::possible() {
        return Ok(Outcome::Skipped(
            "Debian's cross toolchain and emulator are for x86_64",
        ));
    }
    passed(aarch64::check(context))
}

fn documents(context: &Context, _: &Facts) -> Result<Outcome> {
    passed(house::documents(context))
}

fn fuzz_targets(context: &Context, _: &Facts) -> Result<Outcome> {
    match fuzz::targets(context)? {
        Some(names) => passed(fuzz::check(context, &names, 20_000)),
        None => Ok(Outcome::Skipped("fuzz/Cargo.toml says build-in-ci = false")),
    }
}

pub(crate) fn run(args: &Args) -> Result {
    if args.list {
        for (name, what, _) in LEGS {
            println!("{name:12} {what}");
        }
        return Ok(());
    }
    for name in &args.legs {
        if !LEGS.iter().any(|(leg, ..)| leg == name) {
            let known = LEGS.map(|(leg, ..)| leg).join(", ");
            return Err(format!("no leg `{name}`; there are: {known}").into());
        }
    }
    let context = Context::new()?;
    let facts = Facts::read();
    show(&context, &facts);
    let wanted = |name: &str| {
        let named = args.legs.iter().any(|leg| leg == name);
        if name == ADVISORIES.0 {
            named || args.advisories
        } else {
            named || args.legs.is_empty()
        }
    };
    let clock = Instant::now();
    let (mut passed, mut skipped) = (0, 0);
    for (name, what, leg) in LEGS {
        if !wanted(name) {
            continue;
        }
        println!("\n== {name}: {what}");
        let start = Instant::now();
        let outcome = leg(&context, &facts);
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(Outcome::Passed) => {
                println!("== {name} passed in {seconds:.1} s");
                passed += 1;
            }
            Ok(Outcome::Skipped(why)) => {
                println!("== {name} skipped: {why}");
                skipped += 1;
            }
            Err(error) => {
                println!("== {name} failed in {seconds:.1} s: {error}");
                println!("{passed} passed, 1 failed, {skipped} skipped");
                return Err(format!("leg `{name}` failed").into());
            }
        }
    }
    println!("\nall legs in {:.0} s", clock.elapsed().as_secs_f64());
    match skipped {
        0 => println!("{passed} passed, 0 failed"),
        n => println!("{passed} passed, 0 failed, {n} skipped"),
    }
    Ok(())
}

/// What machine this is, so that a log says what it tested.
fn show(context: &Context, facts: &Facts) {
    let rustc = output(context.command("rustc").arg("--version")).unwrap_or_default();
    let memory = facts.memory_mib.map_or("?".into(), |mib| mib.to_string());
    println!("processor  {} ({})", facts.cpu, facts.stepping);
    println!("cores      {}", facts.cores);
    println!("memory     {memory} MiB");
    println!(
        "system     {}-{}",
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    println!("compiler   {}", rustc.trim());
    println!("variants   {} must be available", facts.expect());
}
