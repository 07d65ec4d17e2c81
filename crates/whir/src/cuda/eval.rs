//! Sums of values against eq weights.
#![forbid(unsafe_code)]

use fieldspar_device::Error;
use fieldspar_device::cuda::{Arg, Buffer, Stream};
use p3_sumcheck::strategy::VariableOrder;

use super::kernels::{ByDegree, Kernels};
use super::words::{argument, extension, words};
use super::workspace::{MAX_BLOCKS, Workspace};
use crate::engine::{HiKind, HiWeight};
use crate::field::Extension;

const THREADS: usize = 256;
/// Blocks that fill the largest chips.
const FILL: usize = 1024;
/// Coordinates that a kernel's argument holds.
const MAX_COORDINATES: usize = 32;

/// eq(point, .) as a product of two short tables, on the device.
#[derive(Debug)]
pub(super) struct EqPair {
    /// 2^outer elements of the first coordinates, then 2^inner of the others.
    pub(super) table: Buffer<u32>,
    pub(super) outer_bits: usize,
    pub(super) inner_bits: usize,
}

impl EqPair {
    /// `scale * eq(point, .)`, the last `inner_bits` coordinates in the inner table.
    pub(super) fn new<EF: Extension>(
        stream: &Stream,
        kernels: &ByDegree,
        point: &[EF],
        scale: EF,
        inner_bits: usize,
    ) -> Result<Self, Error> {
        let outer_bits = point.len() - inner_bits;
        let entries = (1 << outer_bits) + (1 << inner_bits);
        let table = stream.alloc::<u32>(entries * EF::D)?;
        let mut packed = [0; 2 + 5 + 5 * MAX_COORDINATES];
        packed[0] = outer_bits as u32;
        packed[1] = inner_bits as u32;
        packed[2..7].copy_from_slice(&argument(scale));
        let coordinates = packed[7..].chunks_exact_mut(EF::D);
        for (to, z) in coordinates.zip(point) {
            to.copy_from_slice(words(z.as_basis_coefficients_slice()));
        }
        let args = [Arg::Words(&packed), Arg::Ptr(table.as_ptr())];
        let grid = (entries.div_ceil(THREADS) as u32, 1, 1);
        stream.launch(&kernels.eq_pair, grid, (THREADS as u32, 1, 1), 0, &args)?;
        Ok(Self {
            table,
            outer_bits,
            inner_bits,
        })
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
        stream.launch(&kernels.lift, grid, (THREADS as u32, 1, 1), 0, &args)?;
    } else {
        // where lo is what neighbours differ in, a tile holds all of it
        let (lo_bits, parts) = match order {
            VariableOrder::Suffix => (fold, 1),
            VariableOrder::Prefix => (0, count),
        };
        let bits = weight.point.len();
        let inner_bits = bits.min(bits.div_ceil(2).max(8_usize.saturating_sub(lo_bits)));
        let eq = EqPair::new(stream, kernels, &weight.point, EF::ONE, inner_bits)?;
        let tiles = (1_usize << (inner_bits + lo_bits)).div_ceil(THREADS);
        let outer = 1_usize << eq.outer_bits;
        let splits = (FILL / tiles / parts).clamp(1, outer);
        let per_block = outer.div_ceil(splits);
        let splits = outer.div_ceil(per_block);
        let width = (1 << lo_bits).min(THREADS);
        let partial = stream.alloc::<u32>(tiles * splits * parts * width * EF::D)?;
        let (base, lo_stride) = (base as u64, lo_stride as u64);
        let mut packed = [0; 12];
        for (to, value) in packed.chunks_exact_mut(2).zip([base, lo_stride, 1 << log_y_stride]) {
            to.copy_from_slice(&[value as u32, (value >> 32) as u32]);
        }
        packed[6] = lo_bits as u32;
        packed[7] = inner_bits as u32;
        packed[8] = eq.outer_bits as u32;
        packed[9] = u32::from(weight.kind == HiKind::Shift);
        packed[10] = per_block as u32;
        let args = [
            Arg::Ptr(f.as_ptr()),
            Arg::Ptr(eq.table.as_ptr()),
            Arg::Words(&packed),
            Arg::Ptr(partial.as_ptr()),
        ];
        let grid = (tiles as u32, splits as u32, parts as u32);
        stream.launch(&kernels.partial_sums, grid, (THREADS as u32, 1, 1), 0, &args)?;
        let sums = tiles * splits * width >> lo_bits;
        let args = [
            Arg::Ptr(partial.as_ptr()),
            Arg::U32(lo_bits as u32),
            Arg::U32(sums as u32),
            Arg::Ptr(out.as_ptr()),
        ];
        let grid = (count as u32, 1, 1);
        stream.launch(&kernels.partial_finish, grid, (128, 1, 1), 0, &args)?;
    }
    let words = stream.download(&out, 0..count * EF::D)?;
    Ok(words.chunks_exact(EF::D).map(extension).collect())
}

/// A table in planes of `stride` words, of 2^(coordinates) values, at a point.
pub(super) fn evaluate<EF: Extension>(
    stream: &Stream,
    kernels: &Kernels,
    workspace: &Workspace,
    (planes, stride): (&Buffer<u32>, usize),
    point: &[EF],
) -> Result<EF, Error> {
    let kernels = kernels.degree(EF::D);
    let bits = point.len();
    let inner_bits = bits.min(bits.div_ceil(2).max(8));
    let eq = EqPair::new(stream, kernels, point, EF::ONE, inner_bits)?;
    let tiles = (1_usize << inner_bits).div_ceil(THREADS);
    let outer = 1_usize << eq.outer_bits;
    let splits = (FILL.min(MAX_BLOCKS) / tiles).clamp(1, outer);
    let per_block = outer.div_ceil(splits);
    let splits = outer.div_ceil(per_block);
    let args = [
        Arg::Ptr(planes.as_ptr()),
        Arg::U64(stride as u64),
        Arg::Ptr(eq.table.as_ptr()),
        Arg::U32(inner_bits as u32),
        Arg::U32(eq.outer_bits as u32),
        Arg::U32(per_block as u32),
        Arg::Ptr(workspace.partial.as_ptr()),
        Arg::Ptr(workspace.arrived.as_ptr()),
        Arg::Ptr(workspace.result.as_ptr()),
    ];
    let grid = ((tiles * splits) as u32, 1, 1);
    stream.launch(&kernels.evaluate, grid, (THREADS as u32, 1, 1), 0, &args)?;
    Ok(extension(&stream.download(&workspace.result, 0..EF::D)?))
}
