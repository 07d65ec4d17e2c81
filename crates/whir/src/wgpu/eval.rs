//! Sums of values against eq weights.
#![forbid(unsafe_code)]

use core::marker::PhantomData;

use fieldspar_device::Error;
use fieldspar_device::wgpu::{Batch, Buffer, ReadId, Reads, Wgpu};
use p3_sumcheck::strategy::VariableOrder;

use super::kernels::Kernels;
use super::sumcheck::{FILL, Tables, input};
use super::texts::Module;
use super::words::{base, extension, extension_words};
use crate::engine::{HiKind, HiWeight};
use crate::field::Extension;

const OP: &str = "whir evaluate";
/// Invocations of a workgroup, and most values of the high bits that one walks over, as in `eq.wgsl`.
const THREADS: usize = 256;
const OUTER: usize = 128;
/// Most partial sums of one dispatch.
const PARTIAL: usize = 1 << 18;

/// How the bits of an index are split between an invocation and its walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) inner_bits: usize,
    pub(super) outer_bits: usize,
    /// Values of the high bits that a workgroup walks over.
    pub(super) per_group: usize,
    /// Workgroups along the walk.
    pub(super) splits: usize,
    /// Workgroups for all values of the low bits.
    pub(super) tiles: usize,
}

impl Split {
    /// `width` neighbours share each value of the low bits; the work is done `parts` times.
    pub(super) fn new(bits: usize, width: usize, parts: usize) -> Self {
        let fewest = (THREADS / width.min(THREADS)).ilog2() as usize;
        let inner_bits = bits.min(bits.div_ceil(2).max(fewest));
        let outer_bits = bits - inner_bits;
        let tiles = (width << inner_bits).div_ceil(THREADS);
        let outer = 1_usize << outer_bits;
        let wanted = (FILL / tiles / parts).clamp(1, outer);
        let per_group = outer.div_ceil(wanted).min(OUTER);
        Self {
            inner_bits,
            outer_bits,
            per_group,
            splits: outer.div_ceil(per_group),
            tiles,
        }
    }

    /// The parameters that every kernel has first.
    pub(super) const fn params(&self) -> [u32; 3] {
        [
            self.outer_bits as u32,
            self.inner_bits as u32,
            self.per_group as u32,
        ]
    }
}

/// `scale * eq(point, .)` as the kernels read it.
pub(super) fn point_words<EF: Extension>(point: &[EF], scale: EF) -> Vec<u32> {
    let mut words = extension_words(&[scale]);
    words.extend(extension_words(point));
    words
}

/// Where a weight over the hi-index lies: `offset + (y << log_step)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) offset: usize,
    pub(super) log_step: usize,
}

impl Span {
    pub(super) fn of<EF>(weight: &HiWeight<EF>) -> Self {
        let number = |bits: &[bool]| bits.iter().fold(0, |a, &b| a << 1 | usize::from(b));
        let log_step = weight.trailing.len();
        let middle = weight.point.len() + log_step;
        Self {
            offset: (number(&weight.leading) << middle) + number(&weight.trailing),
            log_step,
        }
    }
}

/// Partial evaluations that a batch makes.
#[derive(Debug)]
pub(super) struct AskedPartials<EF> {
    /// What is read, and the weights whose results lie there one after another.
    reads: Vec<(ReadId, Vec<usize>)>,
    /// How many of the first of them are words of the polynomial, not elements.
    lifted: usize,
    weights: usize,
    fold: usize,
    field: PhantomData<EF>,
}

impl<EF: Extension> AskedPartials<EF> {
    /// 2^fold elements for each weight.
    pub(super) fn finish(&self, reads: &Reads) -> Result<Vec<Vec<EF>>, Error> {
        let mut all = vec![Vec::new(); self.weights];
        for (i, (read, places)) in self.reads.iter().enumerate() {
            let words = reads.get::<u32>(*read)?;
            let elements: Vec<EF> = if i < self.lifted {
                words.iter().map(|&word| EF::from(base(word))).collect()
            } else {
                words.chunks_exact(EF::D).map(extension).collect()
            };
            for (&place, values) in places.iter().zip(elements.chunks_exact(1 << self.fold)) {
                all[place] = values.to_vec();
            }
        }
        Ok(all)
    }
}

