//! Bases that stay on the device.
#![forbid(unsafe_code)]

use fieldspar_device::cuda::{Arg, Buffer, Function, Stream};
use fieldspar_device::{Error, MemoryPlan};

use super::engine::CudaEngine;
use super::form::Form;
use super::plan::{ADD_THREADS, Columns, Shape, WIDEST};
use super::pod;
use super::sum::longest;
use crate::curve::{Affine, Curve};

/// Bases converted together.
const PIECE: usize = 1 << 20;
/// Bases that a thread converts with one inversion.
const BATCH: usize = 16;

/// Device memory that bases may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Budget {
    /// What the points themselves take.
    Points,
    /// Up to so many bytes, as far as the device has them, for multiples `2^k P` that save additions
    /// later; at least the points themselves.
    Bytes(u64),
}

/// Bases on a device, with `multiples` multiples of each.
#[derive(Debug)]
pub(crate) struct Resident {
    pub(super) engine: CudaEngine,
    pub(super) form: Form,
    pub(super) count: usize,
    pub(super) multiples: u32,
    /// Bits a window and columns that the multiples are made for, if there is more than one.
    pub(super) cut: Option<(u32, u32)>,
    pub(super) table: Buffer<u64>,
}

impl Resident {
    /// Bytes on the device.
    pub(crate) fn bytes(&self) -> u64 {
        self.table.bytes() as u64
    }

    pub(crate) fn multiples(&self) -> u32 {
        self.multiples
    }

    pub(crate) fn engine(&self) -> &CudaEngine {
        &self.engine
    }
}

fn grid(count: usize, each: usize) -> (u32, u32, u32) {
    let blocks = count.div_ceil(each * ADD_THREADS).max(1);
    (u32::try_from(blocks).unwrap_or(u32::MAX), 1, 1)
}

/// Affine points, on the device as limbs, to a form's records. `bad` gets the first, counted from
/// `first`, that has no image.
pub(super) fn convert(
    stream: &Stream,
    kernel: &Function,
    points: u64,
    count: usize,
    to: u64,
    first: usize,
    bad: &Buffer<u32>,
) -> Result<(), Error> {
    let args = [
        Arg::Ptr(points),
        Arg::U32(count as u32),
        Arg::Ptr(to),
        Arg::U32(first as u32),
        Arg::Ptr(bad.as_ptr()),
    ];
    let block = (ADD_THREADS as u32, 1, 1);
    stream.launch(kernel, grid(count, BATCH), block, 0, &args)
}

impl CudaEngine {
    /// Puts points on the device; in the Edwards form if `subgroup` and all have an image there.
    pub(crate) fn prepare<C: Curve<N>, const N: usize>(
        &self,
        points: &[Affine<C, N>],
        subgroup: bool,
        budget: Budget,
    ) -> Result<Resident, Error> {
        let unknown = || self.unsupported("msm", format!("there are no kernels for {}", C::NAME));
        let form = Form::of::<C, N>(subgroup).ok_or_else(unknown)?;
        if let Some(resident) = self.prepare_form(points, form, subgroup, budget)? {
            return Ok(resident);
        }
        let form = Form::of::<C, N>(false).ok_or_else(unknown)?;
        let made = self.prepare_form(points, form, subgroup, budget)?;
        made.ok_or_else(unknown)
    }

