//! The weights of a sumcheck, summed into planes.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Stream};

use super::eval::{FILL, POINT, Span, Split};
use super::kernels::ByDegree;
use super::sumcheck::Tables;
use super::words::{argument, word, words};
use super::workspace::halves;
use crate::engine::{HiKind, HiWeight};
use crate::field::{Extension, F};

const THREADS: usize = 256;
/// Terms that one kernel adds up.
const TERMS: usize = 4;
/// Indices that share one table of powers, and runs of them that a thread holds; both as in
/// `weights.cu`.
const SELECT_BLOCK: usize = 256;
const SELECT_ROWS: usize = 4;
/// Words of the terms of a kernel of powers, its argument. Their factors fit 48 KiB of shared memory.
const SELECT_WORDS: usize = 960;

/// Planes of 2^`bits` weights each, `stride` words apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planes {
    /// Device address of the first plane.
    pub(super) at: u64,
    pub(super) bits: usize,
}

impl Planes {
    const fn stride(self) -> Arg<'static> {
        Arg::U64(1 << self.bits)
    }
}

const BLOCK: (u32, u32, u32) = (THREADS as u32, 1, 1);

/// Sets the weights of the tables to `sum c H(x)`.
pub(super) fn begin<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    tables: &mut Tables,
    weights: &[(EF, HiWeight<EF>)],
) -> Result<(), Error> {
    let w = tables.weights(EF::D);
    let whole = |weight: &HiWeight<EF>| {
        weight.kind == HiKind::Eq && weight.leading.is_empty() && weight.trailing.is_empty()
    };
    let (full, parts): (Vec<_>, Vec<_>) = weights.iter().partition(|(_, weight)| whole(weight));
    if full.is_empty() {
        tables.clear_weights(stream, EF::D)?;
    }
    let full: Vec<_> = full.iter().map(|(c, w)| (*c, w.point.as_slice())).collect();
    add_eq(stream, kernels, w, &full, true)?;
    for (c, weight) in parts {
        add_span(stream, kernels, w, *c, weight)?;
    }
    Ok(())
}

/// Adds `sum c eq(point, x)`, or sets the weights to the first of these sums.
pub(super) fn add_eq<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    terms: &[(EF, &[EF])],
    mut overwrite: bool,
) -> Result<(), Error> {
    let whole = Span {
        offset: 0,
        log_stride: 0,
    };
    for terms in terms.chunks(TERMS) {
        add_terms(stream, kernels, w, terms, whole, false, overwrite)?;
        overwrite = false;
    }
    Ok(())
}

/// Adds one weight of any kind.
fn add_span<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    c: EF,
    weight: &HiWeight<EF>,
) -> Result<(), Error> {
    let span = Span::of(weight);
    if let HiKind::Delta(y) = weight.kind {
        let at = (span.offset + (y << span.log_stride)) as u64;
        let c = argument(c);
        let args = [Arg::Ptr(w.at), w.stride(), Arg::U64(at), Arg::Words(&c)];
        return stream.launch(&kernels.weights_at, (1, 1, 1), (1, 1, 1), 0, &args);
    }
    let shift = weight.kind == HiKind::Shift;
    let terms = [(c, weight.point.as_slice())];
    add_terms(stream, kernels, w, &terms, span, shift, false)
}

/// At most [`TERMS`] terms of one span.
fn add_terms<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    terms: &[(EF, &[EF])],
    span: Span,
    shift: bool,
    overwrite: bool,
) -> Result<(), Error> {
    let Some((_, first)) = terms.first() else {
        return Ok(());
    };
    let split = Split::new(first.len(), 1, 1);
    let mut points = [0; TERMS * POINT];
    for (to, &(c, point)) in points.chunks_exact_mut(POINT).zip(terms) {
        to.copy_from_slice(&split.point(point, c));
    }
    let [low, high] = halves(span.offset as u64);
    let packed = [
        low,
        high,
        span.log_stride as u32,
        u32::from(shift),
        terms.len() as u32,
        u32::from(overwrite),
        split.per_block as u32,
        0,
    ];
    let args = [
        Arg::Ptr(w.at),
        w.stride(),
        Arg::Words(&points),
        Arg::Words(&packed),
    ];
    let grid = ((split.tiles * split.splits) as u32, 1, 1);
    stream.launch(&kernels.weights_eq, grid, BLOCK, 0, &args)
}

/// Adds `sum c z^x`.
pub(super) fn add_select<EF: Extension>(
    stream: &Stream,
    kernels: &ByDegree,
    w: Planes,
    terms: &[(EF, F)],
) -> Result<(), Error> {
    let len = 1_usize << w.bits;
    for terms in terms.chunks(SELECT_WORDS / (EF::D + 1)) {
        let mut packed = [0; SELECT_WORDS];
        for (to, (c, z)) in packed.chunks_exact_mut(EF::D + 1).zip(terms) {
            to[..EF::D].copy_from_slice(words(c.as_basis_coefficients_slice()));
            to[EF::D] = word(*z);
        }
        // factors, steps, powers
        let tables = stream.alloc::<u32>(terms.len() * (EF::D + 1 + SELECT_BLOCK))?;
        let scales = tables.as_ptr();
        let steps = tables.ptr_at(terms.len() * EF::D);
        let powers = tables.ptr_at(terms.len() * (EF::D + 1));
        let count = Arg::U32(terms.len() as u32);
        let block = (SELECT_BLOCK as u32, 1, 1);
        let args = [
            Arg::Words(&packed),
            Arg::Ptr(scales),
            Arg::Ptr(powers),
            Arg::Ptr(steps),
        ];
        let grid = (terms.len() as u32, 1, 1);
        stream.launch(&kernels.select_powers, grid, block, 0, &args)?;

        let groups = len.div_ceil(SELECT_BLOCK * SELECT_ROWS);
        let runs = groups.div_ceil(FILL);
        let shared = terms.len() * SELECT_ROWS * EF::D * 4;
        let args = [
            Arg::Ptr(w.at),
            w.stride(),
            Arg::U64(len as u64),
            Arg::Ptr(scales),
            count,
            Arg::Ptr(powers),
            Arg::Ptr(steps),
            Arg::U32(runs as u32),
        ];
        let grid = (groups.div_ceil(runs) as u32, 1, 1);
        stream.launch(&kernels.select_sums, grid, block, shared as u32, &args)?;
    }
    Ok(())
}
