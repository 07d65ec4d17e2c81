//! The engine: pieces that fit an adapter's bindings, and one wait for each.
#![forbid(unsafe_code)]

use std::sync::Arc;

use fieldspar_device::wgpu::{Access, Arithmetic, Batch, Buffer, Kernel, Source, Wgpu};
use fieldspar_device::{Error as DeviceError, MemoryPlan};

use crate::engine::Engine;
use crate::gpu::{Checked, by_length, check_leaves, check_level, first_use, rows, starts};
use crate::reference::constants::ROUND_CONSTANTS;
use crate::{DIGEST, Digest, Error, RATE, Sponge, State, WIDTH, check_canonical};

/// Invocations of a workgroup, as the kernels have it.
const THREADS: usize = 64;
/// Bytes of a digest, and of a state.
const DIGEST_BYTES: usize = 8 * DIGEST;
const STATE_BYTES: usize = 8 * WIDTH;

/// The arithmetic of the field, and what is built on it.
const U64: &str = concat!(
    include_str!("shaders/field_u64.wgsl"),
    include_str!("shaders/rpo.wgsl")
);
const U32: &str = concat!(
    include_str!("shaders/field_u32.wgsl"),
    include_str!("shaders/rpo.wgsl")
);

/// RPO on one adapter. Clones share it.
#[derive(Clone, Debug)]
pub struct WgpuEngine(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    gpu: Wgpu,
    arithmetic: Arithmetic,
    permute_many: Kernel,
    merge_level: Kernel,
    hash_many: Kernel,
    constants: Buffer,
    checked: Checked,
}

impl WgpuEngine {
    /// Compiles the kernels, in the variant that the adapter has. At the first use they are compared
    /// with the reference.
    ///
    /// # Errors
    ///
    /// [`Error::Device`].
    pub fn new(gpu: &Wgpu) -> Result<Self, Error> {
        Self::with_arithmetic(gpu, gpu.arithmetic())
    }

    /// [`Self::new`] in a variant that need not be the adapter's best.
    ///
    /// # Errors
    ///
    /// [`Error::Device`]; the adapter may not have the variant.
    pub fn with_arithmetic(gpu: &Wgpu, arithmetic: Arithmetic) -> Result<Self, Error> {
        let text = match arithmetic {
            Arithmetic::U64 => U64,
            _ => U32,
        };
        let source = Source { label: "rpo", text };
        let (read, write) = (Access::Read, Access::Write);
        let constants: Vec<u64> = ROUND_CONSTANTS.into_iter().flatten().flatten().collect();
        Ok(Self(Arc::new(Inner {
            permute_many: gpu.kernel(&source, "permute_many", &[read, write])?,
            merge_level: gpu.kernel(&source, "merge_level", &[read, write])?,
            hash_many: gpu.kernel(&source, "hash_many", &[read, write, read, read])?,
            constants: gpu.upload("rpo constants", &constants)?,
            checked: Checked::default(),
            gpu: gpu.clone(),
            arithmetic,
        })))
    }

    /// The adapter.
    #[must_use]
    pub fn gpu(&self) -> &Wgpu {
        &self.0.gpu
    }

    /// The variant of the kernels.
    #[must_use]
    pub fn arithmetic(&self) -> Arithmetic {
        self.0.arithmetic
    }

    /// Compares every kernel with the reference, on this adapter and with this driver, unless that was
    /// done before by this engine.
    ///
    /// # Errors
    ///
    /// [`fieldspar_device::Error::Mismatch`] with the operation and the first index that differs, or
    /// what the device says.
    pub fn self_test(&self) -> Result<(), Error> {
        first_use(&self.0.checked, &Unchecked(self))
    }

    /// How many things of `bytes` bytes a binding holds.
    fn fit(&self, bytes: usize) -> usize {
        let most = self.gpu().info().limits.binding_bytes;
        // Half of it: two pieces should not be all that an adapter has.
        let most = usize::try_from(most).unwrap_or(usize::MAX) / 2;
        (most / bytes).max(1)
    }

    fn plan(&self, op: &str, buffers: &[(&str, usize)]) -> Result<(), Error> {
        let Some(available) = self.gpu().info().available_bytes() else {
            return Ok(());
        };
        let mut plan = MemoryPlan::new(op);
        let held: Vec<_> = buffers
            .iter()
            .map(|(name, bytes)| plan.buffer(*name, *bytes as u64))
            .collect();
        plan.phase("all", &held);
        plan.check(available).map_err(DeviceError::from)?;
        Ok(())
    }

