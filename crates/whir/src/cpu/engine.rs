//! The CPU as an [`Engine`].
#![forbid(unsafe_code)]

use std::sync::Arc;

use fieldspar_device::{CpuVariant, Unavailable};
use p3_field::BasedVectorSpace;
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;
use rayon::prelude::*;

use super::columns::partial_evals;
use super::eval::eval_table;
use super::grind::grind;
use super::isa::Variant;
use super::merkle::Tree;
use super::ntt::{MessageOrder, encode_planes};
use super::partial::{fold_base, partial_eval};
use super::sumcheck::{fold, fold_and_message, round_message};
use super::table::ExtTable;
use super::weights::{accumulate, accumulate_select};
use crate::driver::Error;
use crate::engine::{CodeShape, Engine, GrindTask, HiKind, HiWeight, Opened, OpenedRows};
use crate::field::{Commitment, EF4, EF5, F};
use crate::profile::Profile;

/// WHIR on the CPU, with one instruction-set variant chosen at run time, on the current rayon
/// thread pool.
#[derive(Clone, Debug)]
pub struct CpuEngine {
    variant: Variant,
    profile: Profile,
}

impl CpuEngine {
    /// An engine of the given variant.
    ///
    /// # Errors
    ///
    /// The processor lacks the variant's instructions; nothing else is chosen in its place.
    pub fn new(variant: CpuVariant) -> Result<Self, Unavailable> {
        match Variant::new(variant) {
            Some(variant) => Ok(Self {
                variant,
                profile: Profile::default(),
            }),
            None => Err(Unavailable::new(
                format!("cpu:{variant}"),
                match CpuVariant::ALL.contains(&variant) {
                    true => format!("this processor has no {variant} instructions"),
                    false => format!("there is no {variant} code for WHIR"),
                },
            )),
        }
    }

    /// The variant that runs.
    #[must_use]
    pub const fn variant(&self) -> CpuVariant {
        self.variant.kind()
    }

    fn commit_planes(&self, message: &[&[F]], shape: CodeShape) -> (Commitment, CpuCodeword) {
        let order = match shape.order {
            VariableOrder::Suffix => MessageOrder::RowMajor,
            VariableOrder::Prefix => MessageOrder::ColumnMajor,
        };
        let width = 1 << shape.fold;
        let planes = self.profile.time("encode", || {
            encode_planes(self.variant, message, width, order, shape.log_inv_rate)
        });
        let tree = self.profile.time("merkle", || {
            let planes: Vec<&[F]> = planes.iter().map(Vec::as_slice).collect();
            Tree::build(self.variant, &planes, width, shape.cap_height)
        });
        let commitment = tree.cap();
        let codeword = CpuCodeword(Arc::new(Code {
            planes,
            width,
            tree,
        }));
        (commitment, codeword)
    }
}

/// A committed codeword: one plane of rows for a base-field code, one per basis coefficient for an
/// extension code.
#[derive(Clone, Debug)]
pub struct CpuCodeword(Arc<Code>);

#[derive(Debug)]
struct Code {
    planes: Vec<Vec<F>>,
    width: usize,
    tree: Tree,
}

/// The tables of a running sumcheck.
#[derive(Debug)]
pub struct CpuSumcheck<EF> {
    order: VariableOrder,
    f: ExtTable<EF>,
    w: ExtTable<EF>,
    /// The next message, where the last fold made it in the same pass.
    next: Option<[EF; 2]>,
}

