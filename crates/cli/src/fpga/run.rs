//! `fpga run`: a multi-scalar multiplication on the simulated accelerator.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fieldspar_fpga::designs::{design, designs};
use fieldspar_fpga::{DEVICE, Engine, Machine, Policy, msm, waveform};
use fieldspar_msm::curve::{Affine, Bls12_377, Curve};
use fieldspar_msm::files::{self, Encoding};
use fieldspar_msm::{Bases, Trusted, inputs};
use serde_json::json;

use super::{parameters, stalls};
use crate::context::{Context, Outcome};
use crate::failure::Failure;
use crate::json::{fields, ms};
use crate::msm::{Skew, run::hex};

/// Flags of `fpga run`.
#[derive(Debug, Args)]
pub(crate) struct FpgaRunArgs {
    /// What stands for the hardware
    #[arg(long, value_enum, default_value = "model")]
    engine: EngineName,
    /// Logarithm of the number of points, which follow from the seed, on BLS12-377
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(..=20))]
    log_n: u32,
    /// Same seed, same points and scalars
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How scalars are distributed
    #[arg(long, value_enum, default_value = "uniform")]
    skew: Skew,
    /// The column engine to simulate, as `cargo xtask rtl --list` names it; the model takes its
    /// parameters too
    #[arg(long, value_name = "NAME", default_value = "msm_c8")]
    design: String,
    /// For the model: bits of a digit
    #[arg(long, value_name = "C")]
    bits: Option<u32>,
    /// For the model: entries of the FIFO for conflicts; 0 writes them behind the points
    #[arg(long, value_name = "DEPTH")]
    fifo: Option<u32>,
    /// Write the waveform of the first columns, too; needs `cargo xtask rtl --trace` for the design
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
}

/// What stands for the hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum EngineName {
    /// The cycle model; needs no tools
    Model,
    /// The RTL, as Verilator compiled it
    Rtl,
}

pub(crate) fn run(args: &FpgaRunArgs, context: &Context) -> Result<Outcome, Failure> {
    context.unused_engine()?;
    let Some(design) = design(&args.design).filter(|d| d.curve) else {
        let names: Vec<_> = designs().into_iter().filter(|d| d.curve).collect();
        let names: Vec<_> = names.iter().map(|d| d.name).collect();
        let known = names.join(", ");
        let message = format!(
            "no design `{}` that computes; there are: {known}",
            args.design
        );
        return Err(Failure::usage(message).of_option("design"));
    };
    if let Some(path) = &args.vcd {
        crate::whir::output::check(path, args.force)?;
    }
    let engine = match args.engine {
        EngineName::Rtl if args.bits.is_some() || args.fifo.is_some() => {
            let message = "--bits and --fifo are for the model: a design of the RTL has its own";
            return Err(Failure::usage(message));
        }
        EngineName::Rtl => Engine::Rtl(design.clone(), 1),
        EngineName::Model => Engine::Model(machine(&design.machine, args)),
    };
    let count = 1usize << args.log_n;
    let points = inputs::points::<Bls12_377, 6>(args.seed, count);
    let order = <Bls12_377 as Curve<6>>::ORDER;
    let scalars = inputs::Distribution::from(args.skew).scalars(args.seed, count, &order);
    let bases = Bases::<_, 6, Trusted>::new(points)?;

    let begin = std::time::Instant::now();
    let (sum, report) = msm(&engine, &bases, &scalars)?;
    let took = begin.elapsed();
    let expected: Affine<Bls12_377, 6> = inputs::expected(args.seed, &scalars);
    let equal = sum == expected;
    if let Some(path) = &args.vcd {
        waveform(&design, 1, &bases, &scalars, path)?;
    }
    let counters = report.counters;
    let result = hex(&files::encode(&sum, Encoding::Compressed));
    let mut text = format!("{result}\n");
    text.push_str(&format!(
        "{} of {} columns in {} cycles, {:.2} % of them additions of points, in {} groups\n",
        DEVICE,
        report.columns,
        counters.cycles,
        100.0 * counters.issued as f64 / counters.cycles.max(1) as f64,
        report.groups,
    ));
    for (name, cycles) in counters.causes() {
        if cycles > 0 {
            text.push_str(&format!("{name:>10} {cycles}\n"));
        }
    }
    let object = json!({
        "engine": engine.name(),
        "simulated_device": DEVICE,
        "design": (args.engine == EngineName::Rtl).then_some(design.name),
        "curve": "bls12-377",
        "n": count,
        "result": result,
        "equal": equal,
        "cycles": counters.cycles,
        "issued": counters.issued,
        "efficiency": counters.issued as f64 / counters.cycles.max(1) as f64,
        "stalls": stalls(&counters),
        "conflicts": counters.conflicts,
        "zero_digits": counters.zeros,
        "full_additions": counters.full,
        "columns": report.columns,
        "on_host": report.on_host,
        "parameters": parameters(engine.machine()),
        "simulation_ms": ms(took),
        "vcd": args.vcd,
    });
    if !equal {
        return Err(Failure::new(
            crate::failure::Kind::Mismatch,
            "the simulated device gave another point than the logarithms say",
        ));
    }
    Ok(Outcome::new(text, fields(object)))
}

/// The design's machine with what the flags change.
fn machine(design: &Machine, args: &FpgaRunArgs) -> Machine {
    let mut machine = design.clone();
    if let Some(bits) = args.bits {
        machine.digit_bits = bits;
    }
    match args.fifo {
        Some(0) => machine.policy = Policy::Append,
        Some(depth) => machine.policy = Policy::Fifo(depth),
        None => {}
    }
    machine
}
