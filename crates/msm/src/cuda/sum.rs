//! A sum: chunks of bases, and what is launched for each.
#![forbid(unsafe_code)]

use core::ops::Range;

use fieldspar_device::cuda::{Arg, Buffer, Pinned, Pod, Stream};
use fieldspar_device::{Error, MemoryPlan};

use super::engine::{CudaEngine, Tuning};
use super::finish::finish;
use super::form::Form;
use super::kernels::CurveKernels;
use super::measure;
use super::plan::{self, ADD_THREADS, Chunk, Columns, OVERLAP, Shape};
use super::pod;
use super::resident::{Resident, convert};
use super::sort::{self, Sorter};
use crate::{
    Scalars,
    curve::{Affine, Curve},
    digits::{Lengths, Wide, minus},
};

/// No chunk is made smaller than this for want of memory.
const SMALLEST: usize = 1 << 12;

/// Scalars, and where they lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    /// In a caller's memory.
    Host(Scalars<'a>),
    /// In page-locked memory.
    Pinned(&'a Pinned<Wide>),
}

impl Source<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Host(scalars) => scalars.len(),
            Self::Pinned(scalars) => scalars.len(),
        }
    }

    /// Bytes of a scalar on the device.
    fn bytes(&self) -> u32 {
        match self {
            Self::Host(Scalars::U64(_)) => 8,
            Self::Host(Scalars::U32(_) | Scalars::U16(_)) => 4,
            Self::Host(Scalars::U8(_) | Scalars::Bool(_)) => 1,
            Self::Host(Scalars::Wide(_)) | Self::Pinned(_) => 32,
        }
    }

    /// Bits that a scalar can have, if that is fewer than the order's.
    fn bits(&self) -> u32 {
        match self {
            Self::Host(Scalars::U16(_)) => 16,
            Self::Host(Scalars::Bool(_)) => 1,
            _ => 8 * self.bytes(),
        }
    }
}

/// The largest absolute value that scalars of `bits` bits can have.
pub(super) fn longest<C: Curve<N>, const N: usize>(signs: bool, bytes: u32) -> Lengths {
    of_bits::<C, N>(signs, 8 * bytes)
}

fn of_bits<C: Curve<N>, const N: usize>(signs: bool, bits: u32) -> Lengths {
    let max = if bits < 256 {
        let mut max = [0u64; 4];
        for (i, limb) in (0u32..).zip(&mut max) {
            *limb = match bits.saturating_sub(64 * i).min(64) {
                0 => 0,
                bits => u64::MAX >> (64 - bits),
            };
        }
        max
    } else {
        let (most, _) = minus(&C::ORDER, &[1, 0, 0, 0]);
        let half = |i: usize| most[i] >> 1 | most.get(i + 1).map_or(0, |l| l << 63);
        if signs {
            core::array::from_fn(half)
        } else {
            most
        }
    };
    Lengths::of(&[max])
}

/// What scalars of one chunk lie in.
#[derive(Debug)]
enum Held {
    Wide(Buffer<[u64; 4]>),
    U64(Buffer<u64>),
    U32(Buffer<u32>),
    U8(Buffer<u8>),
}

impl Held {
    fn new(stream: &Stream, source: &Source<'_>, count: usize) -> Result<Self, Error> {
        Ok(match source.bytes() {
            32 => Self::Wide(stream.alloc(count)?),
            8 => Self::U64(stream.alloc(count)?),
            4 => Self::U32(stream.alloc(count)?),
            _ => Self::U8(stream.alloc(count)?),
        })
    }

    fn address(&self) -> u64 {
        match self {
            Self::Wide(b) => b.as_ptr(),
            Self::U64(b) => b.as_ptr(),
            Self::U32(b) => b.as_ptr(),
            Self::U8(b) => b.as_ptr(),
        }
    }