/// One implementation per extension rather than one generic over it: the kernels are then compiled
/// once, in this crate, and not again in every crate that proves.
macro_rules! engine {
    ($ef:ty) => {
        impl Engine<$ef> for CpuEngine {
            type Polynomial = Arc<Vec<F>>;
            type Codeword = CpuCodeword;
            type Sumcheck = CpuSumcheck<$ef>;

            fn profile(&self) -> &Profile {
                &self.profile
            }

            fn load(&self, evaluations: Vec<F>) -> Result<Arc<Vec<F>>, Error> {
                Ok(Arc::new(evaluations))
            }

            fn commit(
                &self,
                polynomial: &Arc<Vec<F>>,
                shape: CodeShape,
            ) -> Result<(Commitment, CpuCodeword), Error> {
                Ok(self.commit_planes(&[polynomial], shape))
            }

            fn partial_evaluations(
                &self,
                polynomial: &Arc<Vec<F>>,
                order: VariableOrder,
                fold: usize,
                weight: &HiWeight<$ef>,
            ) -> Result<Vec<$ef>, Error> {
                Ok(partial_eval(self.variant, polynomial, order, fold, weight))
            }

            fn partial_evaluations_of(
                &self,
                polynomial: &Arc<Vec<F>>,
                order: VariableOrder,
                fold: usize,
                weights: &[HiWeight<$ef>],
            ) -> Result<Vec<Vec<$ef>>, Error> {
                Ok(partial_evals(
                    self.variant,
                    polynomial,
                    order,
                    fold,
                    weights,
                ))
            }

            fn begin(
                &self,
                polynomial: &Arc<Vec<F>>,
                order: VariableOrder,
                fold: usize,
                lo_weights: &[$ef],
                weights: &[($ef, HiWeight<$ef>)],
            ) -> Result<CpuSumcheck<$ef>, Error> {
                let f = fold_base(self.variant, polynomial, order, fold, lo_weights);
                let mut w = ExtTable::zeros(f.len());
                let terms: Vec<_> = weights.iter().map(|(c, weight)| (*c, weight)).collect();
                accumulate(self.variant, &mut w, &terms);
                Ok(CpuSumcheck {
                    order,
                    f,
                    w,
                    next: None,
                })
            }

            fn commit_folded(
                &self,
                sumcheck: &CpuSumcheck<$ef>,
                shape: CodeShape,
            ) -> Result<(Commitment, CpuCodeword), Error> {
                let planes: Vec<&[F]> = sumcheck.f.planes().iter().map(Vec::as_slice).collect();
                Ok(self.commit_planes(&planes, shape))
            }

            fn evaluate(
                &self,
                sumcheck: &CpuSumcheck<$ef>,
                point: &Point<$ef>,
            ) -> Result<$ef, Error> {
                Ok(eval_table(self.variant, &sumcheck.f, point.as_slice()))
            }

            fn accumulate(
                &self,
                sumcheck: &mut CpuSumcheck<$ef>,
                eq: &[($ef, Point<$ef>)],
                select: &[($ef, F)],
            ) -> Result<(), Error> {
                let weights: Vec<_> = eq
                    .iter()
                    .map(|(c, point)| {
                        let weight = HiWeight {
                            leading: Vec::new(),
                            point: point.as_slice().to_vec(),
                            trailing: Vec::new(),
                            kind: HiKind::Eq,
                        };
                        (*c, weight)
                    })
                    .collect();
                let terms: Vec<_> = weights.iter().map(|(c, weight)| (*c, weight)).collect();
                accumulate(self.variant, &mut sumcheck.w, &terms);
                accumulate_select(self.variant, &mut sumcheck.w, select);
                sumcheck.next = None;
                Ok(())
            }

            fn message(&self, sumcheck: &mut CpuSumcheck<$ef>) -> Result<[$ef; 2], Error> {
                Ok(sumcheck.next.take().unwrap_or_else(|| {
                    round_message(self.variant, &sumcheck.f, &sumcheck.w, sumcheck.order)
                }))
            }

            fn fold(
                &self,
                sumcheck: &mut CpuSumcheck<$ef>,
                r: $ef,
                more: bool,
            ) -> Result<(), Error> {
                let CpuSumcheck { order, f, w, next } = sumcheck;
                if more && f.len() >= 4 {
                    *next = Some(fold_and_message(self.variant, f, w, *order, r));
                } else {
                    fold(self.variant, f, w, *order, r);
                    *next = None;
                }
                Ok(())
            }

            fn values(&self, sumcheck: &CpuSumcheck<$ef>) -> Result<Vec<$ef>, Error> {
                Ok(sumcheck.f.to_vec())
            }

            fn open(
                &self,
                codeword: &CpuCodeword,
                indices: &[usize],
            ) -> Result<Opened<$ef>, Error> {
                let Code {
                    planes,
                    width,
                    tree,
                } = &*codeword.0;
                let span = |i: usize| i * width..(i + 1) * width;
                let rows = match planes.as_slice() {
                    [plane] => {
                        OpenedRows::Base(indices.iter().map(|&i| plane[span(i)].to_vec()).collect())
                    }
                    planes => OpenedRows::Extension(
                        indices
                            .par_iter()
                            .map(|&i| {
                                span(i)
                                    .map(|at| <$ef>::from_basis_coefficients_fn(|d| planes[d][at]))
                                    .collect()
                            })
                            .collect(),
                    ),
                };
                let siblings = tree.prune(indices);
                Ok(Opened { rows, siblings })
            }

            fn grind(&self, task: &GrindTask) -> Result<F, Error> {
                grind(self.variant, task.state, task.slot, task.bits).ok_or(Error::Device(
                    fieldspar_device::Error::Unsupported {
                        op: "grind",
                        device: format!("cpu:{}", self.variant.kind()),
                        why: format!("no element of the field gives {} zero bits", task.bits),
                    },
                ))
            }
        }
    };
}

engine!(EF4);
engine!(EF5);
