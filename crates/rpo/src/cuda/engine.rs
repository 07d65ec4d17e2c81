//! The engine: launches, and what goes over the bus.
#![forbid(unsafe_code)]

use std::sync::Arc;

use fieldspar_device::MemoryPlan;
use fieldspar_device::cuda::{Arg, Buffer, Cuda, Function, Pinned, Stream};

use super::kernels::Kernels;
use crate::engine::Engine;
use crate::gpu::{Checked, by_length, check_leaves, check_level, first_use, rows, starts};
use crate::reference::constants::ROUND_CONSTANTS;
use crate::{DIGEST, Digest, Error, RATE, Sponge, State, WIDTH};

/// Threads of a block that hash a state each; as the kernels are compiled.
const THREADS: usize = 128;
/// Threads of a block in which 16 lanes share a state.
const NARROW_THREADS: usize = 256;
const LANES: usize = 16;
/// Up to this many merges, lanes share a state: threads alone would not fill the chip, and a thread
/// takes six times as long.
const NARROW: usize = 1 << 13;
/// States of which a call holds no more on the device at once.
const PIECE: usize = 1 << 21;
/// Parts that leaves come in, so that the first are hashed while the others are on the bus.
const PARTS: usize = 8;

/// RPO on one GPU. Clones share it.
#[derive(Clone, Debug)]
pub struct CudaEngine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    cuda: Cuda,
    kernels: Kernels,
    /// The round constants as the kernels' argument.
    constants: Vec<u32>,
    checked: Checked,
}

/// How a sponge lays out a state, as the kernels' argument.
fn layout(sponge: Sponge) -> [u32; 3] {
    [
        u32::from(sponge.rate_start() != 0),
        // 0 or 1
        sponge.end_mark() as u32,
        u32::from(sponge.elements_flag(RATE - 1) != 1),
    ]
}

/// The low and the high word of each.
fn words(values: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    values.into_iter().flat_map(halves).collect()
}

impl CudaEngine {
    /// Loads the kernels. At the first use they are compared with the reference.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn new(cuda: &Cuda) -> Result<Self, Error> {
        Self::with_kernels(cuda, Kernels::load(cuda)?)
    }

    /// With the kernels of this image, for measurements of other builds of them.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn with_image(cuda: &Cuda, image: &[u8]) -> Result<Self, Error> {
        Self::with_kernels(cuda, Kernels::of(&cuda.load_module(image)?)?)
    }

    fn with_kernels(cuda: &Cuda, kernels: Kernels) -> Result<Self, Error> {
        Ok(Self(Arc::new(Inner {
            cuda: cuda.clone(),
            kernels,
            constants: words(ROUND_CONSTANTS.into_iter().flatten().flatten()),
            checked: Checked::default(),
        })))
    }

    /// The GPU.
    #[must_use]
    pub fn cuda(&self) -> &Cuda {
        &self.0.cuda
    }

    /// Compares every kernel with the reference, on this GPU and with this driver, unless that was
    /// done before by this engine; some milliseconds.
    ///
    /// # Errors
    ///
    /// [`fieldspar_device::Error::Mismatch`] with the operation and the first index that differs, or
    /// what the device says.
    pub fn self_test(&self) -> Result<(), Error> {
        first_use(&self.0.checked, &Unchecked(self))
    }

    fn stream(&self, op: &'static str) -> Result<Stream, Error> {
        Ok(self.0.cuda.stream()?.labelled(op))
    }

    fn plan(&self, op: &str, buffers: &[(&str, usize)]) -> Result<(), Error> {
        let mut plan = MemoryPlan::new(op);
        let held: Vec<_> = buffers
            .iter()
            .map(|(name, words)| plan.buffer(*name, (*words as u64).saturating_mul(8)))
            .collect();
        plan.phase("all", &held);
        let free = self.0.cuda.free_bytes()?;
        plan.check(free).map_err(fieldspar_device::Error::from)?;
        Ok(())
    }

    /// Launches a kernel with `lanes` threads for each of `count` states.
    fn launch(
        stream: &Stream,
        kernel: &Function,
        count: usize,
        (threads, lanes): (usize, usize),
        args: &[Arg<'_>],
    ) -> Result<(), Error> {
        let blocks = count.div_ceil(threads / lanes);
        let blocks = u32::try_from(blocks).map_err(|_| Error::Length {
            what: "states of a launch",
            have: count,
            expected: "fewer than 2^31 blocks of them".into(),
        })?;
        if blocks > 0 {
            let block = (threads as u32, 1, 1);
            stream.launch(kernel, (blocks, 1, 1), block, 0, args)?;
        }
        Ok(())
    }

    /// Permutes states that are on the device.
    pub(super) fn permute_resident(
        &self,
        stream: &Stream,
        states: &Buffer<State>,
        count: usize,
    ) -> Result<(), Error> {
        let args = [
            Arg::Ptr(states.as_ptr()),
            Arg::U64(count as u64),
            Arg::Words(&self.0.constants),
        ];
        let kernel = &self.0.kernels.permute_many;
        Self::launch(stream, kernel, count, (THREADS, 1), &args)
    }

    /// Merges digests `from..from + 2 count` of a buffer to `to..to + count` of it.
    fn merge_resident(
        &self,
        stream: &Stream,
        sponge: Sponge,
        tree: &Buffer<Digest>,
        (from, to): (usize, usize),
        count: usize,
    ) -> Result<(), Error> {
        let args = [
            Arg::Ptr(tree.ptr_at(from)),
            Arg::Ptr(tree.ptr_at(to)),
            Arg::U64(count as u64),
            Arg::U32(layout(sponge)[0]),
            Arg::Words(&self.0.constants),
        ];
        let kernels = &self.0.kernels;
        let (kernel, shape) = if count <= NARROW {
            (&kernels.merge_narrow, (NARROW_THREADS, LANES))
        } else {
            (&kernels.merge_level, (THREADS, 1))
        };
        Self::launch(stream, kernel, count, shape, &args)
    }

    /// From level `from` of a tree that lies level after level, all above.
    fn climb(
        &self,
        stream: &Stream,
        sponge: Sponge,
        tree: &Buffer<Digest>,
        leaves: usize,
        from: usize,
    ) -> Result<(), Error> {
        let mut count = leaves >> (from + 1);
        let mut level = from;
        while count > 0 {
            let at = (level_start(leaves, level), level_start(leaves, level + 1));
            self.merge_resident(stream, sponge, tree, at, count)?;
            count /= 2;
            level += 1;
        }
        Ok(())
    }

    /// The root of a tree over digests in page-locked memory, whose number is a power of two: the
    /// fastest way from host memory to a root.
    ///
    /// # Errors
    ///
    /// [`Error::Length`], [`Error::Device`].
    pub fn root_pinned(&self, sponge: Sponge, leaves: &Pinned<Digest>) -> Result<Digest, Error> {
        self.self_test()?;
        let count = leaves.len();
        check_leaves(count)?;
        self.plan("rpo root", &[("tree", 2 * count * DIGEST)])?;
        let (copies, work) = (self.stream("rpo root")?, self.stream("rpo root")?);
        let mut tree = work.alloc::<Digest>(2 * count)?;
        copies.wait_for(&work)?;
        let parts = if count > 2 * NARROW * PARTS { PARTS } else { 1 };
        let part = count / parts;
        for i in 0..parts {
            let range = i * part..(i + 1) * part;
            copies.copy_pinned(leaves, range.clone(), &mut tree, range.start)?;
            work.wait_for(&copies)?;
            let at = (range.start, count + range.start / 2);
            self.merge_resident(&work, sponge, &tree, at, part / 2)?;
        }
        self.climb(&work, sponge, &tree, count, 1)?;
        let root = level_start(count, count.ilog2() as usize);
        let found = work.download(&tree, root..root + 1)?;
        let digest = found.first().map_or([0; DIGEST], |d| *d.elements());
        Digest::new(digest)
    }
}