    fn fill(
        &mut self,
        stream: &Stream,
        source: &Source<'_>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        fn put<T: Pod>(stream: &Stream, to: &mut Buffer<T>, from: &[T]) -> Result<(), Error> {
            stream.copy_to_device(from, to, 0)
        }
        match (self, source) {
            (Self::Wide(to), Source::Pinned(from)) => stream.copy_pinned(from, range, to, 0),
            (Self::Wide(to), Source::Host(Scalars::Wide(from))) => put(stream, to, &from[range]),
            (Self::U64(to), Source::Host(Scalars::U64(from))) => put(stream, to, &from[range]),
            (Self::U32(to), Source::Host(Scalars::U32(from))) => put(stream, to, &from[range]),
            (Self::U32(to), Source::Host(Scalars::U16(from))) => {
                let wider: Vec<u32> = from[range].iter().map(|&s| s.into()).collect();
                put(stream, to, &wider)
            }
            (Self::U8(to), Source::Host(Scalars::U8(from))) => put(stream, to, &from[range]),
            (Self::U8(to), Source::Host(Scalars::Bool(from))) => {
                let bytes: Vec<u8> = from[range].iter().map(|&s| s.into()).collect();
                put(stream, to, &bytes)
            }
            // `new` was called with the same source.
            _ => Ok(()),
        }
    }
}

/// Bases of a sum.
#[derive(Debug)]
pub(crate) enum Points<'a, C: Curve<N>, const N: usize> {
    Host(&'a [Affine<C, N>]),
    Resident(&'a Resident),
}

/// The buffers of the additions.
struct Work {
    sums: Buffer<u64>,
    heads: Buffer<u64>,
    tails: Buffer<u64>,
    longest: Buffer<u32>,
    merged: Option<Buffer<u64>>,
}

impl Work {
    fn new(stream: &Stream, form: Form, shape: &Shape, merged: bool) -> Result<Self, Error> {
        let sum = form.sum_limbs();
        let buckets = shape.columns * shape.buckets * sum;
        let parts = shape.columns * shape.segments * sum;
        Ok(Self {
            sums: stream.alloc(buckets)?,
            heads: stream.alloc(parts)?,
            tails: stream.alloc(parts)?,
            longest: stream.alloc(1)?,
            merged: if merged {
                Some(stream.alloc(buckets)?)
            } else {
                None
            },
        })
    }
}

/// What a sum is of, and how it is cut.
struct Job<'a, C: Curve<N>, const N: usize> {
    form: Form,
    signs: bool,
    source: Source<'a>,
    points: &'a Points<'a, C, N>,
    columns: Columns,
    shape: Shape,
    chunks: Vec<Range<usize>>,
    /// Threads of the accumulation that run at once.
    threads: usize,
    tuning: Tuning,
}

/// A sum under way.
struct Run<'a, C: Curve<N>, const N: usize> {
    engine: &'a CudaEngine,
    kernels: &'a CurveKernels,
    job: Job<'a, C, N>,
    /// Kernels; what comes over the bus; and where the kernels of the chunk before end.
    work: Stream,
    copies: Stream,
    gate: Stream,
    /// Scalars of a chunk and of the next, and points as they come if they are not on the device.
    scalars: Vec<Held>,
    raw: Vec<Buffer<u64>>,
    /// Points in the form's records.
    table: Option<Buffer<u64>>,
    sorter: Sorter,
    adds: Work,
    /// How the last chunk was cut.
    last: Chunk,
    /// The first scalar that is not below the order, and the first point without an image.
    bad: [Buffer<u32>; 2],
}

impl CudaEngine {
    /// The sum, or the index of the first scalar that is not below the order.
    ///
    /// Points count as points of the subgroup if `subgroup`.
    pub(crate) fn sum<C: Curve<N>, const N: usize>(
        &self,
        points: &Points<'_, C, N>,
        subgroup: bool,
        source: Source<'_>,
    ) -> Result<Result<Affine<C, N>, usize>, Error> {
        let unknown = || self.unsupported("msm", format!("there are no kernels for {}", C::NAME));
        let form = match points {
            Points::Resident(resident) => resident.form,
            Points::Host(_) => Form::of::<C, N>(subgroup).ok_or_else(unknown)?,
        };
        let kernels = self.kernels(form)?;
        if let Some(sum) = self.sum_form(points, subgroup, source, form, &kernels)? {
            return Ok(sum);
        }
        // A point without an image, which only a trusted one can be.
        let form = Form::of::<C, N>(false).ok_or_else(unknown)?;
        let kernels = self.kernels(form)?;
        let sum = self.sum_form(points, subgroup, source, form, &kernels)?;
        sum.ok_or_else(unknown)
    }