    /// How many multiples, and the windows that they are for.
    fn cut<C: Curve<N>, const N: usize>(
        &self,
        form: Form,
        count: usize,
        signs: bool,
        budget: Budget,
        free: u64,
    ) -> Option<Columns> {
        let Budget::Bytes(bytes) = budget else {
            return None;
        };
        let lengths = longest::<C, N>(signs, 32);
        let tuning = self.tuning();
        let base = 8 * (form.point_limbs() * count.max(1)) as u64;
        let mut best: Option<Columns> = None;
        for width in 1..=WIDEST {
            if tuning.width.is_some_and(|w| w != width) {
                continue;
            }
            let windows = Columns::new(width, None, &lengths).windows.count;
            for columns in 1..=windows {
                if tuning.columns.is_some_and(|c| c != columns) {
                    continue;
                }
                let candidate = Columns::new(width, Some(columns), &lengths);
                let multiples = u64::from(candidate.multiples());
                let table = base.saturating_mul(multiples);
                let shape = Shape::new(&candidate, count.max(1), 1 << 16, &tuning);
                let work: u64 = shape.bytes(form, true).iter().map(|b| b.1).sum();
                let scalars = 32 * count as u64;
                let fits = table.saturating_add(work).saturating_add(scalars) < free / 32 * 31;
                let few = (count as u64).saturating_mul(multiples) < 1 << 31;
                if multiples > 1 && table <= bytes && fits && few {
                    let cheaper = |b: &Columns| candidate.cost(form, count) < b.cost(form, count);
                    if best.as_ref().is_none_or(cheaper) {
                        best = Some(candidate);
                    }
                }
            }
        }
        best
    }

    /// `None` if a point has no image in the form.
    fn prepare_form<C: Curve<N>, const N: usize>(
        &self,
        points: &[Affine<C, N>],
        form: Form,
        signs: bool,
        budget: Budget,
    ) -> Result<Option<Resident>, Error> {
        let kernels = self.kernels(form)?;
        let count = points.len();
        let free = self.cuda().free_bytes()?;
        let columns = self.cut::<C, N>(form, count, signs, budget, free);
        let multiples = columns.as_ref().map_or(1, Columns::multiples);
        let (record, sum) = (form.point_limbs(), form.sum_limbs());
        let piece = PIECE.min(count.max(1));
        let mut plan = MemoryPlan::new("prepare bases");
        let words = |n: usize| 8 * n as u64;
        let held = [
            plan.buffer("bases", words(count * record) * u64::from(multiples)),
            plan.buffer("a piece", words(piece * (2 * N + sum + N))),
        ];
        plan.phase("all", &held);
        plan.check(free)?;
        let stream = self.stream()?;
        let mut table = stream.alloc::<u64>(count * record * multiples as usize)?;
        let bad = stream.upload(&[u32::MAX])?;
        if let Some(kernel) = &kernels.convert {
            let mut raw = stream.alloc::<u64>(piece * 2 * N)?;
            for (i, part) in points.chunks(piece).enumerate() {
                let at = i * piece;
                stream.copy_to_device(pod::limbs(part), &mut raw, 0)?;
                let to = table.ptr_at(at * record);
                convert(&stream, kernel, raw.as_ptr(), part.len(), to, at, &bad)?;
            }
            if stream.download(&bad, 0..1)?.first() != Some(&u32::MAX) {
                return Ok(None);
            }
        } else {
            stream.copy_to_device(pod::limbs(points), &mut table, 0)?;
        }
        if let Some(columns) = &columns {
            let scratch = stream.alloc::<u64>(piece * sum)?;
            let prefix = stream.alloc::<u64>(piece * form.limbs())?;
            let doublings = columns.windows.width * columns.columns;
            let block = (ADD_THREADS as u32, 1, 1);
            for multiple in 1..multiples as usize {
                for at in (0..count).step_by(piece) {
                    let part = piece.min(count - at);
                    let from = ((multiple - 1) * count + at) * record;
                    let args = [
                        Arg::Ptr(table.ptr_at(from)),
                        Arg::Ptr(table.ptr_at(from + count * record)),
                        Arg::U32(part as u32),
                        Arg::U32(doublings),
                        Arg::Ptr(scratch.as_ptr()),
                        Arg::Ptr(prefix.as_ptr()),
                    ];
                    stream.launch(&kernels.multiples, grid(part, BATCH), block, 0, &args)?;
                }
            }
        }
        stream.synchronize()?;
        Ok(Some(Resident {
            engine: self.clone(),
            form,
            count,
            multiples,
            cut: columns.map(|c| (c.windows.width, c.columns)),
            table,
        }))
    }
}
