//! The compiled kernels, by name.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Archive, Cuda, Function, Module};

use super::form::Form;

/// What `cargo xtask kernels` made of `kernels/*.cu`.
static ARCHIVE: &[u8] = include_bytes!("kernels.bin");

fn module(cuda: &Cuda, name: &str) -> Result<Module, Error> {
    let image = Archive::parse(ARCHIVE)
        .and_then(|archive| archive.image(name, cuda.info().capability))
        .map_err(|e| Error::Unsupported {
            op: "load kernels",
            device: cuda.name().to_owned(),
            why: e.to_string(),
        })?;
    cuda.load_module(&image.bytes)
}

/// What knows no curve.
#[derive(Debug)]
pub(super) struct SortKernels {
    pub(super) digits: Function,
    pub(super) count_first: Function,
    pub(super) count_again: Function,
    pub(super) scan_chunks: Function,
    pub(super) scan_top: Function,
    pub(super) scan_apply: Function,
    pub(super) move_first: Function,
    pub(super) move_again: Function,
    pub(super) find_ranges: Function,
}

impl SortKernels {
    pub(super) fn load(cuda: &Cuda) -> Result<Self, Error> {
        let module = module(cuda, "sort")?;
        Ok(Self {
            digits: module.function("digits")?,
            count_first: module.function("count_first")?,
            count_again: module.function("count_again")?,
            scan_chunks: module.function("scan_chunks")?,
            scan_top: module.function("scan_top")?,
            scan_apply: module.function("scan_apply")?,
            move_first: module.function("move_first")?,
            move_again: module.function("move_again")?,
            find_ranges: module.function("find_ranges")?,
        })
    }
}

/// The kernels of one form.
#[derive(Debug)]
pub(super) struct CurveKernels {
    pub(super) accumulate: Function,
    pub(super) combine: Function,
    pub(super) merge: Function,
    pub(super) reduce_buckets: Function,
    pub(super) reduce_groups: Function,
    pub(super) multiples: Function,
    /// Only where bases have a form of their own.
    pub(super) convert: Option<Function>,
}

impl CurveKernels {
    pub(super) fn load(cuda: &Cuda, form: Form) -> Result<Self, Error> {
        let (accumulate, reduce) = form.modules();
        let (accumulate, reduce) = (module(cuda, accumulate)?, module(cuda, reduce)?);
        Ok(Self {
            accumulate: accumulate.function("accumulate")?,
            combine: reduce.function("combine")?,
            merge: reduce.function("merge")?,
            reduce_buckets: reduce.function("reduce_buckets")?,
            reduce_groups: reduce.function("reduce_groups")?,
            multiples: reduce.function("multiples")?,
            convert: if form.edwards() {
                Some(reduce.function("convert")?)
            } else {
                None
            },
        })
    }
}

/// Sha256 of the sources of the kernels, in hex: a passed self-test holds for these.
#[must_use]
pub fn kernels_id() -> Option<String> {
    let sources = Archive::parse(ARCHIVE).ok()?.sources();
    Some(sources.iter().map(|byte| format!("{byte:02x}")).collect())
}
