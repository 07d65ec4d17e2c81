//! The compiled kernels, by name.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Archive, Cuda, Function};

/// What `cargo xtask kernels` made of `kernels/*.cu`.
static ARCHIVE: &[u8] = include_bytes!("kernels.bin");

/// Every kernel of this crate, loaded on one GPU.
#[derive(Debug)]
pub(super) struct Kernels {
    /// First passes of the transform, by log2 of the radix, 0..=8.
    pub(super) ntt_first: [Function; 9],
    /// Later passes, by log2 of the radix - 4, 4..=8.
    pub(super) ntt_next: [Function; 5],
    pub(super) merkle_leaves: Function,
    pub(super) merkle_nodes: Function,
    pub(super) gather_rows: Function,
    pub(super) gather_digests: Function,
    pub(super) grind: Function,
    degree_4: ByDegree,
    degree_5: ByDegree,
}

/// Kernels over the extension.
#[derive(Debug)]
pub(super) struct ByDegree {
    pub(super) eq_pair: Function,
    pub(super) partial_sums: Function,
    pub(super) partial_finish: Function,
    pub(super) lift: Function,
    pub(super) evaluate: Function,
    pub(super) weights_eq: Function,
    pub(super) weights_span: Function,
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
        let first = |k: usize| ntt.function(&format!("ntt_first_{}_{}", k.min(4), k - k.min(4)));
        let next = |k: usize| ntt.function(&format!("ntt_next_4_{}", k - 4));
        let by_degree = |d: usize| {
            let rounds = |order: &str| {
                let function = |name| sumcheck.function(&format!("{name}_{order}_d{d}"));
                Ok::<_, Error>(Rounds {
                    message: function("message")?,
                    fold: function("fold")?,
                    fold_message: function("fold_message")?,
                })
            };
            let eval = |name| eval.function(&format!("{name}_d{d}"));
            let weights = |name| weights.function(&format!("{name}_d{d}"));
            Ok::<_, Error>(ByDegree {
                eq_pair: eval("eq_pair")?,
                partial_sums: eval("partial_sums")?,
                partial_finish: eval("partial_finish")?,
                lift: eval("lift")?,
                evaluate: eval("evaluate")?,
                weights_eq: weights("weights_eq")?,
                weights_span: weights("weights_span")?,
                weights_at: weights("weights_at")?,
                select_powers: weights("select_powers")?,
                select_sums: weights("select_sums")?,
                fold_base: sumcheck.function(&format!("fold_base_d{d}"))?,
                suffix: rounds("suffix")?,
                prefix: rounds("prefix")?,
            })
        };
        Ok(Self {
            ntt_first: [
                first(0)?,
                first(1)?,
                first(2)?,
                first(3)?,
                first(4)?,
                first(5)?,
                first(6)?,
                first(7)?,
                first(8)?,
            ],
            ntt_next: [next(4)?, next(5)?, next(6)?, next(7)?, next(8)?],
            merkle_leaves: merkle.function("merkle_leaves")?,
            merkle_nodes: merkle.function("merkle_nodes")?,
            gather_rows: open.function("gather_rows")?,
            gather_digests: open.function("gather_digests")?,
            grind: grind.function("grind")?,
            degree_4: by_degree(4)?,
            degree_5: by_degree(5)?,
        })
    }

    pub(super) const fn degree(&self, degree: usize) -> &ByDegree {
        match degree {
            4 => &self.degree_4,
            _ => &self.degree_5,
        }
    }
}

fn broken(cuda: &Cuda, why: &dyn std::fmt::Display) -> Error {
    Error::Unsupported {
        op: "load kernels",
        device: cuda.to_string(),
        why: why.to_string(),
    }
}
