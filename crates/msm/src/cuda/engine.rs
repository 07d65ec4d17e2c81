//! One GPU and its kernels.
#![forbid(unsafe_code)]

use core::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use fieldspar_device::Error;
use fieldspar_device::cuda::{Cuda, Function, Stream};

use super::form::Form;
use super::kernels::{CurveKernels, SortKernels};
use super::plan::ADD_THREADS;
use super::selftest;
use crate::curve::Curve;

/// What is chosen by the cost model unless given here, for measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tuning {
    /// Bits a window, for bases without multiples; for bases with them, when they are prepared.
    pub width: Option<u32>,
    /// Columns, when bases with multiples are prepared.
    pub columns: Option<u32>,
    /// Entries that a thread adds up.
    pub length: Option<u32>,
    /// Buckets that a thread reduces.
    pub group: Option<u32>,
    /// Scalars of the first chunk.
    pub first: Option<u32>,
}

/// MSMs on one GPU. Clones share it.
#[derive(Clone)]
pub struct CudaEngine(Arc<Inner>);

struct Inner {
    cuda: Cuda,
    sort: SortKernels,
    /// By [`Form::index`], loaded and compared with the reference at the first use.
    forms: Mutex<[Option<Arc<CurveKernels>>; Form::COUNT]>,
    tuning: Mutex<Tuning>,
    /// How the last sum was cut, in words.
    plan: Mutex<String>,
}

impl fmt::Debug for CudaEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CudaEngine").field(self.cuda()).finish()
    }
}

impl PartialEq for CudaEngine {
    fn eq(&self, other: &Self) -> bool {
        self.cuda().name() == other.cuda().name()
    }
}

impl Eq for CudaEngine {}

impl CudaEngine {
    /// Loads the kernels that know no curve; those of a curve are loaded, and compared with the
    /// reference, at its first use.
    ///
    /// # Errors
    ///
    /// [`fieldspar_device::Error`].
    pub fn new(cuda: &Cuda) -> Result<Self, Error> {
        Ok(Self(Arc::new(Inner {
            cuda: cuda.clone(),
            sort: SortKernels::load(cuda)?,
            forms: Mutex::default(),
            tuning: Mutex::default(),
            plan: Mutex::default(),
        })))
    }

    /// The GPU.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.0.cuda
    }

    /// From now on these choices hold, for measurements.
    pub fn tune(&self, tuning: Tuning) {
        *self.0.tuning.lock().unwrap_or_else(PoisonError::into_inner) = tuning;
    }

    /// How the last sum was cut, in words, for reports.
    #[must_use]
    pub fn last_plan(&self) -> String {
        let plan = self.0.plan.lock().unwrap_or_else(PoisonError::into_inner);
        plan.clone()
    }

    pub(super) fn set_plan(&self, plan: String) {
        *self.0.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    pub(super) fn tuning(&self) -> Tuning {
        *self.0.tuning.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn sort(&self) -> &SortKernels {
        &self.0.sort
    }

    pub(super) fn stream(&self) -> Result<Stream, Error> {
        Ok(self.0.cuda.stream()?.labelled("msm"))
    }

    /// The kernels of a form. At the first use they are compared with the reference: a driver may
    /// compile them anew, and chips have faults.
    pub(super) fn kernels(&self, form: Form) -> Result<Arc<CurveKernels>, Error> {
        // Held meanwhile: no other thread goes on with kernels that may be wrong.
        let mut forms = self.0.forms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernels) = &forms[form.index()] {
            return Ok(Arc::clone(kernels));
        }
        let kernels = Arc::new(CurveKernels::load(self.cuda(), form)?);
        selftest::run(self, &kernels, form)?;
        forms[form.index()] = Some(Arc::clone(&kernels));
        Ok(kernels)
    }

    /// Takes the accumulation of `curve` (in the form for its subgroup) from this image, for measurements of
    /// other builds of it.
    ///
    /// # Errors
    ///
    /// [`fieldspar_device::Error`].
    pub fn replace_accumulation<C: Curve<N>, const N: usize>(
        &self,
        image: &[u8],
    ) -> Result<(), Error> {
        let unknown = || self.unsupported("load kernels", "there are none for this curve");
        let form = Form::of::<C, N>(true).ok_or_else(unknown)?;
        let mut kernels = CurveKernels::load(self.cuda(), form)?;
        kernels.accumulate = self.cuda().load_module(image)?.function("accumulate")?;
        selftest::run(self, &kernels, form)?;
        let mut forms = self.0.forms.lock().unwrap_or_else(PoisonError::into_inner);
        forms[form.index()] = Some(Arc::new(kernels));
        Ok(())
    }

    /// Threads of a kernel that run at once.
    pub(super) fn threads(&self, kernel: &Function) -> Result<usize, Error> {
        let blocks = kernel.max_active_blocks(ADD_THREADS as u32, 0)?.max(1);
        let all = blocks as usize * self.cuda().info().multiprocessors as usize;
        Ok(all.max(1) * ADD_THREADS)
    }

    pub(super) fn unsupported(&self, op: &'static str, why: impl Into<String>) -> Error {
        Error::Unsupported {
            op,
            device: self.cuda().name().to_owned(),
            why: why.into(),
        }
    }
}