/// The polynomial, and how its first fold lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folded<'a> {
    /// 2^`n` words.
    pub(super) polynomial: &'a Buffer,
    pub(super) n: usize,
    pub(super) order: VariableOrder,
    pub(super) fold: usize,
}

impl Folded<'_> {
    /// Where value `hi` begins.
    const fn start(&self, hi: usize) -> u32 {
        match self.order {
            VariableOrder::Suffix => (hi << self.fold) as u32,
            VariableOrder::Prefix => hi as u32,
        }
    }

    /// From one value of lo to the next.
    const fn lo_step(&self) -> u32 {
        match self.order {
            VariableOrder::Suffix => 1,
            VariableOrder::Prefix => 1 << (self.n - self.fold),
        }
    }
}

/// The place of a weight in the list, and where its part of the polynomial begins.
type Column = (usize, u32);

/// Weights that differ in where they lie only.
struct Family<'a, EF> {
    point: &'a [EF],
    shift: bool,
    log_step: usize,
    columns: Vec<Column>,
}

/// Partial evaluations of a polynomial for several weights; see
/// [`crate::engine::Engine::partial_evaluations_of`]. Weights at one point share a pass.
pub(super) fn partial_evaluations<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    folded: Folded<'_>,
    weights: &[HiWeight<EF>],
) -> Result<AskedPartials<EF>, Error> {
    let mut picked = Vec::new();
    let mut families: Vec<Family<'_, EF>> = Vec::new();
    for (i, weight) in weights.iter().enumerate() {
        let Span { offset, log_step } = Span::of(weight);
        if let HiKind::Delta(y) = weight.kind {
            picked.push((i, folded.start(offset + (y << log_step))));
            continue;
        }
        let shift = weight.kind == HiKind::Shift;
        let column = (i, folded.start(offset));
        let alike = |f: &&mut Family<'_, EF>| {
            f.shift == shift && f.log_step == log_step && f.point == weight.point
        };
        match families.iter_mut().find(alike) {
            Some(family) => family.columns.push(column),
            None => families.push(Family {
                point: &weight.point,
                shift,
                log_step,
                columns: vec![column],
            }),
        }
    }
    let mut reads = Vec::new();
    if !picked.is_empty() {
        reads.push(pick(gpu, batch, (kernels, EF::D), folded, &picked)?);
    }
    let lifted = reads.len();
    for family in &families {
        let mut columns = family.columns.as_slice();
        while !columns.is_empty() {
            let (read, rest) = sums(gpu, batch, kernels, folded, family, columns)?;
            reads.push(read);
            columns = rest;
        }
    }
    Ok(AskedPartials {
        reads,
        lifted,
        weights: weights.len(),
        fold: folded.fold,
        field: PhantomData,
    })
}

/// What is read of some columns.
type Part = (ReadId, Vec<usize>);

/// The words of the polynomial at single values of hi.
fn pick(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    (kernels, degree): (&Kernels, usize),
    folded: Folded<'_>,
    columns: &[Column],
) -> Result<Part, Error> {
    let count = columns.len() << folded.fold;
    let starts: Vec<u32> = columns.iter().map(|(_, start)| *start).collect();
    let starts = input(gpu, OP, &starts)?;
    let out = gpu.scratch(OP, 4 * count as u64)?;
    // there is no point, and no kernel without one
    let none = gpu.scratch(OP, 0)?;
    batch.dispatch(
        &kernels.get(gpu, Module::Eval(degree), "pick")?,
        &[none.all(), folded.polynomial.all(), starts.all(), out.all()],
        &[count as u32, 1 << folded.fold, folded.lo_step()],
        count.div_ceil(THREADS) as u64,
    )?;
    let places = columns.iter().map(|(place, _)| *place).collect();
    Ok((batch.read(&out, 0..4 * count as u64)?, places))
}

