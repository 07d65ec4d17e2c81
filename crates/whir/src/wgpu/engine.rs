//! An adapter as an [`Engine`].
#![forbid(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use fieldspar_device::Error as DeviceError;
use fieldspar_device::wgpu::{Arithmetic, Batch, Buffer, Kernel, Pending, Wgpu};
use p3_baby_bear::{
    BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL, BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL,
    BABYBEAR_POSEIDON2_RC_16_INTERNAL,
};
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;

use super::encode::{Code, Message, Roots, encode};
use super::eval::{Folded, evaluate, partial_evaluations};
use super::grind::Grinder;
use super::kernels::Kernels;
use super::open::open;
use super::sumcheck::{AskedMessage, Tables};
use super::texts::Module;
use super::tree::Tree;
use super::weights;
use super::words::{base, extension, word, words};
use crate::driver::Error;
use crate::engine::{CodeShape, Engine, GrindTask, HiWeight, Later, Opened, OpenedRows};
use crate::field::{Commitment, Extension, F};
use crate::profile::Profile;

/// WHIR on one adapter.
///
/// Clones share the kernels and the profile; several threads may use them at once.
#[derive(Clone)]
pub struct WgpuEngine(Arc<Core>);

/// What all operations need.
pub(super) struct Core {
    pub(super) gpu: Wgpu,
    kernels: Kernels,
    grinder: Grinder,
    pub(super) roots: Roots,
    /// Round constants of the permutation.
    pub(super) constants: Buffer,
    /// Bytes that a binding may have.
    pub(super) binding: u64,
    profile: Profile,
}

impl fmt::Debug for WgpuEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WgpuEngine")
            .field("device", &self.0.gpu.spec())
            .field("arithmetic", &self.arithmetic())
            .finish_non_exhaustive()
    }
}

impl Core {
    pub(super) fn kernel(&self, module: Module, name: &'static str) -> Result<Kernel, DeviceError> {
        self.kernels.get(&self.gpu, module, name)
    }

    pub(super) fn unsupported(&self, op: &'static str, why: String) -> DeviceError {
        DeviceError::Unsupported {
            op,
            device: self.gpu.spec().to_owned(),
            why,
        }
    }
}

/// A polynomial in the adapter's memory: its 2^n values, words in Montgomery form.
#[derive(Clone, Debug)]
pub struct WgpuPolynomial {
    values: Arc<Buffer>,
    variables: usize,
}

/// The values of a polynomial in memory of the host.
#[derive(Debug)]
pub struct WgpuPinned {
    values: Buffer,
    variables: usize,
}

/// A committed codeword in the adapter's memory, with its tree.
#[derive(Clone, Debug)]
pub struct WgpuCodeword(Arc<Committed>);

#[derive(Debug)]
struct Committed {
    code: Code,
    /// Words of an entry: 1 for a base-field codeword.
    degree: usize,
    tree: Tree,
}

/// The tables of a running sumcheck, in the adapter's memory.
#[derive(Debug)]
pub struct WgpuSumcheck<EF> {
    order: VariableOrder,
    tables: Tables,
    /// The next message, where it is under way.
    asked: Option<(Pending, AskedMessage<EF>)>,
    field: PhantomData<EF>,
}

impl WgpuEngine {
    /// An engine on an opened adapter, in the arithmetic variant that it has.
    ///
    /// # Errors
    ///
    /// [`DeviceError`].
    pub fn new(gpu: &Wgpu) -> Result<Self, DeviceError> {
        Self::with_options(gpu, gpu.arithmetic(), u64::MAX)
    }

