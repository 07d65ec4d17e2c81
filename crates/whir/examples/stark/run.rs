//! What the examples share: flags, one proof with its times, the comparison with p3-whir.
#![allow(missing_docs, unreachable_pub)]

pub use std::time::{Duration, Instant};

pub use fieldspar_device::{CpuVariant, Device};
pub use fieldspar_whir::cpu::CpuEngine;
pub use fieldspar_whir::cuda::CudaEngine;
pub use fieldspar_whir::field::{Challenger, Extension, F};
pub use fieldspar_whir::params::{ExtensionDegree, Params};
pub use fieldspar_whir::pcs::{P3Whir, WhirPcs, challenger, mmcs};
pub use p3_dft::Radix2DFTSmallBatch;
pub use p3_matrix::Matrix;
pub use p3_matrix::dense::RowMajorMatrix;
pub use p3_multi_stark::{
    ProverInstance, ProverInstances, VerifierInstance, VerifierInstances, prove, setup, verify,
};
pub use p3_sumcheck::TableShape;
pub use p3_sumcheck::layout::{PrefixProver, Table, plan_stacked_layout};

pub use crate::stark::{Config, StarkPcs};

pub type Fault = Box<dyn std::error::Error>;

const USAGE: &str = "flags:
  --log-permutations N   2^N permutations
  --device NAME          cpu, cpu:avx2, cuda, cuda:1 and so on; without it the processor
  --threads N            threads of the PCS; p3-multi-stark itself runs on one
  --degree 4|5           extension degree (5)
  --level N              security level of the PCS (100)
  --fold N               variables folded a round (4)
  --vs-p3                prove with p3-whir's own prover too, and compare the bytes";

/// The command line.
#[derive(Clone, Debug)]
pub struct Flags {
    pub log_permutations: usize,
    pub device: Device,
    pub params: Params,
    pub vs_p3: bool,
}

impl Flags {
    /// Reads the command line; `log_permutations` is the default size.
    pub fn read(log_permutations: usize) -> Result<Self, Fault> {
        let mut flags = Self {
            log_permutations,
            device: Device::open(&"cpu".parse()?)?,
            params: Params::default(),
            vs_p3: false,
        };
        let mut args = std::env::args().skip(1);
        while let Some(flag) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{flag} needs a value"));
            match flag.as_str() {
                "--log-permutations" => flags.log_permutations = value()?.parse()?,
                "--threads" => rayon::ThreadPoolBuilder::new()
                    .num_threads(value()?.parse()?)
                    .build_global()?,
                "--degree" => {
                    flags.params.degree = ExtensionDegree::try_from(value()?.parse::<usize>()?)?;
                }
                "--level" => flags.params.security_level = value()?.parse()?,
                "--fold" => {
                    flags.params.folds = fieldspar_whir::params::Folds::Constant(value()?.parse()?);
                }
                "--vs-p3" => flags.vs_p3 = true,
                "--device" => flags.device = Device::open(&value()?.parse()?)?,
                _ => return Err(format!("no flag {flag}\n{USAGE}").into()),
            }
        }
        Ok(flags)
    }
}

/// A module `$name` that proves traces of one AIR over one extension: for p3-multi-stark's bounds to
/// hold, neither may be a parameter.
macro_rules! prover {
    ($name:ident, $extension:ty, $air:ty) => {
        mod $name {
            use super::run::*;
            use super::*;

            type EF = $extension;
            type A = $air;

pub(super) fn run(flags: &Flags, air: &A, trace: RowMajorMatrix<F>) -> Result<(), Fault>
{
    type L = PrefixProver<F, EF>;
    let (height, width) = (trace.height().ilog2() as usize, trace.width());
    let (n, _) = plan_stacked_layout(&[TableShape::new(height, width)]);
    let fold = flags.params.folds.first();
    // current and next view of every column
    let config = || flags.params.config_with::<EF, Challenger>(n, 2 * width);
    println!("trace of 2^{height} rows, {width} columns; stacked polynomial of 2^{n} elements");
    println!(
        "degree {}, {} bits, {} bound, fold {fold}; {}, {} threads",
        <EF as Extension>::D,
        flags.params.security_level,
        flags.params.assumption,
        flags.device,
        rayon::current_num_threads(),
    );
    // the rival's copy of the trace is made only for it
    let copy = flags.vs_p3.then(|| trace.clone());
    let ours = if let Some(gpu) = flags.device.cuda() {
        let pcs = WhirPcs::<EF, L, _>::new(config()?, 0, CudaEngine::new(gpu)?);
        one("fieldspar", pcs, fold, air, trace)?
    } else {
        let variant = flags.device.cpu_variant().unwrap_or(CpuVariant::Portable);
        let pcs = WhirPcs::<EF, L, _>::new(config()?, 0, CpuEngine::new(variant)?);
        one("fieldspar", pcs, fold, air, trace)?
    };
    if let Some(trace) = copy {
        let pcs = P3Whir::<EF, L>::new(config()?, Radix2DFTSmallBatch::default(), mmcs(0));
        let theirs = one("p3-whir", pcs, fold, air, trace)?;
        println!(
            "PCS: p3-whir (this build, one thread) takes {:.2} times as long; proof bytes {}",
            theirs.1.as_secs_f64() / ours.1.as_secs_f64(),
            if ours.0 == theirs.0 {
                "equal"
            } else {
                "DIFFER"
            }
        );
        if ours.0 != theirs.0 {
            return Err("the proofs differ".into());
        }
    }
    Ok(())
}

/// One proof, verified: its bytes and the PCS's share of the time.
fn one<P>(
    name: &str,
    pcs: P,
    fold: usize,
    air: &A,
    trace: RowMajorMatrix<F>,
) -> Result<(Vec<u8>, Duration), Fault>
where
    P: StarkPcs<EF>,
{
    let config = Config::<EF, P>::new(pcs, None, fold);
    let height = trace.height().ilog2() as usize;
    let table = Table::new(trace.transpose());
    drop(trace);
    let (pk, vk) = setup(&config, &[air], &mut challenger()).map_err(said)?;
    config.main().take();

    let clock = Instant::now();
    let instances = ProverInstances::new(vec![ProverInstance::new(air, table, &pk, &[])]);
    let proof = prove(&config, instances, 0, &mut challenger()).map_err(said)?;
    let total = clock.elapsed();
    let times = config.main().take();

    let clock = Instant::now();
    let instances = VerifierInstances::new(vec![VerifierInstance::new(air, &vk, height, &[])]);
    verify(&config, instances, &proof, 0, &mut challenger()).map_err(said)?;
    let verified = clock.elapsed();

    let bytes = postcard::to_allocvec(&proof)?;
    let pcs = times.commit + times.open;
    println!(
        "{name}: proof in {:.3} s, of which the PCS {:.3} s (commit {:.3}, open {:.3}), \
         zerocheck and the rest {:.3} s; {} bytes, verified by p3-multi-stark in {:.1} ms{}",
        total.as_secs_f64(),
        pcs.as_secs_f64(),
        times.commit.as_secs_f64(),
        times.open.as_secs_f64(),
        total.saturating_sub(pcs).as_secs_f64(),
        bytes.len(),
        verified.as_secs_f64() * 1e3,
        peak().map_or(String::new(), |p| format!("; peak memory {p:.2} GiB")),
    );
    Ok((bytes, pcs))
}
        }
    };
}

pub fn said(error: impl std::fmt::Debug) -> Fault {
    format!("{error:?}").into()
}

/// Peak resident memory of the process so far, in GiB.
pub fn peak() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / (1024.0 * 1024.0))
}