    /// [`Self::sum`] in one form; `None` if a point has no image in it.
    pub(super) fn sum_form<C: Curve<N>, const N: usize>(
        &self,
        points: &Points<'_, C, N>,
        signs: bool,
        source: Source<'_>,
        form: Form,
        kernels: &CurveKernels,
    ) -> Result<Option<Result<Affine<C, N>, usize>>, Error> {
        if source.len() == 0 {
            return Ok(Some(Ok(Affine::INFINITY)));
        }
        let lengths = of_bits::<C, N>(signs, source.bits());
        let columns = match points {
            Points::Resident(Resident {
                cut: Some((width, columns)),
                ..
            }) => Columns::new(*width, Some(*columns), &lengths),
            _ => plan::best(form, source.len(), &lengths, &self.tuning()),
        };
        let (shape, chunks) = self.cut_up(points, &source, form, &columns, kernels)?;
        self.set_plan(format!("{columns}, {shape}, {} chunks", chunks.len()));
        let job = Job {
            form,
            signs,
            source,
            points,
            columns,
            shape,
            chunks,
            threads: self.threads(&kernels.accumulate)?,
            tuning: self.tuning(),
        };
        let mut run = Run::new(self, kernels, job)?;
        let sum = run.all();
        if sum.is_err() {
            // What is under way must end before its memory goes to others, whoever owns it.
            let ends = [&run.copies, &run.work].map(Stream::synchronize);
            // A stream that has failed moves nothing any more; the first error is the one to tell.
            drop(ends);
        }
        sum
    }

    /// The chunks, each as large as memory allows, and the shape of the largest.
    fn cut_up<C: Curve<N>, const N: usize>(
        &self,
        points: &Points<'_, C, N>,
        source: &Source<'_>,
        form: Form,
        columns: &Columns,
        kernels: &CurveKernels,
    ) -> Result<(Shape, Vec<Range<usize>>), Error> {
        let count = source.len();
        let threads = self.threads(&kernels.accumulate)?;
        let tuning = self.tuning();
        let free = self.cuda().free_bytes()?;
        let first = tuning.first.map_or_else(
            || if count >= OVERLAP { count / 8 } else { count },
            |first| first as usize,
        );
        let mut most = count.min((1 << 31) / columns.multiples().max(1) as usize - 1);
        loop {
            let shape = Shape::new(columns, most, threads, &tuning);
            let first = first.clamp(1, most);
            let several = first < count;
            let mut plan = MemoryPlan::new("msm");
            let mut held = Vec::new();
            for (name, bytes) in shape.bytes(form, several) {
                held.push(plan.buffer(name, bytes));
            }
            let copies = if several { 2 } else { 1 };
            let each = (u64::from(source.bytes())) * copies * most as u64;
            held.push(plan.buffer("scalars", each));
            if let Points::Host(_) = points {
                let limbs = 2 * N as u64 * copies + form.point_limbs() as u64;
                held.push(plan.buffer("points", 8 * limbs * most as u64));
            }
            plan.phase("all", &held);
            match plan.check(free) {
                Err(_) if most > SMALLEST => most = (most / 2).max(SMALLEST),
                checked => {
                    checked?;
                    let (mut chunks, mut start, mut end) = (Vec::new(), 0, first);
                    while start < count {
                        chunks.push(start..end);
                        (start, end) = (end, count.min(end + most));
                    }
                    return Ok((shape, chunks));
                }
            }
        }
    }
}