    /// [`Self::new`] in a variant that need not be the adapter's best, with bindings of at most so many
    /// bytes.
    ///
    /// # Errors
    ///
    /// [`DeviceError`]; the adapter may not have the variant, which the first kernel then says.
    pub fn with_options(
        gpu: &Wgpu,
        arithmetic: Arithmetic,
        binding_bytes: u64,
    ) -> Result<Self, DeviceError> {
        let rounds = [
            BABYBEAR_POSEIDON2_RC_16_EXTERNAL_INITIAL.as_flattened(),
            &BABYBEAR_POSEIDON2_RC_16_INTERNAL,
            BABYBEAR_POSEIDON2_RC_16_EXTERNAL_FINAL.as_flattened(),
        ];
        let constants: Vec<[u32; 4]> = rounds
            .into_iter()
            .flatten()
            .map(|&c| [word(c), 0, 0, 0])
            .collect();
        let limits = gpu.info().limits;
        Ok(Self(Arc::new(Core {
            gpu: gpu.clone(),
            kernels: Kernels::new(arithmetic),
            grinder: Grinder::new(),
            roots: Roots::new(gpu)?,
            constants: gpu.upload("whir constants", constants.as_flattened())?,
            binding: limits
                .binding_bytes
                .min(limits.buffer_bytes)
                .min(binding_bytes),
            profile: Profile::default(),
        })))
    }

    /// The adapter.
    #[must_use]
    pub fn gpu(&self) -> &Wgpu {
        &self.0.gpu
    }

    /// The arithmetic variant of the kernels.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        self.0.kernels.arithmetic()
    }

    /// Bytes that a binding of this engine has at most.
    #[must_use]
    pub fn binding_bytes(&self) -> u64 {
        self.0.binding
    }

    /// Waits for the adapter since it was opened, by all who use it.
    #[must_use]
    pub fn waits(&self) -> u64 {
        self.0.gpu.waits()
    }

    /// The values of a polynomial in memory of the host that the adapter reads by itself, from where
    /// [`Self::load_pinned`] takes them at the full speed of the bus.
    ///
    /// # Errors
    ///
    /// The device's.
    pub fn pin(&self, evaluations: &[F]) -> Result<WgpuPinned, Error> {
        let found = evaluations.len();
        if !found.is_power_of_two() {
            return Err(Error::Statement {
                what: "values of a polynomial",
                expected: found.next_power_of_two(),
                found,
            });
        }
        let values = self.0.gpu.host_buffer("whir pin", words(evaluations))?;
        Ok(WgpuPinned {
            values,
            variables: found.ilog2() as usize,
        })
    }

    /// Takes the values that [`Self::pin`] put there. Nothing waits.
    ///
    /// # Errors
    ///
    /// The device's.
    pub fn load_pinned(&self, pinned: &WgpuPinned) -> Result<WgpuPolynomial, Error> {
        let core = self.core();
        let copy = || {
            let bytes = pinned.values.bytes();
            let values = core.gpu.scratch("whir load", bytes)?;
            let mut batch = core.gpu.batch("whir load");
            batch.copy(&pinned.values, 0..bytes, &values, 0)?;
            batch.start()?;
            Ok::<_, DeviceError>(values)
        };
        Ok(WgpuPolynomial {
            values: Arc::new(core.profile.time("upload", copy)?),
            variables: pinned.variables,
        })
    }

    pub(super) fn core(&self) -> &Core {
        &self.0
    }

    /// Adds the next message to a batch, and submits it.
    fn ask<EF: Extension>(
        &self,
        mut batch: Batch<'_>,
        tables: &Tables,
        order: VariableOrder,
    ) -> Result<(Pending, AskedMessage<EF>), DeviceError> {
        let core = self.core();
        let asked = tables.message(&core.gpu, &mut batch, &core.kernels, order)?;
        Ok((batch.start()?, asked))
    }

    /// Encodes and hashes a message of 2^`variables` elements of `degree` words; `meanwhile` is the
    /// host's, once the adapter has its work.
    fn commit_planes(
        &self,
        planes: &Buffer,
        degree: usize,
        variables: usize,
        shape: CodeShape,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Commitment, WgpuCodeword), Error> {
        let core = self.core();
        let message = Message {
            planes,
            degree,
            log_rows: variables - shape.fold,
            log_width: shape.fold,
            row_major: shape.order == VariableOrder::Suffix,
        };
        let mut batch = core.gpu.batch("whir commit");
        let (code, tree, cap, pending) = core.profile.time("encode", || {
            let code = encode(core, &mut batch, message, shape.log_inv_rate)?;
            let (tree, cap) = Tree::build(core, &mut batch, &code, shape.cap_height)?;
            Ok::<_, DeviceError>((code, tree, cap, batch.start()?))
        })?;
        meanwhile();
        let commitment = core.profile.time("merkle", || cap.get(&pending.wait()?))?;
        let committed = Committed { code, degree, tree };
        Ok((commitment, WgpuCodeword(Arc::new(committed))))
    }
}

