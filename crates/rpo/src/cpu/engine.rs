//! The CPU engine: bulk work in parallel chunks, each chunk in one call of a kernel.
#![forbid(unsafe_code)]

use fieldspar_device::{CpuVariant, Error as DeviceError, Unavailable};
use rayon::prelude::*;

#[cfg(target_arch = "aarch64")]
use super::aarch64::{neon::Neon, sve::Sve};
use super::isa::{Isa, Kernel};
use super::kernels::{PermuteMany, PermuteOne};
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::x86_64::{avx2::Avx2, avx512::Avx512};
use crate::engine::Engine;
use crate::{Digest, Error, RATE, Sponge, State, WIDTH, check_canonical};

/// Permutations and hashes on the processor, by one variant of its instruction sets, in the current
/// rayon pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuEngine {
    variant: CpuVariant,
}

/// States to a task: many enough that entering a kernel costs nothing, few enough to share out.
/// A multiple of the batches of all variants.
const TASK: usize = 330;

impl CpuEngine {
    /// The engine of that variant.
    ///
    /// # Errors
    ///
    /// [`Error::Device`] if this processor lacks the instructions. Nothing else is taken instead.
    pub fn new(variant: CpuVariant) -> Result<Self, Error> {
        if variant.is_available() && supported(variant) {
            return Ok(Self { variant });
        }
        let reason = format!("this processor cannot run the variant {variant}");
        let missing = Unavailable::new(format!("cpu:{variant}"), reason);
        Err(DeviceError::from(missing).into())
    }

    /// The engines of all variants that this processor runs, the plain one first.
    #[must_use]
    pub fn all() -> Vec<Self> {
        CpuVariant::NAMED
            .into_iter()
            .filter_map(|variant| Self::new(variant).ok())
            .collect()
    }

    /// The engine of the fastest variant that this processor runs.
    #[must_use]
    pub fn best() -> Self {
        let variant = CpuVariant::best();
        let variant = if supported(variant) {
            variant
        } else {
            CpuVariant::Portable
        };
        Self { variant }
    }

    /// Which variant it is.
    #[must_use]
    pub const fn variant(&self) -> CpuVariant {
        self.variant
    }

    fn run<K: Kernel>(&self, kernel: K) -> K::Output {
        match self.variant {
            #[cfg(target_arch = "x86_64")]
            CpuVariant::Avx512 => match Avx512::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            #[cfg(target_arch = "x86_64")]
            CpuVariant::Avx2 => match Avx2::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            #[cfg(target_arch = "aarch64")]
            CpuVariant::Neon => match Neon::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            #[cfg(target_arch = "aarch64")]
            CpuVariant::Sve => match Sve::detect() {
                Some(isa) => isa.vectorize(kernel),
                None => Portable.vectorize(kernel),
            },
            _ => Portable.vectorize(kernel),
        }
    }

    /// Permutes one state with the least latency. Any representatives in, canonical ones out.
    pub fn permute_one(&self, state: &mut State) {
        self.run(PermuteOne(state));
    }

    /// Permutes states on this thread. Any representatives in, canonical ones out.
    pub fn permute_batch(&self, states: &mut [State]) {
        self.run(PermuteMany(states));
    }

    /// Hash of elements.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`].
    pub fn hash_elements(&self, sponge: Sponge, elements: &[u64]) -> Result<Digest, Error> {
        sponge.hash_elements_with(|state| self.permute_one(state), elements)
    }

    /// Hash of bytes.
    #[must_use]
    pub fn hash_bytes(&self, sponge: Sponge, bytes: &[u8]) -> Digest {
        sponge.hash_bytes_with(|state| self.permute_one(state), bytes)
    }

    /// Two digests into one.
    #[must_use]
    pub fn merge(&self, sponge: Sponge, pair: &[Digest; 2]) -> Digest {
        sponge.merge_with(|state| self.permute_one(state), pair)
    }

    /// [`Self::merge`] apart from that of other domains.
    ///
    /// # Errors
    ///
    /// [`Error::NotCanonical`] for the domain, with index 0.
    pub fn merge_in_domain(
        &self,
        sponge: Sponge,
        pair: &[Digest; 2],
        domain: u64,
    ) -> Result<Digest, Error> {
        sponge.merge_in_domain_with(|state| self.permute_one(state), pair, domain)
    }

    /// Merges of many pairs.
    #[must_use]
    pub fn merge_many(&self, sponge: Sponge, pairs: &[[Digest; 2]]) -> Vec<Digest> {
        let mut out = vec![Digest::ZERO; pairs.len()];
        self.merge_into(sponge, pairs, &mut out);
        out
    }

    fn merge_into(&self, sponge: Sponge, pairs: &[[Digest; 2]], out: &mut [Digest]) {
        if pairs.len() <= TASK {
            return self.merge_here(sponge, pairs, out);
        }
        pairs
            .par_chunks(TASK)
            .zip(out.par_chunks_mut(TASK))
            .for_each(|(pairs, out)| self.merge_here(sponge, pairs, out));
    }

    /// Merges on this thread.
    pub(crate) fn merge_here(&self, sponge: Sponge, pairs: &[[Digest; 2]], out: &mut [Digest]) {
        let mut states = vec![[0; WIDTH]; pairs.len().min(TASK)];
        for (pairs, out) in pairs.chunks(TASK).zip(out.chunks_mut(TASK)) {
            let states = &mut states[..pairs.len()];
            for (state, pair) in states.iter_mut().zip(pairs) {
                *state = sponge.merge_state(pair, 0);
            }
            self.permute_batch(states);
            for (digest, state) in out.iter_mut().zip(states.iter()) {
                *digest = sponge.squeeze(state);
            }
        }
    }

