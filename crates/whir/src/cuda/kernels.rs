//! The compiled kernels, by name.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Archive, Cuda, Function, Module};

use super::workspace::MAX_BLOCKS;

/// What `cargo xtask kernels` made of `kernels/*.cu`.
static ARCHIVE: &[u8] = include_bytes!("kernels.bin");

/// Threads of a block of the sumcheck.
pub(super) const SUM_THREADS: u32 = 256;

/// Every kernel of this crate, loaded on one GPU.
#[derive(Debug)]
pub(super) struct Kernels {
    /// First passes of the transform, by log2 of the radix, 0..=8.
    pub(super) ntt_first: [Function; 9],
    /// Later passes, by log2 of the radix - 4, 4..=8.
    pub(super) ntt_next: [Function; 5],
    pub(super) merkle_leaves: Function,
    pub(super) merkle_leaves_long: Function,
    pub(super) merkle_leaves_row: Function,
    pub(super) merkle_nodes: Function,
    pub(super) merkle_nodes_row: Function,
    pub(super) gather: Function,
    pub(super) grind: Function,
    pub(super) grind_quad: Function,
    degree_4: ByDegree,
    degree_5: ByDegree,
}

/// Kernels over the extension.
#[derive(Debug)]
pub(super) struct ByDegree {
    pub(super) partial_sums: Function,
    pub(super) partial_finish: Function,
    pub(super) lift: Function,
    pub(super) evaluate: Function,
    pub(super) weights_eq: Function,
    pub(super) weights_at: Function,
    pub(super) select_powers: Function,
    pub(super) select_sums: Function,
    pub(super) fold_base: Function,
    pub(super) suffix: Rounds,
    pub(super) prefix: Rounds,
}

/// Sumcheck rounds of one variable order.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) message: Function,
    pub(super) fold: Function,
    pub(super) fold_message: Function,
    /// Blocks that the whole chip runs at once: of messages, and of folds with the next message.
    pub(super) fill: [usize; 2],
}

impl Kernels {
    /// Loads the kernels for this GPU's architecture.
    pub(super) fn load(cuda: &Cuda) -> Result<Self, Error> {
        let archive = Archive::parse(ARCHIVE).map_err(|e| broken(cuda, &e))?;
        let module = |name| {
            let image = archive
                .image(name, cuda.info().capability)
                .map_err(|e| broken(cuda, &e))?;
            cuda.load_module(&image.bytes)
        };
        let ntt = module("ntt")?;
        let merkle = module("merkle")?;
        let open = module("open")?;
        let grind = module("grind")?;
        let (eval, weights, sumcheck) = (module("eval")?, module("weights")?, module("sumcheck")?);
        let fill = |kernel: &Function| -> Result<usize, Error> {
            let blocks = kernel.max_active_blocks(SUM_THREADS, 0)? * cuda.info().multiprocessors;
            Ok((blocks as usize).clamp(1, MAX_BLOCKS))
        };
        macro_rules! rounds {
            ($order:literal, $d:literal) => {{
                let message = sumcheck.function(concat!("message_", $order, "_d", $d))?;
                let name = concat!("fold_message_", $order, "_d", $d);
                let fold_message = sumcheck.function(name)?;
                Rounds {
                    fill: [fill(&message)?, fill(&fold_message)?],
                    message,
                    fold: sumcheck.function(concat!("fold_", $order, "_d", $d))?,
                    fold_message,
                }
            }};
        }
        macro_rules! by_degree {
            ($d:literal) => {
                ByDegree {
                    partial_sums: eval.function(concat!("partial_sums_d", $d))?,
                    partial_finish: eval.function(concat!("partial_finish_d", $d))?,
                    lift: eval.function(concat!("lift_d", $d))?,
                    evaluate: eval.function(concat!("evaluate_d", $d))?,
                    weights_eq: weights.function(concat!("weights_eq_d", $d))?,
                    weights_at: weights.function(concat!("weights_at_d", $d))?,
                    select_powers: weights.function(concat!("select_powers_d", $d))?,
                    select_sums: weights.function(concat!("select_sums_d", $d))?,
                    fold_base: sumcheck.function(concat!("fold_base_d", $d))?,
                    suffix: rounds!("suffix", $d),
                    prefix: rounds!("prefix", $d),
                }
            };
        }
        Ok(Self {
            ntt_first: [
                ntt.function("ntt_first_0_0")?,
                ntt.function("ntt_first_1_0")?,
                ntt.function("ntt_first_2_0")?,
                ntt.function("ntt_first_3_0")?,
                ntt.function("ntt_first_4_0")?,
                ntt.function("ntt_first_4_1")?,
                ntt.function("ntt_first_4_2")?,
                ntt.function("ntt_first_4_3")?,
                ntt.function("ntt_first_4_4")?,
            ],
            ntt_next: [
                ntt.function("ntt_next_4_0")?,
                ntt.function("ntt_next_4_1")?,
                ntt.function("ntt_next_4_2")?,
                ntt.function("ntt_next_4_3")?,
                ntt.function("ntt_next_4_4")?,
            ],
            merkle_leaves: merkle.function("merkle_leaves")?,
            merkle_leaves_long: merkle.function("merkle_leaves_long")?,
            merkle_leaves_row: merkle.function("merkle_leaves_row")?,
            merkle_nodes: merkle.function("merkle_nodes")?,
            merkle_nodes_row: merkle.function("merkle_nodes_row")?,
            gather: open.function("gather")?,
            grind: grind.function("grind")?,
            grind_quad: grind.function("grind_quad")?,
            degree_4: by_degree!(4),
            degree_5: by_degree!(5),
        })
    }

    pub(super) const fn degree(&self, degree: usize) -> &ByDegree {
        match degree {
            4 => &self.degree_4,
            _ => &self.degree_5,
        }
    }
}

/// The module of the kernels that the self-test alone uses.
pub(super) fn selftest_module(cuda: &Cuda) -> Result<Module, Error> {
    let image = Archive::parse(ARCHIVE)
        .and_then(|archive| archive.image("selftest", cuda.info().capability))
        .map_err(|e| broken(cuda, &e))?;
    cuda.load_module(&image.bytes)
}

/// Sha256 of the sources of all kernels; `None` if the archive is broken, which loading reports.
pub(super) fn sources() -> Option<[u8; 32]> {
    Archive::parse(ARCHIVE)
        .ok()
        .map(|archive| archive.sources())
}

fn broken(cuda: &Cuda, why: &dyn std::fmt::Display) -> Error {
    Error::Unsupported {
        op: "load kernels",
        device: cuda.name().to_owned(),
        why: why.to_string(),
    }
}