impl<'a, C: Curve<N>, const N: usize> Run<'a, C, N> {
    fn new(
        engine: &'a CudaEngine,
        kernels: &'a CurveKernels,
        job: Job<'a, C, N>,
    ) -> Result<Self, Error> {
        let (work, copies, gate) = (engine.stream()?, engine.stream()?, engine.stream()?);
        let shape = &job.shape;
        let copies_of = job.chunks.len().min(2);
        let (mut scalars, mut raw, mut table) = (Vec::new(), Vec::new(), None);
        for _ in 0..copies_of {
            scalars.push(Held::new(&work, &job.source, shape.count)?);
        }
        if let Points::Host(_) = job.points {
            for _ in 0..copies_of {
                raw.push(work.alloc(shape.count * 2 * N)?);
            }
            if kernels.convert.is_some() {
                table = Some(work.alloc(shape.count * job.form.point_limbs())?);
            }
        }
        let sorter = Sorter::new(&work, shape)?;
        let adds = Work::new(&work, job.form, shape, job.chunks.len() > 1)?;
        let bad = [work.upload(&[u32::MAX])?, work.upload(&[u32::MAX])?];
        // The buffers are there once the stream that they were made on has come so far.
        copies.wait_for(&work)?;
        Ok(Self {
            engine,
            kernels,
            job,
            work,
            copies,
            gate,
            scalars,
            raw,
            table,
            sorter,
            adds,
            last: Chunk::default(),
            bad,
        })
    }

    /// Every chunk, and the end.
    fn all(&mut self) -> Result<Option<Result<Affine<C, N>, usize>>, Error> {
        let timed = measure::is_on();
        if timed {
            self.work.start_timeline()?;
        }
        self.fetch(0)?;
        for i in 0..self.job.chunks.len() {
            self.work.wait_for(&self.copies)?;
            self.gate.wait_for(&self.work)?;
            self.chunk(i)?;
            self.copies.wait_for(&self.gate)?;
            self.fetch(i + 1)?;
        }
        let sum = self.reduce()?;
        if timed && let Some((_, launches)) = self.work.take_timeline()? {
            measure::note(&launches);
        }
        Ok(sum)
    }

    /// Brings chunk `i` over the bus.
    fn fetch(&mut self, i: usize) -> Result<(), Error> {
        let Some(range) = self.job.chunks.get(i) else {
            return Ok(());
        };
        if let (Points::Host(points), Some(to)) = (self.job.points, self.raw.get_mut(i % 2)) {
            let limbs = pod::limbs(&points[range.clone()]);
            self.copies.copy_to_device(limbs, to, 0)?;
        }
        let (source, range) = (&self.job.source, range.clone());
        self.scalars[i % 2].fill(&self.copies, source, range)
    }

    /// Where the bases of chunk `i` are, how many there are there, and which is the chunk's first.
    fn bases(&self, i: usize) -> Result<(u64, usize, usize), Error> {
        let range = &self.job.chunks[i];
        if let Points::Resident(resident) = self.job.points {
            return Ok((resident.table.as_ptr(), resident.count, range.start));
        }
        let (raw, count) = (&self.raw[i % 2], range.len());
        let Some((kernel, table)) = self.kernels.convert.as_ref().zip(self.table.as_ref()) else {
            return Ok((raw.as_ptr(), count, 0));
        };
        let (from, to) = (raw.as_ptr(), table.as_ptr());
        convert(
            &self.work,
            kernel,
            from,
            count,
            to,
            range.start,
            &self.bad[1],
        )?;
        Ok((to, count, 0))
    }

