//! The GPU as an [`Engine`].
#![forbid(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use fieldspar_device::Error as DeviceError;
use fieldspar_device::cuda::{Arg, Buffer, Cuda, Function, Mailbox, Pinned, Stream};
use p3_multilinear_util::point::Point;
use p3_sumcheck::strategy::VariableOrder;

use super::encode::{Message, Roots, encode};
use super::eval::{evaluate, partial_evaluations};
use super::kernels::{ByDegree, Kernels, Rounds};
use super::open::open;
use super::sumcheck::{Tables, read_message};
use super::tree::Tree;
use super::weights;
use super::words::{base, extension, words};
use super::workspace::{Letters, Workspace};
use crate::driver::Error;
use crate::engine::{CodeShape, Engine, GrindTask, HiWeight, Later, Opened, OpenedRows};
use crate::field::{Commitment, Extension, F};
use crate::profile::{Profile, Span};

/// Bits of a proof of work up to which four threads share a permutation, so that a wave of them is
/// short, and up to which a wave is one block a multiprocessor: half a wave is searched in vain.
const FEW_BITS: usize = 14;
const MORE_BITS: usize = 18;
/// Threads of a block of the proof of work.
const GRIND_THREADS: u32 = 256;

/// WHIR on one GPU, on one stream.
///
/// Clones share the stream, the kernels and the profile. Several engines on one GPU run beside each
/// other, each in its own order.
#[derive(Clone)]
pub struct CudaEngine(Arc<Inner>);

struct Inner {
    cuda: Cuda,
    stream: Stream,
    kernels: Kernels,
    roots: Roots,
    workspace: Mutex<Workspace>,
    letters: Letters,
    /// Blocks of the proof of work that a multiprocessor runs at once.
    grind_blocks: u32,
    profile: Profile,
}

impl fmt::Debug for CudaEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaEngine")
            .field("device", &self.0.cuda.name())
            .finish_non_exhaustive()
    }
}

/// A polynomial in device memory: its 2^n values, words in Montgomery form.
#[derive(Clone, Debug)]
pub struct CudaPolynomial(Arc<Buffer<u32>>);

/// A committed codeword in device memory, with its tree.
#[derive(Clone, Debug)]
pub struct CudaCodeword(Arc<Code>);

#[derive(Debug)]
struct Code {
    /// Column-major.
    words: Buffer<u32>,
    /// `width * degree`.
    columns: usize,
    /// Words of an entry: 1 for a base-field codeword.
    degree: usize,
    tree: Tree,
}

/// The tables of a running sumcheck, in device memory.
#[derive(Debug)]
pub struct CudaSumcheck<EF> {
    order: VariableOrder,
    tables: Tables,
    /// The next message, where the last fold made it in the same pass.
    next: Option<[EF; 2]>,
    /// Where the next message will come, where it is under way.
    asked: Option<Mailbox>,
    field: PhantomData<EF>,
}

impl CudaEngine {
    /// An engine on its own stream of an opened GPU.
    ///
    /// # Errors
    ///
    /// The kernels do not load on this GPU, or its memory is full.
    pub fn new(cuda: &Cuda) -> Result<Self, DeviceError> {
        let stream = cuda.stream()?;
        let kernels = Kernels::load(cuda)?;
        let roots = Roots::new(&stream)?;
        let workspace = Mutex::new(Workspace::new(&stream)?);
        let active = |kernel: &Function| kernel.max_active_blocks(GRIND_THREADS, 0);
        let grind_blocks = active(&kernels.grind)?
            .min(active(&kernels.grind_quad)?)
            .max(1);
        Ok(Self(Arc::new(Inner {
            cuda: cuda.clone(),
            stream,
            kernels,
            roots,
            workspace,
            letters: Letters::default(),
            grind_blocks,
            profile: Profile::default(),
        })))
    }