    /// Hashes of canonical inputs, longest first, on this thread; `flags` go into their capacities.
    pub(crate) fn hash_sorted(
        &self,
        sponge: Sponge,
        inputs: &[&[u64]],
        flags: &[u64],
        out: &mut [Digest],
    ) {
        let mut states: Vec<State> = flags.iter().map(|&flag| sponge.start(flag)).collect();
        let mut active = inputs.len();
        for start in (0..).step_by(RATE) {
            while active > 0 && inputs[active - 1].len() <= start {
                active -= 1;
            }
            if active == 0 {
                break;
            }
            for (state, input) in states[..active].iter_mut().zip(inputs) {
                let end = input.len().min(start + RATE);
                sponge.absorb(state, &input[start..end]);
            }
            self.permute_batch(&mut states[..active]);
        }
        for (digest, state) in out.iter_mut().zip(&states) {
            *digest = sponge.squeeze(state);
        }
    }

    /// Hashes of canonical inputs of any lengths, in parallel.
    fn hash_any(&self, sponge: Sponge, inputs: &[&[u64]], flags: &[u64]) -> Vec<Digest> {
        // Inputs of one length go together; the sort is stable, and no result depends on it.
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        order.sort_by_key(|&i| core::cmp::Reverse(inputs[i].len()));
        let sorted: Vec<&[u64]> = order.iter().map(|&i| inputs[i]).collect();
        let flags: Vec<u64> = order.iter().map(|&i| flags[i]).collect();
        let mut found = vec![Digest::ZERO; inputs.len()];
        sorted
            .par_chunks(TASK)
            .zip(flags.par_chunks(TASK))
            .zip(found.par_chunks_mut(TASK))
            .for_each(|((inputs, flags), out)| self.hash_sorted(sponge, inputs, flags, out));
        let mut digests = vec![Digest::ZERO; inputs.len()];
        for (&i, digest) in order.iter().zip(found) {
            digests[i] = digest;
        }
        digests
    }

    /// Hashes of byte strings of any lengths.
    #[must_use]
    pub fn hash_bytes_many(&self, sponge: Sponge, inputs: &[&[u8]]) -> Vec<Digest> {
        let packed: Vec<Vec<u64>> = inputs.par_iter().map(|i| sponge.pack_bytes(i)).collect();
        let packed: Vec<&[u64]> = packed.iter().map(Vec::as_slice).collect();
        let flags: Vec<u64> = inputs.iter().map(|i| sponge.bytes_flag(i.len())).collect();
        self.hash_any(sponge, &packed, &flags)
    }
}

const fn supported(variant: CpuVariant) -> bool {
    matches!(
        variant,
        CpuVariant::Portable
            | CpuVariant::Avx2
            | CpuVariant::Avx512
            | CpuVariant::Neon
            | CpuVariant::Sve
    )
}

impl Engine for CpuEngine {
    fn device(&self) -> String {
        format!("cpu:{}", self.variant)
    }

    fn permute_many(&self, states: &mut [State]) -> Result<(), Error> {
        if states.len() <= TASK {
            self.permute_batch(states);
        } else {
            states
                .par_chunks_mut(TASK)
                .for_each(|states| self.permute_batch(states));
        }
        Ok(())
    }

    fn hash_rows(
        &self,
        sponge: Sponge,
        elements: &[u64],
        width: usize,
    ) -> Result<Vec<Digest>, Error> {
        if width == 0 || !elements.len().is_multiple_of(width) {
            return Err(Error::Length {
                what: "elements of inputs of one width",
                have: elements.len(),
                expected: format!("a multiple of {width}, which is not 0"),
            });
        }
        check_canonical(elements)?;
        let mut digests = vec![Digest::ZERO; elements.len() / width];
        elements
            .par_chunks(TASK * width)
            .zip(digests.par_chunks_mut(TASK))
            .for_each(|(elements, digests)| {
                let inputs: Vec<&[u64]> = elements.chunks(width).collect();
                let flags = vec![sponge.elements_flag(width); inputs.len()];
                self.hash_sorted(sponge, &inputs, &flags, digests);
            });
        Ok(digests)
    }

    fn hash_many(&self, sponge: Sponge, inputs: &[&[u64]]) -> Result<Vec<Digest>, Error> {
        let mut before = 0;
        for input in inputs {
            check_canonical(input).map_err(|error| match error {
                Error::NotCanonical { index, value } => Error::NotCanonical {
                    index: before + index,
                    value,
                },
                other => other,
            })?;
            before += input.len();
        }
        let flags: Vec<u64> = inputs
            .iter()
            .map(|input| sponge.elements_flag(input.len()))
            .collect();
        Ok(self.hash_any(sponge, inputs, &flags))
    }

    fn merge_level(
        &self,
        sponge: Sponge,
        children: &[Digest],
        parents: &mut [Digest],
    ) -> Result<(), Error> {
        let (pairs, rest) = children.as_chunks::<2>();
        if pairs.len() != parents.len() || !rest.is_empty() {
            return Err(Error::Length {
                what: "children of a level",
                have: children.len(),
                expected: (2 * parents.len()).to_string(),
            });
        }
        self.merge_into(sponge, pairs, parents);
        Ok(())
    }
}