    /// Records merges of the digests from `from` on to those from `to` on.
    fn merge(
        &self,
        batch: &mut Batch<'_>,
        sponge: Sponge,
        tree: &Buffer,
        (from, to): (usize, usize),
        count: usize,
    ) -> Result<(), Error> {
        let params = [
            word(count)?,
            word(from)?,
            word(to)?,
            u32::from(sponge.rate_start() != 0),
        ];
        let bindings = [self.0.constants.all(), tree.all()];
        let kernel = &self.0.merge_level;
        batch.dispatch(kernel, &bindings, &params, groups(count))?;
        Ok(())
    }

    /// Hashes one piece of inputs; `width` 0: `places` says where they lie.
    fn hash(
        &self,
        sponge: Sponge,
        elements: &[u64],
        places: &[u32],
        (count, width): (usize, usize),
    ) -> Result<Vec<Digest>, Error> {
        const OP: &str = "rpo hash";
        let gpu = self.gpu();
        let bytes = count * DIGEST_BYTES;
        let input = gpu.upload(OP, elements)?;
        let places = gpu.upload(OP, places)?;
        let digests = gpu.buffer(OP, bytes as u64)?;
        let params = [
            word(count)?,
            word(width)?,
            // Word 3 of the first vector stands free.
            0,
            u32::from(sponge.rate_start() != 0),
            // 0 or 1
            sponge.end_mark() as u32,
            u32::from(sponge.elements_flag(RATE - 1) != 1),
        ];
        let mut batch = gpu.batch(OP);
        let constants = self.0.constants.all();
        let bindings = [constants, digests.all(), input.all(), places.all()];
        batch.dispatch(&self.0.hash_many, &bindings, &params, groups(count))?;
        let read = batch.read(&digests, 0..bytes as u64)?;
        let words = batch.run()?.get::<u64>(read)?;
        self.digests(&words)
    }

    /// Digests of words that came from the device.
    fn digests(&self, words: &[u64]) -> Result<Vec<Digest>, Error> {
        let digests = words.as_chunks::<DIGEST>().0.iter();
        digests.map(|words| Digest::new(*words)).collect()
    }
}

/// A number as a kernel's parameter.
fn word(n: usize) -> Result<u32, Error> {
    u32::try_from(n).map_err(|_| Error::Length {
        what: "elements of a piece",
        have: n,
        expected: "fewer than 2^32".into(),
    })
}

/// Workgroups for this many states.
const fn groups(count: usize) -> u64 {
    count.div_ceil(THREADS) as u64
}

/// The words of digests.
fn words(digests: &[Digest]) -> Vec<u64> {
    digests.iter().flat_map(|d| *d.elements()).collect()
}

/// The engine's operations without the self-test before them.
struct Unchecked<'a>(&'a WgpuEngine);