    /// The GPU.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.0.cuda
    }

    /// The values of a polynomial in page-locked memory, from where [`Self::load_pinned`] takes them
    /// at the full speed of the bus.
    ///
    /// # Errors
    ///
    /// The system has no page-locked memory left.
    pub fn pin(&self, evaluations: &[F]) -> Result<Pinned<u32>, Error> {
        let mut pinned = self.0.cuda.pinned(evaluations.len())?;
        pinned.copy_from_slice(words(evaluations));
        Ok(pinned)
    }

    /// Takes 2^n values from page-locked memory: words below p in Montgomery form, as
    /// [`Self::pin`] puts them there.
    ///
    /// # Errors
    ///
    /// The device's; a number of values that is no power of two.
    pub fn load_pinned(&self, values: &Pinned<u32>) -> Result<CudaPolynomial, Error> {
        let Inner {
            stream, profile, ..
        } = &*self.0;
        let buffer = profile.time("upload", || stream.upload_pinned(values))?;
        Self::adopt(buffer)
    }

    /// Takes 2^n values that are on the device already: words below p in Montgomery form, in a
    /// buffer of a stream whose work on them is ordered before this engine's.
    ///
    /// # Errors
    ///
    /// A number of values that is no power of two.
    pub fn adopt(values: Buffer<u32>) -> Result<CudaPolynomial, Error> {
        if values.len().is_power_of_two() {
            Ok(CudaPolynomial(Arc::new(values)))
        } else {
            Err(Error::Statement {
                what: "values of a polynomial",
                expected: values.len().next_power_of_two(),
                found: values.len(),
            })
        }
    }

    fn degree<EF: Extension>(&self) -> &ByDegree {
        self.0.kernels.degree(EF::D)
    }

    fn rounds<EF: Extension>(&self, order: VariableOrder) -> &Rounds {
        match order {
            VariableOrder::Suffix => &self.degree::<EF>().suffix,
            VariableOrder::Prefix => &self.degree::<EF>().prefix,
        }
    }

    /// Launches what makes the next message.
    fn ask_message<EF: Extension>(
        &self,
        sumcheck: &CudaSumcheck<EF>,
    ) -> Result<Mailbox, DeviceError> {
        let Inner {
            stream, letters, ..
        } = &*self.0;
        let rounds = self.rounds::<EF>(sumcheck.order);
        let mut letter = letters.take(stream)?;
        let tables = &sumcheck.tables;
        tables.message(stream, rounds, &self.workspace(), &mut letter)?;
        Ok(letter)
    }

    /// A message that was made of other weights or values holds no more.
    fn forget<EF>(&self, sumcheck: &mut CudaSumcheck<EF>) {
        sumcheck.next = None;
        if let Some(letter) = sumcheck.asked.take() {
            self.0.letters.put(letter);
        }
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.0.stream
    }

    pub(super) fn kernels(&self) -> &Kernels {
        &self.0.kernels
    }

    pub(super) fn roots(&self) -> &Roots {
        &self.0.roots
    }

    pub(super) fn workspace(&self) -> MutexGuard<'_, Workspace> {
        let workspace = self.0.workspace.lock();
        workspace.unwrap_or_else(PoisonError::into_inner)
    }

    /// Encodes and hashes a message of 2^`variables` elements of `degree` words; `meanwhile` is the
    /// host's, once the device has its work.
    fn commit_planes(
        &self,
        planes: &Buffer<u32>,
        degree: usize,
        variables: usize,
        shape: CodeShape,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Commitment, CudaCodeword), Error> {
        let Inner {
            stream,
            kernels,
            roots,
            profile,
            ..
        } = &*self.0;
        let message = Message {
            planes,
            degree,
            log_rows: variables - shape.fold,
            log_width: shape.fold,
            row_major: shape.order == VariableOrder::Suffix,
        };
        let words = profile.time("encode", || {
            encode(stream, kernels, roots, message, shape.log_inv_rate)
        })?;
        let columns = degree << shape.fold;
        let log_height = message.log_rows + shape.log_inv_rate;
        let (tree, commitment) = profile.time("merkle", || {
            Tree::build(
                stream,
                kernels,
                (&words, columns),
                log_height,
                shape.cap_height,
                &mut self.workspace(),
                meanwhile,
            )
        })?;
        let code = Code {
            words,
            columns,
            degree,
            tree,
        };
        Ok((commitment, CudaCodeword(Arc::new(code))))
    }
}

impl<EF: Extension> Engine<EF> for CudaEngine {
    type Polynomial = CudaPolynomial;
    type Codeword = CudaCodeword;
    type Sumcheck = CudaSumcheck<EF>;