/// The digest that level `level` begins with in a tree that lies level after level.
const fn level_start(leaves: usize, level: usize) -> usize {
    2 * leaves - ((2 * leaves) >> level)
}

/// What a kernel found: the index of the first element that is not canonical, or none.
fn check_found(stream: &Stream, bad: &Buffer<u64>, elements: &[u64]) -> Result<(), Error> {
    let found = stream.download(bad, 0..1)?;
    match found
        .first()
        .map(|&i| usize::try_from(i).unwrap_or(usize::MAX))
    {
        Some(index) if index < elements.len() => Err(Error::NotCanonical {
            index,
            value: elements[index],
        }),
        _ => Ok(()),
    }
}

/// The engine's operations without the self-test before them.
struct Unchecked<'a>(&'a CudaEngine);

impl Engine for Unchecked<'_> {
    fn device(&self) -> String {
        self.0.cuda().name().to_owned()
    }

    fn permute_many(&self, states: &mut [State]) -> Result<(), Error> {
        let engine = self.0;
        let most = states.len().min(PIECE);
        engine.plan("rpo permute", &[("states", most * WIDTH)])?;
        let stream = engine.stream("rpo permute")?;
        for piece in states.chunks_mut(PIECE) {
            let buffer = stream.upload(piece)?;
            engine.permute_resident(&stream, &buffer, piece.len())?;
            let permuted = stream.download(&buffer, 0..piece.len())?;
            piece.copy_from_slice(&permuted);
        }
        Ok(())
    }

    fn hash_rows(
        &self,
        sponge: Sponge,
        elements: &[u64],
        width: usize,
    ) -> Result<Vec<Digest>, Error> {
        let engine = self.0;
        let count = rows(elements.len(), width)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        engine.plan(
            "rpo hash",
            &[("elements", elements.len()), ("digests", count * DIGEST)],
        )?;
        let stream = engine.stream("rpo hash")?;
        let input = stream.upload(elements)?;
        let digests = stream.alloc::<Digest>(count)?;
        let bad = stream.upload(&[u64::MAX])?;
        let args = [
            Arg::Ptr(input.as_ptr()),
            Arg::U64(count as u64),
            Arg::U64(width as u64),
            Arg::Ptr(digests.as_ptr()),
            Arg::Ptr(bad.as_ptr()),
            Arg::Words(&layout(sponge)),
            Arg::Words(&engine.0.constants),
        ];
        let kernel = &engine.0.kernels.hash_rows;
        CudaEngine::launch(&stream, kernel, count, (THREADS, 1), &args)?;
        check_found(&stream, &bad, elements)?;
        Ok(stream.download(&digests, 0..count)?)
    }

    fn hash_many(&self, sponge: Sponge, inputs: &[&[u64]]) -> Result<Vec<Digest>, Error> {
        let engine = self.0;
        let count = inputs.len();
        if count == 0 {
            return Ok(Vec::new());
        }
        let order = by_length(inputs)?;
        let elements = inputs.concat();
        engine.plan(
            "rpo hash",
            &[
                ("elements", elements.len()),
                ("starts and order", 2 * count + 1),
                ("digests", count * DIGEST),
            ],
        )?;
        let stream = engine.stream("rpo hash")?;
        let input = stream.upload(&elements)?;
        let starts = stream.upload(&starts(inputs))?;
        let order = stream.upload(&order)?;
        let digests = stream.alloc::<Digest>(count)?;
        let bad = stream.upload(&[u64::MAX])?;
        let args = [
            Arg::Ptr(input.as_ptr()),
            Arg::Ptr(starts.as_ptr()),
            Arg::Ptr(order.as_ptr()),
            Arg::U64(count as u64),
            Arg::Ptr(digests.as_ptr()),
            Arg::Ptr(bad.as_ptr()),
            Arg::Words(&layout(sponge)),
            Arg::Words(&engine.0.constants),
        ];
        let kernel = &engine.0.kernels.hash_many;
        CudaEngine::launch(&stream, kernel, count, (THREADS, 1), &args)?;
        check_found(&stream, &bad, &elements)?;
        Ok(stream.download(&digests, 0..count)?)
    }

    fn merge_level(
        &self,
        sponge: Sponge,
        children: &[Digest],
        parents: &mut [Digest],
    ) -> Result<(), Error> {
        check_level(children, parents)?;
        let engine = self.0;
        let count = parents.len();
        if count == 0 {
            return Ok(());
        }
        engine.plan("rpo merge", &[("digests", 3 * count * DIGEST)])?;
        let stream = engine.stream("rpo merge")?;
        let mut tree = stream.alloc::<Digest>(3 * count)?;
        stream.copy_to_device(children, &mut tree, 0)?;
        engine.merge_resident(&stream, sponge, &tree, (0, 2 * count), count)?;
        let merged = stream.download(&tree, 2 * count..3 * count)?;
        parents.copy_from_slice(&merged);
        Ok(())
    }

    fn levels(&self, sponge: Sponge, leaves: Vec<Digest>) -> Result<Vec<Vec<Digest>>, Error> {
        let engine = self.0;
        let count = leaves.len();
        check_leaves(count)?;
        engine.plan("rpo tree", &[("tree", 2 * count * DIGEST)])?;
        let stream = engine.stream("rpo tree")?;
        let mut tree = stream.alloc::<Digest>(2 * count)?;
        stream.copy_to_device(&leaves, &mut tree, 0)?;
        engine.climb(&stream, sponge, &tree, count, 0)?;
        let mut levels = vec![leaves];
        for level in 1..=count.ilog2() as usize {
            let start = level_start(count, level);
            levels.push(stream.download(&tree, start..start + (count >> level))?);
        }
        Ok(levels)
    }
}

impl Engine for CudaEngine {
    fn device(&self) -> String {
        self.cuda().name().to_owned()
    }

    fn permute_many(&self, states: &mut [State]) -> Result<(), Error> {
        self.self_test()?;
        Unchecked(self).permute_many(states)
    }

    fn hash_rows(
        &self,
        sponge: Sponge,
        elements: &[u64],
        width: usize,
    ) -> Result<Vec<Digest>, Error> {
        self.self_test()?;
        Unchecked(self).hash_rows(sponge, elements, width)
    }

    fn hash_many(&self, sponge: Sponge, inputs: &[&[u64]]) -> Result<Vec<Digest>, Error> {
        self.self_test()?;
        Unchecked(self).hash_many(sponge, inputs)
    }

    fn merge_level(
        &self,
        sponge: Sponge,
        children: &[Digest],
        parents: &mut [Digest],
    ) -> Result<(), Error> {
        self.self_test()?;
        Unchecked(self).merge_level(sponge, children, parents)
    }

    fn levels(&self, sponge: Sponge, leaves: Vec<Digest>) -> Result<Vec<Vec<Digest>>, Error> {
        self.self_test()?;
        Unchecked(self).levels(sponge, leaves)
    }
}
