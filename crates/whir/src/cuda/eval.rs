//! Sums of values against eq weights.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};
use p3_sumcheck::strategy::VariableOrder;

use super::kernels::Kernels;
use super::words::{argument, extension, words};
use super::workspace::{MAIL, MAX_BLOCKS, NO_MAIL, Workspace, halves};
use crate::engine::{HiKind, HiWeight};
use crate::field::Extension;

const THREADS: usize = 256;
const BLOCK: (u32, u32, u32) = (THREADS as u32, 1, 1);
/// Blocks that fill the largest chips.
pub(super) const FILL: usize = 1024;
/// Most values of the high bits that a block walks over, as in `eq.cuh`.
pub(super) const OUTER: usize = 128;
/// Coordinates that a kernel's argument holds.
const MAX_COORDINATES: usize = 32;
/// Words of a point as a kernel's argument.
pub(super) const POINT: usize = 2 + 5 + 5 * MAX_COORDINATES;

/// How the bits of an index are split between a thread and its walk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) inner_bits: usize,
    pub(super) outer_bits: usize,
    /// Values of the high bits that a block walks over.
    pub(super) per_block: usize,
    /// Blocks along the walk.
    pub(super) splits: usize,
    /// Blocks for all values of the low bits.
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
        let per_block = outer.div_ceil(wanted).min(OUTER);
        Self {
            inner_bits,
            outer_bits,
            per_block,
            splits: outer.div_ceil(per_block),
            tiles,
        }
    }

    /// `scale * eq(point, .)` as a kernel's argument.
    pub(super) fn point<EF: Extension>(&self, point: &[EF], scale: EF) -> [u32; POINT] {
        let mut packed = [0; POINT];
        packed[0] = self.outer_bits as u32;
        packed[1] = self.inner_bits as u32;
        packed[2..7].copy_from_slice(&argument(scale));
        let coordinates = packed[7..].chunks_exact_mut(EF::D);
        for (to, z) in coordinates.zip(point) {
            to.copy_from_slice(words(z.as_basis_coefficients_slice()));
        }
        packed
    }
}

/// Where a weight over the hi-index lies: `offset + (y << log_stride)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) offset: usize,
    pub(super) log_stride: usize,
}

impl Span {
    pub(super) fn of<EF>(weight: &HiWeight<EF>) -> Self {
        let number = |bits: &[bool]| bits.iter().fold(0, |a, &b| a << 1 | usize::from(b));
        let log_stride = weight.trailing.len();
        let middle = weight.point.len() + log_stride;
        Self {
            offset: (number(&weight.leading) << middle) + number(&weight.trailing),
            log_stride,
        }
    }
}