    fn profile(&self) -> &Profile {
        &self.0.profile
    }

    fn start_timeline(&self) -> Result<(), Error> {
        Ok(self.0.stream.start_timeline()?)
    }

    fn take_timeline(&self) -> Result<Option<(Instant, Vec<Span>)>, Error> {
        let Some((origin, timed)) = self.0.stream.take_timeline()? else {
            return Ok(None);
        };
        let spans = timed.iter().map(|t| Span {
            name: t.name,
            start: t.start,
            length: t.length,
        });
        Ok(Some((origin, spans.collect())))
    }

    fn load(&self, evaluations: Vec<F>) -> Result<CudaPolynomial, Error> {
        let buffer = self.0.profile.time("upload", || {
            let buffer = self.0.stream.upload(words(&evaluations));
            drop(evaluations);
            buffer
        })?;
        Self::adopt(buffer)
    }

    fn commit(
        &self,
        polynomial: &CudaPolynomial,
        shape: CodeShape,
    ) -> Result<(Commitment, CudaCodeword), Error> {
        self.commit_planes(&polynomial.0, 1, polynomial.variables(), shape, &mut || ())
    }

    fn partial_evaluations(
        &self,
        polynomial: &CudaPolynomial,
        order: VariableOrder,
        fold: usize,
        weight: &HiWeight<EF>,
    ) -> Result<Vec<EF>, Error> {
        let Inner {
            stream, kernels, ..
        } = &*self.0;
        let polynomial = (&*polynomial.0, polynomial.variables());
        let workspace = &mut self.workspace();
        Ok(partial_evaluations(
            stream, kernels, workspace, polynomial, order, fold, weight,
        )?)
    }

    fn begin(
        &self,
        polynomial: &CudaPolynomial,
        order: VariableOrder,
        fold: usize,
        lo_weights: &[EF],
        weights: &[(EF, HiWeight<EF>)],
    ) -> Result<CudaSumcheck<EF>, Error> {
        let (stream, kernels) = (&self.0.stream, self.degree::<EF>());
        let polynomial = (&*polynomial.0, polynomial.variables());
        let mut tables = Tables::fold_base(stream, kernels, polynomial, order, fold, lo_weights)?;
        weights::begin(stream, kernels, &mut tables, weights)?;
        Ok(CudaSumcheck {
            order,
            tables,
            next: None,
            asked: None,
            field: PhantomData,
        })
    }

    fn commit_folded(
        &self,
        sumcheck: &CudaSumcheck<EF>,
        shape: CodeShape,
    ) -> Result<(Commitment, CudaCodeword), Error> {
        Engine::<EF>::commit_folded_beside(self, sumcheck, shape, &mut || ())
    }

    fn commit_folded_beside(
        &self,
        sumcheck: &CudaSumcheck<EF>,
        shape: CodeShape,
        meanwhile: &mut dyn FnMut(),
    ) -> Result<(Commitment, CudaCodeword), Error> {
        let tables = &sumcheck.tables;
        self.commit_planes(tables.planes(), EF::D, tables.bits, shape, meanwhile)
    }

    fn evaluate(&self, sumcheck: &CudaSumcheck<EF>, point: &Point<EF>) -> Result<EF, Error> {
        let Inner {
            stream, kernels, ..
        } = &*self.0;
        let tables = &sumcheck.tables;
        let planes = (tables.planes(), 1 << tables.bits);
        let workspace = &mut self.workspace();
        Ok(evaluate(
            stream,
            kernels,
            workspace,
            planes,
            point.as_slice(),
        )?)
    }

    fn accumulate(
        &self,
        sumcheck: &mut CudaSumcheck<EF>,
        eq: &[(EF, Point<EF>)],
        select: &[(EF, F)],
    ) -> Result<(), Error> {
        let (stream, kernels) = (&self.0.stream, self.degree::<EF>());
        let planes = sumcheck.tables.weights(EF::D);
        let eq: Vec<_> = eq.iter().map(|(c, point)| (*c, point.as_slice())).collect();
        weights::add_eq(stream, kernels, planes, &eq, false)?;
        weights::add_select(stream, kernels, planes, select)?;
        self.forget(sumcheck);
        // the host has the transcript to see to before it needs the message
        sumcheck.asked = match sumcheck.tables.bits {
            0 => None,
            _ => Some(self.ask_message(sumcheck)?),
        };
        Ok(())
    }