    /// All launches of chunk `i`.
    fn chunk(&mut self, i: usize) -> Result<(), Error> {
        let (bases, have, first) = self.bases(i)?;
        let job = &self.job;
        let range = job.chunks[i].clone();
        let shape = &job.shape;
        let cut = shape.chunk(&job.columns, range.len(), job.threads, &job.tuning);
        self.last = cut;
        let scalars = sort::Scalars {
            address: self.scalars[i % 2].address(),
            bytes: job.source.bytes(),
        };
        let work = &self.work;
        let entries = self.sorter.run(
            work,
            self.engine.sort(),
            (shape, &job.columns),
            (&C::ORDER, job.signs),
            scalars,
            range,
            (have, first),
            &self.bad[0],
        )?;
        work.clear(&mut self.adds.longest, 0..1)?;
        let adds = &self.adds;
        let words = shape.words(&cut);
        let entries = Arg::Ptr(entries);
        let totals = Arg::Ptr(self.sorter.totals.as_ptr());
        let ranges = Arg::Ptr(self.sorter.ranges.as_ptr());
        let (sums, heads) = (Arg::Ptr(adds.sums.as_ptr()), Arg::Ptr(adds.heads.as_ptr()));
        let (tails, longest) = (
            Arg::Ptr(adds.tails.as_ptr()),
            Arg::Ptr(adds.longest.as_ptr()),
        );
        let words = Arg::Words(&words);
        let block = (ADD_THREADS as u32, 1, 1);
        let sets = shape.columns as u32;
        let segments = cut.segments;
        let grid = (segments.div_ceil(ADD_THREADS) as u32, sets, 1);
        let base = Arg::Ptr(bases);
        let args = [
            entries, totals, ranges, base, sums, heads, tails, longest, words,
        ];
        work.launch(&self.kernels.accumulate, grid, block, 0, &args)?;
        let mut distance = 1;
        while distance < segments {
            let far = Arg::U32(distance as u32);
            let args = [entries, totals, ranges, heads, tails, longest, far, words];
            work.launch(&self.kernels.combine, grid, block, 0, &args)?;
            distance *= 2;
        }
        if let Some(merged) = &adds.merged {
            let (all, begin) = (Arg::Ptr(merged.as_ptr()), Arg::U32(u32::from(i == 0)));
            let args = [ranges, sums, tails, all, begin, words];
            let grid = (shape.buckets.div_ceil(ADD_THREADS) as u32, sets, 1);
            work.launch(&self.kernels.merge, grid, block, 0, &args)?;
        }
        Ok(())
    }

    /// The reduction, and the end on the host; `None` if a point has no image.
    fn reduce(&self) -> Result<Option<Result<Affine<C, N>, usize>>, Error> {
        let (work, job, adds) = (&self.work, &self.job, &self.adds);
        let shape = &job.shape;
        let sum = job.form.sum_limbs();
        let groups = shape.columns * shape.groups * sum;
        let plain = work.alloc::<u64>(groups)?;
        let weighted = work.alloc::<u64>(groups)?;
        let out = work.alloc::<u64>(shape.sums() * sum)?;
        let merged = adds.merged.as_ref();
        let sums = merged.unwrap_or(&adds.sums).as_ptr();
        let words = shape.words(&self.last);
        let block = (ADD_THREADS as u32, 1, 1);
        let sets = shape.columns as u32;
        let (plain, weighted) = (Arg::Ptr(plain.as_ptr()), Arg::Ptr(weighted.as_ptr()));
        let many = Arg::U32(shape.groups as u32);
        let args = [
            Arg::Ptr(self.sorter.ranges.as_ptr()),
            Arg::Ptr(sums),
            Arg::Ptr(adds.tails.as_ptr()),
            Arg::U32(u32::from(merged.is_some())),
            Arg::U32(shape.group as u32),
            many,
            plain,
            weighted,
            Arg::Words(&words),
        ];
        let grid = (shape.groups.div_ceil(ADD_THREADS) as u32, sets, 1);
        work.launch(&self.kernels.reduce_buckets, grid, block, 0, &args)?;
        let bits = Arg::U32(shape.bits);
        let args = [plain, weighted, many, bits, Arg::Ptr(out.as_ptr())];
        let grid = (shape.bits + 1, sets, shape.parts as u32);
        work.launch(&self.kernels.reduce_groups, grid, block, 0, &args)?;
        let sums = work.download(&out, 0..out.len())?;
        let first = |bad: &Buffer<u32>| -> Result<Option<u32>, Error> {
            let found = work.download(bad, 0..1)?.first().copied();
            Ok(found.filter(|&index| index != u32::MAX))
        };
        if let Some(index) = first(&self.bad[0])? {
            return Ok(Some(Err(index as usize)));
        }
        if first(&self.bad[1])?.is_some() {
            return Ok(None);
        }
        let sum = finish::<C, N>(job.form, &job.columns, shape, &sums);
        sum.map(Ok).map(Some).ok_or_else(|| Error::Mismatch {
            op: "msm",
            index: 0,
        })
    }
}