impl Engine for Unchecked<'_> {
    fn device(&self) -> String {
        self.0.gpu().spec().to_owned()
    }

    fn permute_many(&self, states: &mut [State]) -> Result<(), Error> {
        const OP: &str = "rpo permute";
        let engine = self.0;
        let piece = engine.fit(STATE_BYTES);
        let most = states.len().min(piece) * STATE_BYTES;
        engine.plan(OP, &[("states", most), ("states read", most)])?;
        for states in states.chunks_mut(piece) {
            let buffer = engine.gpu().upload(OP, states)?;
            let mut batch = engine.gpu().batch(OP);
            let bindings = [engine.0.constants.all(), buffer.all()];
            let params = [word(states.len())?];
            let kernel = &engine.0.permute_many;
            batch.dispatch(kernel, &bindings, &params, groups(states.len()))?;
            let read = batch.read(&buffer, 0..buffer.bytes())?;
            let permuted = batch.run()?.get::<u64>(read)?;
            states.as_flattened_mut().copy_from_slice(&permuted);
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
        check_canonical(elements)?;
        let piece = engine.fit(8 * width.max(DIGEST));
        engine.plan(
            "rpo hash",
            &[
                ("elements", count.min(piece) * width * 8),
                ("digests", count.min(piece) * DIGEST_BYTES),
            ],
        )?;
        let mut digests = Vec::with_capacity(count);
        for elements in elements.chunks(piece * width) {
            let shape = (elements.len() / width, width);
            digests.extend(engine.hash(sponge, elements, &[0], shape)?);
        }
        Ok(digests)
    }

    fn hash_many(&self, sponge: Sponge, inputs: &[&[u64]]) -> Result<Vec<Digest>, Error> {
        let engine = self.0;
        let fit = engine.fit(8);
        let mut digests = Vec::with_capacity(inputs.len());
        let mut rest = inputs;
        while !rest.is_empty() {
            // As many as a binding holds, of elements and of digests; a single one may be larger,
            // which the adapter then refuses.
            let mut sum = 0_usize;
            let larger = rest.iter().take(fit / DIGEST).position(|input| {
                sum = sum.saturating_add(input.len());
                sum > fit
            });
            let count = larger.unwrap_or(rest.len().min(fit / DIGEST)).max(1);
            let (piece, after) = rest.split_at(count);
            let elements = piece.concat();
            check_canonical(&elements).map_err(|e| later(e, inputs.len() - rest.len(), inputs))?;
            word(elements.len())?;
            // As u32: below 2^32 by the line before.
            let mut places: Vec<u32> = starts(piece).into_iter().map(|at| at as u32).collect();
            places.extend(by_length(piece)?);
            digests.extend(engine.hash(sponge, &elements, &places, (count, 0))?);
            rest = after;
        }
        Ok(digests)
    }

    fn merge_level(
        &self,
        sponge: Sponge,
        children: &[Digest],
        parents: &mut [Digest],
    ) -> Result<(), Error> {
        const OP: &str = "rpo merge";
        check_level(children, parents)?;
        let engine = self.0;
        let piece = engine.fit(3 * DIGEST_BYTES);
        engine.plan(
            OP,
            &[("digests", parents.len().min(piece) * 3 * DIGEST_BYTES)],
        )?;
        let pieces = children.chunks(2 * piece).zip(parents.chunks_mut(piece));
        for (children, parents) in pieces {
            let count = parents.len();
            let bytes = (3 * count * DIGEST_BYTES) as u64;
            let tree = engine.gpu().buffer(OP, bytes)?;
            tree.write(OP, 0, &words(children))?;
            let mut batch = engine.gpu().batch(OP);
            engine.merge(&mut batch, sponge, &tree, (0, 2 * count), count)?;
            let read = batch.read(&tree, (2 * count * DIGEST_BYTES) as u64..bytes)?;
            let merged = batch.run()?.get::<u64>(read)?;
            parents.copy_from_slice(&engine.digests(&merged)?);
        }
        Ok(())
    }

    fn levels(&self, sponge: Sponge, leaves: Vec<Digest>) -> Result<Vec<Vec<Digest>>, Error> {
        const OP: &str = "rpo tree";
        check_leaves(leaves.len())?;
        let engine = self.0;
        let mut levels = vec![leaves];
        // What does not fit one binding is made level by level, over the bus.
        let fit = engine.fit(2 * DIGEST_BYTES);
        while let Some(children) = levels.last().filter(|level| level.len() > fit) {
            let mut parents = vec![Digest::ZERO; children.len() / 2];
            self.merge_level(sponge, children, &mut parents)?;
            levels.push(parents);
        }
        let Some(base) = levels.last().filter(|level| level.len() > 1) else {
            return Ok(levels);
        };
        let count = base.len();
        let bytes = (2 * count * DIGEST_BYTES) as u64;
        engine.plan(OP, &[("tree", 2 * count * DIGEST_BYTES)])?;
        let tree = engine.gpu().buffer(OP, bytes)?;
        tree.write(OP, 0, &words(base))?;
        let mut batch = engine.gpu().batch(OP);
        let mut from = 0;
        let mut size = count;
        while size > 1 {
            let to = from + size;
            engine.merge(&mut batch, sponge, &tree, (from, to), size / 2)?;
            from = to;
            size /= 2;
        }
        let above = (count * DIGEST_BYTES) as u64..((2 * count - 1) * DIGEST_BYTES) as u64;
        let read = batch.read(&tree, above)?;
        let nodes = engine.digests(&batch.run()?.get::<u64>(read)?)?;
        let mut rest = nodes.as_slice();
        let mut size = count / 2;
        while size > 0 {
            let (level, after) = rest.split_at(size.min(rest.len()));
            levels.push(level.to_vec());
            rest = after;
            size /= 2;
        }
        Ok(levels)
    }
}

/// The error with its index counted from the first of all inputs.
fn later(error: Error, inputs_before: usize, inputs: &[&[u64]]) -> Error {
    match error {
        Error::NotCanonical { index, value } => {
            let before: usize = inputs[..inputs_before].iter().map(|i| i.len()).sum();
            Error::NotCanonical {
                index: before + index,
                value,
            }
        }
        other => other,
    }
}

impl Engine for WgpuEngine {
    fn device(&self) -> String {
        self.gpu().spec().to_owned()
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
