//! The weights of a sumcheck, summed into planes.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Batch, Wgpu};

use super::eval::{Span, Split, point_words};
use super::kernels::Kernels;
use super::sumcheck::{FILL, Tables, input};
use super::texts::Module;
use super::words::{extension_words, word};
use crate::engine::{HiKind, HiWeight};
use crate::field::{Extension, F};

const OP: &str = "whir weights";
/// Invocations of a workgroup.
const THREADS: usize = 256;
/// Terms that one pass over a span adds up, as in `weights.wgsl`.
const TERMS: usize = 4;
/// Indices that share one table of powers, runs of them that an invocation holds, and terms of a pass; as
/// in `select.wgsl`.
const BLOCK: usize = 256;
const ROWS: usize = 4;
const SELECT_TERMS: usize = 160;
/// Most runs of a workgroup: what keeps its work short.
const RUNS: usize = 16;

/// What weights have in common that one pass can add: their shape and kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    /// Weights over all indices come first, since they need not read what is there.
    leading: usize,
    log_step: usize,
    shift: bool,
}

/// Terms at each offset; spans of one shape at different offsets do not meet.
type Spans<'a, EF> = BTreeMap<usize, Vec<(EF, &'a [EF])>>;

/// Adds `sum c H(x)` to weights that are zero.
pub(super) fn begin<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    tables: &Tables,
    weights: &[(EF, HiWeight<EF>)],
) -> Result<(), Error> {
    let mut shapes: BTreeMap<Shape, Spans<'_, EF>> = BTreeMap::new();
    let mut single: BTreeMap<usize, EF> = BTreeMap::new();
    for (c, weight) in weights {
        let Span { offset, log_step } = Span::of(weight);
        if let HiKind::Delta(y) = weight.kind {
            *single.entry(offset + (y << log_step)).or_insert(EF::ZERO) += *c;
            continue;
        }
        let shape = Shape {
            leading: weight.leading.len(),
            log_step,
            shift: weight.kind == HiKind::Shift,
        };
        let spans = shapes.entry(shape).or_default();
        let terms = spans.entry(offset).or_default();
        terms.push((*c, weight.point.as_slice()));
    }
    let whole = |shape: &Shape| shape.leading == 0 && shape.log_step == 0 && !shape.shift;
    for (shape, spans) in &shapes {
        add_spans(gpu, batch, kernels, tables, *shape, spans, whole(shape))?;
    }
    if single.is_empty() {
        return Ok(());
    }
    let mut list = Vec::with_capacity(single.len() * (EF::D + 1));
    for (x, c) in &single {
        list.extend(extension_words(&[*c]));
        list.push(*x as u32);
    }
    let list = input(gpu, OP, &list)?;
    // there are no spans, and no kernel without them
    let none = gpu.scratch(OP, 0)?;
    batch.dispatch(
        &kernels.get(gpu, Module::Weights(EF::D), "weights_at")?,
        &[list.all(), none.all(), tables.w.all()],
        &[single.len() as u32, 1 << tables.bits],
        single.len().div_ceil(THREADS) as u64,
    )
}

/// Adds `sum c eq(point, x)`.
pub(super) fn add_eq<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    tables: &Tables,
    terms: &[(EF, &[EF])],
) -> Result<(), Error> {
    let whole = Shape {
        leading: 0,
        log_step: 0,
        shift: false,
    };
    let spans = BTreeMap::from([(0, terms.to_vec())]);
    add_spans(gpu, batch, kernels, tables, whole, &spans, false)
}

/// Adds the terms of all spans, [`TERMS`] of each in one pass. `overwrite`: the first pass takes the place
/// of what is there.
fn add_spans<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    tables: &Tables,
    shape: Shape,
    spans: &Spans<'_, EF>,
    mut overwrite: bool,
) -> Result<(), Error> {
    let bits = tables.bits - shape.leading - shape.log_step;
    for pass in 0.. {
        let mut places: Vec<[u32; 4]> = Vec::new();
        let mut points = Vec::new();
        let mut count = 0;
        for (offset, terms) in spans {
            let Some(terms) = terms.chunks(TERMS).nth(pass) else {
                continue;
            };
            places.push([*offset as u32, count, terms.len() as u32, 0]);
            count += terms.len() as u32;
            for (c, point) in terms {
                points.extend(point_words(point, *c));
            }
        }
        if places.is_empty() {
            break;
        }
        let split = Split::new(bits, 1, places.len());
        let [outer_bits, inner_bits, per_group] = split.params();
        let per_span = split.tiles * split.splits;
        let points = input(gpu, OP, &points)?;
        let spans_at = input(gpu, OP, places.as_flattened())?;
        batch.dispatch(
            &kernels.get(gpu, Module::Weights(EF::D), "weights_eq")?,
            &[points.all(), spans_at.all(), tables.w.all()],
            &[
                outer_bits,
                inner_bits,
                per_group,
                1 << tables.bits,
                shape.log_step as u32,
                u32::from(shape.shift),
                u32::from(overwrite),
                split.tiles as u32,
                per_span as u32,
            ],
            (places.len() * per_span) as u64,
        )?;
        overwrite = false;
    }
    Ok(())
}

/// Adds `sum c z^x`.
pub(super) fn add_select<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    tables: &Tables,
    terms: &[(EF, F)],
) -> Result<(), Error> {
    let len = 1_usize << tables.bits;
    for terms in terms.chunks(SELECT_TERMS) {
        let mut words = Vec::with_capacity(terms.len() * (EF::D + 1));
        for (c, z) in terms {
            words.extend(extension_words(&[*c]));
            words.push(word(*z));
        }
        let count = terms.len() as u32;
        let terms_at = input(gpu, OP, &words)?;
        let powers = gpu.scratch(OP, (4 * terms.len() * (BLOCK + 1)) as u64)?;
        batch.dispatch(
            &kernels.get(gpu, Module::Select(EF::D), "select_powers")?,
            &[terms_at.all(), powers.all()],
            &[count],
            u64::from(count),
        )?;
        let blocks = len.div_ceil(BLOCK * ROWS);
        let runs = blocks.div_ceil(FILL).min(RUNS);
        batch.dispatch(
            &kernels.get(gpu, Module::Select(EF::D), "select_sums")?,
            &[terms_at.all(), powers.all(), tables.w.all()],
            &[count, len as u32, runs as u32],
            blocks.div_ceil(runs) as u64,
        )?;
    }
    Ok(())
}