/// Partial evaluations of a polynomial of 2^`n` values, 2^`fold` elements; see
/// [`crate::engine::Engine::partial_evaluations`].
pub(super) fn partial_evaluations<EF: Extension>(
    stream: &Stream,
    kernels: &Kernels,
    workspace: &mut Workspace,
    (f, n): (&Buffer<u32>, usize),
    order: VariableOrder,
    fold: usize,
    weight: &HiWeight<EF>,
) -> Result<Vec<EF>, Error> {
    let kernels = kernels.degree(EF::D);
    let span = Span::of(weight);
    let (base, lo_stride, log_y_stride) = match order {
        VariableOrder::Suffix => (span.offset << fold, 1, span.log_stride + fold),
        VariableOrder::Prefix => (span.offset, 1 << (n - fold), span.log_stride),
    };
    let count = 1_usize << fold;
    let out = stream.alloc::<u32>(count * EF::D)?;
    if let HiKind::Delta(y) = weight.kind {
        let args = [
            Arg::Ptr(f.as_ptr()),
            Arg::U64((base + (y << log_y_stride)) as u64),
            Arg::U64(lo_stride as u64),
            Arg::U32(count as u32),
            Arg::Ptr(out.as_ptr()),
        ];
        let grid = (count.div_ceil(THREADS) as u32, 1, 1);
        stream.launch(&kernels.lift, grid, BLOCK, 0, &args)?;
        return elements(&stream.download(&out, 0..count * EF::D)?);
    }
    // where lo is what neighbours differ in, a tile holds all of it
    let (lo_bits, parts) = match order {
        VariableOrder::Suffix => (fold, 1),
        VariableOrder::Prefix => (0, count),
    };
    let split = Split::new(weight.point.len(), 1 << lo_bits, parts);
    let Split { splits, tiles, .. } = split;
    let width = (1 << lo_bits).min(THREADS);
    let partial = stream.alloc::<u32>(tiles * splits * parts * width * EF::D)?;
    let mut packed = [0; 10];
    let places = [base as u64, lo_stride as u64, 1 << log_y_stride];
    for (to, value) in packed.chunks_exact_mut(2).zip(places) {
        to.copy_from_slice(&halves(value));
    }
    packed[6] = lo_bits as u32;
    packed[7] = u32::from(weight.kind == HiKind::Shift);
    packed[8] = split.per_block as u32;
    let point = split.point(&weight.point, EF::ONE);
    let args = [
        Arg::Ptr(f.as_ptr()),
        Arg::Words(&point),
        Arg::Words(&packed),
        Arg::Ptr(partial.as_ptr()),
    ];
    let grid = (tiles as u32, splits as u32, parts as u32);
    stream.launch(&kernels.partial_sums, grid, BLOCK, 0, &args)?;
    let by_mail = count * EF::D <= MAIL;
    let mail = if by_mail { workspace.ask() } else { NO_MAIL };
    let sums = (tiles * splits * width) >> lo_bits;
    let args = [
        Arg::Ptr(partial.as_ptr()),
        Arg::U32(lo_bits as u32),
        Arg::U32(sums as u32),
        Arg::Ptr(out.as_ptr()),
        Arg::Ptr(workspace.arrived.as_ptr()),
        Arg::Words(&mail),
    ];
    let grid = (count as u32, 1, 1);
    stream.launch(&kernels.partial_finish, grid, (128, 1, 1), 0, &args)?;
    if by_mail {
        elements(&workspace.mail.wait(count * EF::D)?)
    } else {
        elements(&stream.download(&out, 0..count * EF::D)?)
    }
}

fn elements<EF: Extension>(words: &[u32]) -> Result<Vec<EF>, Error> {
    Ok(words.chunks_exact(EF::D).map(extension).collect())
}

/// A table in planes of `stride` words, of 2^(coordinates) values, at a point.
pub(super) fn evaluate<EF: Extension>(
    stream: &Stream,
    kernels: &Kernels,
    workspace: &mut Workspace,
    (planes, stride): (&Buffer<u32>, usize),
    point: &[EF],
) -> Result<EF, Error> {
    let kernels = kernels.degree(EF::D);
    let split = Split::new(point.len(), 1, 1);
    let blocks = split.tiles * split.splits;
    // what one block in each place of the workspace does not hold has a buffer of its own
    let own = match blocks {
        0..=MAX_BLOCKS => None,
        more => Some(stream.alloc::<u32>(more * EF::D)?),
    };
    let partial = own.as_ref().unwrap_or(&workspace.partial).as_ptr();
    let packed = split.point(point, EF::ONE);
    let mail = workspace.ask();
    let args = [
        Arg::Ptr(planes.as_ptr()),
        Arg::U64(stride as u64),
        Arg::Words(&packed),
        Arg::U32(split.per_block as u32),
        Arg::Ptr(partial),
        Arg::Ptr(workspace.arrived.as_ptr()),
        Arg::Words(&mail),
    ];
    stream.launch(&kernels.evaluate, (blocks as u32, 1, 1), BLOCK, 0, &args)?;
    Ok(extension(&workspace.mail.wait(EF::D)?))
}