    fn message(&self, sumcheck: &mut CudaSumcheck<EF>) -> Result<[EF; 2], Error> {
        if let Some(next) = sumcheck.next.take() {
            return Ok(next);
        }
        let letter = match sumcheck.asked.take() {
            Some(letter) => letter,
            None => self.ask_message(sumcheck)?,
        };
        let message = read_message(&letter)?;
        self.0.letters.put(letter);
        Ok(message)
    }

    fn fold(&self, sumcheck: &mut CudaSumcheck<EF>, r: EF, more: bool) -> Result<(), Error> {
        let (stream, rounds) = (&self.0.stream, self.rounds::<EF>(sumcheck.order));
        self.forget(sumcheck);
        let tables = &mut sumcheck.tables;
        sumcheck.next = if more && tables.bits >= 2 {
            let workspace = &mut self.workspace();
            Some(tables.fold_message(stream, rounds, workspace, r)?)
        } else {
            tables.fold(stream, rounds, r)?;
            None
        };
        Ok(())
    }

    fn values(&self, sumcheck: &CudaSumcheck<EF>) -> Result<Vec<EF>, Error> {
        Ok(sumcheck.tables.values(&self.0.stream)?)
    }

    fn open(&self, codeword: &CudaCodeword, indices: &[usize]) -> Result<Opened<EF>, Error> {
        self.open_later(codeword, indices)?()
    }

    fn open_later(&self, codeword: &CudaCodeword, indices: &[usize]) -> Result<Later<EF>, Error> {
        let Inner {
            stream,
            kernels,
            letters,
            ..
        } = &*self.0;
        let Code {
            words,
            columns,
            degree,
            tree,
        } = &*codeword.0;
        let (columns, degree) = (*columns, *degree);
        let gathering = open(
            stream,
            kernels,
            &self.workspace().arrived,
            letters,
            (words, columns),
            tree,
            indices,
        )?;
        let engine = self.clone();
        Ok(Box::new(move || {
            let Inner {
                stream, letters, ..
            } = &*engine.0;
            let (words, siblings) = gathering.wait(stream, letters)?;
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
        let Inner {
            cuda,
            stream,
            kernels,
            ..
        } = &*self.0;
        let mut packed = [0; 18];
        packed[..16].copy_from_slice(words(&task.state));
        packed[16] = task.slot as u32;
        packed[17] = match task.bits {
            bits @ 0..32 => (1 << bits) - 1,
            _ => u32::MAX,
        };
        // Never a block that waits for another to end: it would search all of its witnesses after the
        // others.
        let multiprocessors = cuda.info().multiprocessors;
        let full = multiprocessors * self.0.grind_blocks;
        let (kernel, blocks) = match task.bits {
            bits if bits <= FEW_BITS => {
                let wave = 1_u32 << bits.max(6);
                (&kernels.grind_quad, wave * 4 / GRIND_THREADS)
            }
            bits if bits <= MORE_BITS => (&kernels.grind, multiprocessors),
            _ => (&kernels.grind, full),
        };
        let blocks = blocks.min(full);
        let workspace = &mut self.workspace();
        let mail = workspace.ask();
        let args = [
            Arg::Words(&packed),
            Arg::Ptr(workspace.best.as_ptr()),
            Arg::Ptr(workspace.arrived.as_ptr()),
            Arg::Words(&mail),
        ];
        stream.launch(kernel, (blocks, 1, 1), (GRIND_THREADS, 1, 1), 0, &args)?;
        match workspace.mail.wait(1)?[0] {
            u32::MAX => Err(Error::Device(DeviceError::Unsupported {
                op: "grind",
                device: cuda.name().to_owned(),
                why: format!("no element of the field gives {} zero bits", task.bits),
            })),
            witness => Ok(F::new(witness)),
        }
    }
}

impl CudaPolynomial {
    pub(super) fn buffer(&self) -> &Buffer<u32> {
        &self.0
    }

    fn variables(&self) -> usize {
        self.0.len().ilog2() as usize
    }
}
