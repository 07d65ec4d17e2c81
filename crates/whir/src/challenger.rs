//! Plonky3's transcript with a proof of work that takes the smallest witness.
//!
//! p3's own `grind` takes any witness it finds first (`find_map_any`), so its proofs differ from
//! run to run; its transcript drivers accept every challenger, so for the time of one opening the
//! caller's is wrapped.
#![forbid(unsafe_code)]

use core::marker::PhantomData;
use std::sync::OnceLock;

use p3_challenger::{
    CanObserve, CanSample, CanSampleBits, CanSampleUniformBits, FieldChallenger,
    GrindingChallenger, ResamplingError,
};
use p3_field::PrimeCharacteristicRing;

use crate::cpu::single::{One, OwnChallenger};
use crate::driver::Error;
use crate::engine::{Engine, GrindTask};
use crate::field::{Challenger, Commitment, Extension, F};

const RATE: usize = 8;

/// The first device error of a run.
///
/// p3's transcript drivers panic when they are dropped half-way, so after an error the rest of the
/// protocol is played with substitutes, without the device, and no proof comes of it.
#[derive(Debug, Default)]
pub(crate) struct Fuse(OnceLock<Error>);

impl Fuse {
    /// Runs `op` unless an earlier one failed; `substitute` stands in for what is missing.
    pub(crate) fn run<T>(
        &self,
        op: impl FnOnce() -> Result<T, Error>,
        substitute: impl FnOnce() -> T,
    ) -> T {
        if self.0.get().is_some() {
            return substitute();
        }
        op().unwrap_or_else(|error| {
            // only the first error counts
            let _ = self.0.set(error);
            substitute()
        })
    }

    /// The error, if there was one.
    pub(crate) fn finish(self) -> Result<(), Error> {
        self.0.into_inner().map_or(Ok(()), Err)
    }
}

/// A borrowed transcript whose proofs of work run on an engine. The caller's own takes up where this
/// one ends.
pub(crate) struct Transcript<'a, EF: Extension, E: Engine<EF>> {
    inner: OwnChallenger,
    borrowed: &'a mut Challenger,
    engine: &'a E,
    fuse: &'a Fuse,
    _extension: PhantomData<fn() -> EF>,
}

impl<'a, EF: Extension, E: Engine<EF>> Transcript<'a, EF, E> {
    pub(crate) fn new(borrowed: &'a mut Challenger, engine: &'a E, fuse: &'a Fuse) -> Self {
        let mut inner = OwnChallenger::new(One);
        inner.sponge_state = borrowed.sponge_state;
        inner.input_buffer = core::mem::take(&mut borrowed.input_buffer);
        inner.output_buffer = core::mem::take(&mut borrowed.output_buffer);
        Self {
            inner,
            borrowed,
            engine,
            fuse,
            _extension: PhantomData,
        }
    }

    /// `GrindingChallenger::check_witness`, which p3 gives only to permutations of its packed types.
    fn absorb_witness(&mut self, bits: usize, witness: F) -> bool {
        self.inner.observe(witness);
        self.inner.sample_bits(bits) == 0
    }

    fn search(&self, bits: usize) -> Result<F, Error> {
        let buffered = &self.inner.input_buffer;
        let slot = buffered.len();
        let mut state = self.inner.sponge_state;
        state[..slot].copy_from_slice(buffered);
        state[slot..RATE].fill(F::ZERO);
        // the absorb binds its length, the witness included
        state[RATE] += F::from_usize(slot + 1);
        let task = GrindTask { state, slot, bits };
        self.engine
            .profile()
            .time("grind", || self.engine.grind(&task))
    }
}

impl<EF: Extension, E: Engine<EF>> Drop for Transcript<'_, EF, E> {
    fn drop(&mut self) {
        self.borrowed.sponge_state = self.inner.sponge_state;
        self.borrowed.input_buffer = core::mem::take(&mut self.inner.input_buffer);
        self.borrowed.output_buffer = core::mem::take(&mut self.inner.output_buffer);
    }
}

impl<EF: Extension, E: Engine<EF>> CanObserve<F> for Transcript<'_, EF, E> {
    fn observe(&mut self, value: F) {
        self.inner.observe(value);
    }
}

impl<EF: Extension, E: Engine<EF>> CanObserve<Commitment> for Transcript<'_, EF, E> {
    fn observe(&mut self, value: Commitment) {
        self.inner.observe(value);
    }
}

impl<EF: Extension, E: Engine<EF>> CanSample<F> for Transcript<'_, EF, E> {
    fn sample(&mut self) -> F {
        self.inner.sample()
    }
}

impl<EF: Extension, E: Engine<EF>> CanSampleBits<usize> for Transcript<'_, EF, E> {
    fn sample_bits(&mut self, bits: usize) -> usize {
        self.inner.sample_bits(bits)
    }
}

impl<EF: Extension, E: Engine<EF>> CanSampleUniformBits<F> for Transcript<'_, EF, E> {
    fn sample_uniform_bits<const RESAMPLE: bool>(
        &mut self,
        bits: usize,
    ) -> Result<usize, ResamplingError> {
        self.inner.sample_uniform_bits::<RESAMPLE>(bits)
    }
}

impl<EF: Extension, E: Engine<EF>> FieldChallenger<F> for Transcript<'_, EF, E> {}

impl<EF: Extension, E: Engine<EF>> GrindingChallenger for Transcript<'_, EF, E> {
    type Witness = F;

    fn grind(&mut self, bits: usize) -> F {
        if bits == 0 {
            return F::ZERO;
        }
        let witness = self.fuse.run(|| self.search(bits), || F::ZERO);
        self.fuse.run(
            || match self.absorb_witness(bits, witness) {
                true => Ok(()),
                false => Err(Error::mismatch("grind", 0)),
            },
            || (),
        );
        witness
    }
}

/// A clone of a transcript that remembers the samples drawn from it, to learn a point that p3
/// draws but does not hand out.
pub(crate) struct Recorder {
    inner: Challenger,
    samples: Vec<F>,
}

impl Recorder {
    pub(crate) fn new(challenger: &Challenger) -> Self {
        Self {
            inner: challenger.clone(),
            samples: Vec::new(),
        }
    }

    /// The first extension element that was drawn, if one was.
    pub(crate) fn first<EF: Extension>(&self) -> Option<EF> {
        EF::from_basis_coefficients_slice(self.samples.get(..EF::D)?)
    }
}

impl CanObserve<F> for Recorder {
    fn observe(&mut self, value: F) {
        self.inner.observe(value);
    }
}

impl CanSample<F> for Recorder {
    fn sample(&mut self) -> F {
        let value = self.inner.sample();
        self.samples.push(value);
        value
    }
}

impl CanSampleBits<usize> for Recorder {
    fn sample_bits(&mut self, bits: usize) -> usize {
        self.inner.sample_bits(bits)
    }
}

impl FieldChallenger<F> for Recorder {}

impl GrindingChallenger for Recorder {
    type Witness = F;

    fn grind(&mut self, _: usize) -> F {
        F::ZERO
    }
}