impl<EF: Extension> Engine<EF> for WgpuEngine {
    type Polynomial = WgpuPolynomial;
    type Codeword = WgpuCodeword;
    type Sumcheck = WgpuSumcheck<EF>;

    fn profile(&self) -> &Profile {
        &self.0.profile
    }

    fn load(&self, evaluations: Vec<F>) -> Result<WgpuPolynomial, Error> {
        let found = evaluations.len();
        if !found.is_power_of_two() {
            return Err(Error::Statement {
                what: "values of a polynomial",
                expected: found.next_power_of_two(),
                found,
            });
        }
        let core = self.core();
        let upload = || core.gpu.upload("whir load", words(&evaluations));
        Ok(WgpuPolynomial {
            values: Arc::new(core.profile.time("upload", upload)?),
            variables: found.ilog2() as usize,
        })
    }

    fn commit(
        &self,
        polynomial: &WgpuPolynomial,
        shape: CodeShape,
    ) -> Result<(Commitment, WgpuCodeword), Error> {
        let n = polynomial.variables;
        self.commit_planes(&polynomial.values, 1, n, shape, &mut || ())
    }

    fn partial_evaluations(
        &self,
        polynomial: &WgpuPolynomial,
        order: VariableOrder,
        fold: usize,
        weight: &HiWeight<EF>,
    ) -> Result<Vec<EF>, Error> {
        let weights = core::slice::from_ref(weight);
        let mut all = self.partial_evaluations_of(polynomial, order, fold, weights)?;
        Ok(all.pop().unwrap_or_default())
    }

    fn partial_evaluations_of(
        &self,
        polynomial: &WgpuPolynomial,
        order: VariableOrder,
        fold: usize,
        weights: &[HiWeight<EF>],
    ) -> Result<Vec<Vec<EF>>, Error> {
        let core = self.core();
        let folded = Folded {
            polynomial: &polynomial.values,
            n: polynomial.variables,
            order,
            fold,
        };
        let mut batch = core.gpu.batch("whir evaluate");
        let asked = partial_evaluations(&core.gpu, &mut batch, &core.kernels, folded, weights)?;
        Ok(asked.finish(&batch.run()?)?)
    }

    fn begin(
        &self,
        polynomial: &WgpuPolynomial,
        order: VariableOrder,
        fold: usize,
        lo_weights: &[EF],
        weights: &[(EF, HiWeight<EF>)],
    ) -> Result<WgpuSumcheck<EF>, Error> {
        let core = self.core();
        let mut batch = core.gpu.batch("whir begin");
        let polynomial = (&*polynomial.values, polynomial.variables);
        debug_assert_eq!(lo_weights.len(), 1 << fold, "a factor for each value of lo");
        let (gpu, kernels) = (&core.gpu, &core.kernels);
        let tables = Tables::fold_base(gpu, &mut batch, kernels, polynomial, order, lo_weights)?;
        weights::begin(gpu, &mut batch, kernels, &tables, weights)?;
        batch.start()?;
        Ok(WgpuSumcheck {
            order,
            tables,
            asked: None,
            field: PhantomData,
        })
    }

    fn commit_folded(
        &self,
        sumcheck: &WgpuSumcheck<EF>,
        shape: CodeShape,
    ) -> Result<(Commitment, WgpuCodeword), Error> {
        Engine::<EF>::commit_folded_beside(self, sumcheck, shape, &mut || ())
    }

    fn commit_folded_beside(
        &self,
        sumcheck: &WgpuSumcheck<EF>,
        shape: CodeShape,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Commitment, WgpuCodeword), Error> {
        let Tables { f, bits, .. } = &sumcheck.tables;
        self.commit_planes(f, EF::D, *bits, shape, meanwhile)
    }