/// The sums of as many columns as one dispatch may have; the columns that are left.
fn sums<'a, EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    folded: Folded<'_>,
    family: &Family<'_, EF>,
    columns: &'a [Column],
) -> Result<(Part, &'a [Column]), Error> {
    // where lo is what neighbours differ in, a tile holds all of it
    let (lo_bits, parts, y_bits) = match folded.order {
        VariableOrder::Suffix => (folded.fold, 1, family.log_step + folded.fold),
        VariableOrder::Prefix => (0, 1 << folded.fold, family.log_step),
    };
    let width = (1_usize << lo_bits).min(THREADS);
    let bits = family.point.len();
    let fewest = Split::new(bits, 1 << lo_bits, usize::MAX);
    let sums = fewest.tiles * fewest.splits * parts * width;
    let (columns, rest) = columns.split_at(columns.len().min((PARTIAL / sums).max(1)));
    let split = Split::new(bits, 1 << lo_bits, parts * columns.len());
    let per_part = split.tiles * split.splits;
    let groups = per_part * parts * columns.len();
    let starts: Vec<u32> = columns.iter().map(|(_, start)| *start).collect();
    let starts = input(gpu, OP, &starts)?;
    let point = input(gpu, OP, &point_words(family.point, EF::ONE))?;
    let partial = gpu.scratch(OP, (4 * EF::D * groups * width) as u64)?;
    let [outer_bits, inner_bits, per_group] = split.params();
    batch.dispatch(
        &kernels.get(gpu, Module::Eval(EF::D), "partial_sums")?,
        &[
            point.all(),
            folded.polynomial.all(),
            starts.all(),
            partial.all(),
        ],
        &[
            outer_bits,
            inner_bits,
            per_group,
            folded.lo_step(),
            1 << y_bits,
            lo_bits as u32,
            u32::from(family.shift),
            split.tiles as u32,
            split.splits as u32,
            parts as u32,
        ],
        groups as u64,
    )?;
    let count = columns.len() << folded.fold;
    let bytes = (4 * EF::D * count) as u64;
    let out = gpu.scratch(OP, bytes)?;
    batch.dispatch(
        &kernels.get(gpu, Module::Eval(EF::D), "partial_finish")?,
        &[point.all(), partial.all(), out.all()],
        &[lo_bits as u32, ((per_part * width) >> lo_bits) as u32],
        count as u64,
    )?;
    let places = columns.iter().map(|(place, _)| *place).collect();
    Ok(((batch.read(&out, 0..bytes)?, places), rest))
}

/// A value that a batch makes.
#[derive(Debug)]
pub(super) struct AskedValue<EF> {
    read: ReadId,
    field: PhantomData<EF>,
}

impl<EF: Extension> AskedValue<EF> {
    pub(super) fn finish(&self, reads: &Reads) -> Result<EF, Error> {
        let words = reads.get::<u32>(self.read)?;
        Ok(words.chunks_exact(EF::D).map(extension::<EF>).sum())
    }
}

/// The folded polynomial at a point.
pub(super) fn evaluate<EF: Extension>(
    gpu: &Wgpu,
    batch: &mut Batch<'_>,
    kernels: &Kernels,
    tables: &Tables,
    point: &[EF],
) -> Result<AskedValue<EF>, Error> {
    let split = Split::new(point.len(), 1, 1);
    let groups = split.tiles * split.splits;
    let point = input(gpu, OP, &point_words(point, EF::ONE))?;
    let bytes = (4 * EF::D * groups) as u64;
    let sums = gpu.scratch(OP, bytes)?;
    let [outer_bits, inner_bits, per_group] = split.params();
    batch.dispatch(
        &kernels.get(gpu, Module::Eval(EF::D), "evaluate")?,
        &[point.all(), tables.f.all(), sums.all()],
        &[outer_bits, inner_bits, per_group, split.tiles as u32],
        groups as u64,
    )?;
    Ok(AskedValue {
        read: batch.read(&sums, 0..bytes)?,
        field: PhantomData,
    })
}