    fn evaluate(&self, sumcheck: &WgpuSumcheck<EF>, point: &Point<EF>) -> Result<EF, Error> {
        let core = self.core();
        let (gpu, kernels, point) = (&core.gpu, &core.kernels, point.as_slice());
        let mut batch = gpu.batch("whir evaluate");
        let asked = evaluate(gpu, &mut batch, kernels, &sumcheck.tables, point)?;
        Ok(asked.finish(&batch.run()?)?)
    }

    fn accumulate(
        &self,
        sumcheck: &mut WgpuSumcheck<EF>,
        eq: &[(EF, Point<EF>)],
        select: &[(EF, F)],
    ) -> Result<(), Error> {
        let core = self.core();
        let (gpu, kernels) = (&core.gpu, &core.kernels);
        let tables = &sumcheck.tables;
        // a message of other weights holds no more
        sumcheck.asked = None;
        let mut batch = gpu.batch("whir accumulate");
        let eq: Vec<_> = eq.iter().map(|(c, point)| (*c, point.as_slice())).collect();
        weights::add_eq(gpu, &mut batch, kernels, tables, &eq)?;
        weights::add_select(gpu, &mut batch, kernels, tables, select)?;
        // the host has the transcript to see to before it needs the message
        if tables.bits == 0 {
            batch.start()?;
        } else {
            sumcheck.asked = Some(self.ask(batch, tables, sumcheck.order)?);
        }
        Ok(())
    }

    fn message(&self, sumcheck: &mut WgpuSumcheck<EF>) -> Result<[EF; 2], Error> {
        let (pending, asked) = match sumcheck.asked.take() {
            Some(asked) => asked,
            None => {
                let batch = self.core().gpu.batch("whir message");
                self.ask(batch, &sumcheck.tables, sumcheck.order)?
            }
        };
        Ok(asked.finish(&pending.wait()?)?)
    }

    fn fold(&self, sumcheck: &mut WgpuSumcheck<EF>, r: EF, more: bool) -> Result<(), Error> {
        let core = self.core();
        let (gpu, kernels, order) = (&core.gpu, &core.kernels, sumcheck.order);
        sumcheck.asked = None;
        let tables = &mut sumcheck.tables;
        let mut batch = gpu.batch("whir fold");
        if more && tables.bits >= 2 {
            let asked = tables.fold_message(gpu, &mut batch, kernels, order, r)?;
            sumcheck.asked = Some((batch.start()?, asked));
        } else {
            tables.fold(gpu, &mut batch, kernels, order, r)?;
            batch.start()?;
        }
        Ok(())
    }

    fn values(&self, sumcheck: &WgpuSumcheck<EF>) -> Result<Vec<EF>, Error> {
        let mut batch = self.core().gpu.batch("whir values");
        let asked = sumcheck.tables.values(&mut batch)?;
        Ok(asked.finish(&batch.run()?)?)
    }

    fn open(&self, codeword: &WgpuCodeword, indices: &[usize]) -> Result<Opened<EF>, Error> {
        self.open_later(codeword, indices)?()
    }

    fn open_later(&self, codeword: &WgpuCodeword, indices: &[usize]) -> Result<Later<EF>, Error> {
        let Committed { code, degree, tree } = &*codeword.0;
        let (columns, degree) = (code.columns, *degree);
        let gathering = open(self.core(), code, tree, indices)?;
        Ok(Box::new(move || {
            let (words, siblings) = match gathering {
                Some(gathering) => gathering.wait()?,
                None => Default::default(),
            };
            let rows = words.chunks_exact(columns);
            let rows = if degree == 1 {
                OpenedRows::Base(
                    rows.map(|r| r.iter().copied().map(base).collect())
                        .collect(),
                )
            } else {
                let row = |r: &[u32]| r.chunks_exact(degree).map(extension).collect();
                OpenedRows::Extension(rows.map(row).collect())
            };
            Ok(Opened { rows, siblings })
        }))
    }

    fn grind(&self, task: &GrindTask) -> Result<F, Error> {
        let core = self.core();
        let (gpu, kernels) = (&core.gpu, &core.kernels);
        let found = core.grinder.search(gpu, kernels, &core.constants, task)?;
        found.ok_or_else(|| {
            let why = format!("no element of the field gives {} zero bits", task.bits);
            core.unsupported("whir grind", why).into()
        })
    }
}
